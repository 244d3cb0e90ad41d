// Room: kernels, AVX-512. What becomes of the sums of a panel of A and one of B, however they were computed.
#if defined(BINET_KERNELS_GEMM_TILED_BF16_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_BF16_PANELS_INL_H_
#undef BINET_KERNELS_GEMM_TILED_BF16_PANELS_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_BF16_PANELS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "binet/float16.h"
#include "kernels/gemm/loops/finish-inl.h"
#include "kernels/gemm/tiled/bf16_numbers-inl.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// There is no subnormal sum, which the instruction would take for zero.
HWY_INLINE __m512i RoundToBF16(__m512 low, __m512 high) {
  __m512i rounded;
  asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(rounded) : "v"(high), "v"(low));
  return rounded;
}

/// Of a block: the panel of A and the panel of B that begins with column n.
class SumsOfBF16 {
 public:
  SumsOfBF16(const TileBlock& block, int64_t n)
      : block_(block),
        n_(n),
        columns_(HWY_MIN(kRowStep, block.n - n)),
        b_(block.b + n / kRowStep * block.b_panel_bytes),
        least_b_(block.least_b[n / kRowStep]) {}

 protected:
  static constexpr int64_t kRowStep = 2 * kTileLanes;

  [[nodiscard]] float* Waiting() const { return reinterpret_cast<float*>(block_.waiting) + n_; }

  [[nodiscard]] bool MayRound() const {
    return !is_exact_ && block_.output != nullptr && block_.scale->keeps_sums() && block_.output->y_column_step == 1;
  }

  /// Rows of sums, kRowStep apart, from row `row` of the panel of A and column `n` of the block on.
  struct Part {
    const float* sums;
    int64_t row, rows, n, columns;
  };

  HWY_NOINLINE void Finish(const Part& part) const {
    if (block_.output == nullptr) return CopySums(part);
    if (MayRound()) return RoundSums(part, _mm512_set1_epi16(INT16_MIN));  // -0, which changes nothing
    if (MayAddRow()) {
      const auto* c = reinterpret_cast<const uint16_t*>(block_.output->c) + block_.column + part.n;
      const __m512i row = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(FirstBits(part.columns)), c);
      if (NoneIsTiny(row)) return RoundSums(part, row);
    }
    FinishTile<BFloat16>(part.sums, kRowStep, part.rows, part.columns, *block_.output, block_.row + part.row,
                         block_.column + part.n, *block_.scale);
  }

  HWY_INLINE void CopySums(const Part& part) const {
    const int64_t columns = (part.columns + kTileLanes - 1) / kTileLanes * kTileLanes;
    auto* to = reinterpret_cast<float*>(block_.sums) + part.row * block_.sums_row_step + part.n;
    for (int64_t i = 0; i < part.rows; ++i, to += block_.sums_row_step) {
      std::memcpy(to, part.sums + i * kRowStep, static_cast<size_t>(columns) * sizeof(float));
    }
  }

  /// Whether C is a row, and to be added as it is.
  [[nodiscard]] bool MayAddRow() const {
    const Output& output = *block_.output;
    const Scale& scale = *block_.scale;
    if (is_exact_ || output.y_column_step != 1 || scale.alpha != 1.0f) return false;
    return scale.has_c && scale.beta == 1.0f && output.c_row_step == 0 && output.c_column_step == 1;
  }

  /// Whether numbers are 0 or multiples of the smallest normal number, as sums are: then so is what they add up to,
  /// which is no subnormal number either.
  static HWY_INLINE bool NoneIsTiny(__m512i numbers) {
    constexpr int kLeast = (127 - 126 + 7) << 7;  // 2^-119: of the eight bits that follow the last is worth 2^-126
    const __m512i magnitudes = _mm512_and_si512(numbers, _mm512_set1_epi16(0x7FFF));
    const __m512i less_one = _mm512_sub_epi16(magnitudes, _mm512_set1_epi16(1));
    return _mm512_cmplt_epu16_mask(less_one, _mm512_set1_epi16(kLeast - 1)) == 0;
  }

  /// A row of bfloat16 is added to each of them.
  HWY_INLINE void RoundSums(const Part& part, __m512i row_of_c) const {
    const Output& output = *block_.output;
    const int64_t y_row_step = output.y_row_step;
    auto* y = reinterpret_cast<uint16_t*>(output.y) + (block_.row + part.row) * y_row_step + block_.column + part.n;
    const float* sums = part.sums;
    const auto columns = static_cast<__mmask32>(FirstBits(part.columns));
    const auto widened = [](__m256i half) HWY_ATTR {
      return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
    };
    const __m512 low = widened(_mm512_castsi512_si256(row_of_c));
    const __m512 high = widened(_mm512_extracti64x4_epi64(row_of_c, 1));
    for (int64_t i = part.rows; i > 0; --i, sums += kRowStep, y += y_row_step) {
      const __m512 first = _mm512_add_ps(_mm512_load_ps(sums), low);
      const __m512 second = _mm512_add_ps(_mm512_load_ps(sums + kTileLanes), high);
      _mm512_mask_storeu_epi16(y, columns, RoundToBF16(first, second));
    }
  }

  const TileBlock& block_;
  const int64_t n_, columns_;
  const std::byte* const b_;
  const uint32_t least_b_;
  bool is_exact_ = false;
  alignas(64) float sums_[2 * kTileLanes * kRowStep];
};

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
