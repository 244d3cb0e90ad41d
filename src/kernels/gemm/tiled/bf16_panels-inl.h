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
#include "kernels/gemm/finish-inl.h"
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
    if (MayRound()) return RoundSums(part);
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

  HWY_INLINE void RoundSums(const Part& part) const {
    const Output& output = *block_.output;
    const int64_t y_row_step = output.y_row_step;
    auto* y = reinterpret_cast<uint16_t*>(output.y) + (block_.row + part.row) * y_row_step + block_.column + part.n;
    const float* sums = part.sums;
    const auto columns = static_cast<__mmask32>(FirstBits(part.columns));
    for (int64_t i = part.rows; i > 0; --i, sums += kRowStep, y += y_row_step) {
      _mm512_mask_storeu_epi16(y, columns, RoundToBF16(_mm512_load_ps(sums), _mm512_load_ps(sums + kTileLanes)));
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
