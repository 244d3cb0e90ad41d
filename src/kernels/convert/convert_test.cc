// Conversions: every pair of types over values that both hold, and the rules where the new type cannot hold a value.
#include "kernels/convert/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/element_types.h"

namespace binet::kernels::convert {
namespace {

using Bytes = std::vector<std::byte>;

template <class From, class To>
To converted(From value) {
  To result{};
  find_kernel(element_type_of<From>, element_type_of<To>)(reinterpret_cast<const std::byte*>(&value),
                                                          reinterpret_cast<std::byte*>(&result), 0, 1);
  return result;
}

const ElementType kAllTypes[] = {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64,
                                 ElementType::i8,  ElementType::i16,  ElementType::i32, ElementType::i64,
                                 ElementType::u8,  ElementType::u16,  ElementType::u32, ElementType::u64,
                                 ElementType::i4,  ElementType::u4};

/// The small numbers 0 to 7, ten of them, as elements of a type.
Bytes small_numbers(ElementType type) {
  const std::int32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 1, 5, 3};
  constexpr std::int64_t kCount = 11;
  Bytes bytes((static_cast<std::size_t>(kCount) * bit_size(type) + 7) / 8);
  find_kernel(ElementType::i32, type)(reinterpret_cast<const std::byte*>(numbers), bytes.data(), 0, kCount);
  return bytes;
}

TEST(Convert, KeepsWhatBothTypesHold) {
  for (const ElementType from : kAllTypes) {
    const Bytes x = small_numbers(from);
    for (const ElementType to : kAllTypes) {
      const Bytes expected = small_numbers(to);
      Bytes y(expected.size(), std::byte{0xA5});
      run(find_kernel(from, to), 11, x.data(), y.data(), ThreadPool(1));
      EXPECT_EQ(y, expected) << to_string(from) << " to " << to_string(to);
    }
  }
}

TEST(Convert, KnowsNoOtherTypes) {
  EXPECT_EQ(find_kernel(ElementType::boolean, ElementType::f32), nullptr);
  EXPECT_EQ(find_kernel(ElementType::f32, ElementType::f8e4m3fn), nullptr);
}

TEST(Convert, CutsFloatsTowardsZero) {
  EXPECT_EQ((converted<float, std::int32_t>(3.99f)), 3);
  EXPECT_EQ((converted<float, std::int32_t>(-3.99f)), -3);
  EXPECT_EQ((converted<double, std::uint8_t>(-0.99)), 0);
  EXPECT_EQ((converted<double, std::int64_t>(-0x1p62)), -(std::int64_t{1} << 62));
  EXPECT_EQ((converted<Float16, std::int8_t>(Float16::from_double(-127.5))), -127);
}

TEST(Convert, BringsWhatIsOutsideToTheNearestEnd) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ((converted<float, std::int8_t>(128.0f)), 127);
  EXPECT_EQ((converted<float, std::int8_t>(-1e9f)), -128);
  EXPECT_EQ((converted<float, std::uint8_t>(-1.0f)), 0);
  EXPECT_EQ((converted<float, std::uint8_t>(300.0f)), 255);
  EXPECT_EQ((converted<float, std::int64_t>(0x1p63f)), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ((converted<double, std::uint64_t>(0x1p64)), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ((converted<float, std::int32_t>(kInfinity)), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ((converted<float, std::int32_t>(-kInfinity)), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((converted<float, std::int32_t>(NAN)), 0);
  EXPECT_EQ((converted<double, float>(1e300)), kInfinity);
  EXPECT_EQ((converted<float, Float16>(65520.0f)).bits, 0x7C00);
}

TEST(Convert, WrapsIntegers) {
  EXPECT_EQ((converted<std::int32_t, std::uint32_t>(-1)), 0xFFFFFFFFu);
  EXPECT_EQ((converted<std::int32_t, std::int8_t>(200)), -56);
  EXPECT_EQ((converted<std::uint64_t, std::int16_t>(0x18000)), -32768);
}

/// Both signs of every integer type, with its largest and smallest values, against the conversions of the language.
TEST(Convert, WrapsEveryPairOfIntegers) {
  const auto check = []<class From, class To>(From, To) {
    using Limits = std::numeric_limits<From>;
    for (const From value : {From{0}, From{1}, From{77}, static_cast<From>(-1), static_cast<From>(-77), Limits::min(),
                             Limits::max(), static_cast<From>(Limits::max() / 2 + 1)}) {
      EXPECT_EQ((converted<From, To>(value)), static_cast<To>(value))
          << to_string(element_type_of<From>) << " to " << to_string(element_type_of<To>);
    }
  };
  const auto check_all = [&]<class From>(From from) {
    check(from, std::int8_t{}), check(from, std::uint8_t{}), check(from, std::int16_t{}), check(from, std::uint16_t{});
    check(from, std::int32_t{}), check(from, std::uint32_t{}), check(from, std::int64_t{});
    check(from, std::uint64_t{});
  };
  check_all(std::int8_t{}), check_all(std::uint8_t{}), check_all(std::int16_t{}), check_all(std::uint16_t{});
  check_all(std::int32_t{}), check_all(std::uint32_t{}), check_all(std::int64_t{}), check_all(std::uint64_t{});
}

TEST(Convert, RoundsOnce) {
  EXPECT_EQ((converted<std::int32_t, float>(16777217)), 16777216.0f);
  EXPECT_EQ((converted<std::int64_t, float>((std::int64_t{1} << 62) + 1)), 0x1p62f);
  // Just above the middle of two bf16 numbers; binary64 would make it the middle itself.
  EXPECT_EQ((converted<std::int64_t, BFloat16>((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1)).bits,
            BFloat16::from_double(0x1.02p62).bits);
  EXPECT_EQ((converted<std::int64_t, BFloat16>(-((std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1))).bits,
            BFloat16::from_double(-0x1.02p62).bits);
  EXPECT_EQ((converted<std::int64_t, BFloat16>((std::int64_t{1} << 62) + (std::int64_t{1} << 54))).bits,
            BFloat16::from_double(0x1p62).bits);
  EXPECT_EQ((converted<std::uint64_t, BFloat16>(std::numeric_limits<std::uint64_t>::max())).bits,
            BFloat16::from_double(0x1p64).bits);
  EXPECT_EQ((converted<double, float>(1 + 0x1p-24)), 1.0f);
}

TEST(Convert, PacksFourBitsLowHalfFirst) {
  const std::int8_t values[] = {-1, 7, -8, 9, 16};
  Bytes packed(3, std::byte{0xFF});
  find_kernel(ElementType::i8, ElementType::i4)(reinterpret_cast<const std::byte*>(values), packed.data(), 0, 5);
  EXPECT_EQ(packed, (Bytes{std::byte{0x7F}, std::byte{0x98}, std::byte{0x00}}));

  std::int16_t signed_values[5] = {};
  find_kernel(ElementType::i4, ElementType::i16)(packed.data(), reinterpret_cast<std::byte*>(signed_values), 0, 5);
  EXPECT_EQ((std::vector<std::int16_t>(signed_values, signed_values + 5)),
            (std::vector<std::int16_t>{-1, 7, -8, -7, 0}));
  float unsigned_values[5] = {};
  find_kernel(ElementType::u4, ElementType::f32)(packed.data(), reinterpret_cast<std::byte*>(unsigned_values), 0, 5);
  EXPECT_EQ((std::vector<float>(unsigned_values, unsigned_values + 5)), (std::vector<float>{15, 7, 8, 9, 0}));

  const float floats[] = {-9.5f, 20.0f, -0.5f};
  find_kernel(ElementType::f32, ElementType::i4)(reinterpret_cast<const std::byte*>(floats), packed.data(), 0, 3);
  EXPECT_EQ(packed[0], std::byte{0x78});  // -8 and 7
  find_kernel(ElementType::f32, ElementType::u4)(reinterpret_cast<const std::byte*>(floats), packed.data(), 0, 3);
  EXPECT_EQ(packed[0], std::byte{0xF0});  // 0 and 15
}

TEST(Convert, GivesTheSameOnSeveralThreads) {
  constexpr std::int64_t kCount = 200'001;
  std::vector<std::int32_t> x(kCount);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i * 2654435761u);
  Bytes one((kCount + 1) / 2);
  Bytes many((kCount + 1) / 2);
  const auto* bytes = reinterpret_cast<const std::byte*>(x.data());
  run(find_kernel(ElementType::i32, ElementType::u4), kCount, bytes, one.data(), ThreadPool(1));
  run(find_kernel(ElementType::i32, ElementType::u4), kCount, bytes, many.data(), ThreadPool(4));
  EXPECT_EQ(one, many);
}

}  // namespace
}  // namespace binet::kernels::convert
