#include "runtime/place_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace binet {
namespace {

/// Follows the steps and remembers whose bytes the arena holds; true if every input is whole when it is read, and no
/// output touches a place where an input lies unless it may.
bool is_sound(const std::vector<PlacedStep>& steps, const std::vector<std::size_t>& bytes, const Placement& placement) {
  std::vector<ValueIndex> owner(placement.bytes, kLeftOut);
  const auto lies_in_arena = [&](ValueIndex value) {
    return value != kLeftOut && placement.offsets[value] != Placement::kElsewhere;
  };
  for (const PlacedStep& step : steps) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const ValueIndex input = step.inputs[i];
      if (!lies_in_arena(input)) continue;
      const std::size_t begin = placement.offsets[input];
      for (std::size_t at = begin; at < begin + bytes[input]; ++at) {
        if (owner[at] != input) return false;
      }
      if (!lies_in_arena(step.output) || bytes[input] == 0) continue;
      const std::size_t out = placement.offsets[step.output];
      const bool overlap = out < begin + bytes[input] && begin < out + bytes[step.output];
      if (overlap && (out != begin || !step.may_overwrite[i])) return false;
    }
    if (!lies_in_arena(step.output)) continue;
    const std::size_t out = placement.offsets[step.output];
    std::fill_n(owner.begin() + static_cast<std::ptrdiff_t>(out), bytes[step.output], step.output);
  }
  return true;
}

TEST(PlaceValues, NothingIsOverwrittenThatIsStillRead) {
  std::mt19937 random(20261120);
  std::size_t in_place = 0;
  for (int round = 0; round < 2000; ++round) {
    // Value 0 is the input of the graph; step i makes value i + 1.
    const std::size_t count = 1 + random() % 7;
    std::vector<std::size_t> bytes = {64};
    std::vector<PlacedStep> steps;
    for (std::size_t i = 0; i < count; ++i) {
      PlacedStep step;
      for (std::size_t n = 1 + random() % 2; n > 0; --n) {
        step.inputs.push_back(random() % 8 == 0 ? kLeftOut : random() % (i + 1));
        step.may_overwrite.push_back(random() % 2 == 0);
      }
      step.output = i + 1;
      steps.push_back(step);
      bytes.push_back(random() % 3 * 100);
    }
    const std::vector<ValueIndex> outputs = {1 + random() % count};
    const Placement placement = place_values(steps, bytes, outputs);
    ASSERT_TRUE(is_sound(steps, bytes, placement)) << "round " << round;
    for (const ValueIndex output : outputs) EXPECT_EQ(placement.offsets[output], Placement::kElsewhere);
    for (const PlacedStep& step : steps) {
      for (const ValueIndex input : step.inputs) {
        if (input != kLeftOut && bytes[input] != 0 && placement.offsets[input] != Placement::kElsewhere &&
            placement.offsets[input] == placement.offsets[step.output]) {
          ++in_place;
        }
      }
    }
  }
  EXPECT_GT(in_place, 100u) << "the cases show something";
}

TEST(PlaceValues, AChainThatMayOverwriteNeedsOnePlace) {
  for (const bool may : {true, false}) {
    std::vector<PlacedStep> steps;
    for (ValueIndex i = 0; i < 20; ++i) steps.push_back({{i}, i + 1, {may}});
    const std::vector<std::size_t> bytes(21, 640);
    const std::vector<ValueIndex> outputs = {20};
    EXPECT_EQ(place_values(steps, bytes, outputs).bytes, may ? 640u : 2 * 640u);
  }
}

}  // namespace
}  // namespace binet
