#include "kernels/gemm/plan/plan_at_once.h"

#include <algorithm>

#include "base/aligned_buffer.h"
#include "base/cache_size.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/a_source.h"
#include "kernels/gemm/plan/b_source.h"
#include "kernels/gemm/plan/far_operands.h"
#include "kernels/gemm/plan/far_y.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/plan/one_row.h"
#include "kernels/gemm/plan/short_k.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"

namespace binet::kernels::gemm {
namespace {

// A is read once for each strip of columns, from the second-level cache; half as much of it where each vector of B lies
// in two lines, and B not in the first-level cache. A single strip may stream it.
constexpr std::int64_t kAtOnceABytes = 128 * 1024;
constexpr std::int64_t kAtOnceStreamedABytes = 512 * 1024;
// Y is written strip by strip, a few lines of each row at a time: beyond so many bytes for so many rows at a time, as
// all of them would leave the first-level cache in between. A Y beyond L2, or one with a k so short that hardly
// anything but writing is left, takes tiles that fetch the lines they are going to write; the sooner, if those are
// shared by tiles side by side.
constexpr std::int64_t kAtOnceYBytes = 512 * 1024;
constexpr std::int64_t kAtOnceRows = 24;
constexpr std::int64_t kLeastKOfLargeYAtOnce = 16;
constexpr std::int64_t kLeastKOfWholeLinesAtOnce = 6;
// With a B that stays near, and tiles that are short lines, placing each tile is felt, most of all if Y is large: A and
// Y pass by in blocks of rows that stay near, too, each of which is computed at once. A single panel takes one call for
// many tiles anyway.
constexpr std::int64_t kMostRowsOfBlock = 96;
// What a block reads of B comes from the second-level cache, for as many rows as it has. Zen 5's prefetchers follow so
// many of Y, but not of a full C as well, and products of integers, which take longer, wait for B less. Measured there:
// 0.77 to 1.02 of the time, the less the longer rows are. Of several threads each needs such a block: in fewer rows
// they prefetch those of each other (1.05 to 2 times).
constexpr std::int64_t kRowsOfHighBlock = 384;
constexpr std::int64_t kFewestRowsOfBlock = 12;
constexpr std::int64_t kYBytesOfBlock = 128 * 1024;
constexpr std::int64_t kYBytesOfBlockWithC = 32 * 1024;  // and those of a full C
constexpr std::int64_t kStreamsOfBlock = 24;             // rows of B
constexpr std::int64_t kStreamsOfLowBlock = 12;
// So few rows of B, if they meet in the same sets as those of Y, leave room for a whole tile of short vectors.
constexpr std::int64_t kFewRowsOfB = 8;
// With a longer k it is not felt; the sooner where a vector takes the time of two halves (Zen 4).
constexpr std::int64_t kMostKOfBlocks = 128;
constexpr std::int64_t kMostKOfBlocksOfHalves = 15;
constexpr std::int64_t kMostKOfTransposedBlocks = 32;
constexpr std::int64_t kMostKOfSharedRowsThatMeet = 24;  // with vectors as long as lines
constexpr std::int64_t kLeastKOfSharedBlocks = 16, kLeastKOfSmallSharedBlocks = 40;
constexpr std::int64_t kSmallYOfSharedBlocks = 32 * 1024;  // elements
constexpr std::int64_t kItemsOfBlocks = 4;  // for each of several threads, to even out those that are not equally free
// Stores wait for lines of Y that leave the first-level cache, where there is so little to compute for an element.
constexpr std::int64_t kMostKToFetchYFor = 6;
constexpr std::int64_t kLeastYToFetch = 32 * 1024;
// From so many rows of B on, one that comes from memory, or from the far end of the last-level cache, comes too late
// for tiles of short vectors that are one behind the other: a few rows of Y took up to four times as long.
constexpr std::int64_t kLeastKOfLargeB = 16;
// Nor does so much of a B with so long rows come in time for a single tile that is low, as each row is on other pages;
// if rows begin off lines, for any tile.
constexpr std::int64_t kLongRowsOfBBytes = 6000, kLongRowsOfBBytesOffLines = 4400;
constexpr std::int64_t kLeastBOfLongRows = 192 * 1024;
constexpr std::int64_t kFewestRowsOfLowTile = 3, kMostRowsOfLowTileOf64Bits = 4;
// Widened A, and sums that wait to be rounded, stay in the first-level cache while strips of B, which is read again for
// each block of rows, meet it.
constexpr std::int64_t kAtOnceBBytes = 64 * 1024;
constexpr std::int64_t kWidenedABytes = 16 * 1024;
// B in strips, so many rows of Y repay what it takes to pack them. (Measured on Zen 3: 0.75 to 0.98 of the time.)
constexpr std::int64_t kFewestRowsToPackFor = 32;
constexpr std::int64_t kLeastBToPack = 8 * 1024;
constexpr std::int64_t kRowsOfItemToWidenBFor = 512;  // each item does
// Vectors of columns in a strip, as in the widest tiles of many rows. B that is widened, too, lies in such.
constexpr std::int64_t kVectorsOfStrip = 4;

/// Tiles of integers know no factors. While they are near, sums in Y are gone through once more.
bool ends_apart(const Problem& p) { return !is_float(p.type) && has_factors(p); }

/// Not a single strip, whose rows are written one after the other.
bool is_y_large_at_once(const Problem& p, const Kernels& kernels) {
  return p.n > kVectorsOfStrip * kernels.lanes && p.m * p.n * kernels.accumulator_bytes > kAtOnceYBytes;
}

bool may_write_large_y_at_once(const Problem& p, const Kernels& kernels) {
  if (p.m * p.n * kernels.accumulator_bytes > second_level_cache_bytes()) return false;
  const bool has_whole_lines = p.n * kernels.element_bytes % kLineBytes == 0;
  return p.k >= (has_whole_lines ? kLeastKOfWholeLinesAtOnce : kLeastKOfLargeYAtOnce);
}

/// Where vectors are lines, on Intel's CPUs. With AVX2 on Zen 3 the fetches cost up to half of the time, with AVX-512
/// on Zen 4 up to a fifth.
bool fetches_y_at_once(const Problem& p, const Kernels& kernels) {
  const bool is_y_of_sums = kernels.element_bytes == kernels.accumulator_bytes;
  if (!kernels.has_long_vectors() || leaves_b_to_hardware(kernels)) return false;
  return is_y_of_sums && p.k <= kMostKToFetchYFor && p.m * p.n * kernels.element_bytes > kLeastYToFetch;
}

/// Where vectors are whole lines: whether k is so short that the placing of tiles is felt. On AMD's CPUs; but not where
/// three vectors of columns come from memory, as items fetch the lines of Y.
bool has_short_k_for_blocks(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!leaves_b_to_hardware(kernels)) return false;
  if (p.k > (s.ends_in_halves ? kMostKOfBlocksOfHalves : kMostKOfBlocks)) return false;
  const std::int64_t bytes = p.m * (p.n + p.k) * kernels.element_bytes;
  return p.n > 3 * kernels.lanes || bytes <= last_level_cache_bytes() / 4 * 3;
}

/// As many as the lowest tiles in use have where rows of Y share few sets of a cache: what prefetchers have brought of
/// more of them, strip by strip, is gone before it is written. Else any number.
std::int64_t most_rows_that_meet(const Problem& p, const Kernels& kernels) {
  const bool may_matter = kernels.has_short_vectors || kernels.has_long_vectors();
  if (!may_matter || kernels.widen_lines != nullptr || !many_rows_meet(p.y_row_step * kernels.element_bytes))
    return p.m;
  if (kernels.wide_rows > 0) return kernels.wide_rows;
  // Rows of B often are as far apart.
  return kernels.has_short_vectors && p.k > kFewRowsOfB ? kernels.mr / 2 : kernels.mr;
}

/// Small products on several threads, in low blocks: where one tile after the other went down a strip, hardware would
/// prefetch Y far below it, among the rows of the next worker. With a shorter k items are no worse, the longer the
/// smaller Y is.
bool are_shared_blocks(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!kernels.has_long_vectors() || s.workers == 1 || p.m < 2 * s.workers * kernels.mr) return false;
  const bool is_small = p.m * p.n < kSmallYOfSharedBlocks;
  return p.k >= (is_small ? kLeastKOfSmallSharedBlocks : kLeastKOfSharedBlocks) &&
         most_rows_that_meet(p, kernels) >= p.m;
}

