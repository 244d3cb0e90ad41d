// Room: kernels. The outer loops of the matrix product: items of Y, ranges of k, packing (kernels.h, plan.cc).
#include <algorithm>
#include <atomic>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/scale.h"

namespace binet::kernels::gemm {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

void pack_all_b(const Problem& problem, const Kernels& kernels, const std::byte* b, std::byte* packed,
                const ThreadPool& pool) {
  const std::int64_t panel_rows = packed_rows_of_b(kernels, problem.k);
  // A block of few rows and many columns: its pages stay in the TLB, its rows are runs of memory.
  const std::int64_t columns = 8 * kernels.nr;
  pool.run(ceil_div(problem.n, columns), [&](std::int64_t task) {
    const std::int64_t n = task * columns;
    for (std::int64_t k = 0; k < problem.k; k += kernels.kc) {
      Packing packing;
      packing.from = b + (k * problem.b_row_step + n * problem.b_column_step) * kernels.element_bytes;
      packing.lane_step = problem.b_column_step;
      packing.k_step = problem.b_row_step;
      packing.lanes = std::min(columns, problem.n - n);
      packing.k = std::min(kernels.kc, problem.k - k);
      packing.to = packed + (n * panel_rows + packed_rows_of_b(kernels, k) * kernels.nr) * kernels.accumulator_bytes;
      packing.panel_step = panel_rows * kernels.nr;
      packing.panel_lanes = kernels.nr;
      kernels.pack_b(packing);
    }
  });
}

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
        workspace_(workspace) {
    output_.y = y;
    output_.y_row_step = s_.is_swapped ? 1 : p_.n;
    output_.y_column_step = s_.is_swapped ? p_.m : 1;
    output_.c = c;
    output_.c_row_step = p_.c_row_step;
    output_.c_column_step = p_.c_column_step;
  }

  void pack_whole_b(const ThreadPool& pool) {
    pack_all_b(p_, kernels_, b_, workspace_, pool);
    b_ = workspace_;
  }

  void compute_item(std::int64_t item, std::int64_t worker) const {
    Block block;
    block.row = item % s_.row_items * s_.item_rows;
    block.m = std::min(s_.item_rows, p_.m - block.row);
    block.output = &output_;
    block.scale = &scale_;
    const std::int64_t column = item / s_.row_items * s_.item_columns;
    const Columns columns = {column, std::min(s_.item_columns, p_.n - column)};
    const Slot slot(*this, worker);

    for (std::int64_t k0 = 0; k0 < p_.k; k0 += s_.kc) {
      block.k = std::min(s_.kc, p_.k - k0);
      block.first = k0 == 0;
      block.last = k0 + block.k == p_.k;
      place_a(block, k0, slot);
      multiply_item(block, columns, k0, slot);
    }
  }

 private:
  struct Columns {
    std::int64_t first, count;
  };

  /// A worker's part of the workspace.
  struct Slot {
    Slot(const Product& product, std::int64_t worker) {
      const Schedule& s = product.s_;
      const std::size_t bytes = s.slot_a_bytes + s.slot_b_bytes + s.slot_sums_bytes;
      a = product.workspace_ + s.whole_b_bytes + static_cast<std::size_t>(worker) * bytes;
      b = a + s.slot_a_bytes;
      sums = b + s.slot_b_bytes;
    }
    std::byte *a, *b, *sums;
  };

  [[nodiscard]] const std::byte* element(const std::byte* base, std::int64_t index) const {
    return base + index * kernels_.element_bytes;
  }

