// Whole calls touch nothing around their operands and results.
#include <gtest/gtest.h>

#include <string>

#include "base/guarded_memory_testing.h"
#include "base/testing.h"
#include "kernels/elementwise/plan.h"
#include "kernels/elementwise/walk_testing.h"

namespace binet::kernels::elementwise {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): binet::kernels::elementwise::testing
using binet::testing::GuardedMemory;
using binet::testing::GuardReport;
using binet::testing::Place;

class Guards : public ::testing::Test {
 protected:
  void check(ElementType type, const Shapes& shapes) {
    const Bytes a = random_elements(type, static_cast<std::size_t>(count_elements(shapes.a)), random_);
    const Bytes b = random_elements(type, static_cast<std::size_t>(count_elements(shapes.b)), random_);
    const Bytes expected = expected_result(type, shapes, a, b);
    for (const Target& target : supported_targets()) {
      const BroadcastPlan loops = plan_broadcast(shapes.a, shapes.b);
      const Plan plan = make_plan(Operation::multiply, type, loops, target);
      check_at(Place::before_a_guard, type, plan, target, shapes, {a, b, expected});
      check_at(Place::behind_a_guard, type, plan, target, shapes, {a, b, expected});
      const Plan streaming = streaming_plan(type, loops, target);
      check_at(Place::before_a_guard, type, streaming, target, shapes, {a, b, expected});
      check_at(Place::behind_a_guard, type, streaming, target, shapes, {a, b, expected});
    }
  }

  Random random_{binet::testing::seed(20261120)};

 private:
  struct Elements {
    const Bytes& a;
    const Bytes& b;
    const Bytes& expected;
  };

  void check_at(Place place, ElementType type, const Plan& plan, const Target& target, const Shapes& shapes,
                const Elements& elements) {
    const std::byte* const a = a_.copy(elements.a.data(), elements.a.size(), place);
    const std::byte* const b = b_.copy(elements.b.data(), elements.b.size(), place);
    std::byte* const y = y_.at(place, elements.expected.size());
    const std::string running = std::string(to_string(type)) + " on " + std::string(target.name) + ": " +
                                to_string(shapes.a) + " x " + to_string(shapes.b) + ", " +
                                binet::testing::to_string(place) +
                                (plan.cache_bytes == 0 ? ", streaming" : ", not streaming");
    GuardReport::runs(running);
    run(plan, a, b, y, pool_);
    const auto count = static_cast<std::size_t>(plan.loops.elements);
    EXPECT_FALSE(first_difference(type, y, elements.expected.data(), count)) << running;
  }

  static constexpr std::size_t kMostBytes = 512 * 1024 * sizeof(double);
  GuardedMemory a_{kMostBytes};
  GuardedMemory b_{kMostBytes};
  GuardedMemory y_{kMostBytes};
  ThreadPool pool_{1};
  GuardReport report_;
};

TEST_F(Guards, AreNotTouchedByTheBroadcastPatterns) {
  for (const ElementType type : kTypes) {
    for (const Shapes& shapes : kShapes) check(type, shapes);
  }
}

TEST_F(Guards, AreNotTouchedForRandomShapes) {
  constexpr int kPairs = 300;
  for (int i = 0; i < kPairs && !HasFailure(); ++i) {
    const Shapes shapes = random_shapes(random_);
    for (const ElementType type : kTypes) check(type, shapes);
  }
}

}  // namespace
}  // namespace binet::kernels::elementwise
