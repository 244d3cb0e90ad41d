#include "kernels/gemm/plan/turned_b.h"

#include <algorithm>

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

constexpr std::int64_t kMostRows = 3;
constexpr std::int64_t kMostRowsInRegisters = 4;   // f32, with vectors of half a line
constexpr std::int64_t kMostRowsOfFewColumns = 8;  // less than a vector, if k is long
constexpr std::int64_t kLeastKForMoreRows = 256;
constexpr std::int64_t kMostRowsOfFarB = 6;  // f32 and f64 from memory, with vectors of half a line
// With units as wide as vectors two groups keep up with more rows, if there is enough to do for each. Squares of f64
// have half as many lanes, so that swapping the operands is better sooner, and turning B into rows later.
constexpr std::int64_t kMostRowsOfGroups = 9;
constexpr std::int64_t kMostRowsOfGroupsOfF64 = 5;
// Of a B from memory each line is fetched once, and waited for longer than many rows take to use it.
constexpr std::int64_t kMostRowsOfFetchedLines = 12;
constexpr std::int64_t kMostRowsOfFetchedLinesOfF64 = 6;
// Where K is shorter than a vector: less than a square is turned, as it is loaded under a mask.
constexpr std::int64_t kMostRowsOfShortK = 12;
constexpr std::int64_t kSomeSquares = 4;  // of a K; so few are over before their sums are worth loading
static_assert(std::max({kMostRowsOfFewColumns, kMostRowsOfFarB, kMostRowsOfGroups, kMostRowsOfFetchedLines,
                        kMostRowsOfShortK}) <= kMostTurnedRows);
constexpr std::int64_t kLeastKOfGroups = 48;
constexpr std::int64_t kLeastKOfGroupsOfF64 = 16;
constexpr std::int64_t kBytesOfEachRow = 4096;
constexpr std::int64_t kBytesOfEachRowWithShortK = 16 * 1024;
// Lines of f32 whose rows are half of a way apart stay long enough for so few rows of Y if all of B is near.
constexpr std::int64_t kWayBytes = 4096;
constexpr std::int64_t kMostRowsOfGroupsThatMeet = 2;
// For more rows such a B is turned in a single group, or packed: up to so many the group is faster.
constexpr std::int64_t kMostRowsOfSingleGroup = 5;

/// A square of which some k are missing is loaded as fast as a whole one.
bool has_masks(const Kernels& kernels) { return kernels.has_short_vectors || kernels.has_long_vectors(); }

bool is_far(const Problem& p, const Kernels& kernels) { return comes_from_memory(p, kernels.element_bytes); }

/// Floats, with vectors as long as a line.
bool may_take_groups(const Problem& p, const Kernels& kernels) {
  return is_float(p.type) && kernels.has_long_vectors();
}

/// Rows of B in the same few sets of a cache.
bool rows_meet(const Problem& p, const Kernels& kernels, std::int64_t apart) {
  return p.b_column_step * kernels.element_bytes % apart == 0;
}

std::int64_t most_rows(const Problem& p, const Kernels& kernels) {
  if (p.n < kernels.lanes && p.k >= kLeastKForMoreRows) return std::min(kMostRowsOfFewColumns, kernels.mr);
  if (!is_far(p, kernels)) {
    const bool may_be_in_registers = kernels.has_short_vectors && p.type == ElementType::f32 && p.a_column_step == 1;
    return may_be_in_registers ? kMostRowsInRegisters : kMostRows;
  }
  if (has_short_floats(kernels)) return kMostRowsOfFarB;
  return kMostRows;
}

}  // namespace

bool should_turn_b(const Problem& p, const Kernels& kernels) {
  if (p.b_column_step == 1 || kernels.multiply_turned == nullptr) return false;
  if (p.k < kernels.lanes) return has_masks(kernels) && p.m <= kMostRowsOfShortK;
  return p.m <= most_rows(p, kernels) || turns_quickly(p, kernels);
}

bool turns_quickly(const Problem& p, const Kernels& kernels) {
  if (p.b_column_step == 1 || !may_take_groups(p, kernels) || has_units_of_half_vectors()) return false;
  if (p.n <= kernels.lanes || p.k < kernels.lanes || kernels.widens()) return false;
  const bool is_f64 = p.type == ElementType::f64;
  if (is_far(p, kernels)) {
    const std::int64_t most = is_f64 ? kMostRowsOfFetchedLinesOfF64 : kMostRowsOfFetchedLines;
    return p.m <= (p.k < kSomeSquares * kernels.lanes ? most / 3 : most);
  }
  if (rows_meet(p, kernels, kWayBytes / 2)) return !is_f64 && p.m <= kMostRowsOfSingleGroup;
  if (p.m > (is_f64 ? kMostRowsOfGroupsOfF64 : kMostRowsOfGroups)) return false;
  const bool is_short = p.k < (is_f64 ? kLeastKOfGroupsOfF64 : kLeastKOfGroups);
  return p.n * p.k * kernels.element_bytes >= (is_short ? kBytesOfEachRowWithShortK : kBytesOfEachRow) * p.m;
}

bool staggers_groups(const Problem& p, const Kernels& kernels) {
  // One row waits for memory as it does for the chain of one group.
  return kernels.has_short_vectors && (p.m > 1 || kernels.widens() || !is_far(p, kernels));
}

bool turns_two_groups(const Problem& p, const Kernels& kernels) {
  if (!may_take_groups(p, kernels)) return false;
  if (kernels.widens() && (has_units_of_half_vectors() || is_far(p, kernels))) return false;
  const bool is_apart = !rows_meet(p, kernels, kWayBytes / 2);
  if (has_units_of_half_vectors()) return is_apart && !is_far(p, kernels);
  if (is_far(p, kernels)) return false;
  if (is_apart || p.type == ElementType::f64) return true;
  const bool is_near = 2 * p.n * p.k * kernels.element_bytes <= second_level_cache_bytes();
  return is_near && p.m <= kMostRowsOfGroupsThatMeet && !kernels.widens() && !rows_meet(p, kernels, kWayBytes);
}

}  // namespace binet::kernels::gemm
