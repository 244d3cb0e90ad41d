// Room: kernels, AVX-512 with AMX. Products of integers from the products of their bytes, modulo 2^32 or 2^64.
//
// With a = sum of a_i * 2^(8 i) and b likewise, a * b = sum of (sum of a_i * b_j with i + j = s) * 2^(8 s), where only
// s below the number of bytes counts: 10 products of bytes for 32 bits, 36 for 64. The instruction adds four products
// of bytes to each of 16 x 16 sums, which is so much faster than a vector's multiplication that 10 or 36 of them are.
//
// The bytes of one place make a plane. Four sums at a time, for s, s + 1, s + 2 and s + 3, meet two planes of A and two
// of B: eight tiles. A sum of bytes' products holds 32 bits. In 32-bit numbers, and for s >= 4, no more of them count.
// For s < 4 in 64-bit numbers none are lost: amx_plan.cc makes their ranges of k far shorter than 2^32 / (4 * 255^2),
// as they have many planes to keep near.
#if defined(BINET_KERNELS_GEMM_TILED_AMX_INTEGERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_AMX_INTEGERS_INL_H_
#undef BINET_KERNELS_GEMM_TILED_AMX_INTEGERS_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_AMX_INTEGERS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/gemm/loops/finish-inl.h"
#include "kernels/gemm/tiled/amx_registers-inl.h"
#include "kernels/gemm/tiled/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// The products of planes i of A and j of B with i + j = kShift + s, for s = 0 to 3, go to tile s.
template <int kShift>
class BytesOfGroup {
 public:
  HWY_INLINE BytesOfGroup(const std::byte* a, int64_t a_plane_bytes, bool a_passes, const std::byte* b)
      : a_(a), a_plane_bytes_(a_plane_bytes), a_passes_(a_passes), b_(b) {}

  HWY_INLINE void Add() const {
    AddTwoPlanesOfA<0>();
    AddTwoPlanesOfA<2>();
    if constexpr (kEnd > 4) {
      AddTwoPlanesOfA<4>();
      AddTwoPlanesOfA<6>();
    }
  }

 private:
  static constexpr int kEnd = kShift + 4;  ///< of the places that count

  template <int kI>
  HWY_INLINE void AddTwoPlanesOfA() const {
    if (a_passes_) {
      LoadTilePassing<4>(a_ + kI * a_plane_bytes_);
      LoadTilePassing<5>(a_ + (kI + 1) * a_plane_bytes_);
    } else {
      LoadTile<4>(a_ + kI * a_plane_bytes_);
      LoadTile<5>(a_ + (kI + 1) * a_plane_bytes_);
    }
    AddPlanesOfB<kI>(std::make_integer_sequence<int, kEnd - kI>());
  }
  template <int kI, int... kJ>
  HWY_INLINE void AddPlanesOfB(std::integer_sequence<int, kJ...>) const {
    (AddPlaneOfB<kI, kJ>(), ...);
  }
  template <int kI, int kJ>
  HWY_INLINE void AddPlaneOfB() const {
    constexpr bool kCounts = kI + kJ >= kShift, kNextCounts = kI + 1 + kJ >= kShift && kI + 1 + kJ < kEnd;
    constexpr int kTileOfB = 6 + kJ % 2;
    if constexpr (kCounts || kNextCounts) LoadTile<kTileOfB>(b_ + kJ * kTileBytes);
    if constexpr (kCounts) AddTileProductsU8<kI + kJ - kShift, 4, kTileOfB>();
    if constexpr (kNextCounts) AddTileProductsU8<kI + 1 + kJ - kShift, 5, kTileOfB>();
  }

  const std::byte* const a_;
  const int64_t a_plane_bytes_;
  const bool a_passes_;
  const std::byte* const b_;
};

/// Tiles 0 to 3 for all k of a block, stored one behind the other.
template <int kShift, int kPlanes>
HWY_INLINE void AddBytes(const TileBlock& block, const std::byte* b, uint32_t* to) {
  ZeroTile<0>();
  ZeroTile<1>();
  ZeroTile<2>();
  ZeroTile<3>();
  const std::byte* a = block.a;
  for (int64_t g = block.groups; g > 0; --g, a += block.a_group_bytes, b += kPlanes * kTileBytes) {
    BytesOfGroup<kShift>(a, block.a_tile_bytes, block.a_passes, b).Add();
    if (block.ahead_bytes != 0 && kShift == 0) {
      for (int64_t i = 0; i < kPlanes * kTileBytes; i += kTileRowBytes) hwy::Prefetch(b + block.ahead_bytes + i);
    }
  }
  auto* const bytes = reinterpret_cast<std::byte*>(to);
  StoreTileAt<0>(bytes, kTileRowBytes);
  StoreTileAt<1>(bytes + kTileBytes, kTileRowBytes);
  StoreTileAt<2>(bytes + 2 * kTileBytes, kTileRowBytes);
  StoreTileAt<3>(bytes + 3 * kTileBytes, kTileRowBytes);
}

