// Room: kernels, AVX-512 with AMX. The instructions of the matrix registers.
//
// Assembly, because functions for AVX-512 alone have no leave to use them. The registers' shapes are set per thread:
// eight tiles, of which 0 to 3 hold sums, 4 and 5 tiles of A, 6 and 7 tiles of B.
#if defined(BINET_KERNELS_GEMM_TILED_AMX_REGISTERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_AMX_REGISTERS_INL_H_
#undef BINET_KERNELS_GEMM_TILED_AMX_REGISTERS_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_AMX_REGISTERS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/tiled/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// As ldtilecfg reads it.
struct TileShapes {
  uint8_t palette = 1;
  uint8_t reserved[15] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileShapes) == 64);

/// Sums and A have so many rows.
inline void BeginTiles(int64_t rows) {
  TileShapes shapes;
  for (size_t tile = 0; tile < 8; ++tile) {
    shapes.row_bytes[tile] = static_cast<uint16_t>(kTileRowBytes);
    shapes.rows[tile] = static_cast<uint8_t>(tile < 6 ? rows : kTileLanes);
  }
  asm volatile("ldtilecfg %0" ::"m"(shapes));
}

/// The system need not keep the registers of this thread any longer.
inline void EndTiles() { asm volatile("tilerelease" ::: "memory"); }

template <int kTile>
HWY_INLINE void LoadTile(const std::byte* from, int64_t row_bytes = kTileRowBytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row_bytes), "i"(kTile) : "memory");
}
/// The same of what the first-level cache need not keep.
template <int kTile>
HWY_INLINE void LoadTilePassing(const std::byte* from, int64_t row_bytes = kTileRowBytes) {
  asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row_bytes), "i"(kTile) : "memory");
}
template <int kTile>
HWY_INLINE void StoreTileAt(std::byte* to, int64_t row_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(row_bytes), "i"(kTile) : "memory");
}
template <int kTile>
HWY_INLINE void ZeroTile() {
  asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
}
/// Sums of products of bfloat16: see bf16-inl.h.
template <int kSums, int kA, int kB>
HWY_INLINE void AddTileProductsBF16() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kA), "i"(kB));
}
/// Of unsigned bytes, modulo 2^32.
template <int kSums, int kA, int kB>
HWY_INLINE void AddTileProductsU8() {
  asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSums), "i"(kA), "i"(kB));
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
