// One folder of cases/: what its case.json says. README.md in this folder explains the keys.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace binet::test {

struct ConformanceCase {
  std::filesystem::path folder;
  std::string name;   ///< the folder's name, "group_what"
  std::string group;  ///< such as "mul-types"
  std::string shows;
  std::string op;
  int since_version = 0;  ///< 0 where no version applies
  std::string dtype;      ///< NumPy's name of the element type
  bool openvino = false;  ///< model.xml and .npy files, not model.onnx and .pb files
  bool expects_error = false;
  bool may_refuse = false;
  std::string error_about;
  bool bf16_as_u16 = false;                            ///< u16 in an .npy file means bf16
  std::vector<std::optional<std::string>> tolerances;  ///< per output, the file; empty: all outputs bit for bit
  std::map<std::string, std::string> links;            ///< symbolic links to create in a copy: name to target
};

/// Throws std::exception if the folder's case.json lacks a key or contradicts the folder's name.
[[nodiscard]] ConformanceCase load_case(const std::filesystem::path& folder);

/// Every folder below `root` that has a case.json, sorted by name.
[[nodiscard]] std::vector<ConformanceCase> load_cases(const std::filesystem::path& root);

/// `name` with every character but letters and digits replaced by '_', as GoogleTest wants its names.
[[nodiscard]] std::string test_name(std::string name);

}  // namespace binet::test
