// Room: kernels. The elementwise family as plain scalar code: the oracle of the tests, and the kernels of the portable
// target, for whose baseline a compiler vectorizes it.
#include <concepts>
#include <cstring>
#include <type_traits>

#include "base/element_types.h"
#include "kernels/elementwise/elementwise.h"

namespace binet::kernels::elementwise {
namespace {

struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      // Narrow types would be promoted to int, and u16 * u16 overflows an int.
      using Wide = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, T>;
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    } else if constexpr (std::is_floating_point_v<T>) {
      return a * b;
    } else {
      // The product of two 16-bit floats is exact in binary64, so this rounds once.
      return T::from_double(static_cast<double>(a) * static_cast<double>(b));
    }
  }
};

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(a + b);
    } else if constexpr (std::is_floating_point_v<T>) {
      return a + b;
    } else {
      // binary64 has more than twice the digits and two, so rounding to it first does no harm.
      return T::from_double(static_cast<double>(a) + static_cast<double>(b));
    }
  }
};

template <class T>
T load(const std::byte* from, std::int64_t index) {
  T value;
  std::memcpy(&value, from + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class Op, class T, std::int64_t kBStep>
void row(const std::byte* a, const std::byte* b, std::byte* y, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) {
    const T value = Op{}(load<T>(a, i), load<T>(b, i * kBStep));
    std::memcpy(y + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

template <class Op, class T>
void walk(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  // The step as a constant: otherwise no compiler vectorizes the loop.
  const auto one_row = rows.b_step == 0 ? &row<Op, T, 0> : &row<Op, T, 1>;
  for (std::int64_t block = 0; block < rows.blocks; ++block) {
    for (std::int64_t r = 0; r < rows.rows; ++r, y += rows.elements * kSize) {
      one_row(a + r * rows.a_row_step * kSize, b + r * rows.b_row_step * kSize, y, rows.elements);
    }
    a += rows.a_block_step * kSize;
    b += rows.b_block_step * kSize;
  }
}

/// Integers wrap around: signed ones have the bits that unsigned ones have, and their code.
template <class T>
struct ComputedAs {
  using type = T;
};
template <std::integral T>
struct ComputedAs<T> {
  using type = std::make_unsigned_t<T>;
};

}  // namespace

RowsFunction reference_kernel(Operation operation, ElementType type) {
  return visit_numeric_type(type, [operation]<class Element>() -> RowsFunction {
    using T = typename ComputedAs<Element>::type;
    switch (operation) {
      case Operation::multiply:
        break;
      case Operation::add:
        return &walk<Add, T>;
    }
    return &walk<Multiply, T>;
  });
}

}  // namespace binet::kernels::elementwise
