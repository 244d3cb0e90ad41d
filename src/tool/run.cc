// binet run: computes a model's outputs for given inputs.
#include <fmt/core.h>

#include <memory>

#include "binet/error.h"
#include "tool/commands.h"
#include "tool/data_set.h"
#include "tool/print_tensor.h"
#include "tool/printable.h"
#include "tool/validators.h"

namespace binet::tool {
namespace {

struct Options {
  std::string model;
  std::string inputs;
  std::vector<std::string> input_files;
  std::string outputs;
  std::vector<std::string> output_files;
  std::string format;
  std::optional<std::uint64_t> random_seed;
  std::vector<std::string> extents;
  int threads = 0;
};

const ValueDescription& find_value(const std::vector<ValueDescription>& values, const std::string& name,
                                   std::string_view kind) {
  std::string known;
  for (const ValueDescription& value : values) {
    if (value.name == name) return value;
    known += " '" + value.name + "'";
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the model has no {} '{}'; it has{}", kind, name, known.empty() ? " none" : known));
}

NamedTensors gather_inputs(const Model& model, const Options& options) {
  const std::vector<ValueDescription> inputs = model.inputs();
  NamedTensors tensors;
  const auto is_given = [&](const std::string& name) {
    return std::any_of(tensors.begin(), tensors.end(), [&](const auto& entry) { return entry.first == name; });
  };
  for (const std::string& text : options.input_files) {
    const auto [name, file] = cut_assignment(text);
    tensors.add(name, read_for(file, find_value(inputs, name, "input")).value);
  }
  if (!options.inputs.empty()) {
    for (const auto& [name, tensor] : read_inputs(model, options.inputs)) {
      if (!is_given(name)) tensors.add(name, tensor);
    }
  }
  if (options.random_seed) add_random_inputs(model, cut_extents(options.extents), *options.random_seed, tensors);
  return tensors;
}

void write_outputs(const Model& model, const NamedTensors& outputs, const Options& options) {
  if (!options.outputs.empty()) {
    const std::filesystem::path folder(options.outputs);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
      throw Error(ErrorCode::io, fmt::format("{}: cannot make the folder: {}", options.outputs, error.message()));
    const std::string usual = model.format() == "ONNX" ? "pb" : "npy";
    const std::string ending = options.format.empty() ? usual : options.format;
    std::size_t number = 0;
    for (const auto& [name, tensor] : outputs) {
      write_tensor_file(folder / fmt::format("output_{}.{}", number++, ending), name, tensor);
    }
  }
  for (const std::string& text : options.output_files) {
    const auto [name, file] = cut_assignment(text);
    static_cast<void>(find_value(model.outputs(), name, "output"));
    write_tensor_file(file, name, outputs[name]);
  }
  if (!options.outputs.empty() || !options.output_files.empty()) return;
  for (const auto& [name, tensor] : outputs) {
    fmt::print("{} {} {}\n{}\n", printable(name), to_string(tensor.type()), to_string(tensor.shape()),
               format_values(tensor));
  }
}

int run(const Options& options) {
  const Model model = load_model(options.model);
  for (const std::string& text : options.output_files) {
    static_cast<void>(find_value(model.outputs(), cut_assignment(text).first, "output"));
  }
  const Session session(model, {.threads = options.threads});
  write_outputs(model, session.run(gather_inputs(model, options)), options);
  return kDone;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "Run a model");
  command->add_option("MODEL", options->model, "The model file: .onnx, or OpenVINO's .xml with its .bin beside it")
      ->required();
  command->add_option("--inputs", options->inputs, "Folder with input_0.pb, input_1.pb, ... or .npy")->type_name("DIR");
  command->add_option("-i", options->input_files, "An input's values")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->check(is_assignment("NAME=FILE"));
  command
      ->add_option("--outputs", options->outputs,
                   "Folder for output_0.pb, output_1.pb, ...; .npy for an OpenVINO model")
      ->type_name("DIR");
  command->add_option("-o", options->output_files, "File for one output")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false)
      ->check(is_assignment("NAME=FILE"));
  command->add_option("--format", options->format, "Format of the files in --outputs")
      ->check(CLI::IsMember({"pb", "npy"}));
  command->add_option("--random", options->random_seed, "Random values for the inputs that are not given")
      ->type_name("SEED");
  command->add_option("--dim", options->extents, "A named extent, for --random")
      ->type_name("NAME=N")
      ->allow_extra_args(false)
      ->check(is_extent());
  command->add_option("--threads", options->threads, "Threads to use; 0: BINET_THREADS, or one for each CPU")
      ->type_name("N")
      ->check(is_thread_count());
  command->callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace binet::tool
