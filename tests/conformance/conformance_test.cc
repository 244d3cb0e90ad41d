// Runs the `binet` program on every case of cases/ and applies the rules of README.md in this folder.
//
// The test of case "mul-types_v1-opset1-float16" is mul_types.v1_opset1_float16: CTest runs one suite, a group, at a
// time. Files are read and compared by the tests' own code in tests/support, never by the library's.

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "conformance/conformance_case.h"
#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/tensor_file.h"

namespace binet::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxErrorLines = 5;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// The case's folder, or a copy of it with the symbolic links that the case asks for.
fs::path prepared_folder(const ConformanceCase& tested, const fs::path& scratch) {
  if (tested.links.empty()) return tested.folder;
  fs::path copy = scratch / tested.name;
  fs::copy(tested.folder, copy, fs::copy_options::recursive);
  for (const auto& [name, target] : tested.links) fs::create_symlink(target, copy / name);
  return copy;
}

void expect_refusal(const ConformanceCase& tested, const Finished& finished, const fs::path& outputs) {
  ASSERT_NE(finished.exit_status, 0) << "accepted, should be refused: " << tested.error_about;
  EXPECT_EQ(finished.exit_status, 1) << finished.err;
  const std::vector<std::string> lines = lines_of(finished.err);
  ASSERT_FALSE(lines.empty()) << "refused without a message on stderr";
  EXPECT_LE(lines.size(), kMaxErrorLines) << finished.err;
  EXPECT_TRUE(lines[0].starts_with("binet: ")) << "the message starts otherwise: " << lines[0];
  EXPECT_EQ(names_in(outputs), std::vector<std::string>()) << "refused, but left files behind";
}

TensorFile read_tensor(const ConformanceCase& tested, const fs::path& path) {
  const std::string file = read_file(path);
  if (!tested.openvino) return parse_tensor_proto(file);
  TensorFile tensor = parse_npy(file);
  if (tested.bf16_as_u16 && tensor.type == "u16") tensor.type = "bf16";
  return tensor;
}

std::string compare_output(const ConformanceCase& tested, const fs::path& want, const fs::path& got,
                           std::size_t index) {
  const fs::path folder = want.parent_path();
  if (index >= tested.tolerances.size() || !tested.tolerances[index]) {
    return difference(read_tensor(tested, want), read_tensor(tested, got));
  }
  const TensorFile tolerance = parse_npy(read_file(folder / *tested.tolerances[index]));
  return difference(read_tensor(tested, want), read_tensor(tested, got), &tolerance);
}

void expect_outputs(const ConformanceCase& tested, const fs::path& data_set, const fs::path& outputs) {
  const std::string extension = tested.openvino ? ".npy" : ".pb";
  std::vector<std::string> expected;
  for (std::size_t i = 0;; ++i) {
    const std::string name = "output_" + std::to_string(i) + extension;
    if (!fs::is_regular_file(data_set / name)) break;
    expected.push_back(name);
  }
  ASSERT_FALSE(expected.empty()) << "the case has no expected output";
  ASSERT_TRUE(tested.tolerances.empty() || tested.tolerances.size() == expected.size());
  std::vector<std::string> sorted = expected;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(names_in(outputs), sorted) << "other files were written than the model has outputs";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    try {
      const std::string why = compare_output(tested, data_set / expected[i], outputs / expected[i], i);
      EXPECT_TRUE(why.empty()) << expected[i] << ": " << why;
    } catch (const std::exception& error) {
      ADD_FAILURE() << expected[i] << " cannot be read: " << error.what();
    }
  }
}

class CaseTest : public testing::Test {
 public:
  explicit CaseTest(ConformanceCase tested) : tested_(std::move(tested)) {}

  void TestBody() override {
    const TemporaryDirectory scratch;
    const fs::path folder = prepared_folder(tested_, scratch.path());
    const fs::path data_set = folder / "test_data_set_0";
    const fs::path outputs = scratch.path() / "out";
    fs::create_directory(outputs);
    const fs::path model = folder / (tested_.openvino ? "model.xml" : "model.onnx");
    SCOPED_TRACE(tested_.folder.string() + ": " + tested_.shows);

    const Finished finished =
        run({BINET_PROGRAM, "run", model, "--inputs", data_set, "--outputs", outputs}, scratch.path());
    ASSERT_FALSE(finished.timed_out) << "not done in time; stderr: " << finished.err;
    ASSERT_EQ(finished.signal, 0) << "ended by a signal; stderr: " << finished.err;
    if (tested_.expects_error || (tested_.may_refuse && finished.exit_status != 0)) {
      expect_refusal(tested_, finished, outputs);
    } else {
      ASSERT_EQ(finished.exit_status, 0) << finished.err;
      expect_outputs(tested_, data_set, outputs);
    }
  }

 private:
  ConformanceCase tested_;
};

// pack.json counts the cases of each group, so that none gets lost.
class CompletenessTest : public testing::Test {
 public:
  explicit CompletenessTest(std::map<std::string, int> found) : found_(std::move(found)) {}

  void TestBody() override {
    const auto pack = nlohmann::json::parse(read_file(fs::path(BINET_CONFORMANCE_CASES) / "pack.json"));
    const std::map<std::string, int> wanted = pack.at("groups");
    EXPECT_EQ(found_, wanted);
  }

 private:
  std::map<std::string, int> found_;
};

void register_tests() {
  std::map<std::string, int> groups;
  for (const ConformanceCase& tested : load_cases(BINET_CONFORMANCE_CASES)) {
    ++groups[tested.group];
    const std::string suite = test_name(tested.group);
    const std::string name = test_name(tested.name.substr(tested.group.size() + 1));
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [=]() -> testing::Test* { return new CaseTest(tested); });
  }
  testing::RegisterTest("cases", "are_complete", nullptr, nullptr, __FILE__, __LINE__,
                        [=]() -> testing::Test* { return new CompletenessTest(groups); });
}

}  // namespace
}  // namespace binet::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  binet::test::register_tests();
  return RUN_ALL_TESTS();
}
