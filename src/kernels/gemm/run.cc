// Room: kernels. The outer loops of the matrix product: items of Y, ranges of k, packing (kernels.h, plan.cc).
#include <algorithm>
#include <cstring>

#include "kernels/gemm/dots.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/items.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/parts.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"
#include "kernels/gemm/segments.h"
#include "kernels/gemm/tiled/tiled.h"

namespace binet::kernels::gemm {
namespace {

/// One call of run(), in the order in which it is computed (Schedule::is_swapped).
class Product {
 public:
  Product(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
          std::byte* workspace)
      : p_(plan.schedule.is_swapped ? swapped(plan.problem) : plan.problem),
        s_(plan.schedule),
        kernels_(*plan.kernels),
        scale_(make_scale(p_)),
        a_(plan.schedule.is_swapped ? b : a),
        b_(plan.schedule.is_swapped ? a : b),
        workspace_(workspace),
        b_layout_(has_panels(plan.schedule) ? PackedB(*plan.kernels, p_.n, p_.k) : PackedB()) {
    output_.y = y;
    output_.y_row_step = s_.is_swapped ? 1 : p_.y_row_step;
    output_.y_column_step = s_.is_swapped ? p_.y_row_step : 1;
    output_.c = c;
    output_.c_row_step = p_.c_row_step;
    output_.c_column_step = p_.c_column_step;
    if (s_.repeats_c) repeat_c(workspace + plan.workspace_bytes - bytes_of_repeated_c(p_, kernels_));
  }

  void pack_b(const ThreadPool& pool) {
    pack_whole_b(p_, kernels_, b_, workspace_, false, pool);
    b_ = workspace_;
  }

  void widen_b(const ThreadPool& pool) {
    widen_whole_b(p_, kernels_, b_, workspace_, pool);
    b_ = workspace_;
  }

  void compute_item(std::int64_t item, std::int64_t worker) const {
    std::int64_t segment = 0, column = 0;
    Block block;
    if (s_.items > 1) {  // divisions that a small product would notice
      const std::int64_t items_of_segment = s_.items / s_.segments;
      segment = item / items_of_segment;
      item %= items_of_segment;
      block.row = item % s_.row_items * s_.item_rows;
      column = item / s_.row_items * s_.item_columns;
    }
    block.m = std::min(s_.item_rows, p_.m - block.row);
    block.output = &output_;
    block.scale = &scale_;
    block.goes_by_rows = s_.goes_by_rows;
    block.ends_in_halves = s_.ends_in_halves;
    block.near_b = s_.near_b;
    block.leaves_b_to_hardware = s_.leaves_b_to_hardware;
    const Columns columns = {column, std::min(s_.item_columns, p_.n - column)};
    const Slot slot(*this, worker, segment);

    const std::int64_t first_k = segment * s_.segment_k;
    const std::int64_t end_k = std::min(first_k + s_.segment_k, p_.k);
    for (std::int64_t k0 = first_k; k0 < end_k; k0 += s_.kc) {
      block.k = std::min(s_.kc, end_k - k0);
      block.first = k0 == first_k;
      block.last = k0 + block.k == end_k && s_.segments == 1;
      place_a(block, k0, slot);
      multiply_item(block, columns, k0, slot);
    }
  }

  void add_segments(const ThreadPool& pool) const {
    finish_segments({workspace_ + s_.whole_b_bytes, s_.segments, p_.m, p_.n, s_.sums_row_step}, kernels_, output_,
                    scale_, pool);
  }

 private:
  /// Makes a row of the one element of C.
  void repeat_c(std::byte* row) {
    const std::int64_t bytes = p_.n * kernels_.element_bytes;
    std::memcpy(row, output_.c, static_cast<std::size_t>(kernels_.element_bytes));
    for (std::int64_t done = kernels_.element_bytes; done < bytes; done *= 2) {
      std::memcpy(row + done, row, static_cast<std::size_t>(std::min(done, bytes - done)));
    }
    output_.c = row;
    output_.c_column_step = 1;
  }

