// Runs `binet test` on ONNX's own backend tests: every folder of Debian's libonnx-testdata whose model consists of
// operators that Binet has, and in any case those that cases/official_cases.txt names.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "conformance/conformance_case.h"
#include "support/child_process.h"
#include "support/protobuf.h"
#include "support/temporary_directory.h"
#include "support/tensor_file.h"

namespace binet::test {
namespace {

namespace fs = std::filesystem;

const std::set<std::string_view> kOperators = {"Mul", "Gemm", "Constant", "Identity"};

// Folders with these operators only that are not run, and what their values are instead of tensors.
const std::map<std::string, std::string> kNotTensors = {
    {"node/test_identity_sequence", "a sequence"},
    {"node/test_identity_opt", "an optional"},
};

struct Model {
  bool has_only_known_operators = true;
  bool has_only_tensors = true;
};

bool is_known_operator(std::string_view node) {
  constexpr std::uint32_t kOpType = 4, kDomain = 7;
  bool known = false;
  for (const Field& field : fields_of(node)) {
    if (field.number == kOpType) known = kOperators.contains(field.bytes);
    if (field.number == kDomain && !field.bytes.empty() && field.bytes != "ai.onnx") return false;
  }
  return known;
}

bool is_tensor(std::string_view value_info) {
  constexpr std::uint32_t kType = 2, kTensorType = 1;
  for (const Field& field : fields_of(value_info)) {
    if (field.number != kType) continue;
    for (const Field& type : fields_of(field.bytes)) {
      if (type.number <= 9 && type.number != kTensorType) return false;
    }
  }
  return true;
}

Model scan(const std::string& file) {
  constexpr std::uint32_t kGraph = 7, kNode = 1, kInput = 11, kOutput = 12;
  Model model;
  for (const Field& graph : fields_of(file)) {
    if (graph.number != kGraph) continue;
    for (const Field& field : fields_of(graph.bytes)) {
      if (field.number == kNode) model.has_only_known_operators &= is_known_operator(field.bytes);
      if (field.number == kInput || field.number == kOutput) model.has_only_tensors &= is_tensor(field.bytes);
    }
  }
  return model;
}

// Folders are named as in official_cases.txt: relative to the package's data folder.
std::map<std::string, Model> models_of_known_operators(const fs::path& root) {
  std::map<std::string, Model> found;
  if (!fs::is_directory(root)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "model.onnx") continue;
    const Model model = scan(read_file(entry.path()));
    if (model.has_only_known_operators) found[fs::relative(entry.path().parent_path(), root)] = model;
  }
  return found;
}

class OfficialTest : public testing::Test {
 public:
  explicit OfficialTest(std::string folder) : folder_(std::move(folder)) {}

  void TestBody() override {
    const TemporaryDirectory scratch;
    const Finished finished = run({BINET_PROGRAM, "test", fs::path(BINET_ONNX_TESTDATA) / folder_}, scratch.path());
    SCOPED_TRACE(finished.out + finished.err);
    EXPECT_FALSE(finished.timed_out);
    EXPECT_EQ(finished.exit_status, 0);
    const std::string name = fs::path(folder_).filename();
    const auto lines = lines_of(finished.out);
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(name) != std::string::npos && line.find("passed") != std::string::npos;
    })) << "no row says that it passed";
  }

 private:
  std::string folder_;
};

// What is run and what is not is exactly what is known: a case lost on the way, or a new one, is a failure.
class SelectionTest : public testing::Test {
 public:
  explicit SelectionTest(std::map<std::string, Model> found) : found_(std::move(found)) {}

  void TestBody() override {
    ASSERT_TRUE(fs::is_directory(BINET_ONNX_TESTDATA))
        << "install the package libonnx-testdata, or set BINET_ONNX_TESTDATA when configuring";
    std::ifstream list(fs::path(BINET_CONFORMANCE_CASES) / "official_cases.txt");
    ASSERT_TRUE(list);
    for (std::string name; std::getline(list, name);) {
      EXPECT_TRUE(found_.contains(name)) << name << " was not found";
      EXPECT_FALSE(kNotTensors.contains(name)) << name;
    }
    for (const auto& [name, model] : found_) {
      EXPECT_NE(model.has_only_tensors, kNotTensors.contains(name)) << name << " is wrongly run or left out";
    }
  }

 private:
  std::map<std::string, Model> found_;
};

void register_tests() {
  const auto found = models_of_known_operators(BINET_ONNX_TESTDATA);
  testing::RegisterTest("official", "selection", nullptr, nullptr, __FILE__, __LINE__,
                        [=]() -> testing::Test* { return new SelectionTest(found); });
  for (const auto& [folder, model] : found) {
    if (kNotTensors.contains(folder)) continue;
    testing::RegisterTest("official", test_name(folder).c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [name = folder]() -> testing::Test* { return new OfficialTest(name); });
  }
}

}  // namespace
}  // namespace binet::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  binet::test::register_tests();
  return RUN_ALL_TESTS();
}
