// Room: kernels, AVX-512 with AMX. Products of bfloat16: 32 x 32 sums at a time, in four tiles.
//
// The instruction adds, to each sum, the products of 32 k: those of even k in one chain of fused multiply-adds from 0
// on, those of odd k in another, then one chain to the other and both to the sum, all rounded to nearest even. But it
// takes subnormal numbers for zero, those that come in and those that come out. Where A and B are such that there can
// be none, its bits are those of IEEE 754. Elsewhere vectors do the same additions in the same order (AddExactly), so
// nobody can tell, but from the time taken, which way a block went.
//
// There can be none if neither operand has any and their smallest magnitudes are 2^ea and 2^eb with
// ea + eb - 14 >= -126: a bfloat16 is a multiple of 2^-7 of its power of two, so every product, every sum and what
// either is rounded to is a multiple of 2^-126, the smallest normal number.
#if defined(BINET_KERNELS_GEMM_TILED_AMX_BF16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_AMX_BF16_INL_H_
#undef BINET_KERNELS_GEMM_TILED_AMX_BF16_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_AMX_BF16_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/tiled/amx_registers-inl.h"
#include "kernels/gemm/tiled/bf16_numbers-inl.h"
#include "kernels/gemm/tiled/bf16_panels-inl.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// A panel of A and one of B.
class PanelsOfBF16 : SumsOfBF16 {
 public:
  using SumsOfBF16::SumsOfBF16;

  void Multiply() {
    if (block_.scans_a && n_ == 0) {
      AddTilesOf<true>();
    } else {
      is_exact_ = AreTooSmallForTiles(*block_.least_a, least_b_);
      if (!is_exact_) AddTilesOf<false>();
    }
    if (is_exact_) AddExactly();
    if (block_.last) Finish({sums_, 0, block_.m, n_, columns_});
  }

 private:
  template <bool kScansA>
  HWY_INLINE void AddTilesOf() {
    if (block_.m <= block_.tile_rows) {
      columns_ <= kTileLanes ? AddTiles<1, 1, kScansA>() : AddTiles<1, 2, kScansA>();
    } else {
      columns_ <= kTileLanes ? AddTiles<2, 1, kScansA>() : AddTiles<2, 2, kScansA>();
    }
  }

  /// With kScansA it shows only at the end whether this was the right way; else sums remain what they were.
  template <int kRows, int kColumns, bool kScansA>
  HWY_NOINLINE void AddTiles() {
    const int64_t waiting_bytes = block_.waiting_row_step * int64_t{sizeof(float)};
    auto* const waiting = reinterpret_cast<std::byte*>(Waiting());
    if (block_.first) {
      ForSums<kRows, kColumns>([](auto tile, int64_t, int64_t) HWY_ATTR { ZeroTile<tile()>(); });
    } else {
      ForSums<kRows, kColumns>([&](auto tile, int64_t i, int64_t j) HWY_ATTR {
        LoadTile<tile()>(waiting + i * waiting_bytes + j * kTileRowBytes, waiting_bytes);
      });
    }
    const std::byte* a = block_.a;
    const std::byte* b = b_;
    const int64_t a_row_bytes = block_.a_row_bytes, a_tile_bytes = block_.a_tile_bytes;
    const int64_t a_group_bytes = block_.a_group_bytes, m = block_.m;
    const int64_t ahead_bytes = block_.ahead_bytes, next_bytes = n_ == 0 ? block_.next_bytes : 0;
    const std::byte* next = block_.next;
    BF16Numbers::Least least;
    const auto load_a = [&](auto tile, const std::byte* from) HWY_ATTR {
      block_.a_passes ? LoadTilePassing<tile()>(from, a_row_bytes) : LoadTile<tile()>(from, a_row_bytes);
    };
    for (int64_t g = block_.groups; g > 0; --g, a += a_group_bytes, b += kColumns * kTileBytes) {
      if constexpr (kScansA) {
        const std::byte* line = a;
        for (int64_t i = m; i > 0; --i, line += a_row_bytes) least.Note(_mm512_loadu_si512(line));
      }
      load_a(std::integral_constant<int, 4>(), a);
      LoadTile<6>(b);
      AddTileProductsBF16<0, 4, 6>();
      if constexpr (kColumns == 2) {
        LoadTile<7>(b + kTileBytes);
        AddTileProductsBF16<1, 4, 7>();
      }
      if constexpr (kRows == 2) {
        load_a(std::integral_constant<int, 5>(), a + a_tile_bytes);
        AddTileProductsBF16<2, 5, 6>();
        if constexpr (kColumns == 2) AddTileProductsBF16<3, 5, 7>();
      }
      if (ahead_bytes != 0) {
        for (int64_t i = 0; i < kColumns * kTileBytes; i += kTileRowBytes) hwy::Prefetch(b + ahead_bytes + i);
      }
      for (int64_t i = 0; i < next_bytes; i += kTileRowBytes) _mm_prefetch(next + i, _MM_HINT_T1);
      next += next_bytes;
    }
    if constexpr (kScansA) {
      *block_.least_a = HWY_MIN(*block_.least_a, least.Get());
      is_exact_ = AreTooSmallForTiles(*block_.least_a, least_b_);
      if (is_exact_) return;
    }
    std::byte* const to = block_.last ? reinterpret_cast<std::byte*>(sums_) : waiting;
    const int64_t to_bytes = block_.last ? kRowStep * int64_t{sizeof(float)} : waiting_bytes;
    ForSums<kRows, kColumns>([&](auto tile, int64_t i, int64_t j)
                                 HWY_ATTR { StoreTileAt<tile()>(to + i * to_bytes + j * kTileRowBytes, to_bytes); });
  }

