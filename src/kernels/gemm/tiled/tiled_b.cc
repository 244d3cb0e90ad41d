#include "kernels/gemm/tiled/tiled_b.h"

#include <algorithm>

#include "base/aligned_buffer.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

/// Whether the panel that begins with a column is one tile wide.
bool is_narrow(std::int64_t column, std::int64_t end) { return end - column <= kTileLanes; }

}  // namespace

std::uint32_t pack_panels(const Problem& p, const Kernels& kernels, const std::byte* b, Range columns, Range ks,
                          std::int64_t group, std::byte* to, std::int64_t panel_bytes) {
  const TiledKernels& tiled = *kernels.tiled;
  const auto pack = [&](Range part, std::int64_t tiles) {
    TilePacking packing;
    packing.from = b + (ks.begin * p.b_row_step + part.begin * p.b_column_step) * kernels.element_bytes;
    packing.lane_step = p.b_column_step;
    packing.k_step = p.b_row_step;
    packing.lanes = part.end - part.begin;
    packing.k = ks.end - ks.begin;
    packing.to = to + (part.begin - columns.begin) / panel_lanes(tiled) * panel_bytes +
                 group * tiles * tiled.planes * kTileBytes;
    packing.panel_bytes = panel_bytes;
    packing.tiles = tiles;
    packing.swaps_pairs = tiled.are_vectors;
    return tiled.pack_b(packing);
  };
  const std::int64_t last = columns.begin + (columns.end - columns.begin - 1) / panel_lanes(tiled) * panel_lanes(tiled);
  const std::int64_t end_of_wide = is_narrow(last, columns.end) ? last : columns.end;
  std::uint32_t least = kNoMagnitude;
  if (columns.begin < end_of_wide) least = pack({columns.begin, end_of_wide}, tiled.panel_tiles);
  if (end_of_wide < columns.end) least = std::min(least, pack({end_of_wide, columns.end}, 1));
  return least;
}

TiledB::TiledB(const TiledKernels& tiled, std::int64_t n, std::int64_t k) noexcept
    : n_(n),
      k_(k),
      panel_columns_(panel_lanes(tiled)),
      group_bytes_(tiled.planes * kTileBytes),
      panel_bytes_(panel_columns_ * bytes_per_lane(tiled, k)) {
  const std::int64_t panels = ceil_div(n, panel_columns_);
  first_panel_ = round_up_to_cache_line(static_cast<std::size_t>(panels) * sizeof(std::uint32_t));
  if (n > 0) bytes_ = place((panels - 1) * panel_columns_, ceil_div(k, tiled.k_group));
}

std::size_t TiledB::place(std::int64_t column, std::int64_t group) const noexcept {
  const std::int64_t tiles = is_narrow(column, n_) ? 1 : panel_columns_ / kTileLanes;
  return first_panel_ + static_cast<std::size_t>(column / panel_columns_ * panel_bytes_ + group * tiles * group_bytes_);
}

std::int64_t TiledB::end_of_like_panels(std::int64_t begin, std::int64_t end, std::int64_t group) const noexcept {
  const std::int64_t last = (n_ - 1) / panel_columns_ * panel_columns_;
  return group > 0 && end == n_ && begin < last && is_narrow(last, n_) ? last : end;
}

const std::uint32_t* TiledB::least_at(const std::byte* packed, std::int64_t column) const noexcept {
  return reinterpret_cast<const std::uint32_t*>(packed) + column / panel_columns_;
}

void TiledB::pack(const Problem& p, const Kernels& kernels, const std::byte* b, std::byte* packed,
                  const ThreadPool& pool) const {
  // So many that rows of B are runs of memory, unless there would be few tasks, and for so many k at a time that their
  // pages stay in the TLB.
  constexpr std::int64_t kLeastPanels = 2, kMostPanels = 8, kTasks = 8;
  constexpr std::int64_t kRowsTogether = 256;
  const std::int64_t panels = std::clamp(n_ / panel_columns_ / kTasks, kLeastPanels, kMostPanels);
  const std::int64_t columns = panels * panel_columns_;
  pool.run(ceil_div(n_, columns), [&](std::int64_t task) {
    const Range range = {task * columns, std::min((task + 1) * columns, n_)};
    std::byte* const to = packed + first_panel_ + task * panels * panel_bytes_;
    std::uint32_t least = kNoMagnitude;
    for (std::int64_t k = 0; k < k_; k += kRowsTogether) {
      const Range ks = {k, std::min(k + kRowsTogether, k_)};
      least = std::min(least, pack_panels(p, kernels, b, range, ks, k / kernels.tiled->k_group, to, panel_bytes_));
    }
    auto* const least_of_panels = reinterpret_cast<std::uint32_t*>(packed) + task * panels;
    std::fill_n(least_of_panels, ceil_div(range.end - range.begin, panel_columns_), least);
  });
}

}  // namespace binet::kernels::gemm
