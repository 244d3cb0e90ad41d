// Room: kernels. Rows from far away: as two runs of them, side by side.
//
// A core of Zen 3 gets more out of memory, and brings more to it, in two runs than in one: a prefetcher follows a run
// to the end of a page and begins anew in the next one, while the other run goes on. So a long row is computed as two
// halves, and rows of whole cache lines in pairs, one of each half of the rows, 256 bytes of each in turn. Of a
// streamed result, that takes 0.75 to 0.95 of the time with one thread and 0.8 to 1.0 with two; of one in place of an
// operand, 0.7 to 0.95 with both. Three or four runs, and pieces of 512 bytes or a KiB, do no better; rows of 2 to 32
// KiB as two halves each take up to 1.6 times as long, and what the last-level cache has up to 1.5 times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/elementwise/elementwise.h"

namespace binet::kernels::elementwise {

inline constexpr std::size_t kBytesInTurn = 256;
inline constexpr std::size_t kFetchedAheadSideBySide = 3 * kBytesInTurn;

struct Places {
  const std::byte* a;
  const std::byte* b;
  std::byte* y;
};
using Runs = std::array<Places, 2>;

/// What one type and pattern has for such rows.
struct FarLoops {
  /// Any rows, one after another.
  RowsFunction one_by_one = nullptr;
  /// So many elements of each run: whole lines.
  void (*side_by_side)(const Runs& runs, std::size_t elements) = nullptr;
  std::int64_t y_size = 0;  ///< bytes of an element
  std::int64_t a_size = 0;
  std::int64_t b_size = 0;
};

/// Computes rows, those that make two runs as such and others one after another.
void take_far_rows(const FarLoops& loops, const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y);

}  // namespace binet::kernels::elementwise
