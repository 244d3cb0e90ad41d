#include <gtest/gtest.h>

#include "binet/error.h"
#include "operators/broadcast_rules.h"
#include "operators/matrix_rules.h"
#include "operators/registry.h"

namespace binet {
namespace {

constexpr Extent kOpen = kUnknownExtent;
constexpr Extent kN = extent_of_symbol(0);
constexpr Extent kM = extent_of_symbol(1);

using Dims = std::vector<Extent>;

TEST(BroadcastRules, Multidirectional) {
  struct Case {
    PartialShape a, b, result;
  };
  const std::vector<Case> cases = {
      {Dims{2, 3, 4, 5}, Dims{}, Dims{2, 3, 4, 5}},
      {Dims{2, 3, 4, 5}, Dims{5}, Dims{2, 3, 4, 5}},
      {Dims{4, 5}, Dims{2, 3, 4, 5}, Dims{2, 3, 4, 5}},
      {Dims{1, 4, 5}, Dims{2, 3, 1, 1}, Dims{2, 3, 4, 5}},
      {Dims{0}, Dims{1}, Dims{0}},
      {Dims{3, 1}, Dims{0}, Dims{3, 0}},
      {Dims{kN, 3}, Dims{kN, 1}, Dims{kN, 3}},
      {Dims{kN}, Dims{4}, Dims{4}},
      {Dims{kN}, Dims{1}, Dims{kN}},
      {Dims{kN}, Dims{kM}, Dims{kOpen}},
      {std::nullopt, Dims{3}, std::nullopt},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(broadcast_multidirectional(c.a, c.b), c.result) << to_string(c.a) << " " << to_string(c.b);
    EXPECT_EQ(broadcast_multidirectional(c.b, c.a), c.result) << to_string(c.b) << " " << to_string(c.a);
  }
  EXPECT_THROW(static_cast<void>(broadcast_multidirectional(Dims{2}, Dims{3})), Error);
  EXPECT_THROW(static_cast<void>(broadcast_multidirectional(Dims{0}, Dims{2})), Error);
}

TEST(BroadcastRules, Unidirectional) {
  const PartialShape target = Dims{3, 4};
  for (const Dims& shape : std::vector<Dims>{{}, {1}, {4}, {1, 1}, {3, 1}, {1, 4}, {3, 4}, {kN, 4}, {kOpen}}) {
    EXPECT_NO_THROW(check_unidirectional("C", shape, target)) << to_string(PartialShape(shape));
  }
  for (const Dims& shape : std::vector<Dims>{{3}, {2, 4}, {0}, {1, 3, 4}, {1, 1, 1}, {4, 3}}) {
    EXPECT_THROW(check_unidirectional("C", shape, target), Error) << to_string(PartialShape(shape));
  }
}

TEST(BroadcastRules, Limited) {
  struct Case {
    Dims a, b;
    bool broadcast;
    std::optional<std::int64_t> axis;
    std::optional<std::size_t> place;  ///< nothing: refused
  };
  const std::vector<Case> cases = {
      {{2, 3}, {2, 3}, false, {}, 0},       {{2, 3}, {3}, false, {}, {}},        {{2, 3, 4, 5}, {}, true, {}, 0},
      {{2, 3, 4, 5}, {5}, true, {}, 3},     {{2, 3, 4, 5}, {4, 5}, true, {}, 2}, {{2, 3, 4, 5}, {3, 4}, true, 1, 1},
      {{2, 3, 4, 5}, {2}, true, 0, 0},      {{2, 3, 4, 5}, {1, 1}, true, {}, 0}, {{2, 3, 4, 5}, {3, 4}, true, {}, {}},
      {{2, 3, 4, 5}, {1, 5}, true, {}, {}}, {{2, 3, 4, 5}, {4, 5}, true, 3, {}}, {{2, 3}, {3}, true, -1, {}},
      {{2, 3}, {3}, true, 2, {}},           {{5}, {3, 5}, true, {}, {}},         {{kN, 3}, {kN}, true, 0, 0},
      {{kN, 3}, {kM, 3}, false, {}, 0},
  };
  for (const Case& c : cases) {
    const auto apply = [&] { return check_limited(c.a, c.b, c.broadcast, c.axis); };
    const std::string what = to_string(PartialShape(c.a)) + " " + to_string(PartialShape(c.b));
    if (c.place)
      EXPECT_EQ(apply(), *c.place) << what;
    else
      EXPECT_THROW(apply(), Error) << what;
  }
}

TEST(MatrixRules, ExtentsOfAProduct) {
  const MatrixExtents plain = matrix_product(Dims{2, 3}, false, Dims{3, 4}, false);
  EXPECT_EQ(plain.m, 2);
  EXPECT_EQ(plain.n, 4);
  EXPECT_EQ(plain.k, 3);
  const MatrixExtents transposed = matrix_product(Dims{3, 2}, true, Dims{4, 3}, true);
  EXPECT_EQ(transposed.m, 2);
  EXPECT_EQ(transposed.n, 4);
  EXPECT_EQ(transposed.k, 3);
  const MatrixExtents open = matrix_product(Dims{kN, kOpen}, false, std::nullopt, false);
  EXPECT_EQ(open.m, kN);
  EXPECT_EQ(open.n, kOpen);
  EXPECT_THROW(static_cast<void>(matrix_product(Dims{2, 3}, false, Dims{4, 5}, false)), Error);
  EXPECT_THROW(static_cast<void>(matrix_product(Dims{2}, false, Dims{2, 5}, false)), Error);
  EXPECT_THROW(static_cast<void>(matrix_product(Dims{2, 1, 2}, false, Dims{2, 5}, false)), Error);
}

/// The rows that the standards publish; a new version is one line here too.
TEST(Registry, HoldsTheRowsOfTheStandards) {
  struct Row {
    std::string_view name;
    int since;
    std::string_view types;
    std::string_view attributes;
    std::size_t min_inputs, max_inputs;
  };
  const std::vector<Row> rows = {
      {"Mul", 1, "f16 f32 f64", "axis broadcast consumed_inputs", 2, 2},
      {"Mul", 6, "f16 f32 f64 i32 i64 u32 u64", "axis broadcast", 2, 2},
      {"Mul", 7, "f16 f32 f64 i32 i64 u32 u64", "", 2, 2},
      {"Mul", 13, "f16 bf16 f32 f64 i32 i64 u32 u64", "", 2, 2},
      {"Mul", 14, "f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64", "", 2, 2},
      {"Gemm", 1, "f16 f32 f64", "alpha beta broadcast transA transB", 3, 3},
      {"Gemm", 6, "f16 f32 f64", "alpha beta broadcast transA transB", 3, 3},
      {"Gemm", 7, "f16 f32 f64", "alpha beta transA transB", 3, 3},
      {"Gemm", 9, "f16 f32 f64 i32 i64 u32 u64", "alpha beta transA transB", 3, 3},
      {"Gemm", 11, "f16 f32 f64 i32 i64 u32 u64", "alpha beta transA transB", 2, 3},
      {"Gemm", 13, "f16 bf16 f32 f64 i32 i64 u32 u64", "alpha beta transA transB", 2, 3},
  };
  std::size_t found = 0;
  for (const std::string_view name : {"Mul", "Gemm"}) found += find_operator("ai.onnx", name).size();
  EXPECT_EQ(found, rows.size());
  for (const Row& row : rows) {
    const OperatorVersion* version = select_version(find_operator("ai.onnx", row.name), row.since);
    ASSERT_NE(version, nullptr);
    EXPECT_EQ(version->since_version, row.since) << row.name;
    EXPECT_EQ(version->types.names(), row.types) << versioned_name(*version);
    std::string attributes;
    for (const AttributeRule& rule : version->attributes) {
      attributes += (attributes.empty() ? "" : " ") + std::string(rule.name);
    }
    EXPECT_EQ(attributes, row.attributes) << versioned_name(*version);
    EXPECT_EQ(static_cast<std::size_t>(version->min_inputs), row.min_inputs) << versioned_name(*version);
    EXPECT_EQ(version->input_names.size(), row.max_inputs) << versioned_name(*version);
  }
}

TEST(Registry, RowsAreInOrderAndComplete) {
  for (const std::span<const OperatorVersion> versions : all_operators()) {
    int before = 0;
    for (const OperatorVersion& version : versions) {
      EXPECT_GT(version.since_version, before) << versioned_name(version);
      before = version.since_version;
      EXPECT_LE(version.since_version, kNewestOnnxOpset);
      EXPECT_NE(version.infer, nullptr) << versioned_name(version);
      EXPECT_NE(version.lower == nullptr, version.constant == nullptr) << versioned_name(version);
      EXPECT_FALSE(version.shape_rule.empty());
      EXPECT_FALSE(version.changed.empty());
    }
  }
  EXPECT_EQ(select_version(find_operator("ai.onnx", "Mul"), 0), nullptr);
}

}  // namespace
}  // namespace binet
