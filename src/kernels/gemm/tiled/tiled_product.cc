// Room: kernels. The loops of a product in tiles: items, strips of columns, ranges of k, and panels that
// meet while they are near.
#include <algorithm>

#include "kernels/gemm/items.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"
#include "kernels/gemm/segments.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/tiled.h"
#include "kernels/gemm/tiled/tiled_b.h"

namespace binet::kernels::gemm {
namespace {

class TiledProduct {
 public:
  TiledProduct(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
               std::byte* workspace)
      : p_(plan.schedule.is_swapped ? swapped(plan.problem) : plan.problem),
        s_(plan.schedule),
        kernels_(*plan.kernels),
        tiled_(*plan.kernels->tiled),
        scale_(make_scale(p_)),
        a_(plan.schedule.is_swapped ? b : a),
        b_(plan.schedule.is_swapped ? a : b),
        workspace_(workspace),
        b_layout_(tiled_, p_.n, p_.k),
        output_{y,
                s_.is_swapped ? 1 : p_.y_row_step,
                s_.is_swapped ? p_.y_row_step : 1,
                c,
                p_.c_row_step,
                p_.c_column_step} {}

  void pack_b(const ThreadPool& pool) {
    b_layout_.pack(p_, kernels_, b_, workspace_, pool);
    b_ = workspace_;
  }

  void compute_item(std::int64_t item, std::int64_t worker) const {
    const std::int64_t items_of_segment = s_.items / s_.segments;
    const Item it(*this, item / items_of_segment, item % items_of_segment, worker);
    if (s_.has_few_rows) return multiply_unpacked(it);
    if (tiled_.begin != nullptr) tiled_.begin(s_.tile_rows);
    for (std::int64_t n = it.column; n < it.end_column; n += s_.strip_columns) {
      for (std::int64_t k = it.k; k < it.end_k; k += s_.kc) multiply_strip(it, n, k);
    }
    if (tiled_.end != nullptr) tiled_.end();
  }

  void add_segments(const ThreadPool& pool) const {
    finish_segments({workspace_ + s_.whole_b_bytes, s_.segments, p_.m, p_.n, s_.sums_row_step}, kernels_, output_,
                    scale_, pool);
  }

 private:
  /// Rows, columns and k of an item, and its worker's part of the workspace.
  struct Item {
    Item(const TiledProduct& product, std::int64_t segment_index, std::int64_t index, std::int64_t worker)
        : segment(segment_index) {
      const Schedule& s = product.s_;
      const Problem& p = product.p_;
      row = index % s.row_items * s.item_rows;
      end_row = std::min(row + s.item_rows, p.m);
      column = index / s.row_items * s.item_columns;
      end_column = std::min(column + s.item_columns, p.n);
      k = segment * s.segment_k;
      end_k = std::min(k + s.segment_k, p.k);
      const std::size_t slot_bytes = s.slot_a_bytes + s.slot_least_bytes + s.slot_b_bytes + s.slot_sums_bytes;
      a = product.workspace_ + s.whole_b_bytes + s.segment_sums_bytes + static_cast<std::size_t>(worker) * slot_bytes;
      if (s.has_few_rows) return;
      least_b = reinterpret_cast<std::uint32_t*>(a + s.slot_a_bytes);
      least_a = least_b + s.strip_columns / panel_lanes(product.tiled_);
      b = a + s.slot_a_bytes + s.slot_least_bytes;
      sums = b + s.slot_b_bytes;
      tiles = end_row - row <= s.tile_rows ? 1 : s.panel_tiles;
      panel_rows = tiles * s.tile_rows;
      panels = ceil_div(end_row - row, panel_rows);
      panel_bytes = panel_rows * bytes_per_lane(product.tiled_, end_k - k);
    }
    std::int64_t segment, row, end_row, column, end_column, k, end_k;
    std::byte *a, *b = nullptr, *sums = nullptr;
    std::uint32_t *least_a = nullptr, *least_b = nullptr;
    std::int64_t tiles = 0, panel_rows = 0, panels = 0, panel_bytes = 0;  ///< of A
  };

  void multiply_unpacked(const Item& it) const {
    UnpackedBlock block;
    block.m = p_.m;
    block.n = it.end_column - it.column;
    block.k = it.end_k - it.k;
    block.a = a_ + it.k * p_.a_column_step * kernels_.element_bytes;
    block.a_row_step = p_.a_row_step;
    block.a_column_step = p_.a_column_step;
    block.b = b_ + (it.k * p_.b_row_step + it.column) * kernels_.element_bytes;
    block.b_row_step = p_.b_row_step;
    block.sums = segment_sums(it, 0, it.column);
    block.sums_row_step = s_.sums_row_step;
    block.column = it.column;
    block.output = s_.segments == 1 ? &output_ : nullptr;
    block.scale = &scale_;
    tiled_.multiply_unpacked(block);
  }

  [[nodiscard]] std::byte* segment_sums(const Item& it, std::int64_t row, std::int64_t column) const {
    const std::int64_t sums = (it.segment * p_.m + row) * s_.sums_row_step + column;
    return workspace_ + s_.whole_b_bytes + sums * kernels_.accumulator_bytes;
  }

