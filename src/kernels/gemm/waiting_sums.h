// Room: kernels. Sums of few rows that wait near the processor while B streams past, and their last step.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/kernels.h"

namespace binet::kernels::gemm {

/// Columns of a block whose sums wait together, in rows of whole vectors.
struct WaitingColumns {
  std::int64_t first, count, row_step;
};

/// What the sums are: of so many bytes each, and how they become elements of Y.
struct WaitingNumbers {
  std::int64_t bytes, lanes;
  FinishFunction finish;
};

/// Adds the products of some columns to their sums, and may write sums beyond the last column, in its vector.
struct AddToSums {
  const void* of;
  void (*add)(const void* of, const WaitingColumns& columns, std::byte* sums);
};

/// Has products added for as many columns at a time as can wait, between the beginning of their sums and the last step.
void with_waiting_sums(const Block& block, const WaitingNumbers& numbers, const AddToSums& products);

}  // namespace binet::kernels::gemm
