// What tiles fetch of a packed B covers what later tiles read of it, and nothing else (ahead.h).
#include "kernels/gemm/ahead.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

struct Fetched {
  std::int64_t rows, tile_rows, panels, row_bytes;
};

/// The lines that the tiles of one range of k fetch, as the loops of k_loop-inl.h do: in each round of four k as many
/// as a tile of such a height has, of this range and the next one.
std::set<std::int64_t> fetched_lines(const Fetched& f, std::int64_t k, std::int64_t panel_bytes) {
  constexpr std::int64_t kMostRows = 6, kColumns = 16, kRound = 4;
  const std::vector<std::byte> b(static_cast<std::size_t>(f.panels * panel_bytes));
  Block block;
  block.m = f.rows;
  block.n = f.panels * kColumns - 5;
  block.k = k;
  block.b = b.data();
  block.a_panel_rows = f.tile_rows;
  std::set<std::int64_t> lines;
  for (std::int64_t panel = 0; panel < f.panels; ++panel) {
    for (std::int64_t m = 0; m < f.rows; m += f.tile_rows) {
      const Ahead ahead = next_runs(block, {kColumns, f.row_bytes, kMostRows, panel_bytes}, m, panel);
      if (ahead.step == 0) continue;
      const std::int64_t height = std::min(f.tile_rows, f.rows - m);
      EXPECT_GE(height, kFewestRowsForRuns);
      const bool with_each_k = height == kFewestRowsForRuns || (ahead.is_alone && f.row_bytes == kLineBytes);
      const std::int64_t together = with_each_k ? 1 : 2;
      for (std::int64_t first = 0; first < k; first += kRound) {
        for (std::int64_t i = 0; i < kRound / together; ++i) {
          const std::int64_t at = first * ahead.step + i * (together * ahead.step + ahead.apart);
          lines.insert((ahead.from - block.b + at) / kLineBytes);
        }
      }
    }
  }
  return lines;
}

TEST(Ahead, CoversThePanelsThatAreReadLater) {
  constexpr std::int64_t kK = 64;
  for (const std::int64_t row_bytes : {std::int64_t{64}, std::int64_t{32}}) {
    const std::int64_t range = kK * row_bytes / kLineBytes, panel_lines = 2 * range + 1;
    for (const auto& [rows, tile_rows] : {std::pair<std::int64_t, std::int64_t>{4, 4},
                                          {5, 4},
                                          {6, 6},
                                          {7, 4},
                                          {8, 4},
                                          {10, 5},
                                          {12, 6},
                                          {13, 5},
                                          {18, 6},
                                          {24, 6}}) {
      for (std::int64_t panels = 8; panels < 14; ++panels) {
        const std::set<std::int64_t> lines =
            fetched_lines({rows, tile_rows, panels, row_bytes}, kK, panel_lines * kLineBytes);
        const bool is_one = rows == tile_rows && row_bytes == kLineBytes;
        const std::int64_t group = is_one || tile_rows == 4 ? 4 : 2;
        std::set<std::int64_t> read;
        for (std::int64_t panel = 0; panel < panels; ++panel) {
          // The first panels have been fetched by the range before, and those of the next range are by this one.
          const std::int64_t first = panel * panel_lines + (panel < group ? range : 0);
          for (std::int64_t line = first; line < first + range; ++line) read.insert(line);
        }
        EXPECT_EQ(lines, read) << rows << " rows in tiles of " << tile_rows << ", " << panels << " panels of "
                               << row_bytes;
      }
    }
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
