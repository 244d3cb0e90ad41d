#include "kernels/gemm/plan/parts.h"

#include <algorithm>

#include "base/aligned_buffer.h"
#include "base/element_types.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/segments.h"

namespace binet::kernels::gemm {
namespace {

// Of the widest target: the rule is the same for all. Among more vectors a few columns count for little, and two to
// four take a few rows longer than a vector does.
constexpr std::int64_t kVectorBytes = 64;
constexpr std::int64_t kMostVectors = 8, kMostVectorsBeforeSeveral = 4;
constexpr std::int64_t kLeastK = 32;
// The last columns of a larger B would be read anew from far away.
constexpr std::int64_t kMostBytesOfB = 512 * 1024;
// Rows of A that both parts read, one after the other, while they are in the second-level cache; of each thread.
constexpr std::int64_t kBytesOfA = 256 * 1024;
constexpr std::int64_t kRowsUnit = 48;

std::int64_t bytes_of(const Problem& p) { return static_cast<std::int64_t>(byte_size(p.type)); }

/// Of the last columns, behind the others.
std::size_t place_of_last(const Problem& p, const Target& target) {
  return round_up_to_cache_line(packed_b_bytes(with_columns(p, p.n - last_columns_apart(p)), target));
}

}  // namespace

std::int64_t last_columns_apart(const Problem& p) noexcept {
  if (p.type != ElementType::f32 && p.type != ElementType::f64) return 0;
  const std::int64_t lanes = kVectorBytes / bytes_of(p);
  const std::int64_t columns = p.n % lanes, vectors = p.n / lanes;
  if (columns == 0 || columns > lanes / 4 || vectors == 0) return 0;
  if (vectors > (columns == 1 ? kMostVectors : kMostVectorsBeforeSeveral)) return 0;
  if (p.k < kLeastK || p.n * p.k * bytes_of(p) > kMostBytesOfB || segments_of(p).count > 1) return 0;
  return takes_dots(with_columns(p, columns)) ? columns : 0;
}

Problem with_columns(const Problem& problem, std::int64_t count) noexcept {
  Problem part = problem;
  part.n = count;
  return part;
}

void plan_parts(Plan& plan, const Target& target, int threads) {
  const Problem& p = plan.problem;
  const std::int64_t last = last_columns_apart(p);
  const std::int64_t near_rows = threads * kBytesOfA / (p.k * bytes_of(p)) / kRowsUnit * kRowsUnit;
  const std::int64_t rows = std::min(p.m, std::max(near_rows, kRowsUnit));
  plan.way = Way::parts;
  plan.parts.reserve(4);
  for (const std::int64_t m : {rows, p.m % rows}) {
    if (m == 0) break;
    Problem part = p;
    part.m = m;
    for (const std::int64_t columns : {p.n - last, last}) {
      plan.parts.push_back(make_plan(with_columns(part, columns), target, threads, plan.b_is_packed));
      plan.workspace_bytes = std::max(plan.workspace_bytes, plan.parts.back().workspace_bytes);
    }
  }
  if (plan.b_is_packed) plan.last_columns_of_b = place_of_last(p, target);
}

std::size_t packed_parts_bytes(const Problem& p, const Target& target) {
  return place_of_last(p, target) + packed_b_bytes(with_columns(p, last_columns_apart(p)), target);
}

void pack_parts(const Problem& p, const Target& target, const std::byte* b, std::byte* packed, const ThreadPool& pool) {
  const std::int64_t last = last_columns_apart(p), before = p.n - last;
  pack_b(with_columns(p, before), target, b, packed, pool);
  pack_b(with_columns(p, last), target, b + before * p.b_column_step * bytes_of(p), packed + place_of_last(p, target),
         pool);
}

}  // namespace binet::kernels::gemm
