// Room: kernels. B in tiles: panel by panel, and in a panel group by group of k. Packed as a whole, the smallest
// magnitude of each panel stands in front.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/tiled/kernels.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

struct Range {
  std::int64_t begin = 0, end = 0;
};

/// Packs columns and k of op(B), to the place of those k, the `group`-th, in panels that begin at `to`. A last panel of
/// no more columns than a tile has lanes is one tile wide. Returns the smallest magnitude.
std::uint32_t pack_panels(const Problem& problem, const Kernels& kernels, const std::byte* b, Range columns, Range ks,
                          std::int64_t group, std::byte* to, std::int64_t panel_bytes);

/// How it lies, packed as a whole.
class TiledB {
 public:
  TiledB(const TiledKernels& tiled, std::int64_t n, std::int64_t k) noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// From one panel to the next.
  [[nodiscard]] std::int64_t panel_bytes() const noexcept { return panel_bytes_; }
  /// The tiles of the panel that begins with a column, from a group of k on.
  [[nodiscard]] std::size_t place(std::int64_t column, std::int64_t group) const noexcept;
  /// Where panels end, of those from `begin` to `end`, that are panel_bytes() apart from a group of k on: a narrow one
  /// has fewer tiles before a later group.
  [[nodiscard]] std::int64_t end_of_like_panels(std::int64_t begin, std::int64_t end,
                                                std::int64_t group) const noexcept;
  /// The smallest magnitudes of the panels from the one that begins with a column on.
  [[nodiscard]] const std::uint32_t* least_at(const std::byte* packed, std::int64_t column) const noexcept;

  void pack(const Problem& problem, const Kernels& kernels, const std::byte* b, std::byte* packed,
            const ThreadPool& pool) const;

 private:
  std::int64_t n_, k_, panel_columns_, group_bytes_, panel_bytes_;  ///< group_bytes_: of one tile's columns
  std::size_t first_panel_ = 0, bytes_ = 0;
};

}  // namespace binet::kernels::gemm
