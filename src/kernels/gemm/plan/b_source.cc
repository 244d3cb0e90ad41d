#include "kernels/gemm/plan/b_source.h"

#include <algorithm>

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/b_in_place.h"
#include "kernels/gemm/plan/far_operands.h"
#include "kernels/gemm/plan/few_rows.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/plan/packing_tiles.h"
#include "kernels/gemm/plan/rows_of_tiles.h"
#include "kernels/gemm/plan/turned_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Packed at a time by an item, if L2 holds them: a row of B gives a run of memory that prefetchers follow.
constexpr std::int64_t kStripColumns = 256;
// Where vectors are half a line, what is turned is written half a line at a time: into the first-level cache.
constexpr std::int64_t kBytesOfTurnedStrip = 24 * 1024;
// Of a B from the far end of the last-level cache, or from memory, so many k at a time, in longer rows.
constexpr std::int64_t kFarKOfStrip = 256;
constexpr std::int64_t kMostRowsForStripsOfF64 = 256;
// Of k at a time: sums that wait for the next range of k, and A where it is packed, are passed over again.
constexpr std::int64_t kFewRowsK = 4096;
// More than so many tiles of rows have fewer rows of B at a time, if they read it in place; for others sums are not
// worth another passage, nor for an A so small that the product may be taken at once.
constexpr std::int64_t kTilesToKeepPanelFor = 4;
constexpr std::int64_t kSmallABytes = 64 * 1024;
// What the first of two tiles packs for the other one: so many columns, and bytes of k.
constexpr std::int64_t kColumnsForLowTiles = 64;
constexpr std::int64_t kBytesOfKForLowTiles = 1024;
// What is packed by tiles of vectors of half a line; 16 to 128 columns are as good.
constexpr std::int64_t kColumnsPackedInTiles = 64;
// Panels whose sums lie together: as wide as the widest tiles, or, with short vectors and longer ranges of k, as many
// as are read of each page before the next range begins.
constexpr std::int64_t kPanelsTogether = 4, kPanelsTogetherOfShortVectors = 32;
// Of a large B so many rows, on as many pages, at a time, if sums wait near: with more of them low tiles wait for the
// TLB (0.75 to 0.97 of the time on Zen 3).
constexpr std::int64_t kLargeBKOfShortVectors = 320;
// So many k are computed for each element of Y that it matters less how Y is written than how often A is read.
constexpr std::int64_t kLongK = 256;
// With a short k the lines of Y are what takes time, even in the second-level cache. Tiles side by side write whole
// ones and share those between them; few columns come back to each row soon enough.
constexpr std::int64_t kManyColumns = 192;
// Multiply-adds: smaller products are done at once, with B where it lies.
constexpr std::int64_t kLeastWorkToWiden = std::int64_t{1} << 19;
// So many rows of Zen 5's tiles have units to spare for widening B on the way, each for itself: 0.83 to 1.02 of the
// time of widening it before, or a strip at a time; most is gained by few rows and a large B.
constexpr std::int64_t kMostRowsToWidenInTilesOfZen5 = 768;
// A B of 16-bit floats, as accumulators, that stays in the second-level cache beside all else: it is widened as it
// lies, for a product that is done at once.
constexpr std::int64_t kWidenedAtOnceBytes = 128 * 1024;
constexpr std::int64_t kRowsToWidenBFor = 4;  // of tiles
// So many elements of a transposed B, which is turned then, too; for few rows, or a short k, whose lines are short, so
// many.
constexpr std::int64_t kTurnedForEachRow = 768, kTurnedForEachOfFewRows = 24;
constexpr std::int64_t kFewRowsToTurnFor = 3, kLeastAToTurnFor = 96;
constexpr std::int64_t kLeastWorkToWidenAtOnce = std::int64_t{1} << 17;
// Where products at once are of accumulators alone, other ways are dear: more of B may be widened for as many rows;
// fewer rows do, and any number of them if no more of B than this is widened for each, or if k is so short, for a tile
// or for each row of a lower one, that most of the time goes to placing tiles and rounding what they compute.
constexpr std::int64_t kWidenedForManyBytes = 256 * 1024;
constexpr std::int64_t kFewTilesToWidenBFor = 2;
constexpr std::int64_t kWidenedBForEachRow = 512;
constexpr std::int64_t kShortKOfTilesToWiden = 64;
constexpr std::int64_t kShortKOfEachRowToWiden = 4;
// Beyond this packing all of B costs more memory than the repeated packing of strips costs time.
constexpr std::int64_t kWholeBBytes = std::int64_t{64} << 20;

