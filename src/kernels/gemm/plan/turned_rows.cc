#include "kernels/gemm/plan/turned_rows.h"

#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/plan/turned_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

constexpr std::int64_t kTurnedBBytes = 128 * 1024;
constexpr std::int64_t kTurnedBBytesOfShortK = 512 * 1024;  // four vectors or less
// Where vectors are shorter than lines: the same; and longer ones, for more rows than turn B while they multiply.
constexpr std::int64_t kTurnedBBytesOfShortVectors = 384 * 1024;
constexpr std::int64_t kTurnedBBytesOfLongerK = 256 * 1024;
constexpr std::int64_t kMostKToTurnMoreFor = 40, kMostLongerKToTurnMoreFor = 64;
constexpr std::int64_t kLeastRowsToTurnFor = 3;
// With a longer k, rows of a low tile, or of one beside a whole one, are faster with other ways, if columns are many.
constexpr std::int64_t kMostKToTurnForLowTiles = 160;
constexpr std::int64_t kBytesOfManyColumns = 192;
constexpr std::int64_t kMostProductsOfIntegers = 64 * 1024;
constexpr std::int64_t kFewRowsOfIntegers = 20, kMostBOfFewRowsOfIntegers = 16 * 1024;

/// How much of a transposed B is turned.
std::int64_t most_turned_bytes(const Problem& p, const Kernels& kernels) {
  const bool has_short_k = p.k <= 4 * kernels.lanes;
  if (kernels.has_long_vectors()) return has_short_k ? kTurnedBBytesOfShortK : kTurnedBBytes;
  if (!kernels.has_short_vectors) return kTurnedBBytes;
  if (has_short_k) return kTurnedBBytesOfShortVectors;
  if (should_turn_b(p, kernels) || p.k > kMostLongerKToTurnMoreFor) return kTurnedBBytes;
  return p.k <= kMostKToTurnMoreFor ? kTurnedBBytesOfShortVectors : kTurnedBBytesOfLongerK;
}

/// Up to four rows, or one or two beside a tile of six.
bool has_low_tiles_of_long_k(const Problem& p, const Kernels& kernels) {
  if (!has_short_floats(kernels) || p.k <= kMostKToTurnForLowTiles) return false;
  const bool has_low_tiles = p.m <= 4 || p.m == kernels.mr + 1 || p.m == kernels.mr + 2;
  return has_low_tiles && p.n * kernels.element_bytes >= kBytesOfManyColumns;
}

/// Two rows of f32, and more than one square of B.
bool turns_for_two_rows(const Problem& p, const Kernels& kernels) {
  return has_short_floats(kernels) && kernels.element_bytes == 4 && p.m == 2 && p.k > kernels.lanes &&
         p.k <= 3 * kernels.lanes;
}

/// Integers in vectors of whole lines, on Intel's CPUs: where they could be packed for instructions of their own, a few
/// rows, or a small product. (On AMD's, nothing was gained.)
bool has_integers_to_turn(const Problem& p, const Kernels& kernels) {
  if (!is_intel_with_avx512()) return false;
  if (kernels.in_place == nullptr || p.m * p.n * p.k <= kMostProductsOfIntegers) return true;
  return p.m <= kFewRowsOfIntegers && p.n * p.k <= kMostBOfFewRowsOfIntegers;
}

}  // namespace

bool may_turn_rows(const Problem& p, const Kernels& kernels) {
  if (kernels.turn_rows == nullptr || p.b_column_step == 1) return false;
  if (p.m < kLeastRowsToTurnFor && !turns_for_two_rows(p, kernels)) return false;
  if (turns_quickly(p, kernels) || has_low_tiles_of_long_k(p, kernels)) return false;
  if (is_integer(p.type) && kernels.has_long_vectors() && !has_integers_to_turn(p, kernels)) return false;
  if (!kernels.takes_any_columns && p.n % kernels.lanes != 0) return false;
  return p.k * round_up(p.n, kernels.lanes) * kernels.element_bytes <= most_turned_bytes(p, kernels);
}

Problem with_turned_rows(const Problem& p, const Kernels& kernels) {
  return with_rows_apart(with_rows_of_vectors(p, kernels), kernels);
}

}  // namespace binet::kernels::gemm
