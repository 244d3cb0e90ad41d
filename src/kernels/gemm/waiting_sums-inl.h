// Room: kernels, per target. Sums of few rows that wait near the processor while B streams past, and their last step.
#if defined(BINET_KERNELS_GEMM_WAITING_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_WAITING_SUMS_INL_H_
#undef BINET_KERNELS_GEMM_WAITING_SUMS_INL_H_
#else
#define BINET_KERNELS_GEMM_WAITING_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/gemm/finish-inl.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/microkernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums that wait at a time: beside them B passes through the first-level cache.
constexpr size_t kWaitingBytes = 32 * 1024;

/// Columns of a block whose sums wait together, in rows of whole vectors.
struct Columns {
  int64_t first, count, row_step;
};

/// Calls add(columns, sums) for as many columns at a time as can wait, between the beginning of their sums and the last
/// step; add() may write sums beyond the last column, in its vector.
template <class Element, class T, class Add>
HWY_INLINE void WithWaitingSums(const Block& block, const Add& add) {
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  alignas(64) T sums[kWaitingBytes / sizeof(T)];
  const int64_t together = static_cast<int64_t>(kWaitingBytes / sizeof(T)) / block.m / kLanes * kLanes;
  for (int64_t n = 0; n < block.n; n += together) {
    const int64_t count = HWY_MIN(together, block.n - n);
    const Columns columns = {n, count, (count + kLanes - 1) / kLanes * kLanes};
    const auto waiting_row = [&](int64_t m) HWY_ATTR {
      return reinterpret_cast<T*>(block.sums) + m * block.sums_row_step + columns.first;
    };
    const auto row_bytes = static_cast<size_t>(count) * sizeof(T);
    std::memset(sums, 0, static_cast<size_t>(block.m * columns.row_step) * sizeof(T));
    for (int64_t m = 0; !block.first && m < block.m; ++m) {
      std::memcpy(sums + m * columns.row_step, waiting_row(m), row_bytes);
    }
    add(columns, static_cast<T*>(sums));
    for (int64_t m = 0; !block.last && m < block.m; ++m) {
      std::memcpy(waiting_row(m), sums + m * columns.row_step, row_bytes);
    }
    if (block.last) {
      FinishTile<Element>(static_cast<const T*>(sums), columns.row_step, block.m, count, *block.output, block.row,
                          block.column + n, *block.scale);
    }
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
