// Room: base. A file that appears whole or not at all: written beside its place, moved there when it is complete.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace binet {

class OutputFile {
 public:
  /// Throws Error (io) that names the path and the reason, as do the other members.
  explicit OutputFile(std::filesystem::path path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  /// Without commit(), nothing is left behind.
  ~OutputFile();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  [[noreturn]] void fail_with(int error) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

}  // namespace binet