  /// The next columns to be multiplied. Their sums wait in Y, or in a slot that holds those of the item.
  void select(Block& block, Columns columns, std::int64_t first_of_item, const Slot& slot) const {
    block.column = columns.first;
    block.n = columns.count;
    if (block.first && block.last) return;
    if (s_.sums_in_slot) {
      block.sums = slot.sums + (columns.first - first_of_item) * kernels_.accumulator_bytes;
      block.sums_row_step = s_.item_columns;
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
      case BSource::whole:
        select(block, all, all.first, slot);
        return multiply_packed(block, k0);
      case BSource::strips:
        for (std::int64_t n = 0; n < all.count; n += s_.strip_columns) {
          select(block, {all.first + n, std::min(s_.strip_columns, all.count - n)}, all.first, slot);
          multiply_strip(block, k0, slot);
        }
        return;
      case BSource::direct:
        const std::int64_t whole_vectors =
            kernels_.takes_any_columns ? all.count : all.count / kernels_.lanes * kernels_.lanes;
        if (whole_vectors > 0) {
          select(block, {all.first, whole_vectors}, all.first, slot);
          multiply_direct(block, k0);
        }
        if (whole_vectors < all.count) {
          select(block, {all.first + whole_vectors, all.count - whole_vectors}, all.first, slot);
          multiply_strip(block, k0, slot);
        }
        return;
    }
  }

  void multiply_packed(Block& block, std::int64_t k0) const {
    block.b_is_packed = true;
    block.b_panel_step = packed_rows_of_b(kernels_, p_.k) * kernels_.nr;
    block.b_row_step = kernels_.nr;
    const std::int64_t panel = block.column / kernels_.nr;
    const std::int64_t rows_before = packed_rows_of_b(kernels_, k0);
    block.b = b_ + (panel * block.b_panel_step + rows_before * kernels_.nr) * kernels_.accumulator_bytes;
    kernels_.multiply(block);
  }

  void multiply_direct(Block& block, std::int64_t k0) const {
    block.b_is_packed = false;
    block.b_panel_step = kernels_.nr;
    block.b_row_step = p_.b_row_step;
    block.b = element(b_, k0 * p_.b_row_step + block.column * p_.b_column_step);
    kernels_.multiply(block);
  }

  void multiply_strip(Block& block, std::int64_t k0, const Slot& slot) const {
    block.b_is_packed = true;
    block.b_panel_step = packed_rows_of_b(kernels_, block.k) * kernels_.nr;
    block.b_row_step = kernels_.nr;
    block.b = slot.b;
    const std::byte* from = element(b_, k0 * p_.b_row_step + block.column * p_.b_column_step);
    kernels_.pack_b({from, p_.b_column_step, p_.b_row_step, block.n, block.k, slot.b, block.b_panel_step, kernels_.nr});
    kernels_.multiply(block);
  }

  const Problem p_;
  const Schedule& s_;
  const Kernels& kernels_;
  const Scale scale_;
  const std::byte* a_;
  const std::byte* b_;
  std::byte* const workspace_;
  Output output_;
};

}  // namespace

std::size_t packed_b_bytes(ElementType type, std::int64_t n, std::int64_t k, const Target& target) {
  const Kernels& kernels = *find_kernels(type, target);
  return static_cast<std::size_t>(ceil_div(n, kernels.nr) * kernels.nr * packed_rows_of_b(kernels, k) *
                                  kernels.accumulator_bytes);
}

void pack_b(const Problem& problem, const Target& target, const std::byte* b, std::byte* packed,
            const ThreadPool& pool) {
  pack_all_b(problem, *find_kernels(problem.type, target), b, packed, pool);
}

void run(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
         std::byte* workspace, const ThreadPool& pool) {
  if (plan.problem.m == 0 || plan.problem.n == 0) return;
  // Nothing to add up, and operands without elements, whose pointers may be null.
  if (plan.problem.k == 0) return run_reference(plan.problem, a, b, c, y);
  Product product(plan, a, b, c, y, workspace);
  if (plan.schedule.b_source == BSource::whole) {
    product.pack_whole_b(pool);
  }

  const std::int64_t items = plan.schedule.items;
  if (plan.schedule.workers == 1) {
    for (std::int64_t item = 0; item < items; ++item) product.compute_item(item, 0);
    return;
  }
  std::atomic<std::int64_t> next{0};
  pool.run(plan.schedule.workers, [&](std::int64_t worker) {
    for (std::int64_t item = next++; item < items; item = next++) product.compute_item(item, worker);
  });
}

}  // namespace binet::kernels::gemm
