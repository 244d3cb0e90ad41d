#include "kernels/gemm/items.h"

#include <algorithm>

#include "base/cache_size.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/short_k.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Work is counted in multiply-adds of f32 in vectors of 64 bytes. One more worker, which is awake, is called and waited
// for in the time of so many:
constexpr std::int64_t kWorkToCall = 100'000;
// Waking one costs the caller as much as so many.
constexpr std::int64_t kWorkToWake = std::int64_t{1} << 21;
// Four bytes come in the time of so many from memory or the last-level cache, and from a core's own caches.
constexpr std::int64_t kWorkToFetch = 16;
constexpr std::int64_t kWorkToFetchNear = 2;
constexpr std::int64_t kLanesOfWork = 16;
// With so short a k it is Y that takes time. Where it stays near and a row of it is longer than a page, workers gain as
// if there were a quarter of the multiply-adds and nothing to fetch: they seem to be fetched each other's rows.
constexpr std::int64_t kMostKOfLongRows = 8;
// With one that is not much longer, tiles go down strips of Y, and hardware that prefetches their rows, several tiles
// ahead, does so among those of the next worker, which then has to get them back: 2 of 6 us for (90,308,14) on Zen 5.
// Nothing that is near counts as work then, and with the shorter ones a third of the multiply-adds does not. A narrow
// Y is written as one run, as is each row of the shortest k.
constexpr std::int64_t kLeastKOfStrips = 4, kMostKOfStrips = 16, kMostKOfLessStrips = 32;
// So many items for each worker even out that one began later, or was held up.
constexpr std::int64_t kMostItemsPerWorker = 4;

// What things take, in the time that a row of a tile takes for one k. Measured with gemm_bench.
constexpr std::int64_t kLeastTileRows = 4;    // a lower tile waits for its own multiply-adds
constexpr std::int64_t kRowsToFetchB = 2;     // while its rows are computed, the next panel of B comes near
constexpr std::int64_t kRowsToPackB = 16;     // and is packed before
constexpr std::int64_t kRowsToStoreB = 6;     // or by the first tile
constexpr std::int64_t kRowsToFirstOfB = 16;  // nobody has fetched the first panel of an item
constexpr std::int64_t kItemOverhead = 400;   // an item is taken
// A row of A is packed in the time of its product with a panel, two vectors of B; in place it is fetched.
constexpr std::int64_t kVectorsToPackA = 2;
constexpr std::int64_t kVectorsToFetchA = 1;

struct Cut {
  std::int64_t rows, columns;
};

/// When the last worker is done with items of this size.
std::int64_t time_of(const Cut& cut, const Problem& p, const Kernels& kernels, const Schedule& s) {
  const std::int64_t tiles = ceil_div(cut.rows, kernels.mr);
  const std::int64_t rows = std::max(cut.rows, kLeastTileRows * tiles) + kRowsToFetchB +
                            (s.b_source != BSource::strips ? 0
                             : s.tiles_pack_b              ? kRowsToStoreB
                                                           : kRowsToPackB);
  const std::int64_t vectors =
      2 * ceil_div(cut.columns, kernels.nr) + (s.a_is_direct ? kVectorsToFetchA : kVectorsToPackA);
  const std::int64_t item = (rows * vectors / 2 + kRowsToFirstOfB) * s.segment_k + kItemOverhead;
  const std::int64_t items = ceil_div(p.m, cut.rows) * ceil_div(p.n, cut.columns) * s.segments;
  // The workers do not finish at the same moment: the larger the items, the more some of them wait.
  return ceil_div(items, s.workers) * item + item / 16;
}

Cut best_cut(const Problem& p, const Kernels& kernels, const Schedule& s, std::int64_t block_rows) {
  const std::int64_t panels = ceil_div(p.n, kernels.nr);
  const std::int64_t least_row_items = ceil_div(p.m, block_rows);
  Cut best{std::min(p.m, block_rows), panels * kernels.nr};
  std::int64_t best_time = time_of(best, p, kernels, s);
  const auto consider = [&](std::int64_t row_items, std::int64_t column_items) {
    const Cut cut{ceil_div(p.m, row_items), ceil_div(panels, column_items) * kernels.nr};
    const std::int64_t time = time_of(cut, p, kernels, s);
    if (time < best_time) {
      best_time = time;
      best = cut;
    }
  };
  for (std::int64_t each = 1; each <= kMostItemsPerWorker; each *= 2) {
    const std::int64_t items = ceil_div(s.workers * each, s.segments);
    for (std::int64_t row_items = least_row_items; row_items <= std::min(items, p.m); ++row_items) {
      if (items % row_items == 0 && items / row_items <= panels) consider(row_items, items / row_items);
    }
  }
  consider(std::min(p.m, round_up(least_row_items, s.workers)), 1);
  return best;
}

}  // namespace

void choose_workers(const Problem& p, const Kernels& kernels, int threads, Schedule& schedule,
                    std::int64_t rate) noexcept {
  const std::int64_t bytes = (p.m * p.k + p.n * p.k + p.m * p.n) * kernels.element_bytes;
  const bool is_near = bytes <= second_level_cache_bytes();
  const std::int64_t products = p.m * p.n * p.k / kernels.lanes * kLanesOfWork;
  const std::int64_t fetched = (is_near ? kWorkToFetchNear : kWorkToFetch) * bytes / 4;
  const bool has_long_rows = p.n * kernels.element_bytes > kPageBytes;
  const bool shares_rows = is_near && !shares_columns(p, kernels);
  const bool is_of_y = shares_rows && has_long_rows && p.k <= kMostKOfLongRows;
  const bool goes_by_strips =
      shares_rows && p.n > 2 * kernels.nr && p.k >= kLeastKOfStrips && p.k <= kMostKOfLessStrips;
  const std::int64_t work_of_strips = p.k > kMostKOfStrips ? products : products / 3 * 2;
  const std::int64_t work = (is_of_y ? products / 4 : goes_by_strips ? work_of_strips : products + fetched) / rate;
  // Workers are called one after another: more are of use until calling them takes as long as their share.
  std::int64_t workers = 1;
  while (workers < threads && (workers + 1) * (workers + 1) <= work / kWorkToCall) ++workers;
  schedule.workers = workers;
  schedule.is_short = work < kWorkToWake;
}

void cut_items(const Problem& p, const Kernels& kernels, std::int64_t block_rows, Schedule& schedule) {
  Cut cut{round_up(ceil_div(p.m, ceil_div(p.m, block_rows)), kernels.mr), round_up(p.n, kernels.nr)};
  if (schedule.workers > 1) cut = best_cut(p, kernels, schedule, block_rows);
  schedule.item_rows = cut.rows;
  schedule.item_columns = cut.columns;
  schedule.row_items = ceil_div(p.m, cut.rows);
  schedule.items = schedule.row_items * ceil_div(p.n, cut.columns) * schedule.segments;
  schedule.workers = std::min(schedule.workers, schedule.items);
}

}  // namespace binet::kernels::gemm
