// Element types, the 16-bit floats (every pattern), text for messages, checked arithmetic and targets.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/element_types.h"
#include "base/target.h"
#include "base/text.h"
#include "binet/error.h"

namespace binet {
namespace {

// ---- 16-bit floats

template <class T>
constexpr int kFractionBits = 0;
template <>
constexpr int kFractionBits<Float16> = 10;
template <>
constexpr int kFractionBits<BFloat16> = 7;

template <class T>
constexpr int kExponentBits = 15 - kFractionBits<T>;

/// What the bits mean, by the definition of IEEE 754.
template <class T>
double meaning(std::uint16_t bits) {
  const int fraction = bits & ((1 << kFractionBits<T>)-1);
  const int exponent = (bits & 0x7FFF) >> kFractionBits<T>;
  const int bias = (1 << (kExponentBits<T> - 1)) - 1;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << kExponentBits<T>)-1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - kFractionBits<T>);
  return sign * std::ldexp(fraction + (1 << kFractionBits<T>), exponent - bias - kFractionBits<T>);
}

template <class T>
class SixteenBitFloat : public ::testing::Test {};
using SixteenBitFloats = ::testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(SixteenBitFloat, SixteenBitFloats);

TYPED_TEST(SixteenBitFloat, WidensAndNarrowsEveryPatternExactly) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const TypeParam value{static_cast<std::uint16_t>(i)};
    const double expected = meaning<TypeParam>(value.bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(static_cast<float>(value))) << i;
      const TypeParam back = TypeParam::from_double(std::numeric_limits<double>::quiet_NaN());
      ASSERT_TRUE(std::isnan(static_cast<double>(back)));
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), expected) << i;
    ASSERT_EQ(std::signbit(static_cast<float>(value)), i >= 0x8000) << i;
    ASSERT_EQ(TypeParam::from_double(expected), value) << i;
    ASSERT_EQ(TypeParam::from_float(static_cast<float>(expected)), value) << i;
  }
}

TYPED_TEST(SixteenBitFloat, RoundsToNearestAndTiesToEven) {
  const std::uint16_t infinity = ((1 << kExponentBits<TypeParam>)-1) << kFractionBits<TypeParam>;
  for (std::uint16_t below = 0; below < infinity; ++below) {
    const auto above = static_cast<std::uint16_t>(below + 1);
    const double low = meaning<TypeParam>(below);
    // Above the largest number, rounding sees the next power of two.
    const double high =
        above == infinity
            ? 2 * meaning<TypeParam>(static_cast<std::uint16_t>(infinity - (1 << kFractionBits<TypeParam>)))
            : meaning<TypeParam>(above);
    const double middle = low + (high - low) / 2;
    const std::uint16_t even = below % 2 == 0 ? below : above;
    for (const std::uint16_t sign : {0, 0x8000}) {
      const double s = sign != 0 ? -1 : 1;
      ASSERT_EQ(TypeParam::from_double(s * middle).bits, sign | even) << below;
      ASSERT_EQ(TypeParam::from_double(s * std::nextafter(middle, 0)).bits, sign | below) << below;
      ASSERT_EQ(TypeParam::from_double(s * std::nextafter(middle, high)).bits, sign | above) << below;
    }
  }
}

TYPED_TEST(SixteenBitFloat, HandlesTheEndsOfDouble) {
  using Limits = std::numeric_limits<double>;
  EXPECT_EQ(TypeParam::from_double(Limits::denorm_min()).bits, 0);
  EXPECT_EQ(TypeParam::from_double(-Limits::min()).bits, 0x8000);
  EXPECT_EQ(static_cast<double>(TypeParam::from_double(Limits::max())), Limits::infinity());
  EXPECT_EQ(static_cast<double>(TypeParam::from_double(-Limits::infinity())), -Limits::infinity());
  // A NaN whose payload lies in the discarded bits must not become infinity.
  const auto low_payload = std::bit_cast<double>(std::uint64_t{0x7FF0000000000001});
  EXPECT_TRUE(std::isnan(static_cast<double>(TypeParam::from_double(low_payload))));
}

// ---- element types

ElementType type_at(std::size_t i) { return static_cast<ElementType>(i); }

