// Room: kernels, AVX-512 with AVX512-BF16. Few rows of bfloat16 by pair-dots (bf16_pairs-inl.h), whose B is not packed:
// that would take longer than the product.
//
// Words of B are formed in registers: two of its rows, 32 columns of each, become two vectors of pairs. Some rows of B
// at a time meet all of A's, and sums of many columns wait in the first-level cache, so that B is read once.
#if defined(BINET_KERNELS_GEMM_TILED_PAIRS_IN_PLACE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_PAIRS_IN_PLACE_INL_H_
#undef BINET_KERNELS_GEMM_TILED_PAIRS_IN_PLACE_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_PAIRS_IN_PLACE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "binet/float16.h"
#include "kernels/gemm/loops/finish-inl.h"
#include "kernels/gemm/tiled/bf16_numbers-inl.h"
#include "kernels/gemm/tiled/bf16_pairs-inl.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// Rows of B that all of A meets at a time, and those whose words make a line of A.
constexpr int64_t kPairGroup = 256, kPairsOfLine = 2 * kTileLanes;
constexpr int64_t kColumnsOfPairs = 2 * kTileLanes;  ///< of two vectors of pairs

/// What a group of rows of B adds to sums of some columns: those of lower and those of upper words in turn.
struct PairsOfGroup {
  const uint16_t* b = nullptr;
  int64_t b_row_step = 0, ahead = 0;  ///< what lies `ahead` of each row is fetched
  int64_t k = 0;
  const std::byte* a = nullptr;  ///< lines of words
  float* sums = nullptr;
  int64_t sums_row_step = 0;
};

template <int kRows, int kVectors>
HWY_NOINLINE void AddPairsOfGroup(const PairsOfGroup& group, BF16Numbers::Least& least_b) {
  alignas(64) static constexpr uint16_t kZeros[kVectors * kTileLanes] = {};
  BF16Numbers::Least least = least_b;
  const int64_t sums_row_step = group.sums_row_step, b_row_step = group.b_row_step, ahead = group.ahead;
  const uint16_t* b = group.b;
  const std::byte* a = group.a;
  __m512 sums[kRows][kVectors];
  float* from = group.sums;
  HWY_UNROLL(12)
  for (int64_t i = 0; i < kRows; ++i, from += sums_row_step) {
    HWY_UNROLL(4)
    for (int64_t j = 0; j < kVectors; ++j) sums[i][j] = _mm512_loadu_ps(from + j * kTileLanes);
  }
  for (int64_t left = group.k; left > 0; left -= kPairsOfLine, a += kRows * kTileRowBytes) {
    const std::byte* word_of_a = a;
    HWY_UNROLL(1)
    for (int64_t k = HWY_MIN(left, kPairsOfLine); k > 0; k -= 2, b += 2 * b_row_step, word_of_a += sizeof(int32_t)) {
      const uint16_t* const next = k == 1 ? kZeros : b + b_row_step;
      __m512i words[kVectors];
      HWY_UNROLL(2)
      for (int64_t j = 0; j < kVectors * kTileLanes; j += kColumnsOfPairs) {
        const __m512i first = _mm512_loadu_si512(b + j), second = _mm512_loadu_si512(next + j);
        // To the second-level cache, as more of these are under way at a time.
        _mm_prefetch(b + j + ahead, _MM_HINT_T1);
        _mm_prefetch(b + b_row_step + j + ahead, _MM_HINT_T1);
        least.Note(first);
        least.Note(second);
        words[j / kTileLanes] = _mm512_unpacklo_epi16(second, first);
        words[j / kTileLanes + 1] = _mm512_unpackhi_epi16(second, first);
      }
      HWY_UNROLL(12)
      for (int64_t i = 0; i < kRows; ++i) {
        const __m512i word = _mm512_set1_epi32(*reinterpret_cast<const int32_t*>(word_of_a + i * kTileRowBytes));
        HWY_UNROLL(4)
        for (int64_t j = 0; j < kVectors; ++j) AddPairDots(sums[i][j], word, words[j]);
      }
    }
  }
  float* to = group.sums;
  HWY_UNROLL(12)
  for (int64_t i = 0; i < kRows; ++i, to += sums_row_step) {
    HWY_UNROLL(4)
    for (int64_t j = 0; j < kVectors; ++j) _mm512_storeu_ps(to + j * kTileLanes, sums[i][j]);
  }
  least_b = least;
}

/// Tiles of so many rows, as wide as registers allow, and narrow ones of kColumnsOfPairs.
struct TilesOfPairs {
  using Add = void (*)(const PairsOfGroup&, BF16Numbers::Least&);
  int64_t rows, columns;  ///< of a wide tile
  Add wide, narrow;
};
template <int kRows>
constexpr TilesOfPairs MakeTilesOfPairs() {
  constexpr int kVectors = kRows <= 6 ? 4 : 2;
  return {kRows, kVectors * kTileLanes, &AddPairsOfGroup<kRows, kVectors>, &AddPairsOfGroup<kRows, 2>};
}

class FewRowsByPairs {
 public:
  FewRowsByPairs(const UnpackedBlock& block, const TilesOfPairs& tiles) : block_(block), tiles_(tiles) {}

  void Multiply() {
    const int64_t together = int64_t{kSums} / tiles_.rows / tiles_.columns * tiles_.columns;
    for (int64_t n = 0; n < block_.n; n += together) Columns(n, HWY_MIN(together, block_.n - n));
  }

 private:
  static constexpr int64_t kSums = 6 * 1024, kMostRows = kMostRowsOfPairsInPlace;

