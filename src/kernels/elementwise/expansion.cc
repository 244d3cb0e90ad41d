#include "kernels/elementwise/expansion.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "kernels/elementwise/expansion_runs.h"

namespace binet::kernels::elementwise {
namespace {

/// For each unit of the tile, the place of its bytes in the operand.
std::vector<std::int32_t> places_of_units(std::span<const BroadcastLoop> loops, std::int64_t BroadcastLoop::*step,
                                          std::int64_t size, std::int64_t unit) {
  std::size_t inner = static_cast<std::size_t>((size + unit - 1) / unit);
  std::size_t all = inner;
  for (const BroadcastLoop& loop : loops) all *= static_cast<std::size_t>(loop.extent);
  std::vector<std::int32_t> places(all);
  for (std::size_t i = 0; i < inner; ++i) places[i] = static_cast<std::int32_t>(i) * static_cast<std::int32_t>(unit);
  for (std::size_t k = loops.size(); k-- > 0;) {
    std::int32_t* turn = places.data();
    for (std::int64_t t = 1; t < loops[k].extent; ++t) {
      turn += inner;
      const auto moved = static_cast<std::int32_t>(t * loops[k].*step * size);
      for (std::size_t i = 0; i < inner; ++i) turn[i] = places[i] + moved;
    }
    inner *= static_cast<std::size_t>(loops[k].extent);
  }
  return places;
}

/// Places that one window holds, from `begin` on.
struct Window {
  std::size_t end;
  std::int32_t start;
};

Window window_at(std::span<const std::int32_t> places, std::size_t begin, const Lookup& lookup) {
  std::int32_t low = places[begin];
  std::int32_t high = low;
  std::size_t end = begin;
  for (; end < places.size(); ++end) {
    const std::int32_t new_low = std::min(low, places[end]);
    const std::int32_t new_high = std::max(high, places[end]);
    if (new_high + lookup.unit - new_low > lookup.window) break;
    low = new_low;
    high = new_high;
  }
  return {end, low};
}

struct Layout {
  std::vector<Expansion::Chunk> chunks;
  bool two_windows = false;