/// Tiles in one call neither add a column of C nor apply factors. Here C's element for each row is repeated for one
/// tile at a time, and factors are applied to a block of rows at once if that is one run. (Measured with short vectors:
/// 0.2 to 0.8 of the time that it takes to place and to end each tile.)
bool ends_dearly_in_one_call(const Problem& p, const Kernels& kernels) {
  return kernels.has_short_vectors && (adds_column(p) || (has_factors(p) && ends_as_one_run(p)));
}

/// Whether blocks have kRowsOfHighBlock rows, unless rows meet.
bool takes_high_blocks(const Problem& p, const Kernels& kernels, std::int64_t workers) {
  if (!follows_one_run_best(kernels) || !is_float(p.type) || adds_full_c(p)) return false;
  return workers == 1 || p.m >= workers * kRowsOfHighBlock;
}

/// Bytes of a B that several blocks read from the second-level cache: fewer times if they are high.
std::int64_t most_b_of_blocks(const Problem& p, const Kernels& kernels, std::int64_t workers) {
  return takes_high_blocks(p, kernels, workers) ? second_level_cache_bytes() : second_level_cache_bytes() / 2;
}

/// Many rows, or a Y that would be written strip by strip else. A single block reads B once, as streams of as many rows
/// as prefetchers follow; more of them need it near.
bool goes_by_blocks_at_once(const Problem& p, const Kernels& kernels, const Schedule& s) {
  const bool may_gain = kernels.has_short_vectors || has_short_k_for_blocks(p, kernels, s);
  if (!may_gain || kernels.widen_lines != nullptr || (p.n <= kernels.nr && !ends_dearly_in_one_call(p, kernels)))
    return false;
  const bool is_b_near = p.n * p.k * kernels.element_bytes <= most_b_of_blocks(p, kernels, s.workers);
  // Several threads have no other way to take few rows of Y at a time.
  const bool are_few_together = s.workers > 1 && p.m > kFewestRowsOfBlock && most_rows_that_meet(p, kernels) < p.m &&
                                (kernels.has_short_vectors || p.k <= kMostKOfSharedRowsThatMeet);
  if (p.m > 2 * kMostRowsOfBlock || are_few_together || are_shared_blocks(p, kernels, s)) return is_b_near;
  if (!is_y_large_at_once(p, kernels) || may_write_large_y_at_once(p, kernels)) return false;
  if (p.m > kFewestRowsOfBlock) return is_b_near;
  return p.k <= (p.m < kernels.mr ? kStreamsOfLowBlock : kStreamsOfBlock);
}