  static bool has_panels(const Schedule& s) { return s.b_source != BSource::strips && s.b_source != BSource::direct; }

  struct Columns {
    std::int64_t first, count;
  };

  /// A worker's part of the workspace, and the sums of a segment.
  struct Slot {
    Slot(const Product& product, std::int64_t worker, std::int64_t segment) {
      const Schedule& s = product.s_;
      const std::size_t bytes = s.slot_a_bytes + s.slot_b_bytes + s.slot_sums_bytes;
      segment_sums = product.workspace_ + s.whole_b_bytes;
      a = segment_sums + s.segment_sums_bytes + static_cast<std::size_t>(worker) * bytes;
      b = a + s.slot_a_bytes;
      sums = b + s.slot_b_bytes;
      segment_sums += segment * product.p_.m * s.sums_row_step * product.kernels_.accumulator_bytes;
    }
    std::byte *a, *b, *sums, *segment_sums;
  };

  [[nodiscard]] const std::byte* element(const std::byte* base, std::int64_t index) const {
    return base + index * kernels_.element_bytes;
  }

  /// The next columns to be multiplied. Their sums wait in Y, or in a slot that holds those of the item, one such group
  /// of columns after the other.
  void select(Block& block, Columns columns, std::int64_t first_of_item, const Slot& slot) const {
    block.column = columns.first;
    block.n = columns.count;
    if (block.first && block.last) return;
    if (s_.segments > 1) {
      block.sums = slot.segment_sums + (block.row * s_.sums_row_step + columns.first) * kernels_.accumulator_bytes;
      block.sums_row_step = s_.sums_row_step;
    } else if (s_.sums_in_slot) {
      block.sums = slot.sums + (columns.first - first_of_item) * s_.item_rows * kernels_.accumulator_bytes;
      block.sums_row_step = round_up(columns.count, kernels_.lanes);
    } else {
      block.sums = output_.y + (block.row * output_.y_row_step + columns.first) * kernels_.element_bytes;
      block.sums_row_step = output_.y_row_step;
    }
  }

  void place_a(Block& block, std::int64_t k0, const Slot& slot) const {
    const std::byte* from = element(a_, block.row * p_.a_row_step + k0 * p_.a_column_step);
    block.a_panel_rows = s_.tile_rows;
    if (s_.a_is_direct) {
      block.a = from;
      block.a_row_step = p_.a_row_step;
      block.a_column_step = p_.a_column_step;
      return;
    }
    block.a = slot.a;
    if (s_.a_is_widened) {
      block.a_row_step = s_.a_line_step;
      block.a_column_step = 1;
      return kernels_.widen_lines(from, p_.a_row_step, block.m, block.k, slot.a, s_.a_line_step);
    }
    block.a_is_packed = true;
    block.a_panel_step = kernels_.a_width * packed_rows_of_a(kernels_, block.k);
    block.a_row_step = 1;
    block.a_column_step = kernels_.a_width;
    kernels_.pack_a(
        {from, p_.a_row_step, p_.a_column_step, block.m, block.k, slot.a, block.a_panel_step, s_.tile_rows});
  }

  void multiply_item(Block& block, Columns all, std::int64_t k0, const Slot& slot) const {
    switch (s_.b_source) {
      case BSource::given:
      case BSource::widened:
      case BSource::whole:
        return multiply_panels(block, all, k0, slot);
      case BSource::strips:
        for (std::int64_t n = 0; n < all.count; n += s_.strip_columns) {
          select(block, {all.first + n, std::min(s_.strip_columns, all.count - n)}, all.first, slot);
          multiply_strip(block, k0, slot);
        }
        return;
      case BSource::direct:
        const bool takes_any_columns = kernels_.takes_any_columns || s_.turns_b;
        std::int64_t whole_vectors = takes_any_columns ? all.count : all.count / kernels_.lanes * kernels_.lanes;
        // A tile as wide as a panel takes hardly longer than one of half of it.
        const bool ends_in_panel = whole_vectors < all.count && whole_vectors % kernels_.nr != 0;
        if (ends_in_panel && !takes_any_columns) whole_vectors -= kernels_.lanes;
        // Sums of few columns, which lie together, pass through the first-level cache as one run.
        const std::int64_t together = s_.b_is_far || s_.goes_by_rows ? s_.strip_columns : whole_vectors;
        for (std::int64_t n = 0; n < whole_vectors; n += together) {
          select(block, {all.first + n, std::min(together, whole_vectors - n)}, all.first, slot);
          multiply_direct(block, k0);
        }
        if (whole_vectors < all.count) {
          select(block, {all.first + whole_vectors, all.count - whole_vectors}, all.first, slot);
          multiply_strip(block, k0, slot);
        }
        return;
    }
  }

