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
/// And in bytes where rows are whole lines.
constexpr std::int64_t kLongWholeBytes = 128;
/// And where both operands move with nearly every tile, in blocks that are worth tiles of their own; and with small
/// elements.
constexpr std::int64_t kLongMovingBytes = 80;
constexpr std::int64_t kLongMovingSmallBytes = 96;
/// And where y is streamed, and the line that ends one row and begins another is computed as one vector.
constexpr std::int64_t kLongJoinedBytes = 192;
/// Where it is put together in memory instead, and both operands move.
constexpr std::int64_t kLongStreamedBytes = 2048;
/// Where the kernel converts elements, and an operand is laid out anew for each tile: so many instructions'. Half of
/// one less if the other one stays over a row, which is then converted once.
constexpr std::int64_t kLongConversions = 2;
/// The latter in blocks of a few rows, which have costs of their own.
constexpr std::int64_t kLongInBlocksBytes = 96;

bool converts(const Kernel& kernel) { return kernel.widening.size != 0; }

/// Without vectors the first lookup moves one element; a row's loop takes some of them to begin, too.
std::int64_t vector_bytes(const Kernel& kernel) { return std::max(kernel.lookups.front().chunk, 16); }

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
  return row.in_small_blocks ? kLongInBlocksBytes : kernel.widening.together * 3 / 2;
}

/// Where both operands would be laid out, or shuffled, anew for nearly every tile.
std::int64_t long_moving_row_bytes(const RowKind& row, const Kernel& kernel) {
  constexpr std::int64_t kFewRows = 6, kManyRows = 48;
  const std::int64_t vector = vector_bytes(kernel);
  if (!row.spreads) return kLongVectors * vector;
  // A tile has several such blocks; the rows of one are not worth their loop.
  if (row.block_rows < kFewRows) return vector * 7 / 4;
  if (vector == kLineBytes && row.block_rows >= kManyRows) {
    return row.element_bytes >= kLargeElementBytes ? kLongMovingBytes : kLongMovingSmallBytes;
  }
  return row.element_bytes == 1 && vector < kLineBytes ? vector * 5 / 4 : vector;
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
  if (row.spreads) {
    return in_lines && tiling.a.fused && !row.is_far && row.bytes >= vector * 3 / 2 && row.block_rows < kManyRows;
  }
  if (converts(kernel)) return row.bytes >= kLongConversions * kernel.widening.together;
  if (row.bytes < kLongVectors * vector) return false;
  if (!in_lines) return true;
  if (row.block_rows < (row.bytes < kManyVectors * vector ? kManyRowsOfFewVectors : kManyRows)) return true;
  const Expansion& x = (tiling.a.fused ? tiling.a : tiling.b).expansion;
  const bool is_copied = x.repeated_bytes != 0 || x.copy != nullptr;
  return !is_copied && x.cost * static_cast<double>(x.chunk_bytes) > kCostOfChunk;
}

}  // namespace

bool is_long(const RowKind& row, const Kernel& kernel) { return row.bytes >= long_row_bytes(row, kernel); }

bool is_long_for_tiles(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  if (row.streams_broken_lines) return false;
  if (row.bytes % kLineBytes == 0 && row.bytes >= kLongWholeBytes) return true;
  if (tiling.both_move && row.bytes >= long_moving_row_bytes(row, kernel)) return true;
  return !(tiling.both_move && row.spreads) && moves_dearly(row, kernel, tiling);
}

}  // namespace binet::kernels::elementwise
