#include "binet/products.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/element_types.h"
#include "base/testing.h"
#include "binet/error.h"

namespace binet {
namespace {

using testing::message_of;

template <class T>
T number(int value) {
  if constexpr (std::is_class_v<T>)
    return T::from_double(value);
  else
    return static_cast<T>(value);
}

template <class T>
Tensor small_numbers(const Shape& shape, int first) {
  Tensor tensor = Tensor::allocate(element_type_of<T>, shape);
  int value = first;
  for (T& element : tensor.mutable_values<T>()) element = number<T>(1 + value++ % 5);
  return tensor;
}

TEST(Mul, EveryTypeBroadcastsBothWays) {
  for (std::size_t t = 0; t <= static_cast<std::size_t>(ElementType::u64); ++t) {
    visit_numeric_type(static_cast<ElementType>(t), [&]<class T>() {
      const Tensor a = small_numbers<T>({2, 1, 3}, 0);
      const Tensor b = small_numbers<T>({4, 1}, 2);
      const Tensor y = mul(a, b);
      ASSERT_EQ(y.shape(), (Shape{2, 4, 3}));
      for (std::size_t i = 0; i < y.element_count(); ++i) {
        const int of_a = 1 + static_cast<int>(i / 12 * 3 + i % 3) % 5;
        const int of_b = 1 + (2 + static_cast<int>(i / 3 % 4)) % 5;
        EXPECT_EQ(y.values<T>()[i], number<T>(of_a * of_b)) << to_string(element_type_of<T>) << " " << i;
      }
    });
  }
}

TEST(Mul, IntoTheOperandItselfAndNothingElse) {
  Tensor a = Tensor::from<float>({3}, {1, 2, 3});
  const Tensor b = Tensor::from<float>({3}, {4, 5, 6});
  mul_into(a, b, a);
  EXPECT_EQ(a.values<float>()[2], 18.0f);
  mul_into(a, a, a);
  EXPECT_EQ(a.values<float>()[0], 16.0f);

  std::vector<float> memory(8, 1.0f);
  const Tensor left = Tensor::view(ElementType::f32, {4}, static_cast<const void*>(memory.data()));
  Tensor shifted = Tensor::view(ElementType::f32, {4}, static_cast<void*>(memory.data() + 1));
  EXPECT_EQ(message_of([&] { mul_into(left, left, shifted); }), "Mul-14: the output overlaps A");
  Tensor apart = Tensor::view(ElementType::f32, {4}, static_cast<void*>(memory.data() + 4));
  EXPECT_EQ(message_of([&] { mul_into(left, left, apart); }), "accepted");
}

TEST(Mul, IntoMemoryOfASmallerOperandIsRefused) {
  std::vector<float> memory(12, 2.0f);
  const Tensor row = Tensor::view(ElementType::f32, {3}, static_cast<const void*>(memory.data()));
  const Tensor column = Tensor::from<float>({4, 1}, {1, 2, 3, 4});
  Tensor y = Tensor::view(ElementType::f32, {4, 3}, static_cast<void*>(memory.data()));
  EXPECT_EQ(message_of([&] { mul_into(column, row, y); }), "Mul-14: the output overlaps B");
  EXPECT_EQ(message_of([&] { mul_into(row, column, y); }), "Mul-14: the output overlaps A");
  // The same elements under another shape are not element by element what the output is.
  const Tensor flat = Tensor::view(ElementType::f32, {1, 4, 3}, static_cast<const void*>(memory.data()));
  EXPECT_EQ(message_of([&] { mul_into(flat, column, y); }),
            "Mul-14: the output is f32 (4, 3); it must be f32 (1, 4, 3)");
}

TEST(Mul, KeepsPlansApart) {
  // More pairs of shapes and types than are kept, in turns, so that places are taken over.
  for (int turn = 0; turn < 3; ++turn) {
    for (std::int64_t rows = 1; rows <= 12; ++rows) {
      for (std::int64_t columns = 1; columns <= 5; ++columns) {
        const Tensor a = small_numbers<float>({rows, columns}, turn);
        const Tensor b = small_numbers<float>({rows, 1}, 1);
        const Tensor y = mul(a, b);
        ASSERT_EQ(y.shape(), (Shape{rows, columns}));
        for (std::size_t i = 0; i < y.element_count(); ++i) {
          EXPECT_EQ(y.values<float>()[i],
                    a.values<float>()[i] * b.values<float>()[i / static_cast<std::size_t>(columns)]);
        }
        const Tensor wide = small_numbers<double>({rows, columns}, turn);
        EXPECT_EQ(mul(wide, wide).values<double>()[0], wide.values<double>()[0] * wide.values<double>()[0]);
        EXPECT_EQ(message_of([&] { static_cast<void>(mul(a, wide)); }),
                  "Mul-14: element types f32 and f64 meet; they must be the same");
      }
    }
  }
}

TEST(Mul, ReadsAndWritesAtAnyAlignment) {
  std::vector<std::byte> memory(200);
  Tensor a = Tensor::view(ElementType::f64, {5}, static_cast<void*>(memory.data() + 1));
  Tensor y = Tensor::view(ElementType::f64, {5}, static_cast<void*>(memory.data() + 101));
  const std::vector<double> values = {1, 2, 3, 4, 5};
  std::memcpy(memory.data() + 1, values.data(), 40);
  mul_into(a, a, y);
  std::vector<double> result(5);
  std::memcpy(result.data(), memory.data() + 101, 40);
  EXPECT_EQ(result, (std::vector<double>{1, 4, 9, 16, 25}));
  EXPECT_THROW(static_cast<void>(y.values<double>()), Error);
}

TEST(Gemm, EveryTypeAndTransposition) {
  for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64,
                                 ElementType::i32, ElementType::i64, ElementType::u32, ElementType::u64}) {
    visit_numeric_type(type, [&]<class T>() {
      for (const bool trans_a : {false, true}) {
        for (const bool trans_b : {false, true}) {
          const Tensor a = small_numbers<T>(trans_a ? Shape{3, 2} : Shape{2, 3}, 0);
          const Tensor b = small_numbers<T>(trans_b ? Shape{4, 3} : Shape{3, 4}, 1);
          const Tensor c = small_numbers<T>({4}, 2);
          const Tensor y = gemm(a, b, c, {.alpha = 2, .beta = 3, .trans_a = trans_a, .trans_b = trans_b});
          ASSERT_EQ(y.shape(), (Shape{2, 4}));
          for (int m = 0; m < 2; ++m) {
            for (int n = 0; n < 4; ++n) {
              int sum = 0;
              for (int k = 0; k < 3; ++k) {
                sum += (1 + (trans_a ? k * 2 + m : m * 3 + k) % 5) * (1 + (1 + (trans_b ? n * 3 + k : k * 4 + n)) % 5);
              }
              const int expected = 2 * sum + 3 * (1 + (2 + n) % 5);
              EXPECT_EQ(y.values<T>()[static_cast<std::size_t>(m * 4 + n)], number<T>(expected)) << to_string(type);
            }
          }
        }
      }
    });
  }
}