/// A B of 16-bit floats: more than a few rows have it widened for all, rather than by each tile.
bool should_widen(const Problem& p, const Kernels& kernels) {
  const std::int64_t most =
      follows_one_run_best(kernels) ? kMostRowsToWidenInTilesOfZen5 : kernels.most_rows_to_widen_in_tiles;
  if (kernels.widen == nullptr || p.m <= most) return false;
  return p.m * p.n * p.k >= kLeastWorkToWiden;
}

/// A given B of f64 from afar, which for more rows than one block would be packed as a whole, and read again from
/// there: strips that are packed and read at once take 0.82 to 0.98 of the time on Zen 3. (Of f32, with blocks of twice
/// as many rows, they take 0.98 to 1.08.)
bool gains_by_strips(const Problem& p, const Kernels& kernels) {
  const bool is_f64 = is_float(p.type) && kernels.element_bytes == 8;
  return is_f64 && kernels.has_short_vectors && p.m <= kMostRowsForStripsOfF64 && p.b_column_step == 1 &&
         !comes_from_caches(p, kernels);
}

BSource find_source(const Problem& p, const Kernels& kernels, bool b_is_packed, std::int64_t block_rows,
                    const Schedule& schedule) {
  const bool is_small =
      round_up(p.n, kernels.nr) * packed_rows_of_b(kernels, p.k) * kernels.accumulator_bytes <= kWholeBBytes;
  const bool is_worth_another_pass = p.m > block_rows && is_small;
  if (b_is_packed) return is_worth_another_pass && should_widen(p, kernels) ? BSource::widened : BSource::given;
  if (should_turn_b(p, kernels) || widens_b_at_once(p, kernels, schedule)) return BSource::direct;
  if (schedule.tiles_pack_b || gains_by_rows_of_tiles(p, kernels, schedule.workers)) return BSource::strips;
  if (p.b_column_step == 1 && kernels.in_place == nullptr && !kernels.packs_b && !should_widen(p, kernels) &&
      (suits_in_place(p, kernels) || reads_b_twice(p, kernels, schedule.workers))) {
    return BSource::direct;
  }
  return is_worth_another_pass && !gains_by_strips(p, kernels) ? BSource::whole : BSource::strips;
}

/// Writing Y takes a good part of the time, unless integers come from several instructions for each product.
bool has_short_k(const Kernels& kernels, const Schedule& s) { return s.kc < kLongK && kernels.in_place == nullptr; }

/// A B from memory, or the far end of the last-level cache, in few columns or for few rows.
bool has_large_b_and_near_sums(const Problem& p, const Kernels& kernels) {
  return kernels.has_short_vectors && !comes_from_caches(p, kernels) &&
         p.m * p.n * kernels.accumulator_bytes <= second_level_cache_bytes() / 2;
}

/// There is nothing that a short range of k would keep near for another tile. (What is widened is kept for this one.)
bool is_one_tile(const Problem& p, const Kernels& kernels) {
  if (kernels.widens()) return false;
  return (p.m <= kernels.lanes && p.n <= kernels.lanes) ||
         (kernels.has_short_vectors && p.m <= kernels.mr && p.n <= kernels.nr);
}

/// With vectors of half a line: there is no other panel for which A would have to stay near, and B is a run of lines.
bool is_one_panel(const Problem& p, const Kernels& kernels, bool b_is_packed) {
  if (!kernels.has_short_vectors || kernels.widens() || p.n > kernels.nr) return false;
  return b_is_packed || (p.n == kernels.nr && p.b_row_step == p.n && p.b_column_step == 1);
}

/// Bytes of a number in B as tiles find it.
std::int64_t bytes_in_b(const Kernels& kernels, const Schedule& s) {
  if (s.b_source == BSource::direct) return kernels.element_bytes;
  return s.b_source == BSource::given && !s.widens_b ? kernels.kept_bytes : kernels.accumulator_bytes;
}

}  // namespace

