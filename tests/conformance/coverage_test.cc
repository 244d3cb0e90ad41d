// Every operator version × element type that `binet operators --json` promises has a conformance case that must
// succeed.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "conformance/conformance_case.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/tensor_file.h"

namespace binet::test {
namespace {

// Operator, since-version, short name of the element type.
using Claim = std::tuple<std::string, int, std::string>;

// These two hand tensors on and compute nothing, whatever the type.
const std::set<std::string> kCarriers = {"Constant", "Identity"};

// What OpenVINO models need around Multiply; the pack has no cases of it, src/runtime/openvino_*_test.cc have.
const std::set<std::string> kTestedBesideTheirSource = {"Add", "Convert", "MatMul"};
const std::set<std::string> kTypesTestedBesideTheirSource = {"i4", "u4"};

std::set<Claim> claims_of_the_program() {
  const TemporaryDirectory scratch;
  const Finished finished = run({BINET_PROGRAM, "operators", "--json"}, scratch.path());
  EXPECT_EQ(finished.exit_status, 0) << finished.err;
  std::set<Claim> claims;
  const auto table = nlohmann::json::parse(finished.out);
  for (const auto& row : table.at("operators")) {
    for (const std::string type : row.at("types")) claims.insert({row.at("name"), row.at("since_version"), type});
  }
  return claims;
}

std::set<Claim> claims_shown_by_cases() {
  std::set<Claim> shown;
  for (const ConformanceCase& tested : load_cases(BINET_CONFORMANCE_CASES)) {
    if (tested.expects_error || tested.may_refuse) continue;
    shown.insert({tested.op, tested.since_version, short_type_name(tested.dtype)});
  }
  return shown;
}

TEST(Coverage, EveryVersionAndTypeHasACase) {
  const std::set<Claim> shown = claims_shown_by_cases();
  std::set<std::string> operators;
  for (const Claim& claim : claims_of_the_program()) {
    const auto& [op, since_version, type] = claim;
    operators.insert(op);
    if (kCarriers.contains(op) || kTestedBesideTheirSource.contains(op)) continue;
    if (kTypesTestedBesideTheirSource.contains(type)) continue;
    EXPECT_TRUE(shown.contains(claim)) << op << '-' << since_version << " with " << type << " has no case";
  }
  EXPECT_TRUE(operators.contains("Mul"));
  EXPECT_TRUE(operators.contains("Gemm"));
}

// The other direction: a version or a type that went missing from the table must not go unnoticed.
TEST(Coverage, EveryCaseIsOfAPromisedVersionAndType) {
  const std::set<Claim> claims = claims_of_the_program();
  std::set<std::string> operators;
  for (const Claim& claim : claims) operators.insert(std::get<0>(claim));
  for (const Claim& claim : claims_shown_by_cases()) {
    const auto& [op, since_version, type] = claim;
    if (kCarriers.contains(op) || !operators.contains(op)) continue;
    EXPECT_TRUE(claims.contains(claim)) << op << '-' << since_version << " with " << type << " has cases";
  }
}

}  // namespace
}  // namespace binet::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
