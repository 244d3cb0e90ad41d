#include "kernels/gemm/read_lines.h"

#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {

void read_lines(const std::byte* row, std::int64_t rows, std::int64_t row_step, std::int64_t row_bytes) noexcept {
  if (row_step == row_bytes) {
    row_bytes *= rows;
    rows = 1;
  }
  for (; rows > 0; --rows, row += row_step) {
    for (std::int64_t i = 0; i < row_bytes; i += kLineBytes) asm volatile("" : : "r"(row[i]));
  }
}

void read_rows_of_a(const Problem& p, const std::byte* a, std::int64_t rows, std::int64_t element_bytes) noexcept {
  const bool is_transposed = p.a_column_step != 1;
  const std::int64_t lines = is_transposed ? p.k : rows, elements = is_transposed ? rows : p.k;
  const std::int64_t step = is_transposed ? p.a_column_step : p.a_row_step;
  read_lines(a, lines, step * element_bytes, elements * element_bytes);
}

}  // namespace binet::kernels::gemm
