#include "kernels/elementwise/bench/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"
#include "tensor/broadcast.h"

namespace binet::kernels::elementwise::bench {
namespace {

struct Pair {
  ElementType type;
  Shape a;
  Shape b;
};

std::optional<ElementType> parse_type(std::string_view text) {
  for (const ElementType type : kTypes) {
    if (to_string(type) == text) return type;
  }
  return std::nullopt;
}

std::optional<Shape> parse_shape(std::string_view text) {
  Shape shape;
  for (const std::string_view extent : split(text, ',')) {
    const std::optional<std::uint64_t> value = parse_unsigned(extent);
    if (!value || *value == 0 || *value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    shape.push_back(static_cast<std::int64_t>(*value));
  }
  return shape;
}

/// "TYPE:A*B", with shapes that broadcast; nothing, if it is something else.
std::optional<Pair> parse_pair(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() != 2) return std::nullopt;
  const std::vector<std::string_view> shapes = split(parts[1], '*');
  if (shapes.size() != 2) return std::nullopt;
  const std::optional<ElementType> type = parse_type(parts[0]);
  std::optional<Shape> a = parse_shape(shapes[0]), b = parse_shape(shapes[1]);
  if (!type || !a || !b) return std::nullopt;
  const std::size_t rank = std::max(a->size(), b->size());
  Pair pair{*type, pad_left(*a, rank), pad_left(*b, rank)};
  for (std::size_t i = 0; i < rank; ++i) {
    if (pair.a[i] != pair.b[i] && pair.a[i] != 1 && pair.b[i] != 1) return std::nullopt;
  }
  return pair;
}

}  // namespace

std::vector<Case> take_cases(int& argc, char** argv) {
  std::vector<std::string> pairs;
  int random = 0;
  std::uint64_t seed = 1;
  CLI::App app("Compares Binet's elementwise product with other libraries. Google Benchmark's arguments work, too.",
               "elementwise_mul_bench");
  app.allow_extras();
  app.add_option("--pair", pairs, "Only these types and shapes, such as f32:8,1,6,1*7,1,5")
      ->check(
          [](const std::string& text) { return parse_pair(text) ? "" : "is no TYPE:A*B that broadcasts: " + text; });
  app.add_option("--random", random, "So many random types and shapes")->check(CLI::Range(1, 1'000'000));
  app.add_option("--seed", seed, "Of the random shapes: the same ones for the same seed");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    std::exit(app.exit(end));
  }
  // Behind the program's name: where Google Benchmark looks for its own.
  static std::vector<std::string> others;
  others = app.remaining();
  argc = 1;
  for (std::string& other : others) argv[argc++] = other.data();

  std::vector<Case> cases = random > 0 ? random_cases(random, seed) : std::vector<Case>();
  for (const std::string& text : pairs) {
    const Pair pair = *parse_pair(text);
    for (Case& c : cases_of_pair(pair.type, pair.a, pair.b)) cases.push_back(std::move(c));
  }
  return cases.empty() ? all_cases() : cases;
}

}  // namespace binet::kernels::elementwise::bench
