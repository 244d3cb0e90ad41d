#include "kernels/elementwise/bench/cases.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

#include "base/element_types.h"
#include "kernels/elementwise/bench/operands.h"

namespace binet::kernels::elementwise::bench {
namespace {

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = 1024 * kKi;

std::string in_units(std::int64_t bytes) {
  if (bytes % kMi == 0) return std::to_string(bytes / kMi) + "Mi";
  return bytes % kKi == 0 ? std::to_string(bytes / kKi) + "Ki" : std::to_string(bytes);
}

/// With two threads where that should pay.
void add(std::vector<Case>& cases, Case c) {
  cases.push_back(c);
  const auto size = static_cast<std::int64_t>(byte_size(c.type));
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < c.a.size(); ++i) elements *= std::max(c.a[i], c.b[i]);
  if (elements * size < kMi || c.whole_call) return;
  c.threads = 2;
  cases.push_back(c);
}

/// Named by the bytes of each operand.
void add_same_shape(std::vector<Case>& cases) {
  const auto of = [&](ElementType type, std::int64_t bytes, double of_limit) {
    const std::int64_t n = bytes / static_cast<std::int64_t>(byte_size(type));
    add(cases, {"same/" + in_units(bytes), type, {n}, {n}, 1, of_limit});
  };
  for (const std::int64_t bytes : {4 * kKi, 8 * kKi, 12 * kKi, 64 * kKi, 128 * kKi, 256 * kKi}) {
    of(ElementType::f32, bytes, 0.9);
  }
  for (const std::int64_t bytes : {1, 2, 4, 5, 6, 7, 8, 16, 64, 170}) of(ElementType::f32, bytes * kMi, 0.95);
  for (const ElementType type : kTypes) {
    if (type == ElementType::f32) continue;
    of(type, 12 * kKi, byte_size(type) < 4 ? 0.5 : 0.9);
    of(type, 256 * kKi, 0.9);
    of(type, kMi, 0.95);
    of(type, 32 * kMi, 0.95);
  }
}

struct Pattern {
  const char* name;
  Shape a;
  Shape b;
};

const Pattern kPatterns[] = {
    {"scalar", {2048, 1024}, {1, 1}},
    {"column", {2048, 1024}, {2048, 1}},
    {"row", {2048, 1024}, {1, 1024}},
    {"middle", {64, 128, 256}, {1, 128, 1}},
    {"middle_row", {64, 128, 256}, {64, 1, 256}},
    {"channel", {32, 256, 56, 56}, {1, 256, 1, 1}},
    {"channel_last", {32, 56, 56, 256}, {1, 1, 1, 256}},
    {"channel_small", {8, 64, 14, 14}, {1, 64, 1, 1}},
    {"channel_7x7", {32, 512, 7, 7}, {1, 512, 1, 1}},
    {"alternating", {80, 1, 60, 1}, {1, 70, 1, 5}},
    {"alternating_3", {512, 1, 600, 1}, {1, 2, 1, 3}},
    {"alternating_long", {16, 1, 64, 1}, {1, 16, 1, 100}},
    {"rows_of_3", {400000, 3}, {1, 3}},
    {"3_per_scalar", {400000, 3}, {400000, 1}},
    {"1_per_scalar", {2, 600000}, {2, 1}},
    {"rows_of_2", {600000, 2}, {1, 2}},
    {"2_per_scalar", {600000, 2}, {600000, 1}},
    {"rows_of_5", {300000, 5}, {1, 5}},
    {"5_per_scalar", {300000, 5}, {300000, 1}},
    {"rows_of_7", {200000, 7}, {1, 7}},
    {"7_per_scalar", {200000, 7}, {200000, 1}},
    {"rows_of_16", {100000, 16}, {1, 16}},
    {"16_per_scalar", {100000, 16}, {100000, 1}},
    {"rows_of_20", {100000, 20}, {1, 20}},
    {"20_per_scalar", {100000, 20}, {100000, 1}},
    {"rows_of_33", {50000, 33}, {1, 33}},
    {"33_per_scalar", {50000, 33}, {50000, 1}},
    {"50_per_scalar", {40000, 50}, {40000, 1}},
    {"pairs_of_3", {1000, 1, 3}, {1, 1000, 3}},
    {"pairs_of_5", {600, 1, 5}, {1, 600, 5}},
    {"pairs_of_40", {300, 1, 40}, {1, 300, 40}},
    {"outer_product", {4096, 1}, {1, 4096}},
    {"outer_product_small", {1100, 1}, {1, 1000}},
    {"attention", {64, 1, 128, 64}, {64, 32, 1, 64}},
    {"rank_8", {8, 1, 6, 1, 7, 1, 8, 3}, {1, 9, 1, 6, 1, 10, 1, 3}},
    {"rank_8_scalars", {2, 8, 4, 6, 3, 7, 8, 20}, {2, 1, 4, 1, 3, 1, 8, 1}},
};

std::int64_t inner_extent(const Pattern& pattern) { return plan_broadcast(pattern.a, pattern.b).loops.back().extent; }

void add_patterns(std::vector<Case>& cases) {
  for (const Pattern& pattern : kPatterns) {
    const double of_limit = inner_extent(pattern) <= 7 ? 0.5 : 0.85;
    for (const ElementType type :
         {ElementType::f32, ElementType::u8, ElementType::f16, ElementType::bf16, ElementType::f64}) {
      add(cases, {pattern.name, type, pattern.a, pattern.b, 1, of_limit});
    }
    if (pattern.a.size() == 2) {
      add(cases, {std::string(pattern.name) + "/swapped", ElementType::f32, pattern.b, pattern.a, 1, of_limit});
    }
  }
}

/// Where a large std::vector begins.
void add_vectors(std::vector<Case>& cases) {
  const auto at16 = [&](const char* name, ElementType type, const Shape& a, const Shape& b) {
    add(cases, {std::string("at16/") + name, type, a, b, 1, 0.85, 0, false, 16});
  };
  for (const ElementType type : {ElementType::f32, ElementType::u8}) {
    const std::int64_t n = 16 * kMi / static_cast<std::int64_t>(byte_size(type));
    at16("same/16Mi", type, {n}, {n});
    at16("attention", type, {64, 1, 128, 64}, {64, 32, 1, 64});
    at16("20_per_scalar", type, {n / 32, 20}, {n / 32, 1});
    at16("64_per_scalar", type, {n / 64, 64}, {n / 64, 1});
    at16("150_per_scalar", type, {n / 150, 150}, {n / 150, 1});
  }
}

/// Others of the same kinds, the same ones in each run.
void add_random(std::vector<Case>& cases) {
  std::mt19937_64 random(5);
  const auto below = [&](std::uint64_t limit) { return static_cast<std::int64_t>(random() % limit); };
  for (int i = 0; i < 24; ++i) {
    Pattern pattern{"", {}, {}};
    std::int64_t elements = 1;
    const std::int64_t inner = below(3) == 0 ? 1 + below(7) : 8 + below(120);
    for (std::int64_t rank = 2 + below(3); rank > 0; --rank) {
      const std::int64_t extent = rank == 1 ? inner : 2 + below(60);
      const std::int64_t kind = below(3);
      pattern.a.push_back(kind == 0 ? 1 : extent);
      pattern.b.push_back(kind == 1 ? 1 : extent);
      elements *= extent;
    }
    // At least 1 Mi elements, by one more loop of any kind.
    const std::int64_t kind = below(3);
    const std::int64_t outer = (kMi + elements - 1) / elements;
    pattern.a.insert(pattern.a.begin(), kind == 0 ? 1 : outer);
    pattern.b.insert(pattern.b.begin(), kind == 1 ? 1 : outer);
    const std::string name = "random" + to_string(pattern.a) + "x" + to_string(pattern.b);
    add(cases, {name, kTypes[below(12)], pattern.a, pattern.b, 1, inner_extent(pattern) <= 7 ? 0.5 : 0.85});
  }
}

void add_calls(std::vector<Case>& cases) {
  const auto call = [&](const char* name, const Shape& a, const Shape& b, double microseconds) {
    for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::i8}) {
      add(cases, {std::string("call/") + name, type, a, b, 1, 0, microseconds, true});
    }
  };
  call("1", {1}, {1}, 0.06);
  call("8", {8}, {8}, 0.06);
  call("2x4", {2, 4}, {2, 4}, 0.06);
  call("8_scalar", {8}, {1}, 0.06);
  call("64", {64}, {64}, 0.06);
  call("1000", {1000}, {1000}, 0);
  call("2x3x4x5_suffix", {2, 3, 4, 5}, {1, 1, 1, 5}, 0.6);
  call("2x3x4x5_middle", {2, 3, 4, 5}, {1, 3, 4, 1}, 0.6);
  call("8x7x6x5", {8, 1, 6, 1}, {1, 7, 1, 5}, 0.6);
  call("4x9x3x3", {4, 1, 3, 1}, {1, 9, 1, 3}, 0.6);
  call("10x10_outer", {10, 1}, {1, 10}, 0.6);
  call("1x64x7x7_channel", {1, 64, 7, 7}, {1, 64, 1, 1}, 0);
}

