// Room: kernels, AVX-512 with AVX512-BF16. Products of bfloat16 by the pair-dots of vectors.
//
// The instruction adds two products to each sum: first that of the upper halves of its operands' words, then that of
// the lower ones, each fused and rounded to nearest even. So with the earlier k in the upper halves it is the chain of
// multiply-adds over k = 0, 1, ... of every other way, and whether a product goes this one shows in no bit. As on the
// matrix registers subnormal numbers count as zero: where there might be any, vectors of f32 do the same additions
// (amx_bf16-inl.h says when that is).
//
// AMD's CPUs from Zen 4 on do as many pair-dots as f32 multiply-adds, twice as many products; Intel's do half as many.
#if defined(BINET_KERNELS_GEMM_TILED_BF16_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_BF16_PAIRS_INL_H_
#undef BINET_KERNELS_GEMM_TILED_BF16_PAIRS_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_BF16_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/portions.h"
#include "kernels/gemm/tiled/bf16_numbers-inl.h"
#include "kernels/gemm/tiled/bf16_panels-inl.h"
#include "kernels/gemm/tiled/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// Where the sums of a tile come from and go to.
struct PairSums {
  const float* from = nullptr;
  int64_t from_step = 0;
  float* to = nullptr;
  int64_t to_step = 0, to_panel_step = 0;
  uint16_t* y = nullptr;  ///< not null: they are rounded, so many rows and columns of them, and go there instead
  int64_t y_step = 0, rows = 0, columns = 0;
};

/// What a tile multiplies.
struct PairOperands {
  const std::byte *a = nullptr, *b = nullptr;
  int64_t a_group_bytes = 0, b_panel_bytes = 0, words = 0;
  int64_t ahead_bytes = 0;          ///< 0, or: what lies so far behind in B is used soon
  const std::byte* next = nullptr;  ///< what is used later is fetched into the second-level cache,
  int64_t next_bytes = 0;           ///< so much of it for each group
};

/// Assembly, because functions for AVX-512 alone have no leave to use the instruction.
HWY_INLINE void AddPairDots(__m512& sums, __m512i a, __m512i b) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sums) : "v"(b), "v"(a));
}

/// The first columns of one vector, or of two. All of them without a mask: Zen 5 does not prefetch the lines that are
/// stored under one.
template <int kVectors>
HWY_INLINE void StoreColumns(uint16_t* y, __mmask32 columns, __m512i v) {
  if (kVectors == 1 && columns == 0xFFFF) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm512_castsi512_si256(v));
  } else if (kVectors != 1 && columns == 0xFFFFFFFF) {
    _mm512_storeu_si512(y, v);
  } else {
    _mm512_mask_storeu_epi16(y, columns, v);
  }
}