bool widens_b_at_once(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (kernels.widen_lines == nullptr || kernels.multiply_at_once == nullptr) return false;
  if (s.is_swapped || s.segments > 1 || p.k > kernels.kc || p.c_column_step > 1) return false;
  const std::int64_t rows = p.m / s.workers;  // each of them widens B for itself
  const std::int64_t bytes = p.k * round_up(p.n, kernels.lanes) * kernels.accumulator_bytes;
  const bool are_many = rows > kRowsToWidenBFor * kernels.mr;
  if (kernels.widens_all_at_once) {
    const bool are_few = rows <= kFewTilesToWidenBFor * kernels.mr;
    const bool has_short_k = p.k <= (rows > kernels.mr ? kShortKOfTilesToWiden : kShortKOfEachRowToWiden * rows);
    if (are_few && !has_short_k && p.n * p.k > kWidenedBForEachRow * rows) return false;
    return bytes <= (are_many ? std::min(kWidenedForManyBytes, second_level_cache_bytes() / 2) : kWidenedAtOnceBytes);
  }
  if (p.b_column_step != 1) {
    const bool are_few = rows <= kFewRowsToTurnFor || rows * p.k < kLeastAToTurnFor;
    if (are_few) return p.n * p.k <= kTurnedForEachOfFewRows * rows && bytes <= kWidenedAtOnceBytes;
    return p.n * round_up(p.k, kernels.lanes) <= kTurnedForEachRow * rows && bytes <= kWidenedAtOnceBytes;
  }
  return are_many && rows * p.n * p.k >= kLeastWorkToWidenAtOnce && bytes <= kWidenedAtOnceBytes;
}

std::int64_t columns_together(const Kernels& kernels, const Schedule& s, std::int64_t columns) {
  const std::int64_t column_bytes = s.kc * bytes_in_b(kernels, s);
  if (!has_short_k(kernels, s) || column_bytes * columns <= second_level_cache_bytes() / 2) return columns;
  const std::int64_t near = second_level_cache_bytes() / 4 / column_bytes / kernels.nr * kernels.nr;
  return std::min(columns, std::max(kStripColumns, near));
}

bool goes_by_rows(const Problem& p, const Kernels& kernels, const Schedule& s, std::int64_t columns) {
  const bool is_short = has_short_k(kernels, s);
  if (s.b_is_far || s.fetched == FarOperand::runs_of_b || (s.kc < kLongK && !is_short)) return false;
  const bool is_narrow = is_short && p.n < kManyColumns;
  const std::int64_t near_bytes = second_level_cache_bytes() * s.workers / (is_narrow ? 1 : 4);
  if (p.m * p.n * kernels.accumulator_bytes <= near_bytes) return false;
  return s.kc * columns * bytes_in_b(kernels, s) <= second_level_cache_bytes() / 2;
}