TEST(ElementTypes, HaveUniqueNamesAndNumbersThatLeadBack) {
  std::set<std::string_view> names;
  std::set<std::int32_t> numbers;
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    const ElementType type = type_at(i);
    EXPECT_TRUE(names.insert(to_string(type)).second) << to_string(type);
    EXPECT_EQ(element_type_from_name(to_string(type)), type);
    if (onnx_number(type) == 0) continue;
    EXPECT_TRUE(numbers.insert(onnx_number(type)).second) << to_string(type);
    EXPECT_EQ(element_type_from_onnx(onnx_number(type)), type);
  }
}

TEST(ElementTypes, FollowOnnxNumbering) {
  struct Case {
    std::int64_t number;
    ElementType type;
  };
  constexpr Case kCases[] = {{1, ElementType::f32},  {2, ElementType::u8},     {3, ElementType::i8},
                             {4, ElementType::u16},  {5, ElementType::i16},    {6, ElementType::i32},
                             {7, ElementType::i64},  {8, ElementType::string}, {9, ElementType::boolean},
                             {10, ElementType::f16}, {11, ElementType::f64},   {12, ElementType::u32},
                             {13, ElementType::u64}, {16, ElementType::bf16},  {22, ElementType::i4}};
  for (const Case& c : kCases) EXPECT_EQ(element_type_from_onnx(c.number), c.type) << c.number;
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1000}, INT64_MAX}) {
    EXPECT_EQ(element_type_from_onnx(number), std::nullopt) << number;
  }
  EXPECT_EQ(element_type_from_name("F32"), std::nullopt);
  EXPECT_EQ(element_type_from_name(""), std::nullopt);
}

TEST(ElementTypes, HaveSizes) {
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    const ElementType type = type_at(i);
    EXPECT_EQ(byte_size(type), bit_size(type) % 8 == 0 ? bit_size(type) / 8 : 0) << to_string(type);
    if (!is_numeric(type)) continue;
    visit_numeric_type(type, [type]<class T>() {
      EXPECT_EQ(byte_size(type), sizeof(T)) << to_string(type);
      EXPECT_EQ(element_type_of<T>, type);
      EXPECT_EQ(is_integer(type), std::is_integral_v<T>);
      EXPECT_EQ(is_float(type), !std::is_integral_v<T>);
    });
  }
  EXPECT_EQ(byte_size(ElementType::i4), 0u);
  EXPECT_EQ(bit_size(ElementType::i4), 4u);
  EXPECT_EQ(bit_size(ElementType::string), 0u);
}

TEST(TypeSet, HoldsWhatTheStandardsAddTogether) {
  EXPECT_EQ(kFloatTypes.names(), "f16 f32 f64");
  EXPECT_EQ(kWideIntegerTypes.names(), "i32 i64 u32 u64");
  EXPECT_EQ(kNumericTypes.names(), "f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64");
  EXPECT_EQ(TypeSet{}.names(), "");
  for (std::size_t i = 0; i < kElementTypeCount; ++i) {
    EXPECT_EQ(kNumericTypes.contains(type_at(i)), is_numeric(type_at(i))) << to_string(type_at(i));
  }
}

// ---- text

TEST(Text, QuotesWhateverAFileHolds) {
  struct Case {
    std::string text;
    std::string quoted;
  };
  const Case cases[] = {{"", "''"},
                        {"relu", "'relu'"},
                        {"it's", "'it\\'s'"},
                        {"a\\b", "'a\\\\b'"},
                        {std::string("a\0\n\x7F", 4), "'a\\x00\\x0a\\x7f'"},
                        {std::string(80, 'x'), "'" + std::string(80, 'x') + "'"},
                        {std::string(81, 'x'), "'" + std::string(80, 'x') + "...'"}};
  for (const Case& c : cases) EXPECT_EQ(quote(c.text), c.quoted);
}

