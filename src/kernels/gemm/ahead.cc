#include "kernels/gemm/ahead.h"

#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {

Ahead next_runs(const Block& block, const Panels& panels, std::int64_t m, std::int64_t panel) noexcept {
  // Lower tiles have no loop with such rounds; higher ones than these have two fetches in a round of four k, but for
  // one that is alone.
  const std::int64_t rows = block.a_panel_rows, tile = m / rows;
  std::int64_t tiles = block.m / rows + (block.m % rows >= kFewestRowsForRuns ? 1 : 0);
  if (tiles == 3) tiles = 2;  // a line has no thirds
  if (tile >= tiles) return {block.b};
  const bool is_alone = rows == panels.most_rows && tiles == 1;
  // Of 16-bit floats a line is two k's.
  const std::int64_t runs = (is_alone && panels.row_bytes >= kLineBytes) || rows == kFewestRowsForRuns ? 4 : 2;
  const std::int64_t all = ceil_div(block.n, panels.columns), of_range = block.k * panels.row_bytes;
  const std::int64_t over = all % runs, last_group = all - over - runs;
  if (over != 0 && panel >= last_group) {
    // No run beyond the last panel: one panel at a time, of this range of k and then of the next one.
    const std::int64_t next = panel - last_group, step = panels.row_bytes / tiles;
    const std::byte* const from = block.b + (next < over ? (all - over + next) * panels.bytes_apart
                                                         : of_range + (next - over) * panels.bytes_apart);
    return {from + tile * step * block.k, step, 0, is_alone};
  }
  const std::int64_t of_group = panel % runs, next = panel - of_group + runs;
  const std::int64_t step = panels.row_bytes / (runs * tiles);
  const std::byte* const from = block.b + (next == all ? of_range : next * panels.bytes_apart);
  return {from + (of_group * tiles + tile) * step * block.k, step, panels.bytes_apart, is_alone};
}

}  // namespace binet::kernels::gemm
