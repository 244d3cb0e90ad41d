// binet test: folders in the layout of the ONNX backend tests. Each data set is run and compared with its expected
// outputs.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "binet/error.h"
#include "tool/commands.h"
#include "tool/compare.h"
#include "tool/data_set.h"
#include "tool/validators.h"

namespace binet::tool {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> folders;
  Tolerance tolerance;
  int threads = 0;
};

std::optional<fs::path> model_in(const fs::path& folder) {
  for (const char* name : {"model.onnx", "model.xml"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return std::nullopt;
}

/// `folder` if it is a case itself, else the cases below it, sorted.
std::vector<fs::path> find_cases(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw Error(ErrorCode::io, fmt::format("{}: not a folder", folder.string()));
  if (model_in(folder)) return {folder};
  std::vector<fs::path> cases;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_directory() && model_in(entry.path())) cases.push_back(entry.path());
  }
  if (cases.empty())
    throw Error(ErrorCode::io, fmt::format("{}: no model.onnx or model.xml in or below it", folder.string()));
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::vector<fs::path> find_data_sets(const fs::path& folder) {
  std::vector<fs::path> sets;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_"))
      sets.push_back(entry.path());
  }
  std::sort(sets.begin(), sets.end());
  return sets;
}

void run_data_set(const Model& model, const Session& session, const fs::path& set, const Options& options) {
  const NamedTensors outputs = session.run(read_inputs(model, set));
  const std::vector<ValueDescription> described = model.outputs();
  for (std::size_t i = 0; i < described.size(); ++i) {
    const auto refuse = [&](const std::string& problem) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: output {} '{}': {}", set.filename().string(), i, described[i].name, problem));
    };
    const auto path = numbered_file(set, "output", i);
    if (!path) refuse("no expected values");
    const Tensor want = read_for(*path, described[i]).value;
    Tolerance tolerance = options.tolerance;
    Tensor each;
    if (const fs::path bound = set / fmt::format("tol_{}.npy", i); fs::exists(bound)) {
      each = read_tensor_file(bound).value;
      if (each.type() != ElementType::f64 || each.shape() != want.shape())
        refuse("the tolerances do not fit the values");
      tolerance.each = &each;
    }
    if (const auto problem = difference(want, outputs[i], tolerance)) refuse(*problem);
  }
  if (numbered_file(set, "output", described.size())) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: there are expected values for more outputs than the model has", set.filename().string()));
  }
}

/// Runs one case; returns the number of its data sets. Throws Error that says what differs.
std::size_t run_case(const fs::path& folder, const Options& options) {
  const Model model = load_model(*model_in(folder));
  const Session session(model, {.threads = options.threads});
  const std::vector<fs::path> sets = find_data_sets(folder);
  if (sets.empty()) throw Error(ErrorCode::io, "no test_data_set_0 in it");
  for (const fs::path& set : sets) run_data_set(model, session, set, options);
  return sets.size();
}

int test(const Options& options) {
  std::vector<fs::path> cases;
  for (const std::string& folder : options.folders) {
    const std::vector<fs::path> found = find_cases(folder);
    cases.insert(cases.end(), found.begin(), found.end());
  }
  std::size_t width = 0;
  for (const fs::path& folder : cases) width = std::max(width, folder.string().size());

  std::size_t failed = 0;
  for (const fs::path& folder : cases) {
    std::string result;
    try {
      const std::size_t sets = run_case(folder, options);
      result = fmt::format("passed  {} data set{}", sets, sets == 1 ? "" : "s");
    } catch (const Error& error) {
      ++failed;
      result = fmt::format("FAILED  {}", error.what());
    }
    fmt::print("{:<{}}  {}\n", folder.string(), width, result);
  }
  fmt::print("{} passed, {} failed\n", cases.size() - failed, failed);
  return failed == 0 ? kDone : kRefused;
}

}  // namespace

void add_test(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("test", "Run folders in the layout of the ONNX backend tests, and compare");
  command->add_option("DIR", options->folders, "Folders with a model and test_data_set_0, or folders of such")
      ->required();
  command->add_option("--rtol", options->tolerance.relative, "Relative tolerance for floating-point outputs")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--atol", options->tolerance.absolute, "Absolute tolerance for floating-point outputs")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--threads", options->threads, "Threads to use; 0: one for each CPU")
      ->type_name("N")
      ->check(is_thread_count());
  command->footer("A file tol_N.npy (f64) beside output_N holds an absolute tolerance for each element instead.");
  command->callback([options, &chosen] { chosen = [options] { return test(*options); }; });
}

}  // namespace binet::tool
