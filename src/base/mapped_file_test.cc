#include "base/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace binet {
namespace {

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes) : path_("/tmp/binet-mapped-XXXXXX") {
    const int file = ::mkstemp(path_.data());
    EXPECT_EQ(::write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(file);
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The pages of the range that count as memory of this process (Linux' Documentation/admin-guide/mm/pagemap.rst).
std::size_t present_pages(std::span<const std::byte> bytes, std::size_t page) {
  const int map = ::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  std::size_t present = 0;
  for (std::size_t at = 0; at < bytes.size(); at += page) {
    std::uint64_t entry = 0;
    const std::uint64_t number = reinterpret_cast<std::uintptr_t>(bytes.data() + at) / page;
    EXPECT_EQ(::pread(map, &entry, sizeof(entry), static_cast<off_t>(number * sizeof(entry))), 8);
    present += entry >> 63;
  }
  ::close(map);
  return present;
}

std::uint64_t sum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (const std::byte byte : bytes) sum += std::to_integer<std::uint64_t>(byte);
  return sum;
}

/// Emulators and some containers show a process nothing of its page table: not even pages that it has just written.
bool pages_can_be_seen(std::size_t page) {
  const std::vector<std::byte> written(4 * page, std::byte{1});
  return present_pages(std::span(written).first(3 * page), page) == 3;
}

TEST(MappedFile, PagesThatAreLetGoAreReadAgain) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const TemporaryFile temporary(std::string(16 * page, '\3'));
  const auto file = MappedFile::open(temporary.path());
  const auto bytes = file->bytes();
  EXPECT_EQ(sum(bytes), 3 * 16 * page);
  // Without a look at the page table the test could not tell whether pages were let go.
  if (!pages_can_be_seen(page)) GTEST_SKIP() << "the pages of this process cannot be seen here";
  EXPECT_EQ(present_pages(bytes, page), 16u);
  file->let_go(bytes.subspan(2 * page + 10, 3 * page));  // the end of page 2, pages 3 and 4, the beginning of page 5
  EXPECT_EQ(present_pages(bytes, page), 12u);
  EXPECT_EQ(present_pages(bytes.subspan(2 * page, 4 * page), page), 0u);
  EXPECT_EQ(sum(bytes), 3 * 16 * page);
}

TEST(MappedFile, MemoryThatIsNotOfTheFileIsLeftAlone) {
  const TemporaryFile temporary(std::string(100, '\3'));
  const auto file = MappedFile::open(temporary.path());
  std::vector<std::byte> own(1 << 20, std::byte{7});
  file->let_go(own);
  file->let_go({});
  EXPECT_EQ(sum(own), 7u << 20);
  EXPECT_EQ(sum(file->bytes()), 300u);
}

}  // namespace
}  // namespace binet
