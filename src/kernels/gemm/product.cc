#include "kernels/gemm/product.h"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/items.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/read_lines.h"
#include "kernels/gemm/segments.h"

namespace binet::kernels::gemm {
namespace {

bool has_panels(const Schedule& s) { return s.b_source != BSource::strips && s.b_source != BSource::direct; }

}  // namespace

Product::Product(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
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

void Product::pack_b(const ThreadPool& pool) {
  pack_whole_b(p_, kernels_, b_, workspace_, false, pool);
  b_ = workspace_;
}

void Product::widen_b(const ThreadPool& pool) {
  widen_whole_b(p_, kernels_, b_, workspace_, pool);
  b_ = workspace_;
}

void Product::compute_item(std::int64_t item, std::int64_t worker) const {
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
  block.turns_two_groups = s_.turns_two_groups;
  block.staggers_groups = s_.staggers_groups;
  block.fetched = s_.fetched;
  block.ahead_bytes = s_.ahead_bytes;
  block.rows_of_b = s_.rows_of_b;
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

void Product::add_segments(const ThreadPool& pool) const {
  finish_segments({workspace_ + s_.whole_b_bytes, s_.segments, p_.m, p_.n, s_.sums_row_step}, kernels_, output_, scale_,
                  pool);
}

void Product::repeat_c(std::byte* row) {
  const std::int64_t bytes = p_.n * kernels_.element_bytes;
  std::memcpy(row, output_.c, static_cast<std::size_t>(kernels_.element_bytes));
  for (std::int64_t done = kernels_.element_bytes; done < bytes; done *= 2) {
    std::memcpy(row + done, row, static_cast<std::size_t>(std::min(done, bytes - done)));
  }
  output_.c = row;
  output_.c_column_step = 1;
}

Product::Slot::Slot(const Product& product, std::int64_t worker, std::int64_t segment) {
  const Schedule& s = product.s_;
  const std::size_t bytes = s.slot_a_bytes + s.slot_b_bytes + s.slot_sums_bytes;
  segment_sums = product.workspace_ + s.whole_b_bytes;
  a = segment_sums + s.segment_sums_bytes + static_cast<std::size_t>(worker) * bytes;
  b = a + s.slot_a_bytes;
  sums = b + s.slot_b_bytes;
  segment_sums += segment * product.p_.m * s.sums_row_step * product.kernels_.accumulator_bytes;
}

void Product::select(Block& block, Columns columns, std::int64_t first_of_item, const Slot& slot) const {
  block.column = columns.first;
  block.n = columns.count;
  if (block.first && block.last) return;
  if (s_.segments > 1) {
    block.sums = slot.segment_sums + (block.row * s_.sums_row_step + columns.first) * kernels_.accumulator_bytes;
    block.sums_row_step = s_.sums_row_step;
  } else if (s_.sums_in_slot) {
    const std::int64_t before = round_up(columns.first - first_of_item, kernels_.lanes);
    block.sums = slot.sums + before * s_.item_rows * kernels_.accumulator_bytes;
    block.sums_row_step = round_up(columns.count, kernels_.lanes);
  } else {
    block.sums = output_.y + (block.row * output_.y_row_step + columns.first) * kernels_.element_bytes;
    block.sums_row_step = output_.y_row_step;
  }
}

void Product::place_a(Block& block, std::int64_t k0, const Slot& slot) const {
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
  kernels_.pack_a({from, p_.a_row_step, p_.a_column_step, block.m, block.k, slot.a, block.a_panel_step, s_.tile_rows});
}

void Product::multiply_item(Block& block, Columns all, std::int64_t k0, const Slot& slot) const {
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
      return multiply_in_place(block, all, k0, slot);
  }
}

std::int64_t Product::columns_before_line(Columns columns) const {
  constexpr std::int64_t kLeastBytes = 128 * 1024;
  const std::int64_t bytes = kernels_.element_bytes;
  const bool has_halves_of_lines = kernels_.lanes * bytes == kLineBytes / 2 && kernels_.nr * bytes >= kLineBytes;
  if (!has_halves_of_lines || bytes != kernels_.accumulator_bytes || s_.turns_b || s_.segments > 1 ||
      p_.b_column_step != 1 || p_.b_row_step * bytes % kLineBytes != 0 || columns.count * p_.k * bytes < kLeastBytes) {
    return 0;
  }
  const auto place = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(element(b_, columns.first)));
  const std::int64_t before = place % bytes == 0 ? (-place & (kLineBytes - 1)) / bytes : 0;
  return before < columns.count ? before : 0;  // a part of a product may have fewer columns than B's rows
}

void Product::multiply_in_place(Block& block, Columns all, std::int64_t k0, const Slot& slot) const {
  const std::int64_t first = all.first, end = all.first + all.count;
  std::int64_t n = first + columns_before_line(all);
  if (n > first) {
    select(block, {first, n - first}, first, slot);
    multiply_strip(block, k0, slot);
  }
  const bool takes_any_columns = kernels_.takes_any_columns || s_.turns_b;
  std::int64_t whole_vectors = takes_any_columns ? end - n : (end - n) / kernels_.lanes * kernels_.lanes;
  // A tile as wide as a panel takes hardly longer than one of half of it.
  const bool ends_in_panel = whole_vectors < end - n && whole_vectors % kernels_.nr != 0;
  if (ends_in_panel && !takes_any_columns) whole_vectors -= kernels_.lanes;
  // Sums of few columns, which lie together, pass through the first-level cache as one run.
  const std::int64_t together = s_.b_is_far || s_.goes_by_rows ? s_.strip_columns : whole_vectors;
  const std::int64_t end_of_whole = n + whole_vectors;
  for (; n < end_of_whole; n += together) {
    select(block, {n, std::min(together, end_of_whole - n)}, first, slot);
    multiply_direct(block, k0);
  }
  if (end_of_whole == end) return;
  select(block, {end_of_whole, end - end_of_whole}, first, slot);
  multiply_strip(block, k0, slot);
}

void Product::multiply_panels(Block& block, Columns all, std::int64_t k0, const Slot& slot) const {
  std::int64_t end_of_wide = all.first + all.count;
  if (b_layout_.narrow_width > 0) end_of_wide = std::min(end_of_wide, b_layout_.first_narrow_column(kernels_));
  const std::int64_t end = all.first + all.count;
  const std::int64_t last = end_of_wide < end ? last_panels(block.m, end_of_wide - all.first) : 0;
  end_of_wide -= last * kernels_.nr;
  if (block.m == 1 && reads_panels_side_by_side()) {
    select(block, {all.first, end_of_wide - all.first}, all.first, slot);
    multiply_row_of_panels(block, k0, false);
  } else {
    const std::int64_t together = s_.widens_b || s_.goes_by_rows ? s_.strip_columns : all.count;
    for (std::int64_t n = all.first; n < end_of_wide; n += together) {
      select(block, {n, std::min(together, end_of_wide - n)}, all.first, slot);
      multiply_packed(block, k0, kernels_.nr, slot);
    }
  }
  if (end_of_wide == end) return;
  select(block, {end_of_wide, end - end_of_wide}, all.first, slot);
  if (last > 0) return multiply_row_of_panels(block, k0, true);
  multiply_packed(block, k0, b_layout_.narrow_width, slot);
}

bool Product::has_rows_of_panels() const { return kernels_.multiply_row_of_panels != nullptr && !s_.widens_b; }

bool Product::reads_panels_side_by_side() const { return has_rows_of_panels() && !s_.leaves_b_to_hardware; }

std::int64_t Product::last_panels(std::int64_t m, std::int64_t wide_columns) const {
  if (m > 1 || !has_rows_of_panels()) return 0;
  const std::int64_t panels = wide_columns / kernels_.nr;
  if (reads_panels_side_by_side()) return std::min(panels, kernels_.most_last_panels);
  // What whole tiles leave.
  return panels == 0 ? 0 : (panels - 1) % kernels_.most_last_panels + 1;
}

void Product::multiply_row_of_panels(Block& block, std::int64_t k0, bool has_narrow) const {
  const std::int64_t first = block.column / kernels_.nr;
  const auto panel_at = [&](std::int64_t panel, std::int64_t width) {
    return b_ + (panel * b_layout_.panel_step + k0 * width) * kernels_.accumulator_bytes;
  };
  block.b_panel_step = b_layout_.panel_step;
  block.b = panel_at(first, kernels_.nr);
  block.narrow_b = has_narrow ? panel_at(first + block.n / kernels_.nr, b_layout_.narrow_width) : nullptr;
  kernels_.multiply_row_of_panels(block);
}

void Product::multiply_packed(Block& block, std::int64_t k0, std::int64_t width, const Slot& slot) const {
  const bool is_kept = s_.b_source == BSource::given;
  const std::int64_t bytes = is_kept ? kernels_.kept_bytes : kernels_.accumulator_bytes;
  const std::int64_t rows_before = packed_rows_of_b(kernels_, k0);
  block.b_is_packed = true;
  block.b_is_kept = is_kept;
  block.b_panel_step = b_layout_.panel_step;
  block.b_row_step = width;
  block.b = b_ + (block.column / kernels_.nr * b_layout_.panel_step + rows_before * width) * bytes;
  if (s_.widens_b) widen_panels(block, width, slot);
  multiply_rows(block);
}

void Product::widen_panels(Block& block, std::int64_t width, const Slot& slot) const {
  const std::int64_t count = block.k * width;
  std::byte* to = slot.b;
  for (std::int64_t n = 0; n < block.n; n += width, to += count * kernels_.accumulator_bytes) {
    kernels_.widen(block.b + n / width * block.b_panel_step * kernels_.kept_bytes, count, to);
  }
  block.b = slot.b;
  block.b_is_kept = false;
  block.b_panel_step = count;
}

void Product::multiply_direct(Block& block, std::int64_t k0) const {
  block.b_is_packed = false;
  block.b_panel_step = kernels_.nr;
  block.b_row_step = p_.b_row_step;
  block.b = element(b_, k0 * p_.b_row_step + block.column * p_.b_column_step);
  block.b_column_step = p_.b_column_step;
  if (s_.turns_b) return kernels_.multiply_turned(block);
  if (s_.has_few_rows) return kernels_.multiply_few_rows(block);
  multiply_rows(block);
}

void Product::multiply_rows(Block& block) const {
  if (!s_.reads_a_first) return kernels_.multiply(block);
  // Of a transposed A runs of memory as long as the second-level cache has room for.
  constexpr std::int64_t kTiles = 4, kBytesOfTransposedA = 64 * 1024;
  const std::int64_t bytes = kernels_.element_bytes, end = block.row + block.m;
  const std::int64_t tiles =
      p_.a_column_step == 1 ? kTiles : std::max(kTiles, kBytesOfTransposedA / (block.k * bytes * kernels_.mr));
  const std::byte* const a = block.a;
  const std::int64_t first = block.row;
  for (; block.row < end; block.row += block.m, block.a += block.m * block.a_row_step * bytes) {
    block.m = std::min(tiles * kernels_.mr, end - block.row);
    read_rows_of_a(p_, block.a, block.m, bytes);
    kernels_.multiply(block);
  }
  block.m = end - first;
  block.row = first;
  block.a = a;
}

void Product::multiply_strip(Block& block, std::int64_t k0, const Slot& slot) const {
  const bool is_narrow = block.n <= kernels_.lanes;
  const std::int64_t width = is_narrow ? kernels_.lanes : kernels_.nr;
  block.b_is_packed = true;
  block.b_panel_step = packed_rows_of_b(kernels_, block.k) * width;
  block.b_row_step = width;
  block.b = slot.b;
  const std::byte* from = element(b_, k0 * p_.b_row_step + block.column * p_.b_column_step);
  const auto pack = is_narrow ? kernels_.pack_narrow_b : kernels_.pack_b;
  const Packing packing = {from, p_.b_column_step, p_.b_row_step, block.n, block.k, slot.b, block.b_panel_step, width};
  if (s_.tiles_pack_b && !is_narrow) return kernels_.pack_and_multiply(block, packing);
  const bool is_one_panel_of_lines = block.n <= width && p_.b_column_step == 1;
  if (kernels_.widen_lines != nullptr && is_one_panel_of_lines) {
    kernels_.widen_lines(from, p_.b_row_step, block.k, block.n, slot.b, width);
  } else {
    pack(packing);
  }
  kernels_.multiply(block);
}

}  // namespace binet::kernels::gemm
