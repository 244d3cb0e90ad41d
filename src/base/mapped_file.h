// Room: base. A file's bytes, mapped read-only, for as long as somebody holds the object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace binet {

class MappedFile {
 public:
  /// Maps a regular file; throws Error (io) that names the path and the reason. An empty file gives no bytes.
  [[nodiscard]] static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);

  /// The same for a file that is already open; takes ownership of `descriptor`. Messages start with `where`.
  [[nodiscard]] static std::shared_ptr<const MappedFile> adopt(int descriptor, const std::string& where);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// If `part` is of this file: its pages, and those it shares with its neighbours, no longer count as memory of the
  /// process. They are read again when somebody looks at them.
  void let_go(std::span<const std::byte> part) const noexcept;

 private:
  explicit MappedFile(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace binet