  void Columns(int64_t n, int64_t count) {
    // Last columns are computed with others before them, of this block or the one before, so that no vector is masked.
    const int64_t whole = count / kColumnsOfPairs * kColumnsOfPairs, last = count - whole;
    row_step_ = round_up(count, kColumnsOfPairs);
    std::memset(sums_, 0, static_cast<size_t>(row_step_ * tiles_.rows) * sizeof(float));
    const auto* b = reinterpret_cast<const uint16_t*>(block_.b) + n;
    uint32_t least_a = BF16Numbers::kNone;
    BF16Numbers::Least least_b;
    for (int64_t k = 0; k < block_.k; k += kPairGroup, b += kPairGroup * block_.b_row_step) {
      PairsOfGroup group = {b, block_.b_row_step, kAhead, HWY_MIN(kPairGroup, block_.k - k), a_, sums_, row_step_};
      least_a = HWY_MIN(least_a, PackA(k, group.k));
      for (int64_t left = whole; left > 0;) {
        const bool is_wide = left >= tiles_.columns;
        if (left <= kAhead) group.ahead = kPairGroup * block_.b_row_step - whole + kAhead;
        (is_wide ? tiles_.wide : tiles_.narrow)(group, least_b);
        const int64_t columns = is_wide ? tiles_.columns : kColumnsOfPairs;
        group.b += columns;
        group.sums += columns;
        left -= columns;
      }
      if (last == 0) continue;
      group.b = b + count - kColumnsOfPairs;
      tiles_.narrow(group, least_b);
    }
    if (AreTooSmallForTiles(least_a, least_b.Get())) {
      AddExactly(n, count);
      return Finish(sums_, n, count);
    }
    for (int64_t i = 0; i < tiles_.rows * row_step_; i += kColumnsOfPairs) Order(sums_ + i);
    if (whole > 0) Finish(sums_, n, whole);
    if (last > 0) Finish(sums_ + row_step_ - last, n + whole, last);
  }

  uint32_t PackA(int64_t k, int64_t range) {
    TilePacking packing;
    packing.from = block_.a + k * block_.a_column_step * int64_t{sizeof(uint16_t)};
    packing.lane_step = block_.a_row_step;
    packing.k_step = block_.a_column_step;
    packing.lanes = block_.m;
    packing.k = range;
    packing.to = a_;
    packing.tile_lanes = tiles_.rows;
    packing.swaps_pairs = true;
    return PackLines<BF16Numbers>(packing);
  }

  /// 16 sums of lower words and 16 of upper ones become those of neighbouring columns.
  static HWY_INLINE void Order(float* sums) {
    const __m512i low = _mm512_load_si512(sums), high = _mm512_load_si512(sums + kTileLanes);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    _mm512_store_si512(sums, _mm512_permutex2var_epi64(low, first, high));
    _mm512_store_si512(sums + kTileLanes, _mm512_permutex2var_epi64(low, second, high));
  }

  /// The same sums by multiply-adds of f32.
  HWY_NOINLINE void AddExactly(int64_t n, int64_t count) {
    for (int64_t i = 0; i < count; i += kTileLanes) {
      const auto lanes = static_cast<__mmask16>(FirstBits(HWY_MIN(count - i, kTileLanes)));
      __m512 sums[kMostRows] = {};
      const auto* b = reinterpret_cast<const uint16_t*>(block_.b) + n + i;
      const auto* a = reinterpret_cast<const BFloat16*>(block_.a);
      for (int64_t k = 0; k < block_.k; ++k, a += block_.a_column_step, b += block_.b_row_step) {
        const __m512i bits = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, b)), 16);
        for (int64_t row = 0; row < block_.m; ++row) {
          const __m512 factor = _mm512_set1_ps(Widened<float>(a + row * block_.a_row_step));
          sums[row] = _mm512_fmadd_ps(factor, _mm512_castsi512_ps(bits), sums[row]);
        }
      }
      for (int64_t row = 0; row < block_.m; ++row) _mm512_storeu_ps(sums_ + row * row_step_ + i, sums[row]);
    }
  }

  void Finish(const float* sums, int64_t n, int64_t count) const {
    if (block_.output != nullptr) {
      return FinishTile<BFloat16>(sums, row_step_, block_.m, count, *block_.output, 0, block_.column + n,
                                  *block_.scale);
    }
    auto* to = reinterpret_cast<float*>(block_.sums) + n;
    for (int64_t i = 0; i < block_.m; ++i, to += block_.sums_row_step, sums += row_step_) {
      std::memcpy(to, sums, static_cast<size_t>(count) * sizeof(float));
    }
  }

  static constexpr int64_t kAhead = 128;  ///< columns

  const UnpackedBlock& block_;
  const TilesOfPairs& tiles_;
  int64_t row_step_ = 0;
  alignas(64) std::byte a_[kMostRows * kPairGroup * sizeof(uint16_t)];
  alignas(64) float sums_[kSums + kTileLanes];
};

/// Of no fewer columns than kColumnsOfPairs, those before the block included.
inline void MultiplyPairsInPlace(const UnpackedBlock& block) {
  static constexpr TilesOfPairs kTiles[] = {MakeTilesOfPairs<4>(), MakeTilesOfPairs<6>(), MakeTilesOfPairs<8>(),
                                            MakeTilesOfPairs<10>(), MakeTilesOfPairs<12>()};
  const auto* tiles = kTiles;
  while (tiles->rows < block.m) ++tiles;
  FewRowsByPairs(block, *tiles).Multiply();
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
