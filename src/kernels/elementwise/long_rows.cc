#include "kernels/elementwise/long_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/target.h"
#include "kernels/elementwise/open_line.h"

namespace binet::kernels::elementwise {
namespace {

bool converts(const Kernel& kernel) { return kernel.widening.size != 0; }

/// Without vectors the first lookup moves one element; a row's loop takes some of them to begin, too.
std::int64_t vector_bytes(const Kernel& kernel) { return std::max(kernel.lookups.front().chunk, 16); }

bool has_short_vectors(const Kernel& kernel) { return vector_bytes(kernel) < kLineBytes; }

/// Intel's CPUs with vectors as long as a line. A vector of a row that lies across two lines costs more there.
bool is_on_intel(const Kernel& kernel) {
  return is_intel_with_avx512() && !has_short_vectors(kernel) && !converts(kernel);
}

/// bfloat16's arithmetic is the longest.
bool is_bfloat16(const RowKind& row, const Kernel& kernel) { return kernel.takes_long && row.element_bytes == 2; }

/// Whether times are compared. With vectors as long as a line, what was measured are lengths, but where stores do not
/// wait: in the first-level cache, on Zen 5 without conversions, and on Intel's CPUs behind bfloat16's arithmetic, too.
bool compares_costs(const RowKind& row, const Kernel& kernel) {
  if (has_short_vectors(kernel)) return true;
  const bool is_on_amd = !is_intel_with_avx512() && !has_units_of_half_vectors();
  if (is_on_amd && !converts(kernel)) return !row.leaves_l1;
  return is_on_intel(kernel) && (!row.leaves_l1 || is_bfloat16(row, kernel));
}

// Vectors shorter than a line. Bytes of a row from which on it is handed to the kernel where y is streamed, and the
// line that ends one row and begins another is put together in memory; the same where an operand stays over a row, and
// tiles of such rows do not all begin lines.
constexpr std::int64_t kLongStreamedBytes = 2048, kLongStreamedSpreadBytes = 512;
/// And where such rows are joined to lines (Kernel::joins_spread_rows), with conversions and without. Not in small
/// blocks, in which too many lines are the last ones.
constexpr std::int64_t kLongJoinedConvertedBytes = 192, kLongJoinedSpreadBytes = 96;

/// Whether tiles of such rows can all begin lines of a y that begins at any multiple of 16 bytes.
bool can_begin_lines(const RowKind& row) {
  const std::int64_t rows = kLineBytes / std::gcd(row.bytes, kLineBytes);
  return rows >= kLineBytes / 16 && rows * row.bytes <= kTileBytes;
}

std::int64_t long_streamed_bytes(const RowKind& row, const Kernel& kernel) {
  if (!row.spreads || can_begin_lines(row)) return kLongStreamedBytes;
  if (!kernel.joins_spread_rows || !row.runs_on || row.in_small_blocks) return kLongStreamedSpreadBytes;
  return converts(kernel) ? kLongJoinedConvertedBytes : kLongJoinedSpreadBytes;
}

/// Where each tile would lay out both operands anew: rows of less are stored, if a block has no more of the operand
/// that stays over its rows. More rows repeat the other one in order, which tiles are quick at.
constexpr std::int64_t kStoredBytes = 320, kStoredBytesOverRows = 24;

/// What the loops take, counted as Lookup counts.
struct Costs {
  double short_row;   ///< a row of less than a vector
  double row;         ///< others, both operands of which move
  double spread_row;  ///< one of which stays
  double streamed;    ///< each row more where it is streamed, a line at a time
  double vector;      ///< each vector of a row, of which the last one repeats a part of the one before
  double block;       ///< the way from one block of rows to the next
  double tile;        ///< a vector of a tile, without what its operands cost
  double tiles;       ///< to begin with tiles at all, in each call
  double half_tiles;  ///< the same where one operand runs as y does
};
constexpr double kNever = std::numeric_limits<double>::infinity();
/// Fitted to the times of 2500 products, with vectors of 32 and of 16 bytes: who goes by them takes 1.01 times what the
/// better way takes, in the mean, and hardly more than 1.05 with any kind of rows.
constexpr Costs kCosts{kNever, 3.7, 2.6, 6, 2.4, 0, 2.8, 100, 100};
constexpr Costs kCostsOfLongArithmetic{kNever, 5.3, 4.4, 6, 4.9, 0, 6.1, 100, 100};
/// Of vectors as long as a line, with any arithmetic. Fitted to 5400 products that the first-level cache holds, on
/// Intel's CPUs: 1.01 again, where lengths took 1.05. On Zen 5 350 such products take 0.97 of what they took by
/// lengths, in the mean; most that differ 0.4 to 0.75, rows of 76 to 84 bytes with a factor each 1.4 to 1.6.
constexpr Costs kCostsOfLines{9.3, 3.9, 2.7, 0, 2.2, 6, 1.8, 90, 63};

const Costs& costs_of(const Kernel& kernel) {
  if (!has_short_vectors(kernel)) return kCostsOfLines;
  return kernel.takes_long && !converts(kernel) ? kCostsOfLongArithmetic : kCosts;
}

/// Whether a row by itself takes less than as much of tiles, each byte of which costs `tile_cost` beside the loop. What
/// is converted is a vector of its own for each conversion.
bool is_cheaper_as_row(const RowKind& row, const Kernel& kernel, double tile_cost, double Costs::*begin) {
  const std::int64_t vector = converts(kernel) ? kernel.widening.together : vector_bytes(kernel);
  const Costs& costs = costs_of(kernel);
  const auto vectors = static_cast<double>((row.bytes + vector - 1) / vector);
  const double row_alone =
      row.bytes < vector ? costs.short_row : (row.spreads ? costs.spread_row : costs.row) + costs.vector * vectors;
  const double by_itself =
      row_alone + (row.is_streamed ? costs.streamed : 0) + costs.block / static_cast<double>(row.block_rows);
  const double of_byte = costs.tile / static_cast<double>(vector) + tile_cost;
  return by_itself < of_byte * static_cast<double>(row.bytes) + costs.*begin / static_cast<double>(row.all_rows);
}

/// The same of any tiles: an operand that each of them lays out anew takes a table and a shuffle at least.
bool is_cheaper_than_any_tile(const RowKind& row, const Kernel& kernel) {
  const double least_cost = row.spreads_anew ? 1.5 / static_cast<double>(vector_bytes(kernel)) : 0;
  return is_cheaper_as_row(row, kernel, least_cost, &Costs::half_tiles);
}

bool is_cheaper_than_tiles(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  const bool is_half = tiling.a.continuous || tiling.b.continuous;
  return is_cheaper_as_row(row, kernel, tiling.cost, is_half ? &Costs::half_tiles : &Costs::tiles);
}

// Vectors as long as a line, bytes of a row.
constexpr std::int64_t kLongRowBytes = 512;
/// An operand stays over it.
constexpr std::int64_t kLongSpreadBytes = 200;
constexpr std::int64_t kLongSpreadSmallBytes = 256;  // of small elements
/// Both where not the core sets the pace, but the way to memory.
constexpr std::int64_t kLongFarBytes = 160;
/// Elements of less are so many in a row that the vectors in which it ends weigh more, or take long.
constexpr std::int64_t kLargeElementBytes = 4;
/// And on Intel's CPUs, where tiles gain more, the latter of the two below with long arithmetic: what moves from tile
/// to tile, and where y leaves the core's own caches, which then sets the pace.
constexpr std::int64_t kLongMovingOnIntelBytes = 192, kLongMovingBesideArithmeticBytes = 128;
constexpr std::int64_t kLongSharedBytes = 400, kLongSharedBesideArithmeticBytes = 256;
/// And where rows are whole lines.
constexpr std::int64_t kLongWholeBytes = 128;
/// And where both operands move with nearly every tile, in blocks that are worth tiles of their own; and with small
/// elements.
constexpr std::int64_t kLongMovingBytes = 80;
constexpr std::int64_t kLongMovingSmallBytes = 96;
/// And where y is streamed, and the line that ends one row and begins another is computed as one vector.
constexpr std::int64_t kLongJoinedBytes = 192;
/// Where the kernel converts elements, and an operand is laid out anew for each tile: so many instructions'. Half of
/// one less if the other one stays over a row, which is then converted once.
constexpr std::int64_t kLongConversions = 2;
/// The latter in blocks of a few rows, which have costs of their own.
constexpr std::int64_t kLongInBlocksBytes = 96;

std::int64_t long_shared_bytes(const Kernel& kernel) {
  return kernel.takes_long ? kLongSharedBesideArithmeticBytes : kLongSharedBytes;
}

/// There: whether the rows of a block had better load what each tile would lay out anew.
bool moves_dearly_on_intel(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  if (!tiling.both_move && !tiling.a.fused) return false;
  if (row.leaves_l2) return row.bytes >= long_shared_bytes(kernel);
  return row.bytes >= (kernel.takes_long ? kLongMovingBesideArithmeticBytes : kLongMovingOnIntelBytes);
}

std::int64_t long_conversions_bytes(const RowKind& row, const Kernel& kernel) {
  return row.in_small_blocks ? kLongInBlocksBytes : kernel.widening.together * 3 / 2;
}

std::int64_t long_row_bytes(const RowKind& row, const Kernel& kernel) {
  if (converts(kernel)) {
    if (row.spreads) return row.streams_broken_lines ? kLongStreamedSpreadBytes : long_conversions_bytes(row, kernel);
    return row.streams_broken_lines ? kLongStreamedBytes : kLongRowBytes;
  }
  // Tiles beat rows that are no whole lines: each vector of those lies across two.
  if (row.streams_broken_lines) return kLongJoinedBytes;
  if (row.spreads && row.leaves_l2 && is_on_intel(kernel)) return long_shared_bytes(kernel);
  if (row.is_far && (row.spreads || row.element_bytes >= kLargeElementBytes)) return kLongFarBytes;
  if (!row.spreads) return kLongRowBytes;
  return row.element_bytes >= kLargeElementBytes ? kLongSpreadBytes : kLongSpreadSmallBytes;
}

/// Where both operands would be laid out, or shuffled, anew for nearly every tile.
std::int64_t long_moving_row_bytes(const RowKind& row, const Kernel& kernel) {
  constexpr std::int64_t kFewRows = 6, kManyRows = 48;
  const std::int64_t vector = vector_bytes(kernel);
  if (!row.spreads) return 2 * vector;
  // A tile has several such blocks; the rows of one are not worth their loop.
  if (row.block_rows < kFewRows) return vector * 7 / 4;
  if (row.block_rows < kManyRows) return vector;
  return row.element_bytes >= kLargeElementBytes ? kLongMovingBytes : kLongMovingSmallBytes;
}

/// Whether vectors fill a row. The rows of a tile have no ends, but what it lays out must be loaded again.
bool is_whole(const RowKind& row) { return row.bytes % kLineBytes == 0 && row.bytes >= kLongWholeBytes; }

/// Whether what each tile lays out anew had better be loaded where it lies, by each row of a block: laying it out costs
/// more than the rows' first and last vectors, but for blocks of so many rows that a tile serves most of one.
bool moves_dearly(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  constexpr std::int64_t kManyVectors = 4;
  constexpr std::int64_t kManyRows = 128, kManyRowsOfFewVectors = 32;
  constexpr double kCostOfChunk = 2.8;
  if (!tiling.a.fused && !tiling.b.fused) return false;
  const std::int64_t vector = vector_bytes(kernel);
  if (row.spreads) {
    return !converts(kernel) && tiling.a.fused && !row.is_far && row.bytes >= vector * 3 / 2 &&
           row.block_rows < kManyRows;
  }
  if (converts(kernel)) return row.bytes >= kLongConversions * kernel.widening.together;
  if (row.bytes < 2 * vector) return false;
  if (row.block_rows < (row.bytes < kManyVectors * vector ? kManyRowsOfFewVectors : kManyRows)) return true;
  const Expansion& x = (tiling.a.fused ? tiling.a : tiling.b).expansion;
  const bool is_copied = x.repeated_bytes != 0 || x.copy != nullptr;
  return !is_copied && x.cost * static_cast<double>(x.chunk_bytes) > kCostOfChunk;
}

}  // namespace

bool needs_begun_lines(const Kernel& kernel) { return has_short_vectors(kernel); }

bool is_long(const RowKind& row, const Kernel& kernel) {
  if (row.streams_broken_lines && has_short_vectors(kernel)) return row.bytes >= long_streamed_bytes(row, kernel);
  if (row.streams_broken_lines || !compares_costs(row, kernel)) return row.bytes >= long_row_bytes(row, kernel);
  return is_cheaper_than_any_tile(row, kernel);
}

bool is_long_for_tiles(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  if (row.streams_broken_lines) return false;
  if (!has_short_vectors(kernel) && is_whole(row)) return true;
  if (compares_costs(row, kernel)) return is_cheaper_than_tiles(row, kernel, tiling);
  if (row.spreads && is_on_intel(kernel)) return moves_dearly_on_intel(row, kernel, tiling);
  if (tiling.both_move && row.bytes >= long_moving_row_bytes(row, kernel)) return true;
  return !(tiling.both_move && row.spreads) && moves_dearly(row, kernel, tiling);
}

bool is_better_stored(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  if (!has_short_vectors(kernel) || converts(kernel)) return false;
  return tiling.both_move && row.bytes < kStoredBytes && row.block_rows * row.element_bytes <= kStoredBytesOverRows;
}

}  // namespace binet::kernels::elementwise
