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

}  // namespace binet::kernels::gemm
