#include "graph/parse_setting.h"

#include <gtest/gtest.h>

namespace binet {
namespace {

TEST(ParseSetting, ReadsWhatTheRuleSays) {
  using Integers = std::vector<std::int64_t>;
  using Reals = std::vector<float>;
  struct Case {
    AttributeKind kind;
    const char* text;
    std::optional<AttributeSetting> value;  ///< nothing: refused
  };
  const Case cases[] = {
      {AttributeKind::integer, "-3", std::int64_t{-3}},
      {AttributeKind::integer, " 7 ", std::int64_t{7}},
      {AttributeKind::integer, "", std::nullopt},
      {AttributeKind::integer, "7.5", std::nullopt},
      {AttributeKind::integer, "9223372036854775808", std::nullopt},
      {AttributeKind::real, "0.5", 0.5f},
      {AttributeKind::real, "half", std::nullopt},
      {AttributeKind::text, " as it is ", std::string(" as it is ")},
      {AttributeKind::integers, "1, -2,3", Integers{1, -2, 3}},
      {AttributeKind::integers, "", Integers{}},
      {AttributeKind::integers, "1,,2", std::nullopt},
      {AttributeKind::reals, "1,2.5", Reals{1, 2.5f}},
      {AttributeKind::boolean, "true", std::int64_t{1}},
      {AttributeKind::boolean, "0", std::int64_t{0}},
      {AttributeKind::boolean, "yes", std::nullopt},
      {AttributeKind::boolean, "2", std::nullopt},
      {AttributeKind::tensor, "1", std::nullopt},
  };
  for (const Case& c : cases) {
    const auto value = parse_setting(c.kind, c.text);
    ASSERT_EQ(value.has_value(), c.value.has_value()) << to_string(c.kind) << " " << c.text;
    if (!value) continue;
    ASSERT_EQ(value->index(), c.value->index()) << to_string(c.kind) << " " << c.text;
    if (const auto* integer = std::get_if<std::int64_t>(&*value)) {
      EXPECT_EQ(*integer, std::get<std::int64_t>(*c.value));
    }
    if (const auto* integers = std::get_if<Integers>(&*value)) {
      EXPECT_EQ(*integers, std::get<Integers>(*c.value));
    }
    if (const auto* reals = std::get_if<Reals>(&*value)) {
      EXPECT_EQ(*reals, std::get<Reals>(*c.value));
    }
    if (const auto* text = std::get_if<std::string>(&*value)) {
      EXPECT_EQ(*text, std::get<std::string>(*c.value));
    }
  }
}

}  // namespace
}  // namespace binet
