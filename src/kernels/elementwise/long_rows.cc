#include "kernels/elementwise/long_rows.h"

#include <algorithm>

#include "kernels/elementwise/open_line.h"

namespace binet::kernels::elementwise {
namespace {

/// From here on a row has vectors enough for the kernel.
constexpr std::int64_t kLongRowBytes = 512;
/// The same where an operand stays over a row, which the kernel keeps in a register, and vectors are as long as lines.
constexpr std::int64_t kLongSpreadBytes = 200;
constexpr std::int64_t kLongSpreadSmallBytes = 256;  // of small elements
/// Both where not the core sets the pace, but the way to memory.
constexpr std::int64_t kLongFarBytes = 160;
/// Elements of less are so many in a row that the vectors in which it ends weigh more, or take long.
constexpr std::int64_t kLargeElementBytes = 4;
/// And in vectors where they are shorter, or where tiles are dear.
constexpr std::int64_t kLongVectors = 2;
/// And in bytes where rows are whole lines, or whole vectors that are shorter.
constexpr std::int64_t kLongWholeBytes = 128;
constexpr std::int64_t kLongWholeVectorsBytes = 48;
/// And where both operands move with nearly every tile, in blocks that are worth tiles of their own; and with small
/// elements.
constexpr std::int64_t kLongMovingBytes = 80;
constexpr std::int64_t kLongMovingSmallBytes = 96;
/// And where y is streamed, and the line that ends one row and begins another is computed as one vector.
constexpr std::int64_t kLongJoinedBytes = 192;
/// Where it is put together in memory instead, and both operands move.
constexpr std::int64_t kLongStreamedBytes = 2048;
/// Where each tile would lay out both operands anew: rows of less are stored, if a block has no more of the operand
/// that stays over its rows. More rows repeat the other one in order, which tiles are quick at.
constexpr std::int64_t kStoredBytes = 320, kStoredBytesOverRows = 24;
/// Where the kernel converts elements, and an operand is laid out anew for each tile: so many instructions', half of
/// one more if it is laid out as it is. Half of one less if the other one stays over a row, which is then converted
/// once.
constexpr std::int64_t kLongConversions = 2;
/// The latter in blocks of a few rows, which have costs of their own.
constexpr std::int64_t kLongInBlocksBytes = 96;
/// Where the kernel converts elements, an operand stays over a row, and is laid out for many tiles at once.
constexpr std::int64_t kLongConvertedBytes = 256;

bool converts(const Kernel& kernel) { return kernel.widening.size != 0; }

/// Without vectors the first lookup moves one element; a row's loop takes some of them to begin, too.
std::int64_t vector_bytes(const Kernel& kernel) { return std::max(kernel.lookups.front().chunk, 16); }

/// With vectors shorter than lines, where an operand stays over a row and is laid out anew for each tile: from a vector
/// or so of 32 bytes on, of 16 from two, as a row's loop takes as long to begin. The smaller the elements, and the
/// longer their arithmetic takes, the more the vectors weigh in which a row ends.
std::int64_t long_spread_bytes_anew(const RowKind& row, const Kernel& kernel) {
  constexpr std::int64_t kShortest = 16;
  if (converts(kernel)) return row.in_small_blocks ? kLongInBlocksBytes : kernel.widening.together * 3 / 2;
  if (vector_bytes(kernel) == kShortest) return row.in_small_blocks ? 24 : 32;
  if (row.in_small_blocks) return kernel.takes_long ? 40 : 32;
  if (row.element_bytes >= kLargeElementBytes) return 32;
  return kernel.takes_long ? 48 : 40;
}

std::int64_t long_row_bytes(const RowKind& row, const Kernel& kernel) {
  // With vectors as long as a line, tiles beat rows that are no whole lines: each vector of those lies across two.
  if (vector_bytes(kernel) == kLineBytes && !converts(kernel)) {
    if (row.streams_broken_lines) return kLongJoinedBytes;
    if (row.is_far && (row.spreads || row.element_bytes >= kLargeElementBytes)) return kLongFarBytes;
    if (!row.spreads) return kLongRowBytes;
    return row.element_bytes >= kLargeElementBytes ? kLongSpreadBytes : kLongSpreadSmallBytes;
  }
  if (!row.spreads) return row.streams_broken_lines ? kLongStreamedBytes : kLongRowBytes;
  if (row.streams_broken_lines) return kLongRowBytes;
  if (!converts(kernel)) return kLongVectors * vector_bytes(kernel);
  if (!kernel.lays_out_converted) return kLongConvertedBytes;
  return row.in_small_blocks ? kLongInBlocksBytes : kernel.widening.together * 3 / 2;
}

/// Where both operands would be laid out, or shuffled, anew for nearly every tile.
std::int64_t long_moving_row_bytes(const RowKind& row, const Kernel& kernel) {
  constexpr std::int64_t kFewRows = 6, kManyRows = 48;
  const std::int64_t vector = vector_bytes(kernel);
  if (!row.spreads) return kLongVectors * vector;
  if (vector < kLineBytes) return long_spread_bytes_anew(row, kernel);
  // A tile has several such blocks; the rows of one are not worth their loop.
  if (row.block_rows < kFewRows) return vector * 7 / 4;
  if (vector == kLineBytes && row.block_rows >= kManyRows) {
    return row.element_bytes >= kLargeElementBytes ? kLongMovingBytes : kLongMovingSmallBytes;
  }
  return vector;
}

/// Whether vectors that are shorter than lines fill a row. The rows of a tile have no ends, but what it lays out must
/// be loaded again; of elements of a byte there are so many in a vector that this pays.
bool is_whole(const RowKind& row, const Kernel& kernel) {
  const std::int64_t vector = vector_bytes(kernel);
  if (vector == kLineBytes || row.element_bytes == 1)
    return row.bytes % kLineBytes == 0 && row.bytes >= kLongWholeBytes;
  const std::int64_t unit = converts(kernel) ? kernel.widening.together : vector;
  return row.bytes % unit == 0 && row.bytes >= kLongWholeVectorsBytes;
}

/// What each tile lays out anew.
const Expansion& fused_of(const Tiling& tiling) { return (tiling.a.fused ? tiling.a : tiling.b).expansion; }

/// Whether that is read as runs from a copy.
bool is_copied(const Tiling& tiling) {
  const Expansion& x = fused_of(tiling);
  return x.repeated_bytes != 0 || x.copy != nullptr;
}

/// Whether all of its chunks come from one window, as those of a few elements do, so that each of them takes a shuffle
/// and nothing else.
bool stays(const Tiling& tiling) {
  constexpr double kCostOfOnePlace = 1.5;  // as Lookup counts it
  const Expansion& x = fused_of(tiling);
  return !is_copied(tiling) && x.cost * static_cast<double>(x.chunk_bytes) <= kCostOfOnePlace;
}

/// Whether the beginning of tiles weighs more than what they save.
bool are_few(const Tiling& tiling) {
  constexpr std::int64_t kFewestTiles = 4;
  return tiling.all_tiles < kFewestTiles;
}

/// Whether a row's last vector repeats so much of the one before that to lay the operand out costs less: beside the
/// arithmetic that takes so much longer. Not in few tiles, nor by shuffles.
bool repeats_much(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  constexpr double kTime = 1.3, kTimeWhereArithmeticIsLong = 1.15;
  if (are_few(tiling) || !is_copied(tiling)) return false;
  const std::int64_t vector = vector_bytes(kernel);
  const std::int64_t computed = (row.bytes + vector - 1) / vector * vector;
  const bool is_long = kernel.takes_long || row.element_bytes == 1;
  return static_cast<double>(computed) >
         static_cast<double>(row.bytes) * (is_long ? kTimeWhereArithmeticIsLong : kTime);
}

/// Whether what each tile lays out anew had better be loaded where it lies, by each row of a block: laying it out costs
/// more than the rows' first and last vectors, but for blocks of so many rows that a tile serves most of one.
bool moves_dearly(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  constexpr std::int64_t kManyVectors = 4;
  constexpr std::int64_t kManyRows = 128, kManyRowsOfFewVectors = 32;
  constexpr double kCostOfChunk = 2.8;
  if (!tiling.a.fused && !tiling.b.fused) return false;
  const std::int64_t vector = vector_bytes(kernel);
  const bool in_lines = vector == kLineBytes && !converts(kernel);
  if (row.spreads && vector < kLineBytes) return !stays(tiling) && row.bytes >= long_spread_bytes_anew(row, kernel);
  if (row.spreads) {
    return in_lines && tiling.a.fused && !row.is_far && row.bytes >= vector * 3 / 2 && row.block_rows < kManyRows;
  }
  if (converts(kernel)) {
    const std::int64_t conversion = kernel.widening.together;
    const bool is_cheaper = !kernel.lays_out_converted && !are_few(tiling);
    return row.bytes >= kLongConversions * conversion + (is_cheaper ? conversion / 2 : 0);
  }
  if (row.bytes < kLongVectors * vector) return false;
  if (!in_lines) return !repeats_much(row, kernel, tiling);
  if (row.block_rows < (row.bytes < kManyVectors * vector ? kManyRowsOfFewVectors : kManyRows)) return true;
  const Expansion& x = fused_of(tiling);
  return !is_copied(tiling) && x.cost * static_cast<double>(x.chunk_bytes) > kCostOfChunk;
}

}  // namespace

bool is_long(const RowKind& row, const Kernel& kernel) { return row.bytes >= long_row_bytes(row, kernel); }

bool is_long_for_tiles(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  if (row.streams_broken_lines) return false;
  if (is_whole(row, kernel)) return true;
  if (tiling.both_move && row.bytes >= long_moving_row_bytes(row, kernel)) return true;
  return !(tiling.both_move && row.spreads) && moves_dearly(row, kernel, tiling);
}

bool is_better_stored(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  if (vector_bytes(kernel) == kLineBytes || converts(kernel)) return false;
  return tiling.both_move && row.bytes < kStoredBytes && row.block_rows * row.element_bytes <= kStoredBytesOverRows;
}

}  // namespace binet::kernels::elementwise