  [[nodiscard]] bool one_place() const {
    return !two_windows && std::all_of(chunks.begin(), chunks.end(), [this](const Expansion::Chunk& chunk) {
      return chunk.first == chunks.front().first;
    });
  }
};

/// Cuts the tile into chunks; nothing if a chunk needs more windows than the lookup has.
std::optional<Layout> cut(const std::vector<std::int32_t>& places, const Lookup& lookup) {
  const std::int32_t source = *std::max_element(places.begin(), places.end()) + lookup.unit;
  // Moved back where they would reach beyond the operand.
  const auto inside = [&](std::int32_t start) { return std::min(start, std::max(0, source - lookup.window)); };
  const auto units = static_cast<std::size_t>(lookup.chunk / lookup.unit);
  Layout layout;
  for (std::size_t at = 0; at < places.size(); at += units) {
    const std::span chunk(&places[at], std::min(units, places.size() - at));
    const Window first = window_at(chunk, 0, lookup);
    Expansion::Chunk windows{inside(first.start), 0, static_cast<std::int32_t>(units)};
    if (first.end < chunk.size()) {
      const Window second = window_at(chunk, first.end, lookup);
      if (second.end < chunk.size() || lookup.two.expand == nullptr) return std::nullopt;
      windows.second = inside(second.start);
      windows.split = static_cast<std::int32_t>(first.end);
      layout.two_windows = true;
    }
    layout.chunks.push_back(windows);
  }
  return layout;
}

/// Bytes with the highest bit set give 0 in a shuffle of bytes; of lanes, those of the other window are not used.
constexpr std::byte kOther{0x80};

AlignedBuffer make_table(const std::vector<std::int32_t>& places, const Layout& layout, const Lookup& lookup) {
  const std::size_t tables = layout.two_windows && !lookup.joint ? 2 : 1;
  const auto units = static_cast<std::size_t>(lookup.chunk / lookup.unit);
  const auto place_bytes = static_cast<std::size_t>(layout.one_place() ? lookup.same_place : 1);
  AlignedBuffer table(layout.chunks.size() * tables * units * place_bytes);
  std::memset(table.data(), 0, table.size());
  for (std::size_t c = 0; c < layout.chunks.size(); ++c) {
    const Expansion::Chunk& chunk = layout.chunks[c];
    std::byte* const entries = table.data() + c * tables * units * place_bytes;
    for (std::size_t i = 0; i < units && c * units + i < places.size(); ++i) {
      const std::int32_t place = places[c * units + i];
      const bool is_first = i < static_cast<std::size_t>(chunk.split);
      const std::int32_t index = (place - (is_first ? chunk.first : chunk.second)) / lookup.unit;
      if (lookup.joint) {
        const std::int32_t before = is_first ? 0 : lookup.window / lookup.unit;
        entries[i * place_bytes] = static_cast<std::byte>(before + index);
        continue;
      }
      entries[i * place_bytes] = is_first ? static_cast<std::byte>(index) : kOther;
      if (tables == 2) entries[(units + i) * place_bytes] = is_first ? kOther : static_cast<std::byte>(index);
    }
  }
  return table;
}

/// One that stays is loaded once.
double least_cost_of_windows(const Lookup& lookup) { return 0.5 * lookup.window_cost; }

/// What the chunks' windows cost beside all else, as measured.
double cost_of_windows(const Layout& layout, const Lookup& lookup) {
  if (layout.one_place()) return least_cost_of_windows(lookup);
  return layout.two_windows ? lookup.windows_cost : lookup.window_cost;
}

}  // namespace

Expansion make_expansion(std::span<const BroadcastLoop> loops, std::int64_t BroadcastLoop::*step, std::int64_t size,
                         std::span<const Lookup> lookups) {
  const Lookup& widest = lookups.front();
  const std::int64_t row_bytes = repeated_row(loops, step, size);
  if (row_bytes > widest.window && widest.runs.expand != nullptr) {
    return runs_of_row(row_bytes, row_bytes * loops.front().extent, widest);
  }
  Expansion best;
  best.cost = std::numeric_limits<double>::infinity();
  if (widest.two_runs.expand != nullptr) {
    const std::vector<std::int32_t> places = places_of_units(loops, step, size, size);
    if (auto runs = two_runs_a_chunk(places, static_cast<std::int32_t>(size), widest)) {
      best = *std::move(runs);
    }
  }
  for (const Lookup& lookup : lookups) {
    if ((1.0 + least_cost_of_windows(lookup)) / lookup.chunk >= best.cost) continue;
    const std::vector<std::int32_t> places = places_of_units(loops, step, size, lookup.unit);
    const std::optional<Layout> layout = cut(places, lookup);
    if (!layout) continue;
    const double cost = (1.0 + cost_of_windows(*layout, lookup)) / lookup.chunk;
    if (cost >= best.cost) continue;
    best.cost = cost;
    best.functions = layout->two_windows ? lookup.two : layout->one_place() ? lookup.same : lookup.one;
    best.chunk_bytes = lookup.chunk;
    best.source_bytes = 0;
    for (const Expansion::Chunk& chunk : layout->chunks) {
      const std::int64_t end = std::max(chunk.first, chunk.second) + lookup.window;
      best.source_bytes = std::max(best.source_bytes, end);
    }
    best.table = lookup.two.expand == nullptr ? AlignedBuffer() : make_table(places, *layout, lookup);
    best.chunks = layout->chunks;
  }
  if (row_bytes == 0 && widest.runs.expand != nullptr) {
    const std::optional<Repetition> repetition = find_repetition(loops, step, size, widest.chunk);
    if (repetition && cost_of(*repetition) / widest.chunk < best.cost) {
      std::vector<BroadcastLoop> fewer(loops.begin(), loops.end());
      fewer[repetition->loop].extent = repetition->turns;
      Expansion copy = make_expansion(fewer, step, size, lookups);
      if (copy.copy == nullptr && copy.repeated_bytes == 0) {
        if (repetition->end_bytes != 0) {
          const std::int64_t chunks = (repetition->end_bytes + copy.chunk_bytes - 1) / copy.chunk_bytes;
          copy.chunks.resize(std::min(copy.chunks.size(), static_cast<std::size_t>(chunks)));
        }
        best = runs_of_copy(loops, *repetition, size, widest);
        best.copy = std::make_unique<Expansion>(std::move(copy));
      }
    }
  }
  return best;
}

}  // namespace binet::kernels::elementwise
