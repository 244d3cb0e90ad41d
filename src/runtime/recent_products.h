// Room: runtime. The products that a thread met last, with all that was decided for them.
//
// A product that comes again is found by its operands' types and shapes: each hash has one place, for the last product
// that met it. Products of a few elements take hardly longer than that.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "binet/tensor.h"

namespace binet {

/// The type and shapes of two operands, mixed into a number; `form` is what else tells products apart.
[[nodiscard]] inline std::uint64_t hash_of(const Tensor& a, const Tensor& b, std::uint64_t form = 0) noexcept {
  std::uint64_t hash = form << 8 | static_cast<std::uint64_t>(a.type());
  for (const std::int64_t extent : a.shape()) hash = hash * 31 + static_cast<std::uint64_t>(extent);
  for (const std::int64_t extent : b.shape()) hash = hash * 31 + static_cast<std::uint64_t>(extent);
  return hash;
}

template <class Product>
class RecentProducts {
 public:
  /// The place of products with this hash; what stands there may be another one, or null.
  [[nodiscard]] std::unique_ptr<Product>& at(std::uint64_t hash) noexcept {
    // The high bits of the product depend on all of the hash.
    return products_[hash * 0x9E3779B97F4A7C15u >> (64 - kLog2Places)];
  }

 private:
  static constexpr int kLog2Places = 3;
  // Pointers: each thread of a program has this, also those that never call Binet.
  std::array<std::unique_ptr<Product>, 1 << kLog2Places> products_;
};

}  // namespace binet
