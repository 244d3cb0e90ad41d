#include "kernels/gemm/plan/columns_of_a.h"

#include <algorithm>

#include "base/cache_size.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// So many k at a time, where there are more, unless all of A is near.
constexpr std::int64_t kDirectK = 128;
constexpr std::int64_t kLeastLongK = 384;
constexpr std::int64_t kNearBytes = 64 * 1024;
// A far A, of f64 so many times L2, of f32 such a part of the last-level cache, a smaller one for more columns of B.
constexpr std::int64_t kL2SizesOfFarA = 4;
constexpr std::int64_t kPartOfFarA = 4, kPartOfFarAForManyColumns = 16;
constexpr std::int64_t kManyColumns = 64;
// Where vectors are whole lines.
constexpr std::int64_t kLeastColumnsToPackFor = 128;
constexpr std::int64_t kLeastRowsToPack = 17;
constexpr std::int64_t kLeastRowsOfLargeA = 48, kLeastColumnsOfLargeA = 32;
constexpr std::int64_t kBytesReadToPackFor = 48 * 1024 * 1024;
// A is packed for so much of B, sooner if its lines share an eighth of the first-level cache's sets.
constexpr std::int64_t kLeastKToPack = 96, kLeastKToPackNearA = 144;
constexpr std::int64_t kBBytesToPackFor = 144 * 1024, kBBytesToPackLinesThatMeetFor = 96 * 1024;
constexpr std::int64_t kBytesWhereLinesMeet = 512;

/// However few columns read it: each k gives a tile a part of a line, and the next tile comes after so many k that it
/// is far again, and the page with it. A line of f64 has not enough rows for two tiles, one of f32 has, so that its A
/// may be larger. Measured where a vector is half a line.
bool is_far(const Problem& p, const Kernels& kernels) {
  if (!has_short_floats(kernels) || p.m <= 2 * kernels.mr || p.k < kLeastLongK) return false;
  const std::int64_t part = p.n > kManyColumns ? kPartOfFarAForManyColumns : kPartOfFarA;
  const std::int64_t most_near =
      kernels.element_bytes == 8 ? kL2SizesOfFarA * second_level_cache_bytes() : last_level_cache_bytes() / part;
  return p.m * p.k * kernels.element_bytes > most_near;
}

/// The same with vectors of a whole line: such an A from memory, or one that many columns read while it, or a B where
/// it lies, comes from the last-level cache. Its lines, one for each k and tile, come late then, as no hardware
/// prefetcher follows them.
bool comes_late(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!kernels.has_long_vectors() || p.m < kLeastRowsToPack) return false;
  const std::int64_t a_bytes = p.m * p.k * kernels.element_bytes;
  if (3 * a_bytes > 2 * last_level_cache_bytes()) return true;
  if (p.n < kLeastColumnsToPackFor) return false;
  const bool reads_far_b =
      s.b_source == BSource::direct && p.n * p.k * kernels.element_bytes > second_level_cache_bytes();
  return reads_far_b || 4 * a_bytes > last_level_cache_bytes();
}

/// The same on Intel's CPUs, whose prefetchers do not follow such lines from the second-level cache either: an A that
/// fills half of it, or one that is read so often that packing is repaid (0.55 to 1.0 of the time).
bool is_large(const Problem& p, const Kernels& kernels) {
  if (!kernels.has_long_vectors() || !is_intel_with_avx512() || p.m < kLeastRowsOfLargeA) return false;
  const std::int64_t a_bytes = p.m * p.k * kernels.element_bytes;
  if (a_bytes >= second_level_cache_bytes() / 2 && p.n >= kLeastColumnsOfLargeA) return true;
  return a_bytes >= kNearBytes && p.n >= kBytesReadToPackFor / a_bytes;
}

/// Its lines, one for each k and tile, have left the first-level cache before the next tile, or nearly filled it, and
/// columns are so many that packing is repaid: both grow with the part of B that they meet. Measured where a vector is
/// half a line, 0.7 to 1.0 of the time.
bool is_read_often(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!kernels.has_short_vectors || p.m <= 2 * kernels.mr) return false;
  const std::int64_t k = k_of_direct_a(p, kernels, s);
  const bool is_near = p.m * p.k * kernels.element_bytes <= kNearBytes;
  const bool meet = p.a_column_step * kernels.element_bytes % kBytesWhereLinesMeet == 0;
  return k >= (is_near ? kLeastKToPackNearA : kLeastKToPack) &&
         p.n * k * kernels.element_bytes >= (meet ? kBBytesToPackLinesThatMeetFor : kBBytesToPackFor);
}

}  // namespace

bool packs_columns_of_a(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (p.a_column_step == 1) return false;
  return is_far(p, kernels) || comes_late(p, kernels, s) || is_large(p, kernels) || is_read_often(p, kernels, s);
}

std::int64_t k_of_direct_a(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!has_short_floats(kernels) || p.a_column_step == 1 || p.k < kLeastLongK) return s.kc;
  if (p.m <= kernels.mr || p.n <= 2 * kernels.nr) return s.kc;
  if (p.m * p.k * kernels.element_bytes <= kNearBytes) return s.kc;
  return std::min(s.kc, equal_part(s.segment_k, kDirectK, kernels.k_group));
}

}  // namespace binet::kernels::gemm
