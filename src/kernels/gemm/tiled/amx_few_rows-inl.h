// Room: kernels, AVX-512. Few rows of bfloat16, whose B is not packed: that would take longer than the product.
//
// The bits are those of the matrix registers (bf16-inl.h): for 32 rows of B at a time, a chain of the even ones and a
// chain of the odd ones, added to each other and to the sums, which wait in the first-level cache. So B is read once,
// 32 runs of memory side by side. A word of B, two columns, becomes two numbers by a shift and a mask: those of even
// columns stay apart from those of odd ones until all of k is done.
#if defined(BINET_KERNELS_GEMM_TILED_AMX_FEW_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_AMX_FEW_ROWS_INL_H_
#undef BINET_KERNELS_GEMM_TILED_AMX_FEW_ROWS_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_AMX_FEW_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "binet/float16.h"
#include "kernels/gemm/loops/finish-inl.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// Up to kRows rows of Y. Some heights are enough: B takes longer to come than a row too many to be computed.
template <size_t kRows>
class FewRowsOfBF16 {
 public:
  explicit FewRowsOfBF16(const UnpackedBlock& block) : block_(block) {}

  void Multiply() {
    constexpr int64_t kColumnsTogether = int64_t{kSumsBytes / sizeof(float) / kRows} / kColumns * kColumns;
    for (int64_t n = 0; n < block_.n; n += kColumnsTogether) Columns(n, HWY_MIN(kColumnsTogether, block_.n - n));
  }

 private:
  static constexpr size_t kSumsBytes = 16 * 1024;
  static constexpr int64_t kGroup = 32;
  static constexpr int64_t kAhead = 128;                  ///< columns to fetch: more runs than hardware follows
  static constexpr int64_t kStep = 32;                    ///< columns in a vector of B
  static constexpr size_t kVectors = kRows == 1 ? 2 : 1;  ///< at a time: more chains hide the latency
  static constexpr int64_t kColumns = kStep * int64_t{kVectors};

  void Columns(int64_t n, int64_t count) {
    row_step_ = (count + kColumns - 1) / kColumns * kColumns;
    std::memset(sums_, 0, static_cast<size_t>(row_step_) * kRows * sizeof(float));
    const auto* b = reinterpret_cast<const uint16_t*>(block_.b) + n;
    for (int64_t k = 0; k < block_.k; k += kGroup, b += kGroup * block_.b_row_step) {
      const int64_t ks = HWY_MIN(kGroup, block_.k - k);
      WidenA(k, ks);
      int64_t column = 0;
      for (; column + kColumns <= count; column += kColumns) AddGroup<false>(b + column, ks, column, 0);
      if (column < count) AddGroup<true>(b + column, ks, column, count - column);
    }
    for (size_t i = 0; i < kRows; ++i) {
      for (int64_t column = 0; column < row_step_; column += kStep) Interleave(sums_ + int64_t(i) * row_step_ + column);
    }
    if (block_.output == nullptr) {
      auto* to = reinterpret_cast<float*>(block_.sums) + n;
      for (int64_t i = 0; i < block_.m; ++i, to += block_.sums_row_step) {
        std::memcpy(to, sums_ + i * row_step_, static_cast<size_t>(count) * sizeof(float));
      }
    } else {
      FinishTile<BFloat16>(sums_, row_step_, block_.m, count, *block_.output, 0, block_.column + n, *block_.scale);
    }
  }

  void WidenA(int64_t k, int64_t ks) {
    const auto* a = reinterpret_cast<const BFloat16*>(block_.a) + k * block_.a_column_step;
    for (size_t i = 0; i < kRows; ++i) {
      if (static_cast<int64_t>(i) < block_.m && i > 0) a += block_.a_row_step;
      for (int64_t j = 0; j < ks; ++j) a_[j][i] = Widened<float>(a + j * block_.a_column_step);
    }
  }

  /// The products of one group of k for the columns of kVectors vectors.
  template <bool kIsPart>
  HWY_INLINE void AddGroup(const uint16_t* b, int64_t ks, int64_t column, int64_t count) {
    __m512 chains[2][kRows][2 * kVectors];  // of even and of odd k; even and odd columns in turn
    HWY_UNROLL(6)
    for (size_t i = 0; i < kRows; ++i) {
      HWY_UNROLL(6)
      for (size_t j = 0; j < 2 * kVectors; ++j) chains[0][i][j] = chains[1][i][j] = _mm512_setzero_ps();
    }
    int64_t k = 0;
    for (; k + 2 <= ks; k += 2, b += 2 * block_.b_row_step) {
      AddRow<kIsPart>(b, count, a_[k], chains[0]);
      AddRow<kIsPart>(b + block_.b_row_step, count, a_[k + 1], chains[1]);
    }
    if (k < ks) AddRow<kIsPart>(b, count, a_[k], chains[0]);
    HWY_UNROLL(6)
    for (size_t i = 0; i < kRows; ++i) {
      HWY_UNROLL(6)
      for (size_t j = 0; j < 2 * kVectors; ++j) {
        float* sums = sums_ + static_cast<int64_t>(i) * row_step_ + column + static_cast<int64_t>(j) * kTileLanes;
        _mm512_store_ps(sums, _mm512_add_ps(_mm512_load_ps(sums), _mm512_add_ps(chains[0][i][j], chains[1][i][j])));
      }
    }
  }

  template <bool kIsPart>
  HWY_INLINE void AddRow(const uint16_t* b, int64_t count, const float* a, __m512 (&chains)[kRows][2 * kVectors]) {
    HWY_UNROLL(2)
    for (size_t j = 0; j < kVectors; ++j) {
      if constexpr (!kIsPart) hwy::Prefetch(b + kAhead + kStep * static_cast<int64_t>(j));
      const int64_t first = kStep * static_cast<int64_t>(j);
      __m512i words;
      if constexpr (kIsPart) {
        words = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(FirstBits(HWY_MIN(count - first, kStep))), b + first);
      } else {
        words = _mm512_loadu_si512(b + first);
      }
      const __m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
      const __m512 odd = _mm512_castsi512_ps(_mm512_and_si512(words, _mm512_set1_epi32(static_cast<int>(0xFFFF0000u))));
      HWY_UNROLL(6)
      for (size_t i = 0; i < kRows; ++i) {
        const __m512 factor = _mm512_set1_ps(a[i]);
        chains[i][2 * j] = _mm512_fmadd_ps(factor, even, chains[i][2 * j]);
        chains[i][2 * j + 1] = _mm512_fmadd_ps(factor, odd, chains[i][2 * j + 1]);
      }
    }
  }

  /// 16 sums of even columns and 16 of odd ones.
  static HWY_INLINE void Interleave(float* sums) {
    const __m512 even = _mm512_load_ps(sums), odd = _mm512_load_ps(sums + kTileLanes);
    const __m512i first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    _mm512_store_ps(sums, _mm512_permutex2var_ps(even, first, odd));
    _mm512_store_ps(sums + kTileLanes, _mm512_permutex2var_ps(even, second, odd));
  }

  const UnpackedBlock& block_;
  int64_t row_step_ = 0;
  float a_[kGroup][kRows];
  alignas(64) float sums_[kSumsBytes / sizeof(float)];
};

inline void MultiplyFewRowsOfBF16(const UnpackedBlock& block) {
  switch (block.m) {
    case 1:
      return FewRowsOfBF16<1>(block).Multiply();
    case 2:
      return FewRowsOfBF16<2>(block).Multiply();
    case 3:
    case 4:
      return FewRowsOfBF16<4>(block).Multiply();
    default:
      return FewRowsOfBF16<6>(block).Multiply();
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
