// Room: kernels. The elementwise family: y = a op b over the loops of a broadcast plan.
//
// In: pointers to elements of one of the twelve numeric types, at any alignment, and the loops of a BroadcastPlan. Out:
// the elements of y, contiguous in the order of the loops. Numerics (docs/numerics.md): integers wrap modulo 2^n; f32
// and f64 round once; f16 and bf16 are the exact result rounded once to nearest even, subnormals kept; NaN operands
// give a NaN.
//
// Promised: no allocation while running, no error. Every result depends on its two operands alone, so the bits are the
// same for every target, plan and number of threads (of a NaN only that it is one). y may be a, or b, where the plan
// reads that operand element by element in the order in which y is written (one loop, step 1); any other overlap is the
// caller's mistake.
//
// The way of a call: plan.h decides once, from the loops, what run() then does for any addresses. The two innermost
// loops go to a kernel (rows-inl.h, compiled per type family in kernel_*.cc); short ones are first laid out in small
// tiles (tiles.h, expansion.h).
//
// Not here: shapes and broadcasting rules (tensor/broadcast.h, operators/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/target.h"
#include "binet/element_type.h"
#include "kernels/elementwise/expansion.h"

namespace binet::kernels::elementwise {

/// The operations; the next one is one more name here, one more functor and case in operations-inl.h and in
/// reference.cc.
enum class Operation { multiply, add };

/// The last loops of a plan: `rows` rows of `elements` elements. Within a row a moves with y, and b moves by b_step, 0
/// or 1; from row to row a and b move by their row steps. All steps count elements.
struct Rows {
  std::int64_t rows = 1;
  std::int64_t elements = 0;
  std::int64_t a_row_step = 0;
  std::int64_t b_row_step = 0;
  std::int64_t b_step = 1;
  /// So many times, from places that are the block steps apart; y goes on. For `Kernel::rows` alone, where it takes
  /// them.
  std::int64_t blocks = 1;
  std::int64_t a_block_step = 0;
  std::int64_t b_block_step = 0;
  /// Not null: y is larger than the caches and is neither a nor b, and the rows go on where the task's last ones ended.
  /// A kernel may then write them past the caches with streaming stores, through this line where they are no whole
  /// ones; before another thread may read y, the caller closes the line and calls hwy::FlushStream().
  OpenLine* stream = nullptr;
  /// y is not streamed, but lies beyond the core's own caches: a kernel may fetch its lines before it writes them.
  bool fetch = false;
  /// Operands come from memory, and y is streamed, or is a or b: a kernel may take the rows as two runs
  /// (side_by_side.h).
  bool is_far = false;
};

/// Whether rows are vectors of so many lanes, but so few that loops for many, which compute four at a time and fetch
/// lines, do not pay: all rows, and blocks, of a call are then one loop.
[[nodiscard]] constexpr bool has_few_vectors(const Rows& rows, std::int64_t lanes) noexcept {
  constexpr std::int64_t kFewVectors = 16, kFewVectorsToFetch = 4;
  return rows.elements >= lanes && rows.elements < (rows.fetch ? kFewVectorsToFetch : kFewVectors) * lanes &&
         rows.stream == nullptr;
}

/// Computes rows; y is contiguous.
using RowsFunction = void (*)(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y);

/// Where an operation converts its operands before it computes, and that takes long, those that a broadcast repeats may
/// be converted once for all repetitions.
struct Widening {
  std::int64_t size = 0;  ///< bytes of a converted element; 0: there is no such conversion
  void (*widen)(const std::byte* from, std::int64_t elements, std::byte* to) = nullptr;
  RowsFunction one = nullptr;   ///< with b converted, and moving
  RowsFunction both = nullptr;  ///< with a, too
  std::int64_t together = 0;    ///< bytes of elements that are converted by one instruction
};

/// What one target has for one operation and type.
struct Kernel {
  RowsFunction rows = nullptr;
  std::int64_t lanes = 0;  ///< of its vectors; 0: it computes element by element
  /// For operands in which a short inner loop repeats elements.
  std::span<const Lookup> lookups;
  Widening widening;
  bool lays_out_converted = false;  ///< the lookups are for converted elements
  bool takes_long = false;          ///< more than one quick instruction
  /// Where b stays over a streamed row and a runs on, a line that one row ends and the next begins is computed as one.
  bool joins_spread_rows = false;

  /// Whether `rows` takes several blocks of these at once.
  [[nodiscard]] bool takes_blocks(const Rows& blocks) const noexcept {
    return lanes == 0 || has_few_vectors(blocks, lanes);
  }

  /// Bytes of an element, which has `size`, as the lookups lay it out.
  [[nodiscard]] std::int64_t laid_out_size(std::int64_t size) const noexcept {
    return lays_out_converted ? widening.size : size;
  }
};

/// The kernel for an operation, a numeric type and a target.
[[nodiscard]] Kernel find_kernel(Operation operation, ElementType type, const Target& target);

/// The same function as plain scalar code: what the tests compare with.
[[nodiscard]] RowsFunction reference_kernel(Operation operation, ElementType type);

}  // namespace binet::kernels::elementwise
