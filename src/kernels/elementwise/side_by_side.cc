#include "kernels/elementwise/side_by_side.h"

#include "kernels/elementwise/open_line.h"

namespace binet::kernels::elementwise {
namespace {

/// Shorter runs are none: prefetchers would hardly have found their pace when they end.
constexpr std::int64_t kFewestBytesOfARun = 16 * 1024;

/// Moves behind `count` rows.
void skip_rows(Places& at, const FarLoops& loops, const Rows& rows, std::int64_t count) {
  at.a += count * rows.a_row_step * loops.a_size;
  at.b += count * rows.b_row_step * loops.b_size;
  at.y += count * rows.elements * loops.y_size;
}

/// An even number of rows of whole lines: those of the second half beside those of the first.
void take_pairs(const FarLoops& loops, const Rows& rows, const Places& at) {
  Runs runs = {at, at};
  skip_rows(runs[1], loops, rows, rows.rows / 2);
  for (std::int64_t r = rows.rows / 2; r > 0; --r) {
    loops.side_by_side(runs, static_cast<std::size_t>(rows.elements));
    for (Places& run : runs) skip_rows(run, loops, rows, 1);
  }
}

/// What fills no line at its ends goes by itself.
void take_long_row(const FarLoops& loops, const Rows& rows, Places at) {
  const auto take = [&](std::int64_t runs, std::int64_t elements) {
    if (elements == 0) return;
    Rows part = rows;
    part.rows = runs;
    part.elements = elements;
    part.a_row_step = elements;
    part.b_row_step = elements * rows.b_step;
    runs == 1 ? loops.one_by_one(part, at.a, at.b, at.y) : take_pairs(loops, part, at);
    skip_rows(at, loops, part, runs);
  };
  const std::int64_t line = kLineBytes / loops.y_size;
  const std::int64_t before_line = (kLineBytes - bytes_in_line(at.y)) % kLineBytes / loops.y_size;
  const std::int64_t half = (rows.elements - before_line) / (2 * line) * line;
  take(1, before_line);
  take(2, half);
  take(1, rows.elements - before_line - 2 * half);
}

}  // namespace

void take_far_rows(const FarLoops& loops, const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  Places at{a, b, y};
  Rows part = rows;
  part.is_far = false;
  const std::int64_t row_bytes = rows.elements * loops.y_size;
  if (row_bytes >= 2 * kFewestBytesOfARun) {
    for (std::int64_t r = 0; r < rows.rows; ++r, skip_rows(at, loops, rows, 1)) take_long_row(loops, part, at);
    return;
  }
  const bool are_runs = row_bytes >= std::int64_t{kBytesInTurn} && rows.rows / 2 * row_bytes >= kFewestBytesOfARun;
  const bool are_lines = bytes_in_line(y) == 0 && row_bytes % kLineBytes == 0;
  part.rows = are_runs && are_lines ? rows.rows / 2 * 2 : 0;
  if (part.rows > 0) take_pairs(loops, part, at);
  skip_rows(at, loops, rows, part.rows);
  part.rows = rows.rows - part.rows;
  if (part.rows > 0) loops.one_by_one(part, at.a, at.b, at.y);
}

}  // namespace binet::kernels::elementwise
