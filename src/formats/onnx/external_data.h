// Room: formats. Tensor data in files beside the model (onnx/docs/ExternalData.md), confined to the model's folder.
//
// A location is a relative path below the folder that holds the model. Nothing outside that folder can be reached: not
// by an absolute path, not by "..", not through a symbolic link, which is refused wherever it stands on the way.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"

namespace binet::onnx {

/// The external_data entries of one tensor, as text.
struct ExternalDataEntries {
  std::optional<std::string> location;
  std::optional<std::string> offset;
  std::optional<std::string> length;
};

/// The files beside one model, each mapped once.
class ExternalFiles {
 public:
  /// No folder: the model came from memory, and external data is refused.
  explicit ExternalFiles(std::optional<std::filesystem::path> folder) : folder_(std::move(folder)) {}

  struct Range {
    std::span<const std::byte> bytes;
    std::shared_ptr<const MappedFile> file;
  };
  /// The `size` bytes that the entries name. Throws Error whose message starts with `where`.
  [[nodiscard]] Range read(const std::string& where, const ExternalDataEntries& entries, std::uint64_t size);

  /// The files that were mapped for that.
  [[nodiscard]] std::vector<std::shared_ptr<const MappedFile>> files() const;

 private:
  const std::shared_ptr<const MappedFile>& map(const std::string& where, const std::string& location);

  std::optional<std::filesystem::path> folder_;
  std::map<std::filesystem::path, std::shared_ptr<const MappedFile>> files_;
};

}  // namespace binet::onnx
