// Room: kernels. How short inner loops are cut into tiles (tiles.h).
//
// A tile is a few turns of one loop with all the loops inside it. An operand that runs through memory as y does is not
// laid out. One that begins where it began for the tile before keeps what is there. One that every tile lays out anew
// is shuffled in registers on its way into the operation: its stores would wait behind those of y.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/expansion.h"
#include "tensor/broadcast.h"

namespace binet::kernels::elementwise {

/// A tile or a table, and as much of the other operand and of y, stay in a first-level cache of 32 KiB; and a tile has
/// so many stores that the first of them have reached the cache when the kernel reads the tile back.
inline constexpr std::int64_t kTileBytes = 8192;

struct Tiling {
  struct Operand {
    bool continuous = false;    ///< runs through memory as y does
    bool fused = false;         ///< laid out while computing; at most one of the two operands
    std::int64_t elements = 1;  ///< all of it
    Expansion expansion;
  };

  std::int64_t laid_out_size = 0;  ///< bytes of an element as it is laid out: converted, where the kernel has that
  std::size_t loop = 0;            ///< which of the plan's loops is cut
  std::int64_t extent = 0;         ///< its turns
  std::int64_t turns = 0;          ///< of them in a tile
  std::int64_t turn_elements = 0;  ///< of y in one turn
  std::int64_t tiles = 0;          ///< to go through the loop once; the last of them may be smaller
  std::int64_t all_tiles = 0;      ///< over all turns of the loops around it
  Operand a;
  Operand b;
  bool begins_lines = false;  ///< every tile begins where a cache line of y does, if y does
  bool both_move = false;     ///< neither operand runs as y does or stays for many tiles
  double cost = 0;            ///< of a byte of y: to choose among tilings
  // Who had better hand rows to the kernel all the same:
  bool is_to_stream = false;         ///< a call that does not stream y
  bool is_for_broken_lines = false;  ///< that, and one whose y begins a line, as every row then does
  bool is_better_stored = false;     ///< and one that could stream y, if it stores it instead
};

/// Where what a call touches lies: in the first-level cache, in half of the core's own caches, in all caches, in part
/// in none, or so far away that y may be streamed.
enum class Reach { nearest, near, shared, far, streamed };

/// Nothing where handing the rows to the kernel one by one is faster.
[[nodiscard]] std::optional<Tiling> make_tiling(const BroadcastPlan& plan, std::int64_t size, Reach reach,
                                                const Kernel& kernel);

}  // namespace binet::kernels::elementwise
