// Room: kernels. Products with few columns, as dot products along k (dots-inl.h says in which order they are added), or
// two k at a time (pairs-inl.h).
//
// Lanes along k leave none idle, and A is read once, as it lies; lanes along columns would leave most of them idle.
#pragma once

#include <cstddef>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/portions.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

inline constexpr std::int64_t kColumnsOfPairs = 8;  ///< at most

/// Whether a product is computed so: its type, N, K and the layout of A decide, and neither M nor who packs B.
[[nodiscard]] bool takes_dots(const Problem& problem) noexcept;
/// Whether that is two k at a time.
[[nodiscard]] bool takes_pairs(const Problem& problem) noexcept;

/// Whether the one row of Y, or the few, are computed so, as the columns of Y^T = op(B)^T * op(A)^T: of integers, whose
/// bits no order of additions changes, with k side by side in a B that is not packed. More rows than one with vectors
/// of half a line only.
[[nodiscard]] bool takes_dots_of_rows(const Problem& problem, const Kernels& kernels, bool b_is_packed) noexcept;

/// Columns lie as dots read them: k side by side.
[[nodiscard]] inline bool has_columns_of_dots(const Problem& problem) noexcept { return problem.b_row_step == 1; }

/// From one written column to the next, in elements: each begins a cache line, as A, which lies as it lies, makes loads
/// across two lines enough.
[[nodiscard]] inline std::int64_t column_step_of_dots(const Problem& problem, const Kernels& kernels) noexcept {
  return round_up(problem.k, kLineBytes / kernels.element_bytes);
}

/// The problem of a plan as it is computed.
[[nodiscard]] inline Problem problem_of_dots(const Plan& plan) noexcept {
  if (!plan.schedule.is_swapped) return plan.problem;
  Problem p = swapped(plan.problem);
  p.y_row_step = 1;
  return p;
}

/// Sets the schedule and the workspace of a plan for such a product, of rows if the schedule says that it is swapped.
void plan_dots(Plan& plan, int threads);

/// B in the form that dots read: the columns one after another, or rows in pairs.
[[nodiscard]] std::size_t columns_of_b_bytes(const Problem& problem, const Kernels& kernels) noexcept;
void write_columns_of_b(const Problem& problem, const Kernels& kernels, const std::byte* b, std::byte* columns);

/// run() for such a plan.
void run_dots(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
              std::byte* workspace, const ThreadPool& pool);

}  // namespace binet::kernels::gemm
