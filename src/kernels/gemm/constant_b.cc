// Room: kernels. Whether a B that never changes is packed, or serves as it lies: memory that nobody copies.
#include "kernels/gemm/dots.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/plan/parts.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/tiled.h"

namespace binet::kernels::gemm {
namespace {

// Matrix registers take as long for a row as for 16, and 10 or 36 products of bytes for one of integers. So few rows of
// a B as it lies are better done by vectors, even while nobody else wants the registers; fewer of a transposed B.
constexpr std::int64_t kMostRowsOf32Bits = 6, kMostRowsOfTransposed32Bits = 1;
constexpr std::int64_t kMostRowsOf64Bits = 5, kMostRowsOfTransposed64Bits = 4;
// Rows times K of bfloat16, beside which it is felt that registers are prepared.
constexpr std::int64_t kLargestAOfBF16 = 80;

// Integers in 16-bit halves or numbers of 52 bits, which few rows would have to become, too, before they meet so short
// columns: if rows of B are short as well, or if K is so short that Y is most of what moves, within the first-level
// cache. (Measured with VNNI and IFMA on Emerald Rapids.)
constexpr std::int64_t kShortK = 32, kShortRows = 64;
constexpr std::int64_t kVeryShortK = 16, kMostBytesOfY = 32 * 1024;
// One row meets longer columns, too. A product of 64 bits takes more instructions as it lies; elements of a transposed
// B have to be collected.
constexpr std::int64_t kShortKOfOneRow = 64, kLongKOfTransposed = 128, kShortRowsOfTransposed = 200;

bool repays_tiles(const Problem& p) {
  const bool is_transposed = p.b_column_step != 1;
  if (is_integer(p.type)) {
    if (byte_size(p.type) == 4) return p.m > (is_transposed ? kMostRowsOfTransposed32Bits : kMostRowsOf32Bits);
    return p.m > (is_transposed ? kMostRowsOfTransposed64Bits : kMostRowsOf64Bits);
  }
  return is_transposed || p.m * p.k > kLargestAOfBF16;
}

bool repays_form_of_integers(const Problem& p, std::int64_t element_bytes) {
  const bool are_64_bits = element_bytes == 8;
  if (repays_packing_both(p)) return true;
  if (p.b_column_step != 1) {
    return p.m > 1 || are_64_bits || p.k < kLongKOfTransposed || p.n > kShortRowsOfTransposed;
  }
  const bool are_rows_short = p.n <= kShortRows;
  if (p.k < kShortK && are_rows_short) return false;
  if (p.k < kVeryShortK && p.m * p.n * element_bytes <= kMostBytesOfY) return false;
  return p.m > 1 || (p.k >= kShortKOfOneRow && (are_64_bits || !are_rows_short));
}

}  // namespace

bool repays_packing(const Problem& problem, const Target& target) {
  const Kernels& kernels = *find_kernels(problem.type, target);
  if (takes_dots(problem) || last_columns_apart(problem) > 0) return true;
  if (takes_tiled(problem, kernels, true)) return kernels.tiled->are_vectors || repays_tiles(problem);
  if (kernels.in_place == nullptr || keeps_rows(problem, kernels)) return true;
  return repays_form_of_integers(problem, kernels.element_bytes);
}

}  // namespace binet::kernels::gemm
