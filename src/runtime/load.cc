// Room: runtime. load_model and check_model: the reader for the file, then the binding.
#include <cstring>

#include "base/aligned_buffer.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/text.h"
#include "formats/onnx/model_reader.h"
#include "graph/bind.h"
#include "runtime/model_access.h"

namespace binet {
namespace {

Graph read_file(const std::filesystem::path& path, Findings& findings) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return onnx::read_model({path.string(), text, file, path.parent_path()}, findings);
}

BoundGraph load(const std::filesystem::path& path, Findings& findings) {
  return bind(read_file(path, findings), findings);
}

}  // namespace

Model load_model(const std::filesystem::path& path) {
  Findings findings;
  return Model::Access::make(std::make_shared<const BoundGraph>(load(path, findings)));
}

Model load_model(std::span<const std::byte> bytes, const std::string& name) {
  const auto copy = std::make_shared<AlignedBuffer>(bytes.size());
  if (!bytes.empty()) std::memcpy(copy->data(), bytes.data(), bytes.size());
  const std::string_view text(reinterpret_cast<const char*>(copy->data()), bytes.size());
  Findings findings;
  const Graph graph = onnx::read_model({name, text, copy, std::nullopt}, findings);
  return Model::Access::make(std::make_shared<const BoundGraph>(bind(graph, findings)));
}

std::vector<std::string> check_model(const std::filesystem::path& path) {
  std::vector<std::string> messages;
  Findings findings(messages);
  findings.check([&] { static_cast<void>(load(path, findings)); });
  return messages;
}

}  // namespace binet
