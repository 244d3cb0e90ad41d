#include "formats/onnx/external_data.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"

namespace binet::onnx {
namespace {

std::uint64_t parse_entry(const std::string& where, std::string_view key, const std::string& text) {
  const auto value = parse_unsigned(text);
  if (!value) {
    fail(ErrorCode::invalid_file, "{}: external data: {} is {}; it must be a number of bytes", where, key, quote(text));
  }
  return *value;
}

/// `location` without "." and "..", if it stays below the folder. No link is ever followed, so this is where it really
/// leads.
std::filesystem::path confined(const std::string& where, const std::string& location) {
  if (location.empty()) fail(ErrorCode::invalid_file, "{}: external data: the location is empty", where);
  if (location.find('\0') != std::string::npos) {
    fail(ErrorCode::invalid_file, "{}: external data: location {} holds a zero byte", where, quote(location));
  }
  const std::filesystem::path path(location);
  if (path.is_absolute()) {
    fail(ErrorCode::invalid_file,
         "{}: external data: location {} is absolute; it must be relative to the model's folder", where,
         quote(location));
  }
  std::filesystem::path normal = path.lexically_normal();
  if (!normal.empty() && *normal.begin() == "..") {
    fail(ErrorCode::invalid_file, "{}: external data: location {} leaves the model's folder", where, quote(location));
  }
  return normal;
}

class Folder {
 public:
  explicit Folder(int descriptor) : descriptor_(descriptor) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { reset(-1); }
  void reset(int descriptor) {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = descriptor;
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Opens a path below `folder` one component at a time, refusing a symbolic link at every step.
int open_below(const std::string& where, const std::filesystem::path& folder, const std::filesystem::path& path) {
  constexpr int kCommon = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const auto refuse = [&](int error) {
    const bool is_link = error == ELOOP || error == EMLINK;
    fail(ErrorCode::io, "{}: external data: cannot open {}: {}", where, quote(path.string()),
         is_link ? "a symbolic link is on the way" : std::generic_category().message(error));
  };
  Folder at(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (at.get() < 0) refuse(errno);
  const std::filesystem::path parent = path.parent_path();
  for (const std::filesystem::path& component : parent) {
    const int next = ::openat(at.get(), component.c_str(), kCommon | O_DIRECTORY);
    // With O_DIRECTORY the kernel reports a link as "not a directory"; without it, as what it is.
    if (next < 0 && errno == ENOTDIR) {
      const int plain = ::openat(at.get(), component.c_str(), kCommon);
      if (plain < 0) refuse(errno);
      ::close(plain);
      refuse(ENOTDIR);
    }
    if (next < 0) refuse(errno);
    at.reset(next);
  }
  const int file = ::openat(at.get(), path.filename().c_str(), kCommon);
  if (file < 0) refuse(errno);
  return file;
}

}  // namespace

const std::shared_ptr<const MappedFile>& ExternalFiles::map(const std::string& where, const std::string& location) {
  const std::filesystem::path path = confined(where, location);
  if (!folder_) {
    fail(ErrorCode::invalid_argument, "{}: external data: the model was loaded from memory, so it has no folder",
         where);
  }
  auto& file = files_[path];
  if (file == nullptr) {
    const int descriptor = open_below(where, *folder_, path);
    file = MappedFile::adopt(descriptor, fmt::format("{}: external data: {}", where, quote(location)));
  }
  return file;
}

std::vector<std::shared_ptr<const MappedFile>> ExternalFiles::files() const {
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (const auto& [path, file] : files_) files.push_back(file);
  return files;
}

ExternalFiles::Range ExternalFiles::read(const std::string& where, const ExternalDataEntries& entries,
                                         std::uint64_t size) {
  if (!entries.location) fail(ErrorCode::invalid_file, "{}: external data: no location is given", where);
  const std::uint64_t offset = entries.offset ? parse_entry(where, "offset", *entries.offset) : 0;
  if (entries.length) {
    const std::uint64_t length = parse_entry(where, "length", *entries.length);
    if (length != size) {
      fail(ErrorCode::invalid_file, "{}: external data: length is {}, but the type and dims need {} bytes", where,
           length, size);
    }
  }
  const auto& file = map(where, *entries.location);
  const auto end = checked_add(offset, size);
  if (!end || *end > file->bytes().size()) {
    fail(ErrorCode::invalid_file, "{}: external data: {} bytes at offset {} reach past the end of {}, which has {}",
         where, size, offset, quote(*entries.location), file->bytes().size());
  }
  return {file->bytes().subspan(offset, size), file};
}

}  // namespace binet::onnx