TEST(Text, ParsesUnsignedNumbersAndNothingElse) {
  EXPECT_EQ(parse_unsigned("0"), 0u);
  EXPECT_EQ(parse_unsigned("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "18446744073709551616"}) {
    EXPECT_EQ(parse_unsigned(text), std::nullopt) << text;
  }
}

TEST(Text, WritesTheFewestDigitsOfAFloat) {
  const struct {
    float value;
    std::string_view text;
  } cases[] = {{0, "0"},
               {-0.0f, "-0"},
               {1, "1"},
               {-2.5f, "-2.5"},
               {0.1f, "0.1"},
               {1e-4f, "0.0001"},
               {2e-4f, "0.0002"},
               {1e-5f, "1e-05"},
               {1e7f, "1e+07"},
               {9999999, "9999999"},
               {1e30f, "1e+30"},
               {FLT_MAX, "3.4028235e+38"},
               {FLT_MIN, "1.1754944e-38"},
               {1e-45f, "1e-45"},
               {INFINITY, "inf"},
               {-INFINITY, "-inf"},
               {NAN, "nan"}};
  for (const auto& c : cases) EXPECT_EQ(shortest_decimal(c.value), c.text);
}

TEST(Text, JoinsTextsOfAnyKind) {
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(join(std::vector<std::string_view>{"one"}, ", "), "one");
  EXPECT_EQ(join(std::vector<std::string>{"", "2", ""}, ", "), ", 2, ");
}

TEST(Text, FindsTheNearestName) {
  const std::vector<std::string> names = {"avx2", "avx512", "sse4", "portable"};
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("AbC", "aBc"), 0u);
  EXPECT_EQ(nearest_name("axv2", names), "avx2");
  EXPECT_EQ(nearest_name("portabel", names), "portable");
  EXPECT_EQ(nearest_name("neon", names), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(1000, 'a'), names), std::nullopt);
}

// ---- checked arithmetic

TEST(Checked, GivesNothingOnOverflow) {
  EXPECT_EQ(checked_multiply<std::int64_t>(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(checked_multiply<std::int64_t>(INT64_MAX / 2 + 1, 2), std::nullopt);
  EXPECT_EQ(checked_multiply<std::int64_t>(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(checked_multiply<std::uint64_t>(UINT64_MAX, 0), 0u);
  EXPECT_EQ(checked_add<std::int64_t>(INT64_MAX - 1, 1), INT64_MAX);
  EXPECT_EQ(checked_add<std::int64_t>(INT64_MAX, 1), std::nullopt);
  EXPECT_EQ(checked_add<std::uint64_t>(UINT64_MAX, 1), std::nullopt);
}

// ---- targets

TEST(Targets, AreOrderedBestFirstAndEndWithPortable) {
  const auto supported = supported_targets();
  ASSERT_FALSE(supported.empty());
  EXPECT_EQ(supported.back().name, "portable");
  const auto compiled = compiled_targets();
  auto next = compiled.begin();
  for (const Target& target : supported) {
    next = std::find(next, compiled.end(), target);
    ASSERT_NE(next, compiled.end()) << target.name << " is not compiled, or out of order";
    EXPECT_FALSE(target.needs.empty()) << target.name;
  }
}

TEST(Targets, TheDefaultIsOneOfThem) {
  const auto supported = supported_targets();
  const auto place = std::find(supported.begin(), supported.end(), default_target());
  ASSERT_NE(place, supported.end());
  // Nothing but avx512dl is ever passed over.
  const bool is_forced = std::getenv("BINET_TARGET") != nullptr;
  for (auto better = supported.begin(); !is_forced && better != place; ++better) EXPECT_EQ(better->name, "avx512dl");
}

TEST(Targets, ConvertF16ByOneThatTheCpuHas) {
  const auto supported = supported_targets();
  for (const Target& target : supported) {
    const Target& chosen = target_for_f16_conversions(target);
    EXPECT_NE(std::find(supported.begin(), supported.end(), chosen), supported.end()) << target.name;
    EXPECT_GE(chosen.highway, target.highway) << target.name << " must not become a better one";
  }
}

TEST(Targets, FeaturesOfBetterOnesAreNotThoseOfTheOthers) {
  for (const Target& target : supported_targets()) {
    if (target.name.starts_with("avx512") || target.name == "amx") continue;
    EXPECT_FALSE(has_byte_permutes(target) || has_f16_arithmetic(target) || has_fast_pair_dots(target)) << target.name;
  }
}

TEST(Targets, AreFoundByName) {
  for (const Target& target : supported_targets()) EXPECT_EQ(target_from_name(target.name), target);
  try {
    (void)target_from_name("avx9000");
    FAIL() << "an unknown name was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("'avx9000'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("portable"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace binet