  /// Packed B: its wide panels, all at once or strip by strip, and then the narrow one.
  void multiply_panels(Block& block, Columns all, std::int64_t k0, const Slot& slot) const {
    std::int64_t end_of_wide = all.first + all.count;
    if (b_layout_.narrow_width > 0) end_of_wide = std::min(end_of_wide, b_layout_.first_narrow_column(kernels_));
    const std::int64_t together = s_.widens_b || s_.goes_by_rows ? s_.strip_columns : all.count;
    for (std::int64_t n = all.first; n < end_of_wide; n += together) {
      select(block, {n, std::min(together, end_of_wide - n)}, all.first, slot);
      multiply_packed(block, k0, kernels_.nr, slot);
    }
    if (end_of_wide < all.first + all.count) {
      select(block, {end_of_wide, all.first + all.count - end_of_wide}, all.first, slot);
      multiply_packed(block, k0, b_layout_.narrow_width, slot);
    }
  }

  void multiply_packed(Block& block, std::int64_t k0, std::int64_t width, const Slot& slot) const {
    const bool is_kept = s_.b_source == BSource::given;
    const std::int64_t bytes = is_kept ? kernels_.kept_bytes : kernels_.accumulator_bytes;
    const std::int64_t rows_before = packed_rows_of_b(kernels_, k0);
    block.b_is_packed = true;
    block.b_is_kept = is_kept;
    block.b_panel_step = b_layout_.panel_step;
    block.b_row_step = width;
    block.b = b_ + (block.column / kernels_.nr * b_layout_.panel_step + rows_before * width) * bytes;
    if (s_.widens_b) widen_panels(block, width, slot);
    kernels_.multiply(block);
  }

  void widen_panels(Block& block, std::int64_t width, const Slot& slot) const {
    const std::int64_t count = block.k * width;
    std::byte* to = slot.b;
    for (std::int64_t n = 0; n < block.n; n += width, to += count * kernels_.accumulator_bytes) {
      kernels_.widen(block.b + n / width * block.b_panel_step * kernels_.kept_bytes, count, to);
    }
    block.b = slot.b;
    block.b_is_kept = false;
    block.b_panel_step = count;
  }

  void multiply_direct(Block& block, std::int64_t k0) const {
    block.b_is_packed = false;
    block.b_panel_step = kernels_.nr;
    block.b_row_step = p_.b_row_step;
    block.b = element(b_, k0 * p_.b_row_step + block.column * p_.b_column_step);
    block.b_column_step = p_.b_column_step;
    if (s_.turns_b) return kernels_.multiply_turned(block);
    if (s_.has_few_rows) return kernels_.multiply_few_rows(block);
    kernels_.multiply(block);
  }