/// Blocks of many rows read A where it lies however many columns there are, which items then pack: a block's rows stay
/// near while all columns meet them. (Measured with short vectors.) A transposed one is read so for a Y that is
/// streamed.
bool reads_a_by_blocks(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!kernels.has_short_vectors || kernels.element_bytes != kernels.accumulator_bytes) return false;
  if (p.a_column_step != 1 && (p.k > kMostKOfTransposedBlocks || !streams_far_rows(p, kernels, s.workers)))
    return false;
  return p.m > 2 * kMostRowsOfBlock && goes_by_blocks_at_once(p, kernels, s);
}

/// High blocks, or such that their part of Y stays near. With a C those are as low as a tile if rows are long: its
/// loads wait for memory, as stores do not, unless hardware prefetchers follow the rows, and they follow few at a time.
std::int64_t rows_of_block_at_once(const Problem& p, const Kernels& kernels, std::int64_t workers) {
  if (takes_high_blocks(p, kernels, workers)) return std::min(kRowsOfHighBlock, most_rows_that_meet(p, kernels));
  const bool has_c = p.has_c && p.beta != 0.0f;
  const bool is_c_full = adds_full_c(p);
  const std::int64_t fewest = has_c ? kernels.mr : kFewestRowsOfBlock;
  const std::int64_t row_bytes = p.n * kernels.element_bytes * (is_c_full ? 2 : 1);
  const std::int64_t near_rows = (has_c ? kYBytesOfBlockWithC : kYBytesOfBlock) / row_bytes;
  return std::min(std::clamp(near_rows / fewest * fewest, fewest, kMostRowsOfBlock), most_rows_that_meet(p, kernels));
}

