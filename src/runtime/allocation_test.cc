// Memory as it is asked for: none at all in a bound run; and when it cannot be had, an Error, nothing lost, and a
// session that still works. A program of its own, because it replaces the functions that allocate.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "binet/error.h"
#include "binet/products.h"
#include "runtime/runtime_testing.h"

namespace {

std::atomic<std::int64_t> allocations{0};
std::atomic<std::int64_t> alive{0};
std::atomic<std::int64_t> until_failure{-1};  ///< below 0: none fails
std::atomic<bool> all_others_fail_too{false};

bool must_fail() {
  if (until_failure.load() < 0) return false;
  if (until_failure.load() == 0) {
    if (!all_others_fail_too) until_failure = -1;
    return true;
  }
  --until_failure;
  return false;
}

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = nullptr;
  if (must_fail() || ::posix_memalign(&memory, std::max(alignment, sizeof(void*)), size == 0 ? 1 : size) != 0) {
    return nullptr;
  }
  ++alive;
  return memory;
}

void* counted_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = counted(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) --alive;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted_or_throw(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return counted(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { release(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept { release(memory); }

// What AlignedBuffer takes its memory from. It is freed with free(), so only its coming is counted.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++allocations;
  void* memory = nullptr;
  if (must_fail()) return nullptr;
  return ::posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

namespace binet {
namespace {

using onnx::testing::ModelBuilder;
using onnx::testing::raw_tensor;
using testing::floats;

/// Every kind of thing that a session can make: folded and packed constants, values in between, outputs that are
/// copied, and work for two threads.
ModelBuilder model_of_all_kinds() {
  ModelBuilder model(14);
  model.input("X", ElementType::f32, {-1, 64})
      .initializer(raw_tensor<float>("S", {1}, {2}))
      .initializer(raw_tensor<float>("W", {64, 160}, std::vector<float>(64 * 160, 0.5f)))
      .node("Mul", {"W", "S"}, {"folded"})
      .node("Gemm", {"X", "folded"}, {"h"})
      .node("Mul", {"h", "h"}, {"i"})
      .node("Mul", {"i", "S"}, {"Y"})
      .output("Y", ElementType::f32, {-1, 160})
      .output("X", ElementType::f32, {-1, 64});
  return model;
}

Tensor ones(std::int64_t rows) {
  return floats({rows, 64}, std::vector<float>(static_cast<std::size_t>(rows) * 64, 1));
}

void expect_right(const NamedTensors& outputs) {
  for (const float value : outputs["Y"].values<float>()) ASSERT_EQ(value, 2 * 64.0f * 64.0f);
}

TEST(Allocation, ABoundRunNeedsNone) {
  const Session session(testing::load(model_of_all_kinds()), {.threads = 2});
  for (const std::int64_t rows : {1, 3, 400}) {
    Binding binding = session.bind({{"X", ones(rows)}});
    const std::int64_t before = allocations;
    for (int i = 0; i < 20; ++i) binding.run();
    EXPECT_EQ(allocations, before) << rows << " rows";
    expect_right(binding.outputs());
  }
}

/// Runs `action` with the first allocation failing, then the second, and so on until it gets through. Each failure must
/// be an Error of no memory that leaves nothing behind.
template <class Action>
void fail_each_allocation(const Action& action, bool others_too) {
  action();  // what is made once and kept is made here
  action();
  for (std::int64_t n = 0;; ++n) {
    ASSERT_LT(n, 100000);
    const std::int64_t before = alive;
    all_others_fail_too = others_too;
    until_failure = n;
    bool got_through = false;
    try {
      action();
      got_through = until_failure >= 0;
      until_failure = -1;
      // A failure that is made up for, such as a thread that cannot be started, is as good as none.
    } catch (const Error& error) {
      until_failure = -1;
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    EXPECT_EQ(alive, before) << "allocation " << n;
    if (got_through) return;
  }
}

TEST(Allocation, EachMayFailWhileAModelIsLoadedAndRun) {
  const std::string bytes = model_of_all_kinds().bytes();
  const NamedTensors inputs = {{"X", ones(200)}};
  for (const bool others_too : {false, true}) {
    fail_each_allocation(
        [&] {
          const Model model = load_model(onnx::testing::as_bytes(bytes), "m");
          const Session session(model, {.threads = 2});
          Binding binding = session.bind(inputs);
          binding.run();
          until_failure >= 0 ? void() : expect_right(binding.outputs());
        },
        others_too);
  }
}

TEST(Allocation, EachMayFailWhileAModelIsDescribed) {
  const Model model = testing::load(model_of_all_kinds());
  for (const bool others_too : {false, true}) {
    fail_each_allocation(
        [&] {
          static_cast<void>(model.inputs());
          static_cast<void>(model.outputs());
          static_cast<void>(model.constants());
          static_cast<void>(model.values());
          static_cast<void>(model.nodes());
          static_cast<void>(model.opsets());
        },
        others_too);
  }
}

TEST(Allocation, EachMayFailInProducts) {
  const Tensor a = ones(300);
  for (const bool others_too : {false, true}) {
    fail_each_allocation(
        [&] {
          static_cast<void>(gemm(a, a, {.trans_b = true}));
          static_cast<void>(mul(a, a));
        },
        others_too);
  }
}

TEST(Allocation, ASessionStillWorksAfterOneHasFailed) {
  const Session session(testing::load(model_of_all_kinds()), {.threads = 2});
  const NamedTensors small = {{"X", ones(2)}};
  std::int64_t rows = 3;
  for (const bool others_too : {false, true}) {
    fail_each_allocation([&] { static_cast<void>(session.run(small)); }, others_too);
    expect_right(session.run(small));
    // Shapes that are new each time, so that a plan is made while memory fails.
    for (std::int64_t n = 0; n < 200; ++n) {
      const NamedTensors inputs = {{"X", ones(++rows)}};
      all_others_fail_too = others_too;
      until_failure = n;
      try {
        static_cast<void>(session.run(inputs));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      }
      until_failure = -1;
      expect_right(session.run(inputs));
    }
  }
}

}  // namespace
}  // namespace binet