  void multiply_strip(Block& block, std::int64_t k0, const Slot& slot) const {
    const bool is_narrow = block.n <= kernels_.lanes;
    const std::int64_t width = is_narrow ? kernels_.lanes : kernels_.nr;
    block.b_is_packed = true;
    block.b_panel_step = packed_rows_of_b(kernels_, block.k) * width;
    block.b_row_step = width;
    block.b = slot.b;
    const std::byte* from = element(b_, k0 * p_.b_row_step + block.column * p_.b_column_step);
    const auto pack = is_narrow ? kernels_.pack_narrow_b : kernels_.pack_b;
    const Packing packing = {from,    p_.b_column_step, p_.b_row_step,      block.n,
                             block.k, slot.b,           block.b_panel_step, width};
    if (s_.tiles_pack_b && !is_narrow) return kernels_.pack_and_multiply(block, packing);
    const bool is_one_panel_of_lines = block.n <= width && p_.b_column_step == 1;
    if (kernels_.widen_lines != nullptr && is_one_panel_of_lines) {
      kernels_.widen_lines(from, p_.b_row_step, block.k, block.n, slot.b, width);
    } else {
      pack(packing);
    }
    kernels_.multiply(block);
  }

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

/// B as the rows that the problem of the plan has, in the end of the workspace.
const std::byte* turn_rows_of_b(const Plan& plan, const std::byte* b, std::byte* workspace) {
  const Problem& p = plan.problem;
  std::byte* const rows = workspace + plan.workspace_bytes - p.k * p.b_row_step * plan.kernels->element_bytes;
  plan.kernels->turn_rows({b, plan.schedule.b_lane_step, 1, p.n, p.k, rows, p.b_row_step, 0});
  return rows;
}

/// Not a part of run(), which would save registers for it.
[[gnu::noinline]] void run_rows_at_once(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c,
                                        std::byte* y, std::byte* workspace, const ThreadPool& pool) {
  const Problem& p = plan.problem;
  const Schedule& s = plan.schedule;
  if (s.b_lane_step != 0) b = turn_rows_of_b(plan, b, workspace);
  const std::int64_t slot_bytes = static_cast<std::int64_t>(s.slot_a_bytes + s.slot_b_bytes + s.slot_sums_bytes);
  const std::int64_t bytes = plan.kernels->element_bytes;
  run_items(s, pool, [&](std::int64_t item, std::int64_t worker) {
    const std::int64_t end = std::min(p.m, (item + 1) * s.item_rows);
    const std::int64_t together = s.block_rows == 0 ? s.item_rows : s.block_rows;
    Problem rows = p;
    for (std::int64_t row = item * s.item_rows; row < end; row += together) {
      rows.m = std::min(together, end - row);
      const std::byte* const c_of_rows = c == nullptr ? nullptr : c + row * p.c_row_step * bytes;
      plan.kernels->multiply_at_once(rows, s, a + row * p.a_row_step * bytes, b, c_of_rows,
                                     y + row * p.y_row_step * bytes, workspace + worker * slot_bytes);
    }
  });
}

/// Nor this.
[[gnu::noinline]] void run_items_of(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c,
                                    std::byte* y, std::byte* workspace, const ThreadPool& pool) {
  Product product(plan, a, b, c, y, workspace);
  if (plan.schedule.b_source == BSource::whole) product.pack_b(pool);
  if (plan.schedule.b_source == BSource::widened) product.widen_b(pool);
  run_items(plan.schedule, pool, [&](std::int64_t item, std::int64_t worker) { product.compute_item(item, worker); });
  if (plan.schedule.segments > 1) product.add_segments(pool);
}

}  // namespace

// Small products take little longer than the calls on their way: here nothing but the choice, and no registers to save.
void run(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
         std::byte* workspace, const ThreadPool& pool) {
  switch (plan.way) {
    case Way::nothing:
      return;
    case Way::without_k:
      return run_reference(plan.problem, a, b, c, y);
    case Way::dots:
      return run_dots(plan, a, b, c, y, workspace, pool);
    case Way::parts:
      return run_parts(plan, a, b, c, y, workspace, pool);
    case Way::tiled:
      return run_tiled(plan, a, b, c, y, workspace, pool);
    case Way::at_once:
      return plan.kernels->multiply_at_once(plan.problem, plan.schedule, a, b, c, y, workspace);
    case Way::rows_at_once:
      return run_rows_at_once(plan, a, b, c, y, workspace, pool);
    case Way::items:
      return run_items_of(plan, a, b, c, y, workspace, pool);
  }
}

}  // namespace binet::kernels::gemm
