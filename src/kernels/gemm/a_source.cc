#include "kernels/gemm/a_source.h"

#include <algorithm>

#include "base/cache_size.h"
#include "kernels/gemm/far_operands.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/near_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Of 1 MiB of L2 more than half is left for the panels of B that pass by, and for Y.
constexpr std::int64_t kPackedABytes = 384 * 1024;
// So few panels of B read A too seldom to repay its packing.
constexpr std::int64_t kPanelsForDirectA = 8;
// A block of A that fits here, and in L2, is not driven out between two panels of B.
constexpr std::int64_t kDirectABytes = 1024 * 1024;
// A transposed A has so many k at a time, unless all of it is near.
constexpr std::int64_t kDirectColumnsOfA = 128;
constexpr std::int64_t kLeastKToPassColumnsOfA = 384;
constexpr std::int64_t kFarColumnsOfABytes = 64 * 1024;
// Columns of A are packed for so much of B, sooner if their lines share an eighth of the first-level cache's sets.
constexpr std::int64_t kLeastKToPackColumnsOfA = 96;
constexpr std::int64_t kLeastKToPackNearColumnsOfA = 144;
constexpr std::int64_t kBBytesForColumnsOfA = 144 * 1024;
constexpr std::int64_t kBBytesForColumnsThatMeet = 96 * 1024;
constexpr std::int64_t kBytesWhereColumnsMeet = 512;
constexpr std::int64_t kL2SizesOfFarA = 4;
constexpr std::int64_t kPartOfFarA = 4, kPartOfFarAForManyColumns = 16;
constexpr std::int64_t kManyColumnsOfB = 64;
constexpr std::int64_t kLeastColumnsToPackAFor = 128;
constexpr std::int64_t kLeastRowsOfAToPack = 17;

/// In the same sets of the first-level cache.
bool rows_of_a_meet(const Problem& p, const Kernels& kernels) {
  if (p.m <= 1) return false;
  const std::int64_t bytes_apart = p.a_row_step * kernels.element_bytes;
  return kernels.mr > kLinesOfSet ? many_rows_meet(bytes_apart) : bytes_apart % kAliasBytes == 0;
}

/// A transposed A that is better packed, however few columns read it: each k gives a tile a part of a line, and the
/// next tile comes after so many k that it is far again, and the page with it. A line of f64 has not enough rows for
/// two tiles, one of f32 has, so that its A may be larger. Measured where a vector is half a line.
bool has_far_columns_of_a(const Problem& p, const Kernels& kernels) {
  if (!has_short_floats(kernels) || p.a_column_step == 1 || p.m <= 2 * kernels.mr) return false;
  const std::int64_t part = p.n > kManyColumnsOfB ? kPartOfFarAForManyColumns : kPartOfFarA;
  const std::int64_t near_bytes =
      kernels.element_bytes == 8 ? kL2SizesOfFarA * second_level_cache_bytes() : last_level_cache_bytes() / part;
  return p.k >= kLeastKToPassColumnsOfA && p.m * p.k * kernels.element_bytes > near_bytes;
}

/// The same with vectors of a whole line, measured on AMD's CPUs: such an A from memory, or one that many columns read
/// while it, or a B where it lies, comes from the last-level cache. Its lines, one for each k and tile, come late then,
/// as no hardware prefetcher follows them.
bool has_columns_of_a_to_pack(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!leaves_b_to_hardware(kernels) || p.a_column_step == 1 || p.m < kLeastRowsOfAToPack) return false;
  const std::int64_t a_bytes = p.m * p.k * kernels.element_bytes;
  if (3 * a_bytes > 2 * last_level_cache_bytes()) return true;
  if (p.n < kLeastColumnsToPackAFor) return false;
  const bool reads_far_b =
      s.b_source == BSource::direct && p.n * p.k * kernels.element_bytes > second_level_cache_bytes();
  return reads_far_b || 4 * a_bytes > last_level_cache_bytes();
}

