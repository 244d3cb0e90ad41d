#include "kernels/gemm/plan/a_source.h"

#include <algorithm>

#include "base/cache_size.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/columns_of_a.h"
#include "kernels/gemm/plan/far_operands.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Of 1 MiB of L2 more than half is left for the panels of B that pass by, and for Y.
constexpr std::int64_t kPackedABytes = 384 * 1024;
// So few panels of B read A too seldom to repay its packing.
constexpr std::int64_t kPanelsForDirectA = 8;
// A block of A that fits here, and in L2, is not driven out between two panels of B.
constexpr std::int64_t kDirectABytes = 1024 * 1024;
// With vectors of half a line, tiles of full height take 0.90 to 0.98 of the time if A is one run of memory, too; rows
// of Y from so many bytes on repay its packing.
constexpr std::int64_t kTilesToPackAFor = 2;
constexpr std::int64_t kRowBytesToPackAFor = 2048;
// So many rows of a near Y, with no longer a K, take one call for each panel of an A in rows: AreTogether() in
// block_loops-inl.h has the first and the last of these limits, too.
constexpr std::int64_t kFewestRowsTogether = 20, kMostRowsTogether = 40, kMostKTogether = 512;

/// In the same sets of the first-level cache.
bool rows_of_a_meet(const Problem& p, const Kernels& kernels) {
  if (p.m <= 1) return false;
  const std::int64_t bytes_apart = p.a_row_step * kernels.element_bytes;
  return kernels.mr > kLinesOfSet ? many_rows_meet(bytes_apart) : bytes_apart % kAliasBytes == 0;
}

/// B comes in panels, and many of them.
bool repays_packing_a(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!has_short_floats(kernels) || s.b_source == BSource::direct) return false;
  const bool is_y_near = p.m * p.n * kernels.element_bytes <= second_level_cache_bytes();
  const bool are_together = p.m >= kFewestRowsTogether && p.m <= kMostRowsTogether && p.k <= kMostKTogether;
  if (are_together && is_y_near && p.a_column_step == 1) return false;
  return p.m >= kTilesToPackAFor * kernels.mr && p.n * kernels.element_bytes >= kRowBytesToPackAFor;
}

bool may_read_a_directly(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (kernels.element_bytes != kernels.accumulator_bytes || kernels.in_place != nullptr) return false;
  if (packs_columns_of_a(p, kernels, s)) return false;
  if (s.fetched == FarOperand::runs_of_b) return false;  // the loops that fetch them have it packed
  // The few rows that turn B are kept in registers, and read along k.
  if (s.turns_b && kernels.has_short_vectors) return true;
  if (p.n <= kPanelsForDirectA * kernels.nr) return true;
  if (repays_packing_a(p, kernels, s)) return false;
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
  if (schedule.a_is_direct) schedule.kc = k_of_direct_a(p, kernels, schedule);
  if (schedule.a_is_direct && schedule.fetched == FarOperand::none && fetches_rows_of_a_and_y(p, kernels))
    schedule.fetched = FarOperand::rows_of_a;
  const bool are_rows_fetched = schedule.fetched == FarOperand::rows_of_a;
  const bool are_columns_alone = schedule.a_is_direct && p.a_row_step == 1 && p.a_column_step != 1 && p.n <= kernels.nr;
  if ((are_rows_fetched || are_columns_alone) && p.k <= schedule.kc)
    schedule.reads_a_first = reads_far_rows_of_a_first(p, kernels);
  schedule.a_is_widened = may_widen_a(p, kernels);
  if (schedule.a_is_widened) {
    schedule.a_line_step = round_up(schedule.kc, kernels.lanes);
    if (schedule.a_line_step * kernels.accumulator_bytes % kAliasBytes == 0) schedule.a_line_step += kernels.lanes;
  }
}

}  // namespace binet::kernels::gemm
