// Room: kernels. How products on the matrix registers are cut. None of the decisions here changes a bit of the result
// but the first, which is of N and K alone where that matters (amx.h). Measured with gemm_bench.
#include <algorithm>

#include "base/aligned_buffer.h"
#include "kernels/gemm/amx/amx.h"
#include "kernels/gemm/amx/kernels.h"
#include "kernels/gemm/amx/tiled_b.h"
#include "kernels/gemm/items.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/segments.h"

namespace binet::kernels::gemm {
namespace {

// A of an item, with all of its k, stays in the second-level cache of 2 MiB that these CPUs have.
constexpr std::int64_t kABytes = 768 * 1024;
// So much of B stays in the first-level cache for a range of k while the panels of A pass by.
constexpr std::int64_t kNearBytes = 40 * 1024;
// B that is packed on the way, by few rows: rows of B are runs of memory.
constexpr std::int64_t kFewRows = 32;
constexpr std::int64_t kStripRowBytes = 1024;
constexpr std::int64_t kStripBytes = 32 * 1024;
// By more rows.
constexpr std::int64_t kLongStripRowBytes = 512;
// For so many it is better to have the lines of a tile of A one behind the other than not to copy them.
constexpr std::int64_t kLeastColumnsToPackA = 1024;
constexpr std::int64_t kItemsPerWorker = 4;
constexpr std::int64_t kLeastItemRows = 64;

/// Rows and columns of items.
void cut(const Problem& p, const AmxKernels& amx, Schedule& s) {
  const std::int64_t panel = panel_lanes(amx);
  const std::int64_t most_rows = std::max(panel, kABytes / bytes_per_lane(amx, s.segment_k) / panel * panel);
  std::int64_t row_items = ceil_div(p.m, most_rows), column_items = 1;
  if (s.workers > 1) {
    const std::int64_t wanted = s.workers * kItemsPerWorker;
    const std::int64_t by_rows = std::min(ceil_div(wanted, s.segments), ceil_div(p.m, kLeastItemRows));
    if (row_items * s.segments < wanted) row_items = std::max(row_items, by_rows);
    if (row_items * s.segments < wanted) column_items = ceil_div(wanted, row_items * s.segments);
  }
  s.item_rows = equal_part(p.m, ceil_div(p.m, row_items), p.m > kTileLanes ? panel : 1);
  s.item_columns = equal_part(p.n, ceil_div(p.n, column_items), panel);
  s.row_items = ceil_div(p.m, s.item_rows);
  s.items = s.row_items * ceil_div(p.n, s.item_columns) * s.segments;
  s.workers = std::min(s.workers, s.items);
}

/// Columns of B that are packed together, and ranges of k.
void choose_b_source(const Problem& p, const Kernels& kernels, bool b_is_packed, Schedule& s) {
  const AmxKernels& amx = *kernels.amx;
  const std::int64_t panel = panel_lanes(amx);
  const bool are_few = s.item_rows <= kFewRows;
  const auto equal_k = [&](std::int64_t bytes, std::int64_t columns) {
    const std::int64_t groups = bytes / (columns * amx.planes * kTileRowBytes);
    return equal_part(s.segment_k, std::max<std::int64_t>(groups, 1) * amx.k_group, amx.k_group);
  };
  s.kc = are_few && amx.planes <= 4 ? s.segment_k : equal_k(kNearBytes, panel);
  const std::int64_t near = kNearBytes / bytes_per_lane(amx, s.kc) / panel * panel;
  s.near_columns = std::clamp(near, panel, round_up(p.n, panel));
  s.strip_columns = s.near_columns;
  if (b_is_packed) {
    s.b_source = BSource::given;
  } else if (s.row_items > 1) {
    s.b_source = BSource::whole;
  } else {
    s.b_source = BSource::strips;
    const std::int64_t columns = (are_few ? kStripRowBytes : kLongStripRowBytes) / kernels.element_bytes;
    s.strip_columns = std::clamp(columns / panel * panel, panel, round_up(p.n, panel));
    if (are_few) s.kc = equal_k(kStripBytes, s.strip_columns);
    s.near_columns = std::min(s.near_columns, s.strip_columns);
  }
}

/// Nobody packed B, and it is not worth it.
bool has_few_rows(const Problem& p, const AmxKernels& amx, bool b_is_packed) {
  return !b_is_packed && p.m <= amx.most_rows_unpacked && p.b_column_step == 1;
}

/// Few rows of a transposed B: packing would turn all of it. Y^T = op(B)^T * op(A)^T reads it as it lies.
bool should_swap(const Problem& p, bool b_is_packed) {
  return !b_is_packed && p.b_column_step != 1 && p.m <= kTileLanes && p.m < p.n;
}

bool may_read_a_directly(const Problem& p, const Kernels& kernels) {
  if (!kernels.amx->reads_a_in_place || p.a_column_step != 1 || p.k % kernels.amx->k_group != 0) return false;
  return p.n < kLeastColumnsToPackA;
}

void size_workspace(const Problem& p, const Kernels& kernels, Plan& plan) {
  const AmxKernels& amx = *kernels.amx;
  Schedule& s = plan.schedule;
  const auto bytes = [](std::int64_t count) { return round_up_to_cache_line(static_cast<std::size_t>(count)); };
  s.sums_row_step = round_up(p.n, kTileLanes);
  if (s.segments > 1) s.segment_sums_bytes = bytes(s.segments * p.m * s.sums_row_step * kernels.accumulator_bytes);
  plan.workspace_bytes = s.segment_sums_bytes;
  if (s.has_few_rows) return;
  const std::int64_t panel_rows = s.tile_rows * amx.panel_tiles;
  const std::int64_t panels = ceil_div(s.item_rows, panel_rows);
  // Where A is read directly, a last panel that is no whole number of tiles is packed.
  s.slot_a_bytes = bytes((s.a_is_direct ? 1 : panels) * panel_rows * bytes_per_lane(amx, s.segment_k));
  s.slot_least_bytes = bytes((panels * ceil_div(s.segment_k, s.kc) + s.strip_columns / panel_lanes(amx)) *
                             std::int64_t{sizeof(std::uint32_t)});
  if (s.b_source == BSource::strips) s.slot_b_bytes = bytes(s.strip_columns * bytes_per_lane(amx, s.kc));
  if (s.b_source == BSource::whole) s.whole_b_bytes = bytes(static_cast<std::int64_t>(TiledB(amx, p.n, p.k).bytes()));
  if (s.segment_k > s.kc) {
    s.slot_sums_bytes = bytes(panels * panel_rows * s.strip_columns * kernels.accumulator_bytes);
  }
  const std::size_t slot_bytes = s.slot_a_bytes + s.slot_least_bytes + s.slot_b_bytes + s.slot_sums_bytes;
  plan.workspace_bytes += s.whole_b_bytes + static_cast<std::size_t>(s.workers) * slot_bytes;
}

}  // namespace

bool takes_amx(const Problem& p, const Kernels& kernels, bool b_is_packed) noexcept {
  if (kernels.amx == nullptr || p.n < kernels.amx->least_n || p.k < kernels.amx->least_k) return false;
  return b_is_packed || p.m >= kernels.amx->least_m_to_pack_b;
}

void plan_amx(Plan& plan, int threads) {
  const Kernels& kernels = *plan.kernels;
  const AmxKernels& amx = *kernels.amx;
  Schedule& s = plan.schedule;
  plan.way = Way::amx;
  s.is_swapped = should_swap(plan.problem, plan.b_is_packed);
  const Problem p = s.is_swapped ? swapped(plan.problem) : plan.problem;
  const Segments segments = segments_of(plan.problem);
  s.segments = segments.count;
  s.segment_k = segments.k;
  choose_workers(p, threads, s, amx.f32_rate);
  cut(p, amx, s);
  s.has_few_rows = has_few_rows(p, amx, plan.b_is_packed);
  if (s.has_few_rows) {
    s.b_source = BSource::direct;
  } else {
    choose_b_source(p, kernels, plan.b_is_packed, s);
    const std::int64_t rows = std::min(p.m, s.item_rows);
    s.tile_rows = ceil_div(rows, ceil_div(rows, kTileLanes));
    s.a_is_direct = may_read_a_directly(p, kernels);
  }
  size_workspace(p, kernels, plan);
}

}  // namespace binet::kernels::gemm
