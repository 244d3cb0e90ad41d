#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <system_error>

#include "base/fail.h"

namespace binet {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(value_); }
  [[nodiscard]] int get() const { return value_; }

 private:
  int value_;
};

}  // namespace

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::let_go(std::span<const std::byte> part) const noexcept {
  const std::less<const std::byte*> before;
  if (part.empty() || before(part.data(), bytes_.data()) ||
      before(bytes_.data() + bytes_.size(), part.data() + part.size())) {
    return;
  }
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<std::size_t>(part.data() - bytes_.data());
  const std::size_t first = offset / page * page;
  ::madvise(const_cast<std::byte*>(bytes_.data()) + first, offset + part.size() - first, MADV_DONTNEED);
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer before it can be refused.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(ErrorCode::io, "{}: cannot open: {}", path.string(), reason(errno));
  return adopt(descriptor, path.string());
}

std::shared_ptr<const MappedFile> MappedFile::adopt(int descriptor, const std::string& where) {
  const Descriptor file(descriptor);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(ErrorCode::io, "{}: cannot open: {}", where, reason(errno));
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::io, "{}: not a regular file", where);

  std::span<const std::byte> bytes;
  if (status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (start == MAP_FAILED) fail(ErrorCode::io, "{}: cannot map: {}", where, reason(errno));
    bytes = {static_cast<const std::byte*>(start), size};
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(bytes));
}

}  // namespace binet
