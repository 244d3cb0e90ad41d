// Room: runtime. load_model and check_model: the reader for the file, then the binding.
#include <cstring>

#include "base/aligned_buffer.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/out_of_memory.h"
#include "base/text.h"
#include "formats/onnx/model_reader.h"
#include "formats/openvino/model_reader.h"
#include "graph/bind.h"
#include "runtime/loaded_model.h"

namespace binet {
namespace {

/// By the ending; where that says nothing, XML begins with '<', which no ONNX file does.
bool is_openvino(const std::filesystem::path& path, std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (path.extension() == ".xml") return true;
  if (path.extension() == ".onnx") return false;
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  return trim(bytes).starts_with('<');
}

Graph read_file(const std::filesystem::path& path, const LoadOptions& options, Findings& findings) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (is_openvino(path, text)) {
    return openvino::read_model({path.string(), text, openvino::Weights::beside(path), options.openvino}, findings);
  }
  Graph graph = onnx::read_model({path.string(), text, file, path.parent_path()}, findings);
  graph.files.push_back(file);
  return graph;
}

BoundGraph load(const std::filesystem::path& path, const LoadOptions& options, Findings& findings) {
  return bind(read_file(path, options, findings), findings);
}

/// A copy of the bytes that keeps itself alive.
std::shared_ptr<const AlignedBuffer> copy_of(std::span<const std::byte> bytes) {
  auto copy = std::make_shared<AlignedBuffer>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy->data(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace

Model load_model(const std::filesystem::path& path, const LoadOptions& options) {
  return guard_memory([&] {
    Findings findings;
    return Model::Access::make(load(path, options, findings));
  });
}

Model load_model(std::span<const std::byte> bytes, const std::string& name) {
  return guard_memory([&] {
    const auto copy = copy_of(bytes);
    const std::string_view text(reinterpret_cast<const char*>(copy->data()), bytes.size());
    Findings findings;
    const Graph graph = onnx::read_model({name, text, copy, std::nullopt}, findings);
    return Model::Access::make(bind(graph, findings));
  });
}

Model load_openvino_model(std::string_view xml, std::span<const std::byte> weights, const std::string& name,
                          const LoadOptions& options) {
  return guard_memory([&] {
    const auto copy = copy_of(weights);
    Findings findings;
    const Graph graph = openvino::read_model(
        {name, xml, openvino::Weights({copy->data(), weights.size()}, copy), options.openvino}, findings);
    return Model::Access::make(bind(graph, findings));
  });
}

std::vector<std::string> check_model(const std::filesystem::path& path, const LoadOptions& options) {
  return guard_memory([&] {
    std::vector<std::string> messages;
    Findings findings(messages);
    findings.check([&] { static_cast<void>(load(path, options, findings)); });
    return messages;
  });
}

}  // namespace binet
