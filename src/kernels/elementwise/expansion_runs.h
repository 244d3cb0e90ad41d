// Room: kernels. Operands whose chunks are runs of bytes, as they lie or in a copy: they need no shuffle.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/elementwise/expansion.h"

namespace binet::kernels::elementwise {

/// The bytes of the row that every turn of the outermost loop repeats; 0 if that is not all the operand does.
[[nodiscard]] std::int64_t repeated_row(std::span<const BroadcastLoop> loops, std::int64_t BroadcastLoop::*step,
                                        std::int64_t size);

/// A row that is longer than a window, from a copy with its own beginning behind it: each chunk is one window.
[[nodiscard]] Expansion runs_of_row(std::int64_t row_bytes, std::int64_t tile_bytes, const Lookup& lookup);

/// A tile of which each chunk is the end of a run of bytes and the beginning of another, or all one; nothing if there
/// are shorter runs.
[[nodiscard]] std::optional<Expansion> two_runs_a_chunk(std::span<const std::int32_t> places, std::int32_t size,
                                                        const Lookup& lookup);

/// A loop that repeats what is inside it, more often than a copy needs in order to hold every chunk in one window.
struct Repetition {
  std::size_t loop = 0;
  std::int64_t inside_bytes = 0;
  std::int64_t turns = 0;      ///< of the copy
  std::int64_t end_bytes = 0;  ///< not 0: no more of them are needed
  double share = 0;            ///< of the tile that the copy has
};

/// The loop that the smallest copy, for its extent, can stand for; nothing if there is none.
[[nodiscard]] std::optional<Repetition> find_repetition(std::span<const BroadcastLoop> loops,
                                                        std::int64_t BroadcastLoop::*step, std::int64_t size,
                                                        std::int64_t chunk);

/// Of a chunk, in the units of Lookup: a window that mostly lies across two cache lines, and its share of the copy,
/// which is read while its stores wait behind those of y.
[[nodiscard]] double cost_of(const Repetition& repetition);

/// Each chunk is one window of a copy with fewer turns: a chunk within the loop is found by its place in what the loop
/// repeats, one that reaches beyond the loop by its distance from the loop's end.
[[nodiscard]] Expansion runs_of_copy(std::span<const BroadcastLoop> loops, const Repetition& repetition,
                                     std::int64_t size, const Lookup& lookup);

}  // namespace binet::kernels::elementwise
