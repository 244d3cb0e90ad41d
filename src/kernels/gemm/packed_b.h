// Room: kernels. B packed as a whole: panel by panel, each with all of K; or, if it is small, row by row.
//
// A small B stays in the first-level cache however it lies, and the shortest way to a small product reads B where it
// lies (at_once-inl.h). So it is kept as rows again, but not transposed, and each row is filled up to whole vectors.
// So are few columns, whatever their length, if A is transposed, but with nothing between them.
//
// A last panel of no more columns than a vector has lanes is as narrow as that vector. Where run() packs, panels hold
// accumulators; packed once and kept, they hold elements, of which 16-bit floats are half as large, unless it takes a
// CPU long to widen those.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

/// How packed B lies. Sizes and steps count packed numbers, accumulators or elements.
struct PackedB {
  PackedB() = default;
  PackedB(const Kernels& kernels, std::int64_t n, std::int64_t k) noexcept;

  std::int64_t panels = 0;  ///< of nr columns
  std::int64_t panel_step = 0;
  std::int64_t narrow_width = 0;  ///< of a last, narrow panel, or 0
  std::int64_t size = 0;

  [[nodiscard]] std::int64_t first_narrow_column(const Kernels& kernels) const noexcept { return panels * kernels.nr; }
};

/// Packs op(B) with all its columns, as accumulators or, for `kept`, as elements.
void pack_whole_b(const Problem& problem, const Kernels& kernels, const std::byte* b, std::byte* packed, bool kept,
                  const ThreadPool& pool);

/// The same of what it wrote as elements: they become accumulators.
void widen_whole_b(const Problem& problem, const Kernels& kernels, const std::byte* packed, std::byte* widened,
                   const ThreadPool& pool);

/// The same product of a B whose rows each consist of whole vectors.
[[nodiscard]] Problem with_rows_of_vectors(const Problem& problem, const Kernels& kernels) noexcept;

/// The same of rows that lie a line further apart if they would meet in few sets of the first-level cache.
[[nodiscard]] Problem with_rows_apart(Problem rows, const Kernels& kernels) noexcept;

/// Integers whose packed form is not made of elements (Kernels::in_place): rows and columns of Y, as the reciprocal of
/// their reciprocals' sum, from which packing both operands costs less time than it saves. Of a short k, whose sums
/// soon end, more. So many columns never have that form. (Measured with VNNI and IFMA on Emerald Rapids.)
[[nodiscard]] inline std::int64_t rows_and_columns_to_pack(ElementType type, std::int64_t k,
                                                           bool is_b_transposed = false) noexcept {
  const bool are_64_bits = byte_size(type) == 8;
  const std::int64_t of_short_k = are_64_bits ? 96 : 576;
  const std::int64_t least = are_64_bits || is_b_transposed ? 12 : 20;
  return std::max(of_short_k / std::max<std::int64_t>(k, 1), least);
}
[[nodiscard]] inline bool repays_packing_both(const Problem& p) noexcept {
  // A, which is read more slowly as it lies, is small beside far more columns than rows. A transposed B is not read as
  // it lies, either.
  const std::int64_t of_k = p.n > 4 * p.m ? 2 * p.k : p.k;
  return p.m * p.n >= rows_and_columns_to_pack(p.type, of_k, p.b_column_step != 1) * (p.m + p.n);
}

/// Whether B, packed once and kept, consists of rows: its K, N and type decide, and whether A is transposed, not M.
[[nodiscard]] bool keeps_rows(const Problem& problem, const Kernels& kernels) noexcept;

/// The same product of a B that is kept so.
[[nodiscard]] Problem with_kept_rows(const Problem& problem, const Kernels& kernels) noexcept;

}  // namespace binet::kernels::gemm
