// How many tasks a call hands to the threads of a pool.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/target.h"
#include "kernels/elementwise/plan.h"

namespace binet::kernels::elementwise {
namespace {

/// Runs everything in the calling thread, and keeps how many tasks there were.
class TaskCounter final : public Executor {
 public:
  explicit TaskCounter(int threads) : threads_(threads) {}
  [[nodiscard]] int threads() const override { return threads_; }
  void run(std::int64_t count, TaskRef task) override {
    tasks = count;
    for (std::int64_t i = 0; i < count; ++i) task(i);
  }
  std::int64_t tasks = 1;  ///< a single one is not handed over

 private:
  const int threads_;
};

std::int64_t tasks_of(const Plan& plan, int threads) {
  const auto counter = std::make_shared<TaskCounter>(threads);
  const auto bytes = static_cast<std::size_t>(plan.loops.elements * plan.size);
  const std::vector<std::byte> a(bytes), b(bytes);
  std::vector<std::byte> y(bytes);
  run(plan, a.data(), b.data(), y.data(), ThreadPool(counter));
  return counter->tasks;
}

Plan product_that_touches(std::int64_t bytes) {
  const Shape shape{bytes / 3};
  return make_plan(Operation::multiply, ElementType::u8, plan_broadcast(shape, shape), default_target());
}

TEST(Tasks, AreAsManyForEachThread) {
  constexpr std::int64_t kKi = 1024;
  for (std::int64_t bytes = 300 * kKi; bytes < 6000 * kKi; bytes += 301 * kKi) {
    for (const int threads : {2, 3, 4, 7}) {
      const std::int64_t tasks = tasks_of(product_that_touches(bytes), threads);
      EXPECT_TRUE(tasks <= threads || tasks % threads == 0) << tasks << " of " << bytes << " bytes for " << threads;
      EXPECT_LE(tasks, 4 * threads);
    }
  }
}

TEST(Tasks, AreNoMoreThanBytesPayFor) {
  constexpr std::int64_t kKi = 1024, kMi = 1024 * kKi;
  EXPECT_EQ(tasks_of(product_that_touches(120 * kKi), 2), 1);
  EXPECT_EQ(tasks_of(product_that_touches(300 * kKi), 4), 2) << "threads that the bytes do not pay for";
  EXPECT_EQ(tasks_of(product_that_touches(1536 * kKi), 2), 2);
  EXPECT_EQ(tasks_of(product_that_touches(2 * kMi + kKi), 2), 4);
  EXPECT_EQ(tasks_of(product_that_touches(9 * kMi), 2), 8);
}

}  // namespace
}  // namespace binet::kernels::elementwise
