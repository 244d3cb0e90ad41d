// Tests: memory that ends where a page begins that may not be touched, and begins where one ends. Vectors are loaded by
// instructions that the address sanitizer does not look at.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>

namespace binet::testing {

enum class Place { behind_a_guard, before_a_guard };

inline const char* to_string(Place place) {
  return place == Place::before_a_guard ? "before a guard" : "behind a guard";
}

class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes) : bytes_((bytes + page() - 1) / page() * page()) {
    void* const start = ::mmap(nullptr, all_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    start_ = static_cast<std::byte*>(start);
    if (::mprotect(start_ + page(), bytes_, PROT_READ | PROT_WRITE) != 0) {
      throw std::system_error(errno, std::generic_category(), "mprotect");
    }
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { ::munmap(start_, all_bytes()); }

  [[nodiscard]] std::byte* at(Place place, std::size_t size) const {
    return place == Place::behind_a_guard ? start_ + page() : start_ + page() + bytes_ - size;
  }
  [[nodiscard]] std::byte* copy(const std::byte* from, std::size_t size, Place place) const {
    return std::copy_n(from, size, at(place, size)) - size;
  }

 private:
  static std::size_t page() {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
  }
  [[nodiscard]] std::size_t all_bytes() const { return bytes_ + 2 * page(); }

  std::size_t bytes_;
  std::byte* start_ = nullptr;
};

/// While it lives, a touched guard is reported with what runs: no test survives it.
class GuardReport {
 public:
  GuardReport() : before_(std::signal(SIGSEGV, report)) {}
  GuardReport(const GuardReport&) = delete;
  GuardReport& operator=(const GuardReport&) = delete;
  ~GuardReport() { std::signal(SIGSEGV, before_); }

  static void runs(const std::string& what) { std::snprintf(running_, sizeof(running_), "%s\n", what.c_str()); }

 private:
  static void report(int signal) {
    // Nothing can be done about an error here.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, running_, std::strlen(running_));
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }

  static inline char running_[512];
  void (*before_)(int);
};

}  // namespace binet::testing
