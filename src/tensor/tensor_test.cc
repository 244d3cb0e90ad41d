// Tensors, the sizes of shapes, and broadcast plans: some that are pinned, and random ones against plain indexing.
#include "binet/tensor.h"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <random>
#include <vector>

#include "base/testing.h"
#include "binet/error.h"
#include "tensor/broadcast.h"
#include "tensor/shape.h"

#if defined(__SANITIZE_ADDRESS__)
// AddressSanitizer ends the program where an allocation cannot succeed, instead of returning null as malloc does.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

namespace binet {

void PrintTo(const BroadcastLoop& loop, std::ostream* out) {
  *out << '(' << loop.extent << ',' << loop.a_step << ',' << loop.b_step << ')';
}

namespace {

template <class Call>
void expect_error(ErrorCode code, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
  }
}

// ---- tensors

TEST(Tensor, AllocatesZeroesOnACacheLine) {
  const Tensor tensor = Tensor::allocate(ElementType::i16, {2, 3});
  EXPECT_EQ(tensor.type(), ElementType::i16);
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  EXPECT_EQ(tensor.element_count(), 6u);
  EXPECT_EQ(tensor.size_bytes(), 12u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % 64, 0u);
  for (const std::int16_t value : tensor.values<std::int16_t>()) EXPECT_EQ(value, 0);
}

TEST(Tensor, IsEmptyByDefaultAndOneElementForAScalar) {
  EXPECT_EQ(Tensor().element_count(), 0u);
  EXPECT_EQ(Tensor().shape(), Shape{0});
  EXPECT_EQ(Tensor::allocate(ElementType::f64, {}).element_count(), 1u);
  EXPECT_EQ(Tensor::allocate(ElementType::f64, {4, 0, 5}).size_bytes(), 0u);
}

TEST(Tensor, CopiesShareElementsAndClonesDoNot) {
  Tensor tensor = Tensor::from<float>({3}, {1, 2, 3});
  Tensor copy = tensor;
  Tensor clone = tensor.clone();
  tensor.mutable_values<float>()[0] = 9;
  EXPECT_EQ(copy.values<float>()[0], 9);
  EXPECT_EQ(clone.values<float>()[0], 1);
  clone.mutable_values<float>()[1] = 8;
  EXPECT_EQ(tensor.values<float>()[1], 2);
}

TEST(Tensor, ViewsBorrowAndSharedOnesKeepTheOwnerAlive) {
  std::vector<std::int32_t> values = {1, 2, 3, 4};
  Tensor view = Tensor::view(ElementType::i32, {2, 2}, values.data());
  view.mutable_values<std::int32_t>()[3] = 7;
  EXPECT_EQ(values[3], 7);

  Tensor read_only = Tensor::view(ElementType::i32, {4}, static_cast<const void*>(values.data()));
  expect_error(ErrorCode::invalid_argument, [&] { (void)read_only.mutable_bytes(); });
  EXPECT_NO_THROW((void)read_only.clone().mutable_bytes());

  auto owner = std::make_shared<std::vector<std::int32_t>>(values);
  const std::weak_ptr<std::vector<std::int32_t>> alive = owner;
  {
    const Tensor shared = Tensor::shared(ElementType::i32, {4}, owner->data(), owner);
    owner.reset();
    EXPECT_EQ(shared.values<std::int32_t>()[3], 7);
  }
  EXPECT_TRUE(alive.expired());
}

TEST(Tensor, RefusesWhatDoesNotFit) {
  const auto bad = ErrorCode::invalid_argument;
  expect_error(bad, [] { (void)Tensor::allocate(ElementType::f32, {2, -1}); });
  expect_error(bad, [] { (void)Tensor::allocate(ElementType::f32, {INT64_MAX, 2}); });
  expect_error(bad, [] { (void)Tensor::allocate(ElementType::f64, {INT64_MAX / 4}); });
  expect_error(bad, [] { (void)Tensor::from<float>({3}, {1, 2}); });
  expect_error(ErrorCode::unsupported, [] { (void)Tensor::allocate(ElementType::string, {1}); });
  expect_error(ErrorCode::out_of_memory, [] { (void)Tensor::allocate(ElementType::u8, {INT64_MAX}); });
  const Tensor tensor = Tensor::allocate(ElementType::f32, {1});
  expect_error(bad, [&] { (void)tensor.values<double>(); });
  alignas(8) const std::byte bytes[16] = {};
  const Tensor crooked = Tensor::view(ElementType::f32, {2}, static_cast<const void*>(bytes + 1));
  EXPECT_EQ(crooked.bytes().size(), 8u);
  expect_error(bad, [&] { (void)crooked.values<float>(); });
}

TEST(Tensor, PacksElementsUnderAByte) {
  Tensor tensor = Tensor::allocate(ElementType::i4, {3});
  EXPECT_EQ(tensor.element_count(), 3u);
  EXPECT_EQ(tensor.size_bytes(), 2u);
  tensor.mutable_bytes()[1] = std::byte{7};
  EXPECT_EQ(tensor.clone().bytes()[1], std::byte{7});
  EXPECT_EQ(Tensor::allocate(ElementType::u4, {}).size_bytes(), 1u);
  EXPECT_EQ(Tensor::allocate(ElementType::u4, {0}).size_bytes(), 0u);
  // No C++ type has four bits: the elements are reached through bytes() alone.
  expect_error(ErrorCode::invalid_argument, [&] { (void)tensor.values<std::int8_t>(); });
}

TEST(Tensor, WritesShapes) {
  EXPECT_EQ(to_string(Shape{}), "()");
  EXPECT_EQ(to_string(Shape{2, 3}), "(2, 3)");
}

// ---- sizes

TEST(Shapes, CountElementsWithoutOverflow) {
  struct Case {
    Shape shape;
    std::optional<std::int64_t> count;
  };
  constexpr std::int64_t k32 = std::int64_t{1} << 32;
  const Case cases[] = {{{}, 1},
                        {{0}, 0},
                        {{7, 0, 3}, 0},
                        {{INT64_MAX}, INT64_MAX},
                        {{INT64_MAX, 2}, std::nullopt},
                        {{k32, k32}, std::nullopt},
                        {{k32, k32 / 2}, std::nullopt},
                        {{k32, k32 / 2 - 1}, k32 * (k32 / 2 - 1)},
                        {{k32, k32, 0}, std::nullopt},  // strides of an empty tensor must be computable too
                        {{0, k32, k32}, std::nullopt},
                        {{-1}, std::nullopt},
                        {{0, -1}, std::nullopt}};
  for (const Case& c : cases) EXPECT_EQ(element_count(c.shape), c.count) << to_string(c.shape);
}

TEST(Shapes, CountBytesWithoutOverflow) {
  EXPECT_EQ(byte_count(ElementType::f32, 3), 12);
  EXPECT_EQ(byte_count(ElementType::u8, INT64_MAX), INT64_MAX);
  EXPECT_EQ(byte_count(ElementType::i16, INT64_MAX / 2), INT64_MAX - 1);
  EXPECT_EQ(byte_count(ElementType::i16, INT64_MAX / 2 + 1), std::nullopt);
  EXPECT_EQ(byte_count(ElementType::f64, INT64_MAX), std::nullopt);
  EXPECT_EQ(byte_count(ElementType::i4, 3), 2);
}

// ---- broadcast plans

TEST(Broadcast, MakesThePinnedPlans) {
  struct Case {
    Shape a;
    Shape b;
    std::vector<BroadcastLoop> loops;
  };
  const Case cases[] = {
      {{2, 3, 4, 5}, pad_left(Shape{}, 4), {{120, 1, 0}}},
      {{2, 3, 4, 5}, pad_left(Shape{5}, 4), {{24, 5, 0}, {5, 1, 1}}},
      {pad_left(Shape{4, 5}, 4), {2, 3, 4, 5}, {{6, 0, 20}, {20, 1, 1}}},
      {{2, 3, 4, 5}, place_at(Shape{3, 4}, 1, 4), {{2, 60, 0}, {12, 5, 1}, {5, 1, 0}}},
      {pad_left(Shape{1, 4, 5}, 4), {2, 3, 1, 1}, {{6, 0, 1}, {20, 1, 0}}},
      {{8, 1, 6, 1}, pad_left(Shape{7, 1, 5}, 4), {{8, 6, 0}, {7, 0, 5}, {6, 1, 0}, {5, 0, 1}}},
      {{}, {}, {}},
      {{1, 1}, {1, 1}, {}},
      {{2, 3}, {2, 3}, {{6, 1, 1}}},
      {{2, 1, 3}, {2, 1, 3}, {{6, 1, 1}}},
      {{100000, 3}, {100000, 1}, {{100000, 3, 1}, {3, 1, 0}}},
      {{4096, 1}, {1, 4096}, {{4096, 1, 0}, {4096, 0, 1}}},
  };
  for (const Case& c : cases) {
    const BroadcastPlan plan = plan_broadcast(c.a, c.b);
    EXPECT_EQ(plan.loops, c.loops) << to_string(c.a) << " x " << to_string(c.b);
    std::int64_t elements = 1;
    for (const BroadcastLoop& loop : c.loops) elements *= loop.extent;
    EXPECT_EQ(plan.elements, elements);
  }
}

TEST(Broadcast, HasNoElementsWhereAnExtentIsZero) {
  for (const auto& [a, b] :
       std::vector<std::pair<Shape, Shape>>{{{0}, {0}}, {{0}, {1}}, {{3, 1}, {3, 0}}, {{1, 0}, {5, 1}}}) {
    EXPECT_EQ(plan_broadcast(a, b).elements, 0) << to_string(a) << " x " << to_string(b);
  }
}

TEST(Broadcast, PlacesShapes) {
  EXPECT_EQ(pad_left(Shape{3, 4}, 4), (Shape{1, 1, 3, 4}));
  EXPECT_EQ(pad_left(Shape{}, 2), (Shape{1, 1}));
  EXPECT_EQ(place_at(Shape{3, 4}, 1, 4), (Shape{1, 3, 4, 1}));
  EXPECT_EQ(place_at(Shape{3}, 0, 3), (Shape{3, 1, 1}));
}

/// The index in an operand's memory for each element of the result, by the definition of broadcasting.
std::vector<std::int64_t> indices_by_definition(const Shape& shape, const Shape& result, std::int64_t count) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t index = 0;
    std::int64_t step = 1;
    for (std::size_t k = shape.size(); k-- > 0;) {
      index += (shape[k] == 1 ? 0 : rest % result[k]) * step;
      rest /= result[k];
      step *= shape[k];
    }
    indices.push_back(index);
  }
  return indices;
}

