// Room: kernels. How products in tiles are cut. None of the decisions here changes a bit of the result
// but the first, which is of N and K alone where that matters (tiled.h). Measured with gemm_bench.
#include <algorithm>

#include "base/aligned_buffer.h"
#include "base/cache_size.h"
#include "kernels/gemm/items.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/segments.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/tiled.h"
#include "kernels/gemm/tiled/tiled_b.h"

namespace binet::kernels::gemm {
namespace {

// B that is packed on the way, by few rows: rows of B are runs of memory.
constexpr std::int64_t kFewRows = 32;
constexpr std::int64_t kStripRowBytes = 1024;
constexpr std::int64_t kStripBytes = 32 * 1024;
// By more rows.
constexpr std::int64_t kLongStripRowBytes = 512;
// For so many it is better to have the lines of a tile of A one behind the other than not to copy them.
constexpr std::int64_t kLeastColumnsToPackA = 1024;
constexpr std::int64_t kItemsPerWorker = 4;
// On vectors a shorter product is cut no further than into an item for each worker.
constexpr std::int64_t kProductsForManyItems = std::int64_t{1} << 27;
constexpr std::int64_t kLeastItemRows = 64;

/// Rows and columns of items.
void cut(const Problem& p, const TiledKernels& tiled, Schedule& s) {
  const std::int64_t panel = panel_lanes(tiled);
  const std::int64_t most_rows = std::max(panel, tiled.a_bytes / bytes_per_lane(tiled, s.segment_k) / panel * panel);
  std::int64_t row_items = ceil_div(p.m, most_rows), column_items = 1;
  if (s.workers > 1) {
    const bool is_short = tiled.are_vectors && p.m * p.n * p.k < kProductsForManyItems;
    const std::int64_t wanted = s.workers * (is_short ? 1 : kItemsPerWorker);
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

/// Of B they stay in the first-level cache for a range of k while panels of A pass by.
std::int64_t near_bytes(const TiledKernels& tiled) {
  constexpr std::int64_t kForTheRest = 16 * 1024;  // a panel of A, and the sums
  return tiled.are_vectors ? first_level_cache_bytes() - kForTheRest : tiled.near_bytes;
}

/// Columns of B that are packed together, and ranges of k.
void choose_b_source(const Problem& p, const Kernels& kernels, bool b_is_packed, Schedule& s) {
  const TiledKernels& tiled = *kernels.tiled;
  const std::int64_t panel = panel_lanes(tiled);
  const bool are_few = s.item_rows <= kFewRows;
  const auto equal_k = [&](std::int64_t bytes, std::int64_t columns) {
    const std::int64_t groups = bytes / (columns * tiled.planes * kTileRowBytes);
    return equal_part(s.segment_k, std::max<std::int64_t>(groups, 1) * tiled.k_group, tiled.k_group);
  };
  const bool passes_once = are_few && tiled.planes <= 4 && (b_is_packed || !tiled.are_vectors);
  s.kc = passes_once ? s.segment_k : equal_k(near_bytes(tiled), panel);
  const std::int64_t near = near_bytes(tiled) / bytes_per_lane(tiled, s.kc) / panel * panel;
  s.near_columns = std::clamp(near, panel, round_up(p.n, panel));
  if (b_is_packed) {
    s.b_source = BSource::given;
    if (tiled.are_vectors && p.m <= kMostRowsOfTwoPanels) s.near_columns = std::max(s.near_columns, 2 * panel);
    s.strip_columns = s.near_columns;
  } else if (s.row_items > 1) {
    s.b_source = BSource::whole;
    s.strip_columns = s.near_columns;
  } else {
    s.b_source = BSource::strips;
    const bool are_short = are_few && !tiled.are_vectors;
    const std::int64_t columns = (are_short ? kStripRowBytes : kLongStripRowBytes) / kernels.element_bytes;
    s.strip_columns = std::clamp(columns / panel * panel, panel, round_up(p.n, panel));
    if (are_short) s.kc = equal_k(kStripBytes, s.strip_columns);
    s.near_columns = std::min(s.near_columns, s.strip_columns);
  }
}

/// Nobody packed B, and it is not worth it.
bool has_few_rows(const Problem& p, const TiledKernels& tiled, bool b_is_packed) {
  if (b_is_packed || p.b_column_step != 1 || p.n < tiled.least_columns_unpacked) return false;
  if (p.m < tiled.least_rows_unpacked || p.m > tiled.most_rows_unpacked) return false;
  return p.m * p.n * p.k >= tiled.least_products_unpacked;
}

/// Few rows of a transposed B: packing would turn all of it. Y^T = op(B)^T * op(A)^T reads it as it lies.
bool should_swap(const Problem& p, const TiledKernels& tiled, bool b_is_packed) {
  return !tiled.are_vectors && !b_is_packed && p.b_column_step != 1 && p.m <= kTileLanes && p.m < p.n;
}

/// Tiles of vectors come in some heights, up to what registers allow; the last one may be lower than the others. The
/// height that takes least time; of those that hardly differ, the highest.
std::int64_t rows_of_vector_tiles(std::int64_t rows, std::int64_t columns) {
  // Sums: a tile of fewer waits for its own. And to go from tiles of one height to the next takes as long as these.
  constexpr std::int64_t kLeastSums = 16, kSumsToChange = 2;
  const std::int64_t vectors = columns <= kTileLanes ? 1 : 2;
  const auto time_of_tile = [&](std::int64_t height) { return std::max(kLeastSums, height * vectors); };
  const auto time = [&](std::int64_t height) {
    const std::int64_t last = rows % height;
    const std::int64_t rest = last == 0 ? 0 : time_of_tile(height_of_vector_tile(last)) + kSumsToChange;
    return rows / height * time_of_tile(height) + rest;
  };
  std::int64_t best = 0;
  for (const std::int64_t height : kHeightsOfVectorTiles) {
    if (height > kHighestWideVectorTile && vectors > 1) continue;
    if (rows <= height || best == 0 || (height >= 8 && 33 * time(height) < 32 * time(best))) best = height;
  }
  return best;
}

bool may_read_a_directly(const Problem& p, const Kernels& kernels) {
  if (!kernels.tiled->reads_a_in_place || p.a_column_step != 1 || p.k % kernels.tiled->k_group != 0) return false;
  return p.n < kLeastColumnsToPackA;
}

/// A panel of A stays in the first-level cache beside the tiles of B.
std::int64_t panel_tiles_of_vectors(const TiledKernels& tiled, const Schedule& s) {
  return std::max<std::int64_t>(1, first_level_cache_bytes() / 4 / (s.tile_rows * bytes_per_lane(tiled, s.kc)));
}

/// How far ahead of its first use B, packed as a whole, is fetched; 0: that is left to hardware.
std::int64_t bytes_ahead(const Problem& p, const TiledKernels& tiled) {
  if (!tiled.are_vectors) return 4 * 1024;
  // From memory more comes by prefetches of whole groups to the second-level cache than by hardware's or by those to
  // the first-level one, of which few are under way at a time.
  return p.n * bytes_per_lane(tiled, p.k) > last_level_cache_bytes() / 4 ? 16 * 1024 : 0;
}

void size_workspace(const Problem& p, const Kernels& kernels, Plan& plan) {
  const TiledKernels& tiled = *kernels.tiled;
  Schedule& s = plan.schedule;
  const auto bytes = [](std::int64_t count) { return round_up_to_cache_line(static_cast<std::size_t>(count)); };
  s.sums_row_step = round_up(p.n, kTileLanes);
  if (s.segments > 1) s.segment_sums_bytes = bytes(s.segments * p.m * s.sums_row_step * kernels.accumulator_bytes);
  plan.workspace_bytes = s.segment_sums_bytes;
  if (s.has_few_rows) return;
  const std::int64_t panel_rows = s.tile_rows * s.panel_tiles;
  const std::int64_t panels = ceil_div(s.item_rows, panel_rows);
  // Where A is read directly, a last panel that is no whole number of tiles is packed.
  s.slot_a_bytes = bytes((s.a_is_direct ? 1 : panels) * panel_rows * bytes_per_lane(tiled, s.segment_k));
  s.slot_least_bytes = bytes((panels * ceil_div(s.segment_k, s.kc) + s.strip_columns / panel_lanes(tiled)) *
                             std::int64_t{sizeof(std::uint32_t)});
  if (s.b_source == BSource::strips) s.slot_b_bytes = bytes(s.strip_columns * bytes_per_lane(tiled, s.kc));
  if (s.b_source == BSource::whole) s.whole_b_bytes = bytes(static_cast<std::int64_t>(TiledB(tiled, p.n, p.k).bytes()));
  if (s.segment_k > s.kc) {
    s.slot_sums_bytes = bytes(panels * panel_rows * s.strip_columns * kernels.accumulator_bytes);
  }
  const std::size_t slot_bytes = s.slot_a_bytes + s.slot_least_bytes + s.slot_b_bytes + s.slot_sums_bytes;
  plan.workspace_bytes += s.whole_b_bytes + static_cast<std::size_t>(s.workers) * slot_bytes;
}

}  // namespace

bool takes_tiled(const Problem& p, const Kernels& kernels, bool b_is_packed) noexcept {
  if (kernels.tiled == nullptr || p.k < kernels.tiled->least_k) return false;
  if (p.n < (p.a_row_step == 1 ? kernels.tiled->least_n_of_transposed_a : kernels.tiled->least_n)) return false;
  if (b_is_packed) return p.n * p.k >= kernels.tiled->least_kept_b;
  const LeastA& least_a = p.b_column_step == 1 ? kernels.tiled->least_a_to_pack_b : kernels.tiled->least_a_to_turn_b;
  const bool are_enough_rows =
      least_a.is_met(p.m, p.k, kernels.tiled->k_group) || has_few_rows(p, *kernels.tiled, false);
  return are_enough_rows && p.m * p.n * p.k >= kernels.tiled->least_products;
}

void plan_tiled(Plan& plan, int threads) {
  const Kernels& kernels = *plan.kernels;
  const TiledKernels& tiled = *kernels.tiled;
  Schedule& s = plan.schedule;
  plan.way = Way::tiled;
  s.is_swapped = should_swap(plan.problem, tiled, plan.b_is_packed);
  const Problem p = s.is_swapped ? swapped(plan.problem) : plan.problem;
  const Segments segments = segments_of(plan.problem);
  s.segments = segments.count;
  s.segment_k = segments.k;
  choose_workers(p, kernels, threads, s, tiled.f32_rate);
  cut(p, tiled, s);
  s.has_few_rows = has_few_rows(p, tiled, plan.b_is_packed);
  if (s.has_few_rows) {
    s.b_source = BSource::direct;
  } else {
    choose_b_source(p, kernels, plan.b_is_packed, s);
    const std::int64_t rows = std::min(p.m, s.item_rows);
    s.tile_rows = tiled.are_vectors ? rows_of_vector_tiles(rows, p.n) : ceil_div(rows, ceil_div(rows, kTileLanes));
    s.panel_tiles = rows <= s.tile_rows ? 1 : tiled.are_vectors ? panel_tiles_of_vectors(tiled, s) : tiled.panel_tiles;
    s.a_is_direct = may_read_a_directly(p, kernels);
    s.ahead_bytes = bytes_ahead(p, tiled);
  }
  size_workspace(p, kernels, plan);
}

}  // namespace binet::kernels::gemm