/// Short vectors, whose tiles of items fetch what they are about to read.
bool is_low_tile_of_long_rows(const Problem& p, const Kernels& kernels) {
  // What has just been turned lies near.
  if (!kernels.has_short_vectors || kernels.widens() || p.b_has_whole_vectors) return false;
  if (p.m < kFewestRowsOfLowTile || p.m > kernels.mr) return false;
  const bool is_wide = kernels.element_bytes == 8;
  if (is_wide && !is_float(p.type)) return false;
  const std::int64_t row_bytes = p.b_row_step * kernels.element_bytes;
  if (row_bytes * p.k < kLeastBOfLongRows) return false;
  if (row_bytes % kLineBytes != 0) return row_bytes >= kLongRowsOfBBytesOffLines;
  return row_bytes >= kLongRowsOfBBytes && p.m <= (is_wide ? kMostRowsOfLowTileOf64Bits : kernels.mr - 1);
}

/// Vectors of half a line, and a B whose rows are whole lines. Where it begins none, as a large std::vector does, each
/// vector of a tile of two would lie in two of them, and a strip in half as many again, or twice as many, of which
/// fewer stay in the first-level cache.
bool packs_b_off_lines(const Problem& p, const Kernels& kernels) {
  if (!kernels.has_short_vectors || kernels.element_bytes != kernels.accumulator_bytes) return false;
  if (p.b_column_step != 1 || p.b_row_step * kernels.element_bytes % kLineBytes != 0) return false;
  return p.n % kernels.nr == 0 && p.m >= kFewestRowsToPackFor && p.n * p.k * kernels.element_bytes > kLeastBToPack;
}

/// Rows of whole lines that do not meet in the same sets of the caches.
std::int64_t line_step(std::int64_t count, const Kernels& kernels) {
  const std::int64_t step = round_up(count, kernels.lanes);
  return step * kernels.accumulator_bytes % kAliasBytes == 0 ? step + kernels.lanes : step;
}

/// 16-bit floats: A in lines, so many rows at a time, and perhaps B, with room for sums that wait to be rounded.
void widen_at_once(const Problem& p, const Kernels& kernels, const Schedule& planned, Schedule& schedule) {
  schedule.widens_b = widens_b_at_once(p, kernels, planned);
  schedule.sums_keep_longer_b = sums_keep_longer_b();
  const bool has_strips = !kernels.widens_all_at_once;
  const std::int64_t strip = std::min(round_up(p.n, kernels.lanes), kVectorsOfStrip * kernels.lanes);
  const std::int64_t waiting = !schedule.widens_b ? 0 : has_strips ? strip : round_up(p.n, kernels.lanes);
  const std::int64_t unit = schedule.widens_b && has_strips ? kernels.mr / 2 : 2 * kernels.mr;  // of wide tiles, or two
  if (schedule.widens_b) {
    schedule.workers = planned.workers;
    schedule.is_short = planned.is_short;
    const std::int64_t rows = ceil_div(p.m, schedule.workers);
    const bool is_shared = schedule.workers > 1;
    const std::int64_t items =
        is_shared ? std::clamp(rows / kRowsOfItemToWidenBFor, std::int64_t{1}, kItemsOfBlocks) : 1;
    schedule.item_rows = equal_part(p.m, ceil_div(rows, items), unit);
    schedule.items = ceil_div(p.m, schedule.item_rows);
    schedule.workers = std::min(schedule.workers, schedule.items);
  }
  const std::int64_t near_rows = kWidenedABytes / ((p.k + waiting) * kernels.accumulator_bytes);
  schedule.widened_rows = equal_part(schedule.item_rows, std::max(near_rows, 2 * kernels.mr), unit);
  const auto bytes = [&](std::int64_t accumulators) {
    return static_cast<std::size_t>(accumulators * kernels.accumulator_bytes);
  };
  const bool is_transposed = p.a_column_step != 1;
  const std::int64_t lines = is_transposed ? p.k : schedule.widened_rows;
  // Rows that touch are widened as one run.
  const bool is_run = !is_transposed && p.a_row_step == p.k;
  schedule.a_line_step = is_run ? p.k : round_up(is_transposed ? schedule.widened_rows : p.k, kernels.lanes);
  schedule.slot_a_bytes = round_up_to_cache_line(bytes(lines * schedule.a_line_step));
  if (!schedule.widens_b) return;
  if (has_strips && p.b_column_step != 1) {  // a strip of B comes by there
    const std::size_t strip_bytes = round_up_to_cache_line(bytes(strip * round_up(p.k, kernels.lanes)));
    schedule.slot_a_bytes = std::max(schedule.slot_a_bytes, strip_bytes);
  }
  schedule.strip_columns = strip;
  schedule.b_line_step = line_step(p.n, kernels);
  const std::int64_t numbers_of_b = p.k * (has_strips ? round_up(p.n, strip) : schedule.b_line_step);
  schedule.slot_b_bytes = round_up_to_cache_line(bytes(numbers_of_b));
  schedule.slot_sums_bytes = round_up_to_cache_line(bytes(schedule.widened_rows * waiting));
}

}  // namespace