  /// All rows of the item, the columns of a strip that begins with n, a range that begins with k.
  void multiply_strip(const Item& it, std::int64_t n, std::int64_t k) const {
    const std::int64_t end_n = std::min(n + s_.strip_columns, it.end_column);
    const std::int64_t range = std::min(s_.kc, it.end_k - k);
    const bool is_strip = s_.b_source == BSource::strips;
    TileBlock block;
    block.k = range;
    block.groups = ceil_div(range, tiled_.k_group);
    block.tile_rows = s_.tile_rows;
    block.first = k == it.k;
    block.last = k + range == it.end_k;
    block.waiting_row_step = s_.strip_columns;
    block.output = s_.segments == 1 ? &output_ : nullptr;
    block.scale = &scale_;
    block.sums_row_step = s_.sums_row_step;
    block.a_passes = it.panels > 1 && s_.near_columns <= panel_lanes(tiled_);
    block.b_panel_bytes = is_strip ? panel_lanes(tiled_) * bytes_per_lane(tiled_, range) : b_layout_.panel_bytes();
    if (is_strip) pack_strip(it, {n, end_n}, {k, k + range}, block.b_panel_bytes);
    const std::int64_t group = k / tiled_.k_group;
    for (std::int64_t near = n; near < end_n; near += block.n) {
      block.column = near;
      const std::int64_t end_near = std::min(near + s_.near_columns, end_n);
      block.n = (is_strip ? end_near : b_layout_.end_of_like_panels(near, end_near, group)) - near;
      const std::int64_t panel = (near - n) / panel_lanes(tiled_);
      if (is_strip) {
        block.b = it.b + panel * block.b_panel_bytes;
        block.least_b = it.least_b + panel;
      } else {
        block.b = b_ + b_layout_.place(near, group);
        block.least_b = b_layout_.least_at(b_, near);
      }
      for (std::int64_t row = it.row; row < it.end_row; row += it.panel_rows) {
        place_a(it, row, k, range, near == it.column, block);
        block.row = row;
        block.waiting = it.sums + ((row - it.row) * s_.strip_columns + near - n) * kernels_.accumulator_bytes;
        block.sums = segment_sums(it, row, near);
        if (!is_strip) fetch(it, row, block);
        tiled_.multiply(block);
      }
    }
  }

  /// The rows of a panel, of a range of k: where they lie, or packed when they are used first.
  void place_a(const Item& it, std::int64_t row, std::int64_t k, std::int64_t range, bool is_first_use,
               TileBlock& block) const {
    const std::int64_t panel = (row - it.row) / it.panel_rows;
    const std::byte* from = a_ + (row * p_.a_row_step + k * p_.a_column_step) * kernels_.element_bytes;
    // Of this range and of those before, whose sums go on: once there may be subnormal ones, they may remain.
    std::uint32_t& least = it.least_a[(k - it.k) / s_.kc * it.panels + panel];
    if (is_first_use) least = k == it.k ? kNoMagnitude : *(&least - it.panels);
    block.m = std::min(it.panel_rows, it.end_row - row);
    if (s_.a_is_direct && block.m % s_.tile_rows == 0) {
      block.a = from;
      block.a_row_bytes = p_.a_row_step * kernels_.element_bytes;
      block.a_tile_bytes = s_.tile_rows * block.a_row_bytes;
      block.a_group_bytes = kTileRowBytes;
      block.scans_a = is_first_use;
    } else {
      const std::int64_t group = (k - it.k) / tiled_.k_group;
      block.scans_a = false;
      block.a_row_bytes = kTileRowBytes;
      block.a_tile_bytes = s_.tile_rows * kTileRowBytes;
      block.a_group_bytes = tiled_.planes * it.tiles * block.a_tile_bytes;
      std::byte* packed = it.a + (s_.a_is_direct ? 0 : panel) * it.panel_bytes + group * block.a_group_bytes;
      block.a = packed;
      if (is_first_use) {
        least = std::min(least, tiled_.pack_a({from, p_.a_row_step, p_.a_column_step, block.m, range, packed,
                                               it.panel_bytes, s_.tile_rows, it.tiles, tiled_.are_vectors}));
      }
    }
    block.least_a = &least;
  }

  /// Of packed B: to the first-level cache a little ahead of the first rows, and while others follow, what is used next
  /// to the second-level cache, if B is so large that it need not be there.
  void fetch(const Item& it, std::int64_t row, TileBlock& block) const {
    constexpr std::int64_t kFarBytes = 512 * 1024;
    block.ahead_bytes = row == it.row ? s_.ahead_bytes : 0;
    block.next_bytes = 0;
    if (it.panels == 1 || static_cast<std::int64_t>(b_layout_.bytes()) <= kFarBytes) return;
    const std::int64_t bytes = round_up(block.n, panel_lanes(tiled_)) * block.groups * tiled_.planes * kTileRowBytes;
    block.next_bytes = round_up(ceil_div(bytes, block.groups * it.panels), kTileRowBytes);
    block.next = block.b + bytes + (row - it.row) / it.panel_rows * block.next_bytes * block.groups;
  }

  void pack_strip(const Item& it, Range columns, Range ks, std::int64_t panel_bytes) const {
    const std::uint32_t least = pack_panels(p_, kernels_, b_, columns, ks, 0, it.b, panel_bytes);
    const std::uint32_t before = ks.begin == it.k ? kNoMagnitude : *it.least_b;
    std::fill_n(it.least_b, ceil_div(columns.end - columns.begin, panel_lanes(tiled_)), std::min(least, before));
  }

  const Problem p_;
  const Schedule& s_;
  const Kernels& kernels_;
  const TiledKernels& tiled_;
  const Scale scale_;
  const std::byte* a_;
  const std::byte* b_;
  std::byte* const workspace_;
  const TiledB b_layout_;
  const Output output_;
};

}  // namespace

void run_tiled(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
               std::byte* workspace, const ThreadPool& pool) {
  TiledProduct product(plan, a, b, c, y, workspace);
  if (plan.schedule.b_source == BSource::whole) product.pack_b(pool);
  run_items(plan.schedule, pool, [&](std::int64_t item, std::int64_t worker) { product.compute_item(item, worker); });
  if (plan.schedule.segments > 1) product.add_segments(pool);
}

}  // namespace binet::kernels::gemm
