#include "kernels/elementwise/kept_row.h"

#include <array>
#include <utility>

#include "kernels/elementwise/open_line.h"

namespace binet::kernels::elementwise {
namespace {

/// Of what is converted: half of a first-level cache of 32 KiB.
constexpr std::int64_t kBytes = 16 * 1024;

/// With AVX2, of a block: what is gained is a tenth at most, and small blocks take four times as long.
constexpr std::int64_t kFewestElements = 4096;

/// Not where y is streamed: memory, not arithmetic, then sets the pace.
bool keeps_a_row(const Kernel& kernel, const Rows& rows) {
  const std::int64_t size = kernel.widening.size;
  return size != 0 && rows.stream == nullptr && rows.b_step != 0 && rows.rows >= fewest_rows_of_kept(kernel) &&
         (rows.a_row_step == 0 || rows.b_row_step == 0) && rows.elements * size <= kBytes &&
         (kernel.lays_out_converted || rows.rows * rows.elements >= kFewestElements);
}

}  // namespace

std::int64_t fewest_rows_of_kept(const Kernel& kernel) noexcept {
  constexpr std::int64_t kWithAvx512 = 4, kWithAvx2 = 32;
  return kernel.lays_out_converted ? kWithAvx512 : kWithAvx2;
}

void run_block(const Kernel& kernel, const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  if (!keeps_a_row(kernel, rows)) return kernel.rows(rows, a, b, y);
  alignas(kLineBytes) std::array<std::byte, kBytes + kLineBytes> converted;
  const bool keeps_b = rows.b_row_step == 0;
  kernel.widening.widen(keeps_b ? b : a, rows.elements, converted.data());
  Rows with_b = rows;
  if (!keeps_b) std::swap(with_b.a_row_step, with_b.b_row_step);
  kernel.widening.one(with_b, keeps_b ? a : b, converted.data(), y);
}

}  // namespace binet::kernels::elementwise
