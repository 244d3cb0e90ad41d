// Room: kernels. What tiles fetch of a packed B before they, or others, read it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/kernels.h"

namespace binet::kernels::gemm {

/// What a tile asks the caches to fetch while it computes, with each k or every other, `step` bytes further for each k.
struct Ahead {
  const std::byte* from = nullptr;
  std::int64_t step = 0;
  /// Added from each fetch to the next in a round of a loop over several k (AVX2): they are of as many runs then.
  std::int64_t apart = 0;
  bool is_alone = false;  ///< no other tile has a share: a fetch with each k
};

/// A packed B as tiles see it.
struct Panels {
  std::int64_t columns;      ///< of each panel
  std::int64_t row_bytes;    ///< of each panel, for one k
  std::int64_t most_rows;    ///< of a tile of Y
  std::int64_t bytes_apart;  ///< from each panel to the next
};

/// A tile that fetches runs has no fewer. Tiles of just so many fetch with each k, as k_loop-inl.h has it, too.
constexpr std::int64_t kFewestRowsForRuns = 4;

/// What the tile in the rows from m on and in panel `panel` fetches of the next panels, or behind the last ones of the
/// first panels' next range of k. Memory gives more if panels come side by side than one after the other: as many
/// together as a round of the loop has fetches (AVX2; measured on Zen 3). What all tiles of a range fetch is what is
/// read later, and nothing else; it changes times only, no result.
[[nodiscard]] Ahead next_runs(const Block& block, const Panels& panels, std::int64_t m, std::int64_t panel) noexcept;

}  // namespace binet::kernels::gemm
