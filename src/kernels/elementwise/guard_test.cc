// Whole calls on operands and results that end where a page begins that may not be touched, or begin where one ends:
// vectors are loaded by instructions that the address sanitizer does not look at.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "base/testing.h"
#include "kernels/elementwise/plan.h"
#include "kernels/elementwise/walk_testing.h"

namespace binet::kernels::elementwise {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): binet::kernels::elementwise::testing

enum class Place { behind_a_guard, before_a_guard };

/// Memory between two pages that may not be touched.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes) : bytes_((bytes + kPage - 1) / kPage * kPage) {
    void* const start = ::mmap(nullptr, all_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    start_ = static_cast<std::byte*>(start);
    if (::mprotect(start_ + kPage, bytes_, PROT_READ | PROT_WRITE) != 0) {
      throw std::system_error(errno, std::generic_category(), "mprotect");
    }
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { ::munmap(start_, all_bytes()); }

  [[nodiscard]] std::byte* at(Place place, std::size_t size) const {
    return place == Place::behind_a_guard ? start_ + kPage : start_ + kPage + bytes_ - size;
  }
  [[nodiscard]] std::byte* copy(const Bytes& bytes, Place place) const {
    std::byte* const to = at(place, bytes.size());
    std::copy(bytes.begin(), bytes.end(), to);
    return to;
  }

 private:
  static inline const auto kPage = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  [[nodiscard]] std::size_t all_bytes() const { return bytes_ + 2 * kPage; }

  std::size_t bytes_;
  std::byte* start_;
};

/// What a touched guard is reported with: no test survives it.
char running[512];

void report(int signal) {
  // Nothing can be done about an error here.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, running, std::strlen(running));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Guards : public ::testing::Test {
 protected:
  void SetUp() override { before_ = std::signal(SIGSEGV, report); }
  void TearDown() override { std::signal(SIGSEGV, before_); }

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
    const std::byte* const a = a_.copy(elements.a, place);
    const std::byte* const b = b_.copy(elements.b, place);
    std::byte* const y = y_.at(place, elements.expected.size());
    std::snprintf(running, sizeof(running), "%s on %s: %s x %s, %s, %s\n", std::string(to_string(type)).c_str(),
                  std::string(target.name).c_str(), to_string(shapes.a).c_str(), to_string(shapes.b).c_str(),
                  place == Place::before_a_guard ? "before a guard" : "behind a guard",
                  plan.cache_bytes == 0 ? "streaming" : "not streaming");
    run(plan, a, b, y, pool_);
    const auto count = static_cast<std::size_t>(plan.loops.elements);
    EXPECT_FALSE(first_difference(type, y, elements.expected.data(), count)) << running;
  }

  static constexpr std::size_t kMostBytes = 512 * 1024 * sizeof(double);
  GuardedMemory a_{kMostBytes};
  GuardedMemory b_{kMostBytes};
  GuardedMemory y_{kMostBytes};
  ThreadPool pool_{1};
  void (*before_)(int) = nullptr;
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