constexpr int64_t kSumsOfTile = kTileBytes / int64_t{sizeof(uint32_t)};

/// The sums of a row: 16 numbers of 32 bits.
HWY_INLINE __m512i SumOfPlaces(const uint32_t* tiles) {
  const auto load = [&](int64_t place) HWY_ATTR { return _mm512_load_si512(tiles + place * kSumsOfTile); };
  const __m512i low = _mm512_add_epi32(load(0), _mm512_slli_epi32(load(1), 8));
  const __m512i high = _mm512_add_epi32(_mm512_slli_epi32(load(2), 16), _mm512_slli_epi32(load(3), 24));
  return _mm512_add_epi32(low, high);
}

/// Eight numbers of 64 bits from the tiles for s = 0 to 3 and those for s = 4 to 7.
HWY_INLINE __m512i WideSumOfPlaces(const uint32_t* low_tiles, const uint32_t* high_tiles) {
  const auto load = [](const uint32_t* from) HWY_ATTR {
    return _mm512_cvtepu32_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(from)));
  };
  __m512i sum = load(low_tiles);
  sum = _mm512_add_epi64(sum, _mm512_slli_epi64(load(low_tiles + kSumsOfTile), 8));
  sum = _mm512_add_epi64(sum, _mm512_slli_epi64(load(low_tiles + 2 * kSumsOfTile), 16));
  sum = _mm512_add_epi64(sum, _mm512_slli_epi64(load(low_tiles + 3 * kSumsOfTile), 24));
  for (int64_t place = 0; place < 4; ++place) {
    const __m512i high = load(high_tiles + place * kSumsOfTile);
    sum = _mm512_add_epi64(sum, _mm512_slli_epi64(high, static_cast<unsigned>(32 + 8 * place)));
  }
  return sum;
}

/// A tile of A and one of B, of numbers of type T.
template <class T>
class TilesOfIntegers {
 public:
  TilesOfIntegers(const TileBlock& block, int64_t n)
      : block_(block), n_(n), columns_(HWY_MIN(kTileLanes, block.n - n)) {}

  void Multiply() {
    constexpr int kPlanes = sizeof(T);
    const std::byte* b = block_.b + n_ / kTileLanes * block_.b_panel_bytes;
    AddBytes<0, kPlanes>(block_, b, low_);
    if constexpr (kPlanes == 8) AddBytes<4, kPlanes>(block_, b, high_);
    if (block_.last && block_.output != nullptr && block_.scale->keeps_sums() && block_.output->y_column_step == 1) {
      const int64_t step = block_.output->y_row_step;
      return EndRows(reinterpret_cast<T*>(block_.output->y) + block_.row * step + block_.column + n_, step, columns_);
    }
    if (!block_.last) return EndRows(Waiting(), block_.waiting_row_step, kTileLanes);
    if (block_.output == nullptr) {
      return EndRows(reinterpret_cast<T*>(block_.sums) + n_, block_.sums_row_step, kTileLanes);
    }
    EndRows(sums_, kTileLanes, kTileLanes);
    FinishTile<T>(static_cast<const T*>(sums_), kTileLanes, block_.m, columns_, *block_.output, block_.row,
                  block_.column + n_, *block_.scale);
  }

 private:
  static constexpr int64_t kLanes = 64 / int64_t{sizeof(T)};

  [[nodiscard]] T* Waiting() const { return reinterpret_cast<T*>(block_.waiting) + n_; }

  HWY_INLINE void EndRows(T* to, int64_t step, int64_t columns) const {
    const T* waiting = Waiting();
    for (int64_t i = 0; i < block_.m; ++i, to += step, waiting += block_.waiting_row_step) {
      HWY_UNROLL(2)
      for (int64_t j = 0; j < kTileLanes; j += kLanes) {
        const int64_t place = i * kTileLanes + j;
        if constexpr (sizeof(T) == 4) {
          __m512i sum = SumOfPlaces(low_ + place);
          if (!block_.first) sum = _mm512_add_epi32(sum, _mm512_loadu_si512(waiting + j));
          _mm512_mask_storeu_epi32(to + j, static_cast<__mmask16>(FirstBits(columns - j)), sum);
        } else {
          __m512i sum = WideSumOfPlaces(low_ + place, high_ + place);
          if (!block_.first) sum = _mm512_add_epi64(sum, _mm512_loadu_si512(waiting + j));
          _mm512_mask_storeu_epi64(to + j, static_cast<__mmask8>(FirstBits(columns - j)), sum);
        }
      }
    }
  }

  const TileBlock& block_;
  const int64_t n_, columns_;
  alignas(64) uint32_t low_[4 * kSumsOfTile];
  alignas(64) uint32_t high_[sizeof(T) == 8 ? 4 * kSumsOfTile : 16];
  alignas(64) T sums_[kTileLanes * kTileLanes];
};

template <class T>
void MultiplyIntegers(const TileBlock& block) {
  for (int64_t n = 0; n < block.n; n += kTileLanes) TilesOfIntegers<T>(block, n).Multiply();
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