/// A share of the limit is wanted of results of at least so many elements.
constexpr std::int64_t kManyElements = kMi;

void add_pair(std::vector<Case>& cases, ElementType type, const Shape& a, const Shape& b) {
  const BroadcastPlan plan = plan_broadcast(a, b);
  const bool has_short_rows = !plan.loops.empty() && plan.loops.back().extent <= 7;
  const double of_limit = plan.elements < kManyElements ? 0 : has_short_rows ? 0.5 : 0.85;
  add(cases, {to_string(a) + "x" + to_string(b), type, a, b, 1, of_limit});
}

/// The product of the extents is `elements` or a little less.
Shape random_extents(std::mt19937_64& random, double elements) {
  std::uniform_real_distribution<double> share(0, 1);
  const std::size_t rank = 1 + random() % 6;
  std::vector<double> shares;
  double all = 0;
  for (std::size_t i = 0; i < rank; ++i) all += shares.emplace_back(share(random));
  Shape extents;
  for (const double s : shares) extents.push_back(static_cast<std::int64_t>(std::pow(elements, s / all)));
  return extents;
}

}  // namespace

std::vector<Case> cases_of_pair(ElementType type, const Shape& a, const Shape& b) {
  std::vector<Case> cases;
  add_pair(cases, type, a, b);
  return cases;
}

std::vector<Case> random_cases(int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> log2_elements(4, 22);
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) {
    Shape a = random_extents(random, std::exp2(log2_elements(random)));
    Shape b = a;
    for (std::size_t axis = 0; axis < a.size(); ++axis) {
      const auto kind = random() % 4;
      if (kind == 0) a[axis] = 1;
      if (kind == 1) b[axis] = 1;
    }
    add_pair(cases, kTypes[random() % std::size(kTypes)], a, b);
  }
  return cases;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_calls(cases);
  add_same_shape(cases);
  add_patterns(cases);
  add_vectors(cases);
  add_random(cases);
  return cases;
}

}  // namespace binet::kernels::elementwise::bench
