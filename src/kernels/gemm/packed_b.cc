#include "kernels/gemm/packed_b.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/cache_size.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/plan/parts.h"
#include "kernels/gemm/plan/swap.h"
#include "kernels/gemm/plan/swap_cost.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/tiled.h"
#include "kernels/gemm/tiled/tiled_b.h"

namespace binet::kernels::gemm {
namespace {

constexpr std::int64_t kMostBytesOfRows = 32 * 1024;
// With vectors as long as lines panels are of use for a larger B alone, with those of half a line nearly so; but 16-bit
// floats, which are widened, are better off with panels unless so short a k goes by blocks of rows.
constexpr std::int64_t kMostBytesOfRowsOfLines = 160 * 1024;
constexpr std::int64_t kMostBytesOfRowsOfHalfLines = 128 * 1024;
constexpr std::int64_t kShortK = 32;
// Where they are not widened, so few k take as long to place tiles on panels as to compute them: a larger B is kept in
// rows if it stays near, and of very few k any. (Measured with vectors of half a line: up to 0.5 of the time.)
constexpr std::int64_t kShortKOfLargeRows = 24;
constexpr std::int64_t kVeryShortK = 8;
// One row reads several panels side by side. From memory that takes a fifth longer where all are a multiple of so much
// apart, as K = 4096 makes them, than where they are a page more.
constexpr std::int64_t kPanelAliasBytes = 256 * 1024;

// Rows that are a multiple of so much apart meet in so few sets of the first-level cache that those of a strip drive
// each other out. (Measured with vectors of half a line: 0.83 to 1.0 of the time if they are a line more apart.)
constexpr std::int64_t kBytesWhereRowsMeet = 1024, kBytesWhereRowsOfHalfLinesMeet = 512;

std::int64_t bytes_of_kept_rows(const Problem& p, const Kernels& kernels) {
  return p.k * with_kept_rows(p, kernels).b_row_step * kernels.element_bytes;
}

std::int64_t most_bytes_of_kept_rows(const Problem& p, const Kernels& kernels) {
  if (kernels.has_long_vectors()) return kMostBytesOfRowsOfLines;
  if (!kernels.has_short_vectors) return kMostBytesOfRows;
  if (kernels.widens()) return p.k <= kShortK ? kMostBytesOfRowsOfHalfLines : kMostBytesOfRows;
  if (p.k <= kVeryShortK) return std::numeric_limits<std::int64_t>::max();
  if (p.k > kShortKOfLargeRows) return kMostBytesOfRowsOfHalfLines;
  return std::max(kMostBytesOfRowsOfHalfLines, second_level_cache_bytes() / 2);
}

template <std::size_t kBytes>
void write_rows(const Problem& p, const Problem& kept, const std::byte* b, std::byte* to) {
  constexpr std::int64_t kStep{kBytes};
  std::memset(to, 0, static_cast<std::size_t>(p.k * kept.b_row_step) * kBytes);
  for (std::int64_t k = 0; k < p.k; ++k, b += p.b_row_step * kStep, to += kept.b_row_step * kStep) {
    if (p.b_column_step == 1) {
      std::memcpy(to, b, static_cast<std::size_t>(p.n) * kBytes);
    } else {
      for (std::int64_t n = 0; n < p.n; ++n) std::memcpy(to + n * kStep, b + n * p.b_column_step * kStep, kBytes);
    }
  }
}

void write_rows_of_b(const Problem& problem, const Kernels& kernels, const std::byte* b, std::byte* rows) {
  const Problem kept = with_kept_rows(problem, kernels);
  switch (kernels.element_bytes) {
    case 2:
      return write_rows<2>(problem, kept, b, rows);
    case 4:
      return write_rows<4>(problem, kept, b, rows);
    default:
      return write_rows<8>(problem, kept, b, rows);
  }
}

}  // namespace

bool keeps_rows(const Problem& p, const Kernels& kernels) noexcept {
  if (takes_dots(p)) return false;
  if (has_columns_to_swap(p, kernels) || has_few_columns_beside_columns_of_a(p, kernels)) return true;
  if (kernels.in_place != nullptr) return p.n <= rows_and_columns_to_pack(p.type, p.k);
  if (!kernels.takes_any_columns && !kernels.widens_all_at_once && p.n % kernels.lanes != 0) return false;
  // Many rows keep those of a short K in registers (short_k.h), and few read them where they lie.
  return p.k <= kernels.most_short_k || p.k * with_rows_of_vectors(p, kernels).b_row_step * kernels.element_bytes <=
                                            most_bytes_of_kept_rows(p, kernels);
}

Problem with_rows_of_vectors(const Problem& problem, const Kernels& kernels) noexcept {
  Problem rows = problem;
  rows.b_row_step = round_up(problem.n, kernels.lanes);
  rows.b_column_step = 1;
  rows.b_has_whole_vectors = true;
  return rows;
}

Problem with_rows_apart(Problem rows, const Kernels& kernels) noexcept {
  const std::int64_t bytes = kernels.has_short_vectors ? kBytesWhereRowsOfHalfLinesMeet : kBytesWhereRowsMeet;
  if (rows.b_row_step * kernels.element_bytes % bytes == 0) rows.b_row_step += kLineBytes / kernels.element_bytes;
  return rows;
}

Problem with_kept_rows(const Problem& problem, const Kernels& kernels) noexcept {
  Problem kept = with_rows_of_vectors(problem, kernels);
  // They become rows of the product that is computed, as elements that touch, whose number does not matter. So does a
  // single column. (Measured with vectors of half a line.)
  const bool is_column = problem.n == 1 && kernels.has_short_vectors && is_float(problem.type);
  if (is_column || has_columns_to_swap(problem, kernels)) {
    kept.b_row_step = problem.n;
    kept.b_has_whole_vectors = false;
    return kept;
  }
  return kernels.has_short_vectors && !kernels.widens() ? with_rows_apart(kept, kernels) : kept;
}

PackedB::PackedB(const Kernels& kernels, std::int64_t n, std::int64_t k) noexcept {
  const std::int64_t rest = n % kernels.nr;
  const bool has_narrow = rest > 0 && rest <= kernels.lanes;
  panels = has_narrow ? n / kernels.nr : ceil_div(n, kernels.nr);
  narrow_width = has_narrow ? kernels.lanes : 0;
  const std::int64_t rows = packed_rows_of_b(kernels, k);
  panel_step = rows * kernels.nr;
  if (panel_step * kernels.kept_bytes % kPanelAliasBytes == 0) panel_step += kPageBytes / kernels.kept_bytes;
  size = panels * panel_step + rows * narrow_width;
}

void pack_whole_b(const Problem& problem, const Kernels& kernels, const std::byte* b, std::byte* packed, bool kept,
                  const ThreadPool& pool) {
  const PackedB layout(kernels, problem.n, problem.k);
  const std::int64_t packed_bytes = kept ? kernels.kept_bytes : kernels.accumulator_bytes;
  const auto pack_columns = [&](std::int64_t n, std::int64_t columns, std::int64_t width, auto pack) {
    for (std::int64_t k = 0; k < problem.k; k += kernels.kc) {
      Packing packing;
      packing.from = b + (k * problem.b_row_step + n * problem.b_column_step) * kernels.element_bytes;
      packing.lane_step = problem.b_column_step;
      packing.k_step = problem.b_row_step;
      packing.lanes = columns;
      packing.k = std::min(kernels.kc, problem.k - k);
      packing.to = packed + (n / kernels.nr * layout.panel_step + packed_rows_of_b(kernels, k) * width) * packed_bytes;
      packing.panel_step = layout.panel_step;
      packing.panel_lanes = width;
      pack(packing);
    }
  };
  // A block of few rows and many columns: its pages stay in the TLB, its rows are runs of memory.
  const std::int64_t columns = 8 * kernels.nr;
  const std::int64_t wide_columns = layout.narrow_width > 0 ? layout.first_narrow_column(kernels) : problem.n;
  const std::int64_t wide_tasks = ceil_div(wide_columns, columns);
  pool.run(wide_tasks + (layout.narrow_width > 0 ? 1 : 0), [&](std::int64_t task) {
    const std::int64_t n = task * columns;
    if (task < wide_tasks) {
      pack_columns(n, std::min(columns, wide_columns - n), kernels.nr, kept ? kernels.pack_kept_b : kernels.pack_b);
    } else {
      pack_columns(wide_columns, problem.n - wide_columns, layout.narrow_width,
                   kept ? kernels.pack_kept_narrow_b : kernels.pack_narrow_b);
    }
  });
}

void widen_whole_b(const Problem& problem, const Kernels& kernels, const std::byte* packed, std::byte* widened,
                   const ThreadPool& pool) {
  const PackedB layout(kernels, problem.n, problem.k);
  pool.run(layout.panels + (layout.narrow_width > 0 ? 1 : 0), [&](std::int64_t panel) {
    const std::int64_t first = panel * layout.panel_step;
    const std::int64_t width = panel < layout.panels ? kernels.nr : layout.narrow_width;
    kernels.widen(packed + first * kernels.kept_bytes, problem.k * width, widened + first * kernels.accumulator_bytes);
  });
}

std::size_t packed_b_bytes(const Problem& problem, const Target& target) {
  const Kernels& kernels = *find_kernels(problem.type, target);
  if (takes_dots(problem)) return columns_of_b_bytes(problem, kernels);
  if (last_columns_apart(problem) > 0) return packed_parts_bytes(problem, target);
  if (takes_tiled(problem, kernels, true)) return TiledB(*kernels.tiled, problem.n, problem.k).bytes();
  if (keeps_rows(problem, kernels)) return static_cast<std::size_t>(bytes_of_kept_rows(problem, kernels));
  return static_cast<std::size_t>(PackedB(kernels, problem.n, problem.k).size * kernels.kept_bytes);
}

void pack_b(const Problem& problem, const Target& target, const std::byte* b, std::byte* packed,
            const ThreadPool& pool) {
  const Kernels& kernels = *find_kernels(problem.type, target);
  if (takes_dots(problem)) return write_columns_of_b(problem, kernels, b, packed);
  if (last_columns_apart(problem) > 0) return pack_parts(problem, target, b, packed, pool);
  if (takes_tiled(problem, kernels, true)) {
    return TiledB(*kernels.tiled, problem.n, problem.k).pack(problem, kernels, b, packed, pool);
  }
  if (keeps_rows(problem, kernels)) return write_rows_of_b(problem, kernels, b, packed);
  pack_whole_b(problem, kernels, b, packed, true, pool);
}

}  // namespace binet::kernels::gemm