/// A tile of kRows lines of A, and kVectors tiles of B: one, or those of one panel or two.
template <int kRows, int kVectors>
HWY_NOINLINE void AddTilePairs(const PairOperands& operands, const PairSums& place) {
  constexpr int kOfPanel = HWY_MIN(kVectors, 2);
  __m512 sums[kRows][kVectors];
  const float* from = place.from;
  const int64_t from_step = place.from_step;
  HWY_UNROLL(16)
  for (int64_t i = 0; i < kRows; ++i, from += from_step) {
    HWY_UNROLL(4)
    for (int64_t j = 0; j < kVectors; ++j) sums[i][j] = _mm512_loadu_ps(from + j * kTileLanes);
  }
  const std::byte *a = operands.a, *b = operands.b, *next = operands.next;
  const int64_t a_group_bytes = operands.a_group_bytes, b_panel_bytes = operands.b_panel_bytes;
  const int64_t ahead_bytes = operands.ahead_bytes, next_bytes = operands.next_bytes;
  for (int64_t words = operands.words; words > 0; words -= kTileLanes) {
    const std::byte* word_of_a = a;
    const std::byte* words_of_b = b;
    HWY_UNROLL(1)
    for (int64_t left = HWY_MIN(words, kTileLanes); left > 0; --left) {
      __m512i vectors[kVectors];
      HWY_UNROLL(4)
      for (int64_t j = 0; j < kVectors; ++j) {
        vectors[j] = _mm512_load_si512(words_of_b + j / kOfPanel * b_panel_bytes + j % kOfPanel * kTileBytes);
      }
      HWY_UNROLL(16)
      for (int64_t i = 0; i < kRows; ++i) {
        const __m512i word = _mm512_set1_epi32(*reinterpret_cast<const int32_t*>(word_of_a + i * kTileRowBytes));
        HWY_UNROLL(4)
        for (int64_t j = 0; j < kVectors; ++j) AddPairDots(sums[i][j], word, vectors[j]);
      }
      word_of_a += sizeof(int32_t);
      words_of_b += kTileRowBytes;
    }
    if (ahead_bytes != 0) {
      HWY_UNROLL(1)
      for (int64_t j = 0; j < kVectors / kOfPanel; ++j) {
        const std::byte* ahead = b + j * b_panel_bytes + ahead_bytes;
        HWY_UNROLL(1)
        for (int64_t i = 0; i < kOfPanel * kTileBytes; i += kTileRowBytes) _mm_prefetch(ahead + i, _MM_HINT_T1);
      }
    }
    for (int64_t i = 0; i < next_bytes; i += kTileRowBytes) _mm_prefetch(next + i, _MM_HINT_T1);
    next += next_bytes;
    a += a_group_bytes;
    b += kOfPanel * kTileBytes;
  }
  if (place.y != nullptr) {
    uint16_t* y = place.y;
    const int64_t y_step = place.y_step, rows = place.rows;
    __mmask32 columns[(kVectors + 1) / 2];
    HWY_UNROLL(2)
    for (int64_t j = 0; j < kVectors; j += 2) {
      columns[j / 2] = static_cast<__mmask32>(FirstBits(HWY_MIN(place.columns - j * kTileLanes, 2 * kTileLanes)));
    }
    HWY_UNROLL(16)
    for (int64_t i = 0; i < kRows; ++i, y += y_step) {
      if (i >= rows) return;
      HWY_UNROLL(2)
      for (int64_t j = 0; j < kVectors; j += 2) {
        const __m512 high = kVectors == 1 ? _mm512_setzero_ps() : sums[i][j + kOfPanel - 1];
        StoreColumns<kVectors>(y + j * kTileLanes, columns[j / 2], RoundToBF16(sums[i][j], high));
      }
    }
    return;
  }
  float* to = place.to;
  const int64_t to_step = place.to_step, to_panel_step = place.to_panel_step;
  HWY_UNROLL(16)
  for (int64_t i = 0; i < kRows; ++i, to += to_step) {
    HWY_UNROLL(4)
    for (int64_t j = 0; j < kVectors; ++j) {
      _mm512_storeu_ps(to + j / kOfPanel * to_panel_step + j % kOfPanel * kTileLanes, sums[i][j]);
    }
  }
}

template <int kVectors>
HWY_INLINE void AddTilePairs(int64_t rows, const PairOperands& operands, const PairSums& place) {
  if constexpr (kVectors == 1) {
    if (rows > kHighestWideVectorTile) return AddTilePairs<kHeightsOfVectorTiles[0], 1>(operands, place);
  }
  switch (rows) {
    case 1:
      return AddTilePairs<1, kVectors>(operands, place);
    case 2:
      return AddTilePairs<2, kVectors>(operands, place);
    case 4:
      return AddTilePairs<4, kVectors>(operands, place);
    default:
      break;
  }
  static_assert(kMostRowsOfTwoPanels == 4);
  if constexpr (kVectors < 4) {
    switch (rows) {
      case 8:
        return AddTilePairs<8, kVectors>(operands, place);
      case 10:
        return AddTilePairs<10, kVectors>(operands, place);
      default:
        return AddTilePairs<12, kVectors>(operands, place);
    }
  }
}

/// A panel of A and one or two of B.
class PairsOfBF16 : SumsOfBF16 {
 public:
  using SumsOfBF16::SumsOfBF16;