/// The same by the loops of the plan.
std::vector<std::int64_t> indices_by_plan(const BroadcastPlan& plan, std::int64_t BroadcastLoop::*step) {
  std::vector<std::int64_t> indices = {0};
  for (const BroadcastLoop& loop : plan.loops) {
    std::vector<std::int64_t> inner;
    for (const std::int64_t start : indices) {
      for (std::int64_t i = 0; i < loop.extent; ++i) inner.push_back(start + i * loop.*step);
    }
    indices = std::move(inner);
  }
  return indices;
}

TEST(Broadcast, PlansEqualTheDefinitionForRandomShapes) {
  std::mt19937_64 random(testing::seed(20260102));
  for (int i = 0; i < 5000 && !::testing::Test::HasFailure(); ++i) {
    Shape a;
    Shape b;
    Shape result;
    std::int64_t count = 1;
    for (std::uint64_t rank = random() % 9; rank > 0; --rank) {
      const auto extent = static_cast<std::int64_t>(count > 500 ? 1 : 1 + random() % 5);
      const std::uint64_t kind = random() % 4;
      a.push_back(kind == 0 ? 1 : extent);
      b.push_back(kind == 1 ? 1 : extent);
      result.push_back(extent);
      count *= extent;
    }
    SCOPED_TRACE(to_string(a) + " x " + to_string(b));
    const BroadcastPlan plan = plan_broadcast(a, b);
    EXPECT_EQ(plan.elements, count);
    EXPECT_EQ(indices_by_plan(plan, &BroadcastLoop::a_step), indices_by_definition(a, result, count));
    EXPECT_EQ(indices_by_plan(plan, &BroadcastLoop::b_step), indices_by_definition(b, result, count));
    for (const BroadcastLoop& loop : plan.loops) EXPECT_GT(loop.extent, 1);
    for (std::size_t k = 1; k < plan.loops.size(); ++k) {
      const BroadcastLoop& outer = plan.loops[k - 1];
      const BroadcastLoop& inner = plan.loops[k];
      EXPECT_FALSE(outer.a_step == inner.a_step * inner.extent && outer.b_step == inner.b_step * inner.extent)
          << "loops " << k - 1 << " and " << k << " could be one";
    }
    if (plan.loops.empty()) continue;
    const BroadcastLoop& innermost = plan.loops.back();
    EXPECT_TRUE(innermost.a_step == 1 || innermost.b_step == 1);
    EXPECT_TRUE(innermost.a_step <= 1 && innermost.b_step <= 1);
  }
}

}  // namespace
}  // namespace binet
