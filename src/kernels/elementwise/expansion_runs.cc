#include "kernels/elementwise/expansion_runs.h"

#include <algorithm>
#include <numeric>

namespace binet::kernels::elementwise {
namespace {

/// A chunk of two runs.
constexpr double kCostOfTwoRuns = 4;
/// Of a row that is repeated until the next chunk begins with it.
constexpr std::int64_t kMostBytesOfAlignedRows = 2048;

}  // namespace

std::int64_t repeated_row(std::span<const BroadcastLoop> loops, std::int64_t BroadcastLoop::*step, std::int64_t size) {
  if (loops.front().*step != 0) return 0;
  for (const BroadcastLoop& loop : loops.subspan(1)) {
    if (loop.*step == 0) return 0;
    size *= loop.extent;
  }
  return size;
}

Expansion runs_of_row(std::int64_t row_bytes, std::int64_t tile_bytes, const Lookup& lookup) {
  // Of rows that are whole chunks together each chunk is one that lies aligned.
  const std::int64_t whole_chunks = std::lcm(row_bytes, std::int64_t{lookup.chunk});
  const bool is_aligned = whole_chunks <= std::min(kMostBytesOfAlignedRows, tile_bytes / 4);
  const std::int64_t repeated = is_aligned ? whole_chunks : row_bytes;
  Expansion x;
  x.functions = lookup.runs;
  x.chunk_bytes = lookup.chunk;
  x.cost = (is_aligned ? 1.6 : 2.0) / lookup.chunk;
  x.source_bytes = is_aligned ? repeated : row_bytes + lookup.chunk;
  x.repeated_bytes = row_bytes;
  for (std::int64_t at = 0; at < tile_bytes; at += lookup.chunk) {
    x.chunks.push_back({static_cast<std::int32_t>(at % repeated), 0, 0});
  }
  return x;
}

std::optional<Expansion> two_runs_a_chunk(std::span<const std::int32_t> places, std::int32_t size,
                                          const Lookup& lookup) {
  const auto end_of_run = [size](std::span<const std::int32_t> part, std::size_t i) {
    for (++i; i < part.size() && part[i] == part[i - 1] + size;) ++i;
    return i;
  };
  Expansion x;
  x.functions = lookup.two_runs;
  x.chunk_bytes = lookup.chunk;
  x.cost = kCostOfTwoRuns / lookup.chunk;
  const auto elements = static_cast<std::size_t>(lookup.chunk / size);
  for (std::size_t at = 0; at < places.size(); at += elements) {
    const auto part = places.subspan(at, std::min(elements, places.size() - at));
    const std::size_t split = end_of_run(part, 0);
    if (split < part.size() && end_of_run(part, split) < part.size()) return std::nullopt;
    const std::int32_t second = split < part.size() ? part[split] : part[0];
    const auto first_bytes = static_cast<std::int32_t>(split) * size;
    x.chunks.push_back({part[0], second, first_bytes});
    const std::int64_t end = std::max(part[0] + first_bytes, second + lookup.chunk - first_bytes);
    x.source_bytes = std::max(x.source_bytes, end);
  }
  return x;
}

std::optional<Repetition> find_repetition(std::span<const BroadcastLoop> loops, std::int64_t BroadcastLoop::*step,
                                          std::int64_t size, std::int64_t chunk) {
  constexpr std::int64_t kTimesSmaller = 2;
  std::optional<Repetition> best;
  std::int64_t inside = size;
  for (std::size_t k = loops.size(); k-- > 0; inside *= loops[k].extent) {
    if (loops[k].*step != 0) continue;
    const std::int64_t turns = 1 + (chunk + inside - 1) / inside;
    // What a whole tile repeats has nothing behind it: the copy ends with the last chunk that begins in it.
    const std::int64_t end = k == 0 ? inside + chunk : inside * turns;
    const double share = static_cast<double>(end) / static_cast<double>(inside * loops[k].extent);
    if (loops[k].extent >= kTimesSmaller * turns && (!best || share < best->share)) {
      best = Repetition{k, inside, turns, k == 0 ? end : 0, share};
    }
  }
  return best;
}

double cost_of(const Repetition& repetition) {
  constexpr double kWindow = 2;
  constexpr double kCopy = 8;
  return kWindow + kCopy * repetition.share;
}

Expansion runs_of_copy(std::span<const BroadcastLoop> loops, const Repetition& repetition, std::int64_t size,
                       const Lookup& lookup) {
  Expansion x;
  x.functions = lookup.runs;
  x.chunk_bytes = lookup.chunk;
  x.cost = cost_of(repetition) / lookup.chunk;
  std::int64_t tile = size;
  for (const BroadcastLoop& loop : loops) tile *= loop.extent;
  const std::int64_t whole = repetition.inside_bytes * loops[repetition.loop].extent;
  const std::int64_t shorter = repetition.inside_bytes * repetition.turns;
  for (std::int64_t at = 0; at < tile; at += lookup.chunk) {
    const std::int64_t start = at / whole * shorter;
    const std::int64_t left = whole - at % whole;
    const bool is_inside = left >= lookup.chunk || repetition.loop == 0;
    const std::int64_t place = is_inside ? at % whole % repetition.inside_bytes : shorter - left;
    x.chunks.push_back({static_cast<std::int32_t>(start + place), 0, 0});
    x.source_bytes = std::max(x.source_bytes, start + place + lookup.chunk);
  }
  return x;
}

}  // namespace binet::kernels::elementwise