  /// Calls act(register, first row, column of tiles) for each tile of sums.
  template <int kRows, int kColumns, class Act>
  HWY_INLINE void ForSums(const Act& act) const {
    act(std::integral_constant<int, 0>(), int64_t{0}, int64_t{0});
    if constexpr (kColumns == 2) act(std::integral_constant<int, 1>(), int64_t{0}, int64_t{1});
    if constexpr (kRows == 2) act(std::integral_constant<int, 2>(), block_.tile_rows, int64_t{0});
    if constexpr (kRows == 2 && kColumns == 2) act(std::integral_constant<int, 3>(), block_.tile_rows, int64_t{1});
  }

  /// The same sums without the matrix registers.
  HWY_NOINLINE void AddExactly() {
    const int64_t columns = columns_ <= kTileLanes ? 1 : 2;
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < block_.m; i += kExactRows) {
        const int64_t rows = HWY_MIN(kExactRows, block_.m - i);
        __m512 sums[kExactRows];
        for (int64_t r = 0; r < kExactRows; ++r) {
          const bool is_new = block_.first || r >= rows;
          sums[r] = is_new ? _mm512_setzero_ps()
                           : _mm512_loadu_ps(Waiting() + (i + r) * block_.waiting_row_step + j * kTileLanes);
        }
        AddGroupsExactly(i, rows, b_ + j * kTileBytes, columns * kTileBytes, sums);
        for (int64_t r = 0; r < rows; ++r) {
          float* to = block_.last ? sums_ + (i + r) * kRowStep : Waiting() + (i + r) * block_.waiting_row_step;
          _mm512_storeu_ps(to + j * kTileLanes, sums[r]);
        }
      }
    }
  }

  static constexpr int64_t kExactRows = 6;

  HWY_INLINE void AddGroupsExactly(int64_t row, int64_t rows, const std::byte* b, int64_t b_step,
                                   __m512 (&sums)[kExactRows]) const {
    const std::byte* lines[kExactRows];
    for (int64_t r = 0; r < kExactRows; ++r) {
      const int64_t line = row + HWY_MIN(r, rows - 1);  // a row too many is computed twice
      const int64_t tile = line / block_.tile_rows;
      lines[r] = block_.a + tile * block_.a_tile_bytes + line % block_.tile_rows * block_.a_row_bytes;
    }
    const __m512i odd_bits = _mm512_set1_epi32(static_cast<int>(0xFFFF0000u));
    alignas(64) float even_a[kExactRows][16], odd_a[kExactRows][16];
    for (int64_t g = 0; g < block_.groups; ++g, b += b_step) {
      __m512 even[kExactRows], odd[kExactRows];
      for (int64_t r = 0; r < kExactRows; ++r) {
        const __m512i line = _mm512_loadu_si512(lines[r] + g * block_.a_group_bytes);
        _mm512_store_ps(even_a[r], _mm512_castsi512_ps(_mm512_slli_epi32(line, 16)));
        _mm512_store_ps(odd_a[r], _mm512_castsi512_ps(_mm512_and_si512(line, odd_bits)));
        even[r] = odd[r] = _mm512_setzero_ps();
      }
      for (int64_t word = 0; word < 16; ++word) {
        const __m512i b_words = _mm512_loadu_si512(b + word * kTileRowBytes);
        const __m512 even_b = _mm512_castsi512_ps(_mm512_slli_epi32(b_words, 16));
        const __m512 odd_b = _mm512_castsi512_ps(_mm512_and_si512(b_words, odd_bits));
        HWY_UNROLL(8)
        for (int64_t r = 0; r < kExactRows; ++r) {
          even[r] = _mm512_fmadd_ps(_mm512_set1_ps(even_a[r][word]), even_b, even[r]);
          odd[r] = _mm512_fmadd_ps(_mm512_set1_ps(odd_a[r][word]), odd_b, odd[r]);
        }
      }
      for (int64_t r = 0; r < kExactRows; ++r) sums[r] = _mm512_add_ps(sums[r], _mm512_add_ps(even[r], odd[r]));
    }
  }
};

inline void MultiplyBF16(const TileBlock& block) {
  for (int64_t n = 0; n < block.n; n += 2 * kTileLanes) PanelsOfBF16(block, n).Multiply();
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
