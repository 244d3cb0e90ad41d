// Room: formats. The .bin file of an OpenVINO model: mapped when the first constant asks for it, never copied.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/mapped_file.h"

namespace binet::openvino {

class Weights {
 public:
  /// The file beside the .xml, with the ending .bin.
  [[nodiscard]] static Weights beside(const std::filesystem::path& xml);
  /// Bytes in memory, kept alive by `owner`.
  Weights(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  /// The bytes [offset, offset + size). Throws Error, whose message starts with `where`, if the file cannot be mapped
  /// or does not reach that far.
  [[nodiscard]] std::span<const std::byte> read(std::uint64_t offset, std::uint64_t size, const std::string& where);

  /// What keeps the bytes alive; null before the first read.
  [[nodiscard]] const std::shared_ptr<const void>& owner() const { return owner_; }
  /// The file; null before the first read, and for bytes in memory.
  [[nodiscard]] const std::shared_ptr<const MappedFile>& file() const { return file_; }

 private:
  Weights() = default;

  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const MappedFile> file_;
};

}  // namespace binet::openvino
