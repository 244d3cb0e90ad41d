// Room: kernels, per target. Few rows of A as those who turn B read them: k side by side, and out of the way of B.
#if defined(BINET_KERNELS_GEMM_LOOPS_ROWS_OF_A_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_ROWS_OF_A_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_ROWS_OF_A_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_ROWS_OF_A_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/portions.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// A block of numbers that are not widened and, if that pays, a copy of its A: of columns of A, whose k are not side by
/// side, so that sums can stay in registers; and where `rows_of_b_meet`, with lines in other sets of the cache than
/// those of B at the same k, and half of kAliasBytes further on. Rows that are long, or more than may stay in
/// registers, are left as they lie.
template <class T>
class RowsOfA {
 public:
  RowsOfA(const Block& block, bool rows_of_b_meet) : block_(block) {
    if (block.m > kMostRows || block.m * block.k * kSize > kCopiedBytes) return;
    const bool are_columns = block.a_column_step != 1;
    if (are_columns ? block.n < kFewestColumnsOfB : !rows_of_b_meet) return;
    const int64_t step = round_up(block.k, kAliasBytes / kSize) + kApart / kSize;
    const auto aim = reinterpret_cast<uintptr_t>(block.b) + kAliasBytes / 4 - reinterpret_cast<uintptr_t>(bytes_);
    std::byte* const first = bytes_ + aim % kAliasBytes / kLineBytes * kLineBytes;
    for (int64_t m = 0; m < block.m; ++m) {
      const std::byte* from = block.a + m * block.a_row_step * kSize;
      std::byte* const row = first + m * step * kSize;
      if (are_columns) {
        CopyColumn(from, block.a_column_step, block.k, row);
      } else {
        std::memcpy(row, from, static_cast<size_t>(block.k * kSize));
      }
    }
    block_.a = first;
    block_.a_row_step = step;
    block_.a_column_step = 1;
  }
  [[nodiscard]] const Block& block() const { return block_; }

 private:
  static constexpr int64_t kSize = sizeof(T), kCopiedBytes = 32 * 1024, kApart = 2 * kLineBytes;
  static constexpr int64_t kFewestColumnsOfB = 48;              // for others it takes as long as it saves
  static constexpr int64_t kMostRows = sizeof(T) == 4 ? 4 : 3;  // turned_squares-inl.h

  static void CopyColumn(const std::byte* from, int64_t step, int64_t count, std::byte* to) {
    for (int64_t k = 0; k < count; ++k, from += step * kSize, to += kSize) std::memcpy(to, from, kSize);
  }

  Block block_;
  alignas(64) std::byte bytes_[kAliasBytes + kCopiedBytes + kMostRows * (kAliasBytes + kApart)];
};

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
