#include "kernels/gemm/waiting_sums.h"

#include <algorithm>
#include <cstring>

#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Beside them B passes through the first-level cache.
constexpr std::int64_t kWaitingBytes = 32 * 1024;

}  // namespace

void with_waiting_sums(const Block& block, const WaitingNumbers& numbers, const AddToSums& products) {
  alignas(kLineBytes) std::byte sums[kWaitingBytes];
  const std::int64_t together = kWaitingBytes / numbers.bytes / block.m / numbers.lanes * numbers.lanes;
  for (std::int64_t n = 0; n < block.n; n += together) {
    const std::int64_t count = std::min(together, block.n - n);
    const WaitingColumns columns = {n, count, round_up(count, numbers.lanes)};
    const std::int64_t step = columns.row_step * numbers.bytes;
    const auto row_bytes = static_cast<std::size_t>(count * numbers.bytes);
    // Only if there are such: where this is the only range of k, block.sums may be null.
    const auto waiting_row = [&](std::int64_t m) { return block.sums + (m * block.sums_row_step + n) * numbers.bytes; };
    std::memset(sums, 0, static_cast<std::size_t>(block.m * step));
    for (std::int64_t m = 0; !block.first && m < block.m; ++m) {
      std::memcpy(sums + m * step, waiting_row(m), row_bytes);
    }
    products.add(products.of, columns, sums);
    for (std::int64_t m = 0; !block.last && m < block.m; ++m) {
      std::memcpy(waiting_row(m), sums + m * step, row_bytes);
    }
    if (block.last) {
      numbers.finish(sums, columns.row_step, block.m, count, *block.output, block.row, block.column + n, *block.scale);
    }
  }
}

}  // namespace binet::kernels::gemm
