#include "kernels/gemm/ahead.h"

namespace binet::kernels::gemm {

Ahead next_runs(const Block& block, const Panels& panels, std::int64_t m, std::int64_t panel) noexcept {
  // Lower tiles have no loop with such rounds; higher ones than these have two fetches in a round of four k, but for
  // one that is alone.
  constexpr std::int64_t kFewestRows = 4;
  const std::int64_t rows = block.a_panel_rows, tile = m / rows;
  const std::int64_t tiles = block.m / rows + (block.m % rows >= kFewestRows ? 1 : 0);
  if (tile >= tiles) return {block.b};
  const bool is_alone = rows == panels.most_rows && tiles == 1;
  // Of 16-bit floats a line is two k's.
  const std::int64_t runs = (is_alone && panels.row_bytes >= 64) || rows == kFewestRows ? 4 : 2;
  const std::int64_t of_group = panel % runs, next = panel - of_group + runs;
  const bool is_last = next * panels.columns >= block.n;
  const std::int64_t step = panels.row_bytes / (runs * tiles);
  const std::byte* const from = block.b + (is_last ? block.k * panels.row_bytes : next * panels.bytes_apart);
  return {from + (of_group * tiles + tile) * step * block.k, step, panels.bytes_apart, is_alone};
}

}  // namespace binet::kernels::gemm