/// How many k a transposed A that is read where it lies, panel by panel, has at a time: its lines hold a few rows each
/// of one k, and are there for the next tile, and in L2 for the next panel, if there are not too many. Measured where a
/// vector is half a line.
std::int64_t k_of_direct_columns(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!has_short_floats(kernels) || p.a_column_step == 1) return s.kc;
  if (p.m <= kernels.mr || p.n <= 2 * kernels.nr || p.k < kLeastKToPassColumnsOfA) return s.kc;
  if (p.m * p.k * kernels.element_bytes <= kFarColumnsOfABytes) return s.kc;
  return std::min(s.kc, equal_part(s.segment_k, kDirectColumnsOfA, kernels.k_group));
}

/// A transposed A whose lines, one for each k and tile, have left the first-level cache before the next tile, or nearly
/// filled it, and for so many columns that packing is repaid: both grow with the part of B that they meet. The same
/// measurement, 0.7 to 1.0 of the time.
bool has_columns_of_a_read_often(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!kernels.has_short_vectors || p.a_column_step == 1 || p.m <= 2 * kernels.mr) return false;
  const std::int64_t k = k_of_direct_columns(p, kernels, s);
  const bool is_near = p.m * p.k * kernels.element_bytes <= kFarColumnsOfABytes;
  const bool meet = p.a_column_step * kernels.element_bytes % kBytesWhereColumnsMeet == 0;
  return k >= (is_near ? kLeastKToPackNearColumnsOfA : kLeastKToPackColumnsOfA) &&
         p.n * k * kernels.element_bytes >= (meet ? kBBytesForColumnsThatMeet : kBBytesForColumnsOfA);
}

bool may_read_a_directly(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (kernels.element_bytes != kernels.accumulator_bytes || kernels.in_place != nullptr) return false;
  if (has_far_columns_of_a(p, kernels) || has_columns_of_a_to_pack(p, kernels, s)) return false;
  if (has_columns_of_a_read_often(p, kernels, s)) return false;
  if (p.n <= kPanelsForDirectA * kernels.nr) return true;
  const std::int64_t stays = std::min(kDirectABytes, second_level_cache_bytes());
  return p.m * s.kc * kernels.element_bytes <= stays && !rows_of_a_meet(p, kernels);
}

/// Row by row, A is widened as it lies, which is less work than to transpose it into panels; those are less to read.
bool may_widen_a(const Problem& p, const Kernels& kernels) {
  if (kernels.widen_lines == nullptr || p.a_column_step != 1) return false;
  return p.m <= 2 * kernels.mr || p.n < kernels.least_columns_to_transpose_for;
}

}  // namespace

std::int64_t rows_of_block(const Kernels& kernels, std::int64_t kc) noexcept {
  const std::int64_t row_bytes = packed_rows_of_a(kernels, kc) * kernels.accumulator_bytes;
  return std::max(kernels.mr, kPackedABytes / row_bytes / kernels.mr * kernels.mr);
}

std::int64_t most_rows_of_tile(const Problem& p, const Kernels& kernels) noexcept {
  const bool meet =
      p.a_column_step == 1 && kernels.element_bytes == kernels.accumulator_bytes && rows_of_a_meet(p, kernels);
  return meet ? std::min(kernels.mr, kLinesOfSet) : kernels.mr;
}

void choose_a_source(const Problem& p, const Kernels& kernels, Schedule& schedule) {
  schedule.a_is_direct = !schedule.b_is_far && may_read_a_directly(p, kernels, schedule);
  if (schedule.a_is_direct) schedule.kc = k_of_direct_columns(p, kernels, schedule);
  if (schedule.a_is_direct && schedule.fetched == FarOperand::none && fetches_rows_of_a_and_y(p, kernels))
    schedule.fetched = FarOperand::rows_of_a;
  schedule.a_is_widened = may_widen_a(p, kernels);
  if (schedule.a_is_widened) {
    schedule.a_line_step = round_up(schedule.kc, kernels.lanes);
    if (schedule.a_line_step * kernels.accumulator_bytes % kAliasBytes == 0) schedule.a_line_step += kernels.lanes;
  }
}

}  // namespace binet::kernels::gemm
