#include "conformance/conformance_case.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "support/tensor_file.h"

namespace binet::test {

using nlohmann::json;

ConformanceCase load_case(const std::filesystem::path& folder) try {
  const json meta = json::parse(read_file(folder / "case.json"));
  ConformanceCase result;
  result.folder = folder;
  result.name = meta.at("name");
  result.group = meta.at("group");
  result.shows = meta.at("shows");
  result.op = meta.at("op");
  result.since_version = meta.at("since_version").is_null() ? 0 : meta.at("since_version").get<int>();
  result.dtype = meta.at("dtype");
  result.openvino = meta.at("format") == "openvino";
  result.expects_error = meta.at("expect") == "error";
  result.may_refuse = meta.value("may_refuse", false);
  result.error_about = meta.value("error_about", "");
  result.bf16_as_u16 = meta.value("storage", "").starts_with("bfloat16");
  result.links = meta.value("links", result.links);
  if (!result.expects_error && meta.at("compare") != "bitwise") {
    for (const json& file : meta.at("compare").at("gemm").at("tol")) {
      result.tolerances.push_back(file.is_null() ? std::nullopt : std::optional(file.get<std::string>()));
    }
  }
  if (result.name != folder.filename() || !result.name.starts_with(result.group + "_")) {
    throw std::runtime_error("name and group do not fit the folder");
  }
  return result;
} catch (const std::exception& error) {
  throw std::runtime_error((folder / "case.json").string() + ": " + error.what());
}

std::vector<ConformanceCase> load_cases(const std::filesystem::path& root) {
  std::vector<ConformanceCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.is_directory()) cases.push_back(load_case(entry.path()));
  }
  std::sort(cases.begin(), cases.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return cases;
}

std::string test_name(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace binet::test