void choose_b_source(const Problem& p, const Kernels& kernels, bool b_is_packed, std::int64_t block_rows,
                     Schedule& schedule) {
  const auto equal_k = [&](std::int64_t most) { return equal_part(schedule.segment_k, most, kernels.k_group); };
  schedule.kc = equal_k(kernels.kc);
  schedule.strip_columns = std::min(kStripColumns, round_up(p.n, kernels.nr));
  schedule.tiles_pack_b = !b_is_packed && should_pack_in_tiles(p, kernels);
  schedule.b_source = find_source(p, kernels, b_is_packed, block_rows, schedule);
  switch (schedule.b_source) {
    case BSource::given:
    case BSource::widened:
    case BSource::whole:
      schedule.widens_b = schedule.b_source == BSource::given && should_widen(p, kernels);
      // Each tile fetches its share of the next panel, which may be longer then: sums are loaded and stored less often.
      if (!schedule.widens_b) schedule.kc = equal_k((is_one_panel(p, kernels, b_is_packed) ? 4 : 2) * kernels.kc);
      schedule.ahead_bytes = bytes_ahead_in_panels(p, kernels);
      if (schedule.b_source == BSource::given && fetches_runs_of_b(p, kernels)) {
        schedule.fetched = FarOperand::runs_of_b;
        schedule.kc = equal_k(kernels.kc);
      }
      return;
    case BSource::strips:
      if (packs_far_b_in_tiles(p, kernels)) {
        schedule.strip_columns = std::min(kColumnsForLowTiles, round_up(p.n, kernels.nr));
        schedule.kc = equal_k(kBytesOfKForLowTiles / kernels.element_bytes);
        return;
      }
      if (packs_strips_in_tiles(p, kernels) && !gains_by_rows_of_tiles(p, kernels, schedule.workers)) {
        schedule.tiles_pack_b = true;
        schedule.strip_columns = std::min(kColumnsPackedInTiles, round_up(p.n, kernels.nr));
        return;
      }
      if (p.m > kernels.mr) {
        if (kernels.has_short_vectors && p.b_column_step == 1 && !comes_from_caches(p, kernels)) {
          // Runs of memory as long as half of the second-level cache has room for, of so many rows.
          schedule.kc = equal_k(kFarKOfStrip);
          const std::int64_t columns = second_level_cache_bytes() / 2 / (kFarKOfStrip * kernels.accumulator_bytes);
          schedule.strip_columns = std::min(columns / kernels.nr * kernels.nr, round_up(p.n, kernels.nr));
        } else if (kernels.has_short_vectors && p.b_column_step != 1) {
          const std::int64_t near = kBytesOfTurnedStrip / (schedule.kc * kernels.accumulator_bytes);
          const std::int64_t panels = std::max<std::int64_t>(1, near / kernels.nr);
          schedule.strip_columns = std::min(panels * kernels.nr, round_up(p.n, kernels.nr));
        } else if (has_short_k(kernels, schedule)) {
          schedule.strip_columns = columns_together(kernels, schedule, round_up(p.n, kernels.nr));
        } else {
          const std::int64_t in_l2 = second_level_cache_bytes() / (schedule.kc * kernels.accumulator_bytes);
          schedule.strip_columns =
              std::min(schedule.strip_columns, std::max<std::int64_t>(1, in_l2 / kernels.nr) * kernels.nr);
        }
        return;
      }
      // Few rows take less time than the packing itself, which likes long runs of k.
      schedule.strip_columns = std::min(schedule.strip_columns, kernels.nr);
      schedule.kc = equal_k(2 * kernels.kc);
      return;
    case BSource::direct:
      if (widens_b_at_once(p, kernels, schedule)) return;
      schedule.turns_b = should_turn_b(p, kernels);
      schedule.turns_two_groups = schedule.turns_b && turns_two_groups(p, kernels);
      schedule.staggers_groups = schedule.turns_b && staggers_groups(p, kernels);
      schedule.has_few_rows =
          !schedule.turns_b && (takes_few_rows(p, kernels) || reads_b_twice(p, kernels, schedule.workers));
      schedule.fetched = fetched_of_b(p, kernels, schedule);
      if (schedule.has_few_rows) schedule.rows_of_b = rows_of_b(p, kernels, schedule.workers);
      if (schedule.turns_b || schedule.has_few_rows || is_one_tile(p, kernels)) {
        schedule.kc = equal_k(kFewRowsK);
      } else if (is_one_panel(p, kernels, false) && p.a_column_step == 1) {
        // (Lines of a transposed A serve the next tiles, too, while they are near.)
        schedule.kc = equal_k(4 * kernels.kc);
        schedule.ahead_bytes = bytes_ahead_in_panels(p, kernels);
      } else if (is_b_far(p, kernels)) {
        schedule.b_is_far = true;
        schedule.kc = equal_k(rows_of_far_b(p, kernels));
        const std::int64_t panels = kernels.has_short_vectors ? kPanelsTogetherOfShortVectors : kPanelsTogether;
        schedule.strip_columns = std::min(panels * kernels.nr, round_up(p.n, kernels.nr));
      } else if (shares_lines_of_b(p, kernels)) {
        schedule.kc = equal_k(rows_of_shared_lines(p, kernels));
      } else if (!goes_by_rows(p, kernels, schedule, p.n) && p.m > kTilesToKeepPanelFor * kernels.mr &&
                 p.n > kernels.nr && p.m * p.k * kernels.accumulator_bytes > kSmallABytes) {
        schedule.kc = equal_k(rows_of_near_b(p, kernels));
      } else if (has_large_b_and_near_sums(p, kernels)) {
        schedule.kc = equal_k(kLargeBKOfShortVectors);
      }
  }
}

}  // namespace binet::kernels::gemm
