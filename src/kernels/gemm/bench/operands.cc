#include "kernels/gemm/bench/operands.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/element_types.h"

namespace binet::kernels::gemm::bench {
namespace {

std::size_t elements_of_c(const Case& c) {
  const auto m = static_cast<std::size_t>(c.m), n = static_cast<std::size_t>(c.n);
  switch (c.c) {
    case CForm::none:
      return 0;
    case CForm::scalar:
      return 1;
    case CForm::row:
      return n;
    case CForm::column:
      return m;
    case CForm::full:
      return m * n;
  }
  return 0;
}

/// Whole types in full range, floats in -1..1; the same for the same seed.
void fill(std::byte* to, std::size_t bytes, ElementType type, std::uint64_t seed) {
  std::uint64_t state = seed;
  visit_numeric_type(type, [&]<class T>() {
    for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX
      T value;
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(state ^ state >> 32);
      } else {
        const double number = static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
        if constexpr (std::is_floating_point_v<T>) {
          value = static_cast<T>(number);
        } else {
          value = T::from_double(number);
        }
      }
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
  });
}

/// The distance between neighbours near 1, in a type and in that of its sums.
template <class T>
constexpr double unit() {
  if constexpr (std::is_same_v<T, Float16>) return 0x1p-10;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1p-7;
  return static_cast<double>(std::numeric_limits<T>::epsilon());
}
template <class T>
constexpr double unit_of_sums() {
  return std::is_same_v<T, double> ? unit<double>() : unit<float>();
}

template <class T>
bool agree(T a, T b, std::int64_t k) {
  if constexpr (std::is_integral_v<T>) {
    return a == b;
  } else {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    // A sum of k products of size 1 grows as the root of k, and so does the error of its k roundings; a wrong element
    // differs by about that root itself.
    const double tolerance = unit<T>() * std::abs(x) + 4 * unit_of_sums<T>() * static_cast<double>(k + 4);
    return std::abs(x - y) <= tolerance;
  }
}

}  // namespace

Matrices::Matrices(const Case& c) : case_(c) {
  const auto m = static_cast<std::size_t>(c.m), n = static_cast<std::size_t>(c.n), k = static_cast<std::size_t>(c.k);
  const std::size_t elements[4] = {m * k, k * n, elements_of_c(c), m * n};
  for (int i = 0; i < 4; ++i) {
    sizes_[i] = elements[i] * byte_size(c.type);
    buffers_[i] = AlignedBuffer(sizes_[i] + 4096);
    if (i < 3) fill(at(i), sizes_[i], c.type, static_cast<std::uint64_t>(i));
  }
}

std::byte* Matrices::at(int matrix) const {
  // Where stores and loads are 4 KiB apart, some CPUs take them for the same place: no library shall meet that by luck.
  return buffers_[matrix].data() + matrix * 17 * static_cast<std::ptrdiff_t>(kCacheLine);
}

void Matrices::spoil_y() const { std::memset(at(3), 0xFF, sizes_[3]); }

void Matrices::keep_y() {
  kept_ = AlignedBuffer(sizes_[3]);
  std::memcpy(kept_.data(), at(3), sizes_[3]);
}

std::string Matrices::differences() const {
  return visit_numeric_type(case_.type, [&]<class T>() -> std::string {
    for (std::int64_t i = 0; i < case_.m * case_.n; ++i) {
      T expected, found;
      std::memcpy(&expected, kept_.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
      std::memcpy(&found, at(3) + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
      if (!agree(expected, found, case_.k)) {
        return "element (" + std::to_string(i / case_.n) + "," + std::to_string(i % case_.n) + ") differs";
      }
    }
    return {};
  });
}

}  // namespace binet::kernels::gemm::bench