  /// Returns how many columns it has computed.
  int64_t Multiply() {
    is_exact_ = AreTooSmallForTiles(*block_.least_a, least_b_);
    const bool are_two = HasTwoPanels();
    const int64_t columns = are_two ? HWY_MIN(block_.n - n_, 2 * kRowStep) : columns_;
    const bool rounds = block_.last && MayRound();
    PairOperands operands;
    operands.a = block_.a;
    operands.a_group_bytes = block_.a_group_bytes;
    operands.b = b_;
    operands.b_panel_bytes = block_.b_panel_bytes;
    operands.words = ceil_div(block_.k, 2);
    operands.ahead_bytes = block_.ahead_bytes;
    operands.next = block_.next;
    operands.next_bytes = n_ == 0 ? block_.next_bytes : 0;
    PairSums place;
    alignas(64) const float zeros[4 * kTileLanes] = {};
    place.from = zeros;
    if (!block_.first) place.from_step = block_.waiting_row_step;
    place.to_step = block_.last ? kRowStep : block_.waiting_row_step;
    place.to_panel_step = block_.last ? kMostRowsOfTwoPanels * kRowStep : kRowStep;
    place.columns = columns;
    for (int64_t i = 0; i < block_.m; i += block_.tile_rows, operands.a += block_.a_tile_bytes) {
      const int64_t rows = HWY_MIN(block_.tile_rows, block_.m - i);
      float* const waiting = Waiting() + i * block_.waiting_row_step;
      if (!block_.first) place.from = waiting;
      place.to = block_.last ? sums_ : waiting;
      if (rounds) {
        place.y_step = block_.output->y_row_step;
        place.y = reinterpret_cast<uint16_t*>(block_.output->y) + (block_.row + i) * place.y_step + block_.column + n_;
        place.rows = rows;
      }
      const int64_t height = rows == block_.tile_rows ? rows : height_of_vector_tile(rows);
      if (is_exact_) {
        AddExactly(operands, columns <= kTileLanes ? 1 : 2, place);
      } else if (are_two) {
        AddTilePairs<4>(height, operands, place);
      } else if (columns <= kTileLanes) {
        AddTilePairs<1>(height, operands, place);
      } else {
        AddTilePairs<2>(height, operands, place);
      }
      if (block_.last && !rounds) {
        Finish({sums_, i, rows, n_, columns_});
        if (are_two) Finish({sums_ + place.to_panel_step, i, rows, n_ + kRowStep, columns - kRowStep});
      }
      operands.ahead_bytes = operands.next_bytes = 0;
    }
    return columns;
  }

 private:
  [[nodiscard]] bool HasTwoPanels() const {
    if (block_.tile_rows > kMostRowsOfTwoPanels || block_.n - n_ <= kRowStep + kTileLanes) return false;
    return !is_exact_ && !AreTooSmallForTiles(*block_.least_a, block_.least_b[n_ / kRowStep + 1]);
  }

  /// The same sums by multiply-adds of f32.
  HWY_NOINLINE void AddExactly(const PairOperands& operands, int64_t vectors, const PairSums& place) const {
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000u));
    for (int64_t i = 0; i < block_.tile_rows; ++i) {
      for (int64_t j = 0; j < vectors; ++j) {
        __m512 sum = _mm512_loadu_ps(place.from + i * place.from_step + j * kTileLanes);
        for (int64_t word = 0; word < operands.words; ++word) {
          const int64_t group = word / kTileLanes, of_group = word % kTileLanes;
          const std::byte* of_a = operands.a + group * operands.a_group_bytes + i * kTileRowBytes + of_group * 4;
          const std::byte* of_b = operands.b + (group * vectors + j) * kTileBytes + of_group * kTileRowBytes;
          const __m512i words_of_a = _mm512_set1_epi32(*reinterpret_cast<const int32_t*>(of_a));
          const __m512i words_of_b = _mm512_load_si512(of_b);
          sum = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(words_of_a, upper)),
                                _mm512_castsi512_ps(_mm512_and_si512(words_of_b, upper)), sum);
          if (2 * word + 1 == block_.k) break;  // a product of zeros would make +0 of a sum of -0
          sum = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_slli_epi32(words_of_a, 16)),
                                _mm512_castsi512_ps(_mm512_slli_epi32(words_of_b, 16)), sum);
        }
        _mm512_storeu_ps(place.to + i * place.to_step + j * kTileLanes, sum);
      }
    }
  }
};

inline void MultiplyPairsOfBF16(const TileBlock& block) {
  for (int64_t n = 0; n < block.n;) n += PairsOfBF16(block, n).Multiply();
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
