// Tests: one product with its operands, as the tests and the oracle see it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/target.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/row_major.h"
#include "kernels/gemm/scale.h"

namespace binet::kernels::gemm {

inline constexpr ElementType kTypes[] = {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16,
                                         ElementType::i32, ElementType::u32, ElementType::i64, ElementType::u64};

struct Case {
  std::int64_t m, n, k;
  bool trans_a = false, trans_b = false;
  CForm c = CForm::none;
  float alpha = 1.0f, beta = 1.0f;
};

inline std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.m << "x" << c.n << "x" << c.k << " trans " << c.trans_a << c.trans_b << " c " << static_cast<int>(c.c)
             << " alpha " << c.alpha << " beta " << c.beta;
}

inline Problem problem_of(ElementType type, const Case& c) {
  Problem p = with_c(row_major_product(type, c.m, c.n, c.k, c.trans_a, c.trans_b), c.c);
  p.alpha = c.alpha;
  p.beta = c.beta;
  return p;
}

/// Bytes that begin `offset` bytes after a cache line; the rest of the allocation is there to be found unchanged.
class Bytes {
 public:
  static constexpr std::size_t kGuard = 256;
  static constexpr auto kCanary = std::byte{0xA5};

  Bytes(std::size_t size, std::size_t offset) : size_(size), offset_(kGuard + offset), buffer_(size + 3 * kGuard) {
    std::memset(buffer_.data(), static_cast<int>(kCanary), buffer_.size());
  }
  [[nodiscard]] std::byte* data() const { return buffer_.data() + offset_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool guards_are_whole() const {
    const auto is_whole = [](std::byte value) { return value == kCanary; };
    const std::byte* const first = buffer_.data();
    return std::all_of(first, first + offset_, is_whole) &&
           std::all_of(first + offset_ + size_, first + buffer_.size(), is_whole);
  }

 private:
  std::size_t size_, offset_;
  AlignedBuffer buffer_;
};

template <class T>
void put(const Bytes& bytes, std::int64_t index, T value) {
  std::memcpy(bytes.data() + static_cast<std::size_t>(index) * sizeof(T), &value, sizeof(T));
}
template <class T>
T get(const std::byte* bytes, std::int64_t index) {
  T value;
  std::memcpy(&value, bytes + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

/// Random elements: whole types in full range, floats in -1..1.
inline void fill(const Bytes& bytes, ElementType type, std::mt19937_64& random) {
  const auto count = static_cast<std::int64_t>(bytes.size() / byte_size(type));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    const double value = static_cast<double>(bits >> 11) * 0x1p-52 - 1.0;
    switch (type) {
      case ElementType::f16:
        put(bytes, i, Float16::from_double(value));
        break;
      case ElementType::bf16:
        put(bytes, i, BFloat16::from_double(value));
        break;
      case ElementType::f32:
        put(bytes, i, static_cast<float>(value));
        break;
      case ElementType::f64:
        put(bytes, i, value);
        break;
      case ElementType::i32:
      case ElementType::u32:
        put(bytes, i, static_cast<std::uint32_t>(bits >> 32));
        break;
      default:
        put(bytes, i, bits);
    }
  }
}

struct Operands {
  Operands(const Problem& p, std::size_t misalignment, std::uint64_t seed)
      : a(bytes_of(p, p.m * p.k), misalignment),
        b(bytes_of(p, p.k * p.n), 2 * misalignment),
        c(bytes_of(p, p.m * p.n), 3 * misalignment) {
    std::mt19937_64 random(seed);
    for (const Bytes* operand : {&a, &b, &c}) fill(*operand, p.type, random);
  }
  static std::size_t bytes_of(const Problem& p, std::int64_t elements) {
    return static_cast<std::size_t>(elements) * byte_size(p.type);
  }
  Bytes a, b, c;
};

/// Y, computed with as many threads as `pool` has.
inline Bytes compute(const Problem& p, const Operands& operands, const Target& target, const ThreadPool& pool,
                     bool pack = false, std::size_t misalignment = 0) {
  const Plan plan = make_plan(p, target, pool.threads(), pack);
  const Bytes workspace(plan.workspace_bytes, 0);
  const Bytes packed(pack ? packed_b_bytes(p, target) : 0, 0);
  Bytes y(Operands::bytes_of(p, p.m * p.n), misalignment);
  if (pack) pack_b(p, target, operands.b.data(), packed.data(), pool);
  run(plan, operands.a.data(), pack ? packed.data() : operands.b.data(), p.has_c ? operands.c.data() : nullptr,
      y.data(), workspace.data(), pool);
  EXPECT_TRUE(workspace.guards_are_whole() && packed.guards_are_whole() && y.guards_are_whole());
  return y;
}

/// What the standard allows to differ: the bits of a NaN.
template <class T>
bool same(T a, T b) {
  if constexpr (sizeof(T) == 2) {
    const auto x = static_cast<float>(a);
    const auto y = static_cast<float>(b);
    return a == b || (std::isnan(x) && std::isnan(y));
  } else {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(a) && std::isnan(b)) return true;
    }
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  }
}

template <class T>
std::string first_difference(const std::byte* got, const std::byte* want, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T g = get<T>(got, i);
    const T w = get<T>(want, i);
    if (same(g, w)) continue;
    return "element " + std::to_string(i) + ": " + std::to_string(static_cast<double>(g)) + ", not " +
           std::to_string(static_cast<double>(w));
  }
  return {};
}

/// Empty if both hold the same elements.
inline std::string difference(ElementType type, const std::byte* got, const std::byte* want, std::int64_t count) {
  switch (type) {
    case ElementType::f16:
      return first_difference<Float16>(got, want, count);
    case ElementType::bf16:
      return first_difference<BFloat16>(got, want, count);
    case ElementType::f32:
      return first_difference<float>(got, want, count);
    case ElementType::f64:
      return first_difference<double>(got, want, count);
    case ElementType::i32:
    case ElementType::u32:
      return first_difference<std::uint32_t>(got, want, count);
    default:
      return first_difference<std::uint64_t>(got, want, count);
  }
}

}  // namespace binet::kernels::gemm