TEST(Gemm, WithoutC) {
  const Tensor y = gemm(Tensor::from<float>({1, 2}, {1, 2}), Tensor::from<float>({2, 1}, {3, 4}), {.alpha = 0.5f});
  EXPECT_EQ(y.values<float>()[0], 5.5f);
}

TEST(Products, RefuseWhatDoesNotFit) {
  const Tensor a = Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor d = Tensor::from<double>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor small = Tensor::from<std::int8_t>({1, 1}, {1});
  const Tensor flag = Tensor::from<bool>({1}, {true});
  Tensor wrong = Tensor::allocate(ElementType::f32, {3, 3});
  Tensor fitting = Tensor::allocate(ElementType::f32, {2, 2});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {message_of([&] { static_cast<void>(mul(a, d)); }), "Mul-14: element types f32 and f64 meet"},
      {message_of([&] { static_cast<void>(mul(flag, flag)); }), "Mul-14: element type bool is not allowed"},
      {message_of([&] {
         static_cast<void>(mul(a, Tensor::from<float>({2}, {1, 2})));
       }),
       "3 and 2 meet"},
      {message_of([&] { mul_into(a, a, wrong); }), "the output is f32 (3, 3); it must be f32 (2, 3)"},
      {message_of([&] { static_cast<void>(gemm(a, a)); }), "Gemm-13: the inner extents differ"},
      {message_of([&] { static_cast<void>(gemm(small, small)); }), "Gemm-13: element type i8 is not allowed"},
      {message_of([&] { static_cast<void>(gemm(a, a, d, {.trans_b = true})); }), "element types f32 and f64 meet"},
      {message_of([&] { static_cast<void>(gemm(a, a, a, {.trans_b = true})); }), "C has shape (2, 3)"},
      {message_of([&] { gemm_into(a, a, nullptr, wrong, {.trans_b = true}); }), "it must be f32 (2, 2)"},
      {message_of([&] { gemm_into(a, a, &fitting, fitting, {.trans_b = true}); }), "the output overlaps C"},
  };
  for (const auto& [message, expected] : cases) EXPECT_NE(message.find(expected), std::string::npos) << message;
}

}  // namespace
}  // namespace binet