bool may_take_at_once(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (kernels.multiply_at_once == nullptr || s.is_swapped || s.segments > 1) return false;
  const bool b_lies_in_rows = s.b_source != BSource::given && s.b_source != BSource::widened;
  if (b_lies_in_rows && keeps_b_in_registers(p, kernels)) return true;
  if (b_lies_in_rows && s.workers == 1 && keeps_sums_in_registers(p, kernels)) return true;
  if (s.turns_b || s.has_few_rows || s.b_is_far) return false;
  // From beyond L2 B comes sooner to items, whose tiles fetch rows of it just before they read them.
  const bool b_leaves_l2 = p.n * p.k * kernels.element_bytes > second_level_cache_bytes() * 3 / 2;
  if (b_leaves_l2 && fetches_below(p, kernels, s)) return false;
  if (kernels.has_short_vectors && p.k >= kLeastKOfLargeB && !comes_from_caches(p, kernels)) return false;
  if (is_low_tile_of_long_rows(p, kernels)) return false;
  if (most_rows_of_tile(p, kernels) < std::min(p.m, kernels.mr)) return false;
  const bool reads_a = s.a_is_direct || kernels.widen_lines != nullptr || reads_a_by_blocks(p, kernels, s);
  if (s.b_source != BSource::direct || !reads_a || p.k > s.kc || p.c_column_step > 1) return false;
  const bool takes_any_columns = kernels.takes_any_columns || kernels.widens_all_at_once;
  if (!takes_any_columns && p.n % kernels.lanes != 0) return false;
  if (ends_apart(p) && p.m * p.n * kernels.element_bytes > second_level_cache_bytes() / 2) return false;
  const std::int64_t a_bytes = p.m * p.k * kernels.accumulator_bytes;
  if (widens_b_at_once(p, kernels, s)) return true;
  if (kernels.widens_all_at_once) return false;
  const bool can_be_shared = p.m > kFewestRowsOfBlock;
  if ((s.workers == 1 || can_be_shared) && goes_by_blocks_at_once(p, kernels, s)) return true;
  if (s.workers > 1) return false;
  if (kernels.widen_lines != nullptr && p.n * p.k * kernels.element_bytes <= kAtOnceBBytes) return true;
  if (p.n <= kernels.lanes) return a_bytes <= kAtOnceStreamedABytes;
  if (is_y_large_at_once(p, kernels) && !may_write_large_y_at_once(p, kernels)) return false;
  const bool has_whole_lines = p.b_row_step * kernels.element_bytes % kLineBytes == 0;
  const bool is_b_near = has_whole_lines || p.n * p.k * kernels.element_bytes <= kAtOnceBBytes;
  return a_bytes <= (is_b_near ? kAtOnceABytes : kAtOnceABytes / 2);
}

