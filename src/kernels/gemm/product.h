// Room: kernels. A product by items: blocks of Y and ranges of k, to which A and B are packed or read where they lie.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/scale.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

/// One call of run() that goes by items (Way::items), in the order in which it is computed (Schedule::is_swapped).
class Product {
 public:
  /// `workspace`: plan.workspace_bytes.
  Product(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
          std::byte* workspace);

  /// All of B, before the first item: what BSource::whole and BSource::widened ask for.
  void pack_b(const ThreadPool& pool);
  void widen_b(const ThreadPool& pool);

  /// An item of the schedule: of a segment of k some rows and columns. Items do not wait for each other.
  void compute_item(std::int64_t item, std::int64_t worker) const;

  /// After the last item: the sums of all segments together, and the last step.
  void add_segments(const ThreadPool& pool) const;

 private:
  struct Columns {
    std::int64_t first, count;
  };

  /// A worker's part of the workspace, and the sums of a segment.
  struct Slot {
    Slot(const Product& product, std::int64_t worker, std::int64_t segment);
    std::byte *a, *b, *sums, *segment_sums;
  };

  /// Makes a row of the one element of C.
  void repeat_c(std::byte* row);

  [[nodiscard]] const std::byte* element(const std::byte* base, std::int64_t index) const {
    return base + index * kernels_.element_bytes;
  }

  /// The next columns to be multiplied. Their sums wait in Y, or in a slot that holds those of the item, one such group
  /// of columns after the other.
  void select(Block& block, Columns columns, std::int64_t first_of_item, const Slot& slot) const;
  void place_a(Block& block, std::int64_t k0, const Slot& slot) const;
  void multiply_item(Block& block, Columns all, std::int64_t k0, const Slot& slot) const;
  /// B where it lies. With vectors of half a line, columns before the first line of each of its rows, if all begin one
  /// at the same place, are a strip: a tile's vectors would lie in twice as many lines.
  void multiply_in_place(Block& block, Columns all, std::int64_t k0, const Slot& slot) const;
  [[nodiscard]] std::int64_t columns_before_line(Columns columns) const;
  /// Packed B: its wide panels, all at once or strip by strip, and then the narrow one.
  void multiply_panels(Block& block, Columns all, std::int64_t k0, const Slot& slot) const;
  void multiply_packed(Block& block, std::int64_t k0, std::int64_t width, const Slot& slot) const;
  /// Of B as it was packed: there is kernels_.multiply_row_of_panels() for one row.
  [[nodiscard]] bool has_rows_of_panels() const;
  /// Whether all wide panels meet one row so; on other CPUs tiles, of which none fetches, read them as fast.
  [[nodiscard]] bool reads_panels_side_by_side() const;
  /// How many wide panels of an item are better multiplied together with the narrow one that follows.
  [[nodiscard]] std::int64_t last_panels(std::int64_t m, std::int64_t wide_columns) const;
  void multiply_row_of_panels(Block& block, std::int64_t k0, bool has_narrow) const;
  void widen_panels(Block& block, std::int64_t width, const Slot& slot) const;
  void multiply_direct(Block& block, std::int64_t k0) const;
  /// All rows at once, or some at a time, of which A is read first.
  void multiply_rows(Block& block) const;
  void multiply_strip(Block& block, std::int64_t k0, const Slot& slot) const;

  const Problem p_;
  const Schedule& s_;
  const Kernels& kernels_;
  const Scale scale_;
  const std::byte* a_;
  const std::byte* b_;
  std::byte* const workspace_;
  const PackedB b_layout_;
  Output output_;
};

}  // namespace binet::kernels::gemm