void plan_at_once(const Problem& p, const Kernels& kernels, Plan& plan) {
  Schedule schedule;
  schedule.item_rows = std::min(is_y_large_at_once(p, kernels) ? kAtOnceRows : p.m, most_rows_that_meet(p, kernels));
  if (keeps_b_in_registers(p, kernels)) {
    schedule.keeps_b_in_registers = true;
    schedule.ends_by_masks = ends_by_masks(p, kernels);
    schedule.is_short = plan.schedule.is_short;
    if (plan.schedule.workers > 1 && shares_columns(p, kernels)) {
      schedule.item_rows = p.m;
      schedule.item_columns = equal_part(p.n, ceil_div(p.n, plan.schedule.workers), kVectorsOfStrip * kernels.lanes);
      schedule.workers = ceil_div(p.n, schedule.item_columns);
    } else {
      schedule.item_rows = equal_part(p.m, ceil_div(p.m, plan.schedule.workers), 1);
      schedule.workers = ceil_div(p.m, schedule.item_rows);
    }
  } else if (keeps_sums_in_registers(p, kernels)) {
    schedule.keeps_sums_in_registers = true;
    schedule.rows_of_b = rows_of_b_in_turns(p, kernels);
  } else if (goes_by_blocks_at_once(p, kernels, plan.schedule)) {
    schedule.workers = plan.schedule.workers;
    schedule.is_short = plan.schedule.is_short;
    const bool are_low = p.m <= 2 * kMostRowsOfBlock && are_shared_blocks(p, kernels, plan.schedule);
    schedule.block_rows = are_low ? 2 * kernels.mr : rows_of_block_at_once(p, kernels, schedule.workers);
    schedule.reads_a_first = reads_far_rows_of_a_first(p, kernels);
    schedule.reads_rows_first = reads_far_rows_first(p, kernels);
    // What stays in the cores' own caches is best computed where it was computed the time before.
    const std::int64_t items_of_each = schedule.workers > 1 && kernels.has_short_vectors ? kItemsOfBlocks : 1;
    const std::int64_t items = items_of_each * schedule.workers;
    schedule.item_rows = equal_part(p.m, ceil_div(p.m, items), are_low ? kernels.mr / 2 : 2 * kernels.mr);
    schedule.workers = std::min(schedule.workers, ceil_div(p.m, schedule.item_rows));
  }
  if (streams_far_rows(p, kernels, schedule.workers)) cut_into_streamed_blocks(p, kernels, schedule);
  schedule.items = schedule.item_columns > 0 ? schedule.workers : ceil_div(p.m, schedule.item_rows);
  schedule.ends_apart = ends_apart(p);
  const bool is_y_far = fetches_far_y(p, kernels, schedule.workers);
  schedule.fetches_y =
      !schedule.streams_rows && (is_y_far || (!schedule.keeps_b_in_registers && fetches_y_at_once(p, kernels)));
  schedule.fetches_c = fetches_far_c(p, kernels, schedule.workers);
  schedule.ends_in_halves = plan.schedule.ends_in_halves;
  if (kernels.widen_lines != nullptr) widen_at_once(p, kernels, plan.schedule, schedule);
  if (!schedule.keeps_b_in_registers && !schedule.streams_rows && packs_b_off_lines(p, kernels)) {
    schedule.packs_b_off_lines = true;
    schedule.slot_b_bytes = static_cast<std::size_t>(p.k * kVectorsOfStrip * kernels.lanes * kernels.element_bytes);
  }
  plan.workspace_bytes = static_cast<std::size_t>(schedule.workers) *
                         (schedule.slot_a_bytes + schedule.slot_b_bytes + schedule.slot_sums_bytes);
  plan.schedule = schedule;
  const bool is_one_call = schedule.items == 1 && schedule.block_rows == 0 && !schedule.ends_apart;
  plan.way = is_one_call ? Way::at_once : Way::rows_at_once;
}

}  // namespace binet::kernels::gemm
