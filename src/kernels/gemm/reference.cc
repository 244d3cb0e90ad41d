// Room: kernels. The matrix product as plain loops, which the tests hold the kernels against.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/order.h"
#include "kernels/gemm/parts.h"
#include "kernels/gemm/scale.h"

namespace binet::kernels::gemm {
namespace {

template <class T>
T load(const std::byte* base, std::int64_t index) {
  T value;
  std::memcpy(&value, base + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void store(T value, std::byte* base, std::int64_t index) {
  std::memcpy(base + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

/// The type of the sum: unsigned for integers, whose overflow is meant.
template <class T>
struct Accumulator {
  using type = std::conditional_t<sizeof(T) == 2, float, T>;
};
template <class T>
requires std::is_integral_v<T>
struct Accumulator<T> {
  using type = std::make_unsigned_t<T>;
};

template <class T>
T finished(typename Accumulator<T>::type sum, T c, const Scale& scale) {
  using Sum = typename Accumulator<T>::type;
  if constexpr (std::is_integral_v<T>) {
    if (!scale.is_whole) return static_cast<T>(fractional_result<T>(sum, static_cast<Sum>(c), scale));
    Sum value = static_cast<Sum>(scale.alpha_bits) * sum;
    if (scale.has_c) value += static_cast<Sum>(scale.beta_bits) * static_cast<Sum>(c);
    return static_cast<T>(value);
  } else {
    Sum value = static_cast<Sum>(scale.alpha) * sum;
    if (scale.has_c) value += static_cast<Sum>(scale.beta) * static_cast<Sum>(c);
    if constexpr (sizeof(T) == 2) {
      return T::from_float(value);
    } else {
      return value;
    }
  }
}

template <class T>
void product(const Problem& p, bool by_tiles, const std::byte* a, const std::byte* b, const std::byte* c,
             std::byte* y) {
  using Sum = typename Accumulator<T>::type;
  const Scale scale = make_scale(p);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t n = 0; n < p.n; ++n) {
      const Problem part = part_of_column(p, n);
      const Order order = by_tiles ? Order::tiles : order_of(part);
      const Sum sum = sum_in_order<Sum>(part, order, [&](Sum before, std::int64_t k) {
        const auto ak = static_cast<Sum>(load<T>(a, i * p.a_row_step + k * p.a_column_step));
        const auto bk = static_cast<Sum>(load<T>(b, k * p.b_row_step + n * p.b_column_step));
        if constexpr (std::is_integral_v<T>) {
          return before + ak * bk;
        } else {
          return std::fma(ak, bk, before);
        }
      });
      const T old = scale.has_c ? load<T>(c, i * p.c_row_step + n * p.c_column_step) : T{};
      store(finished<T>(sum, old, scale), y, i * p.y_row_step + n);
    }
  }
}

}  // namespace

void run_reference(const Problem& problem, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
                   bool by_tiles) {
  switch (problem.type) {
    case ElementType::f16:
      return product<Float16>(problem, by_tiles, a, b, c, y);
    case ElementType::bf16:
      return product<BFloat16>(problem, by_tiles, a, b, c, y);
    case ElementType::f32:
      return product<float>(problem, by_tiles, a, b, c, y);
    case ElementType::f64:
      return product<double>(problem, by_tiles, a, b, c, y);
    case ElementType::i32:
      return product<std::int32_t>(problem, by_tiles, a, b, c, y);
    case ElementType::u32:
      return product<std::uint32_t>(problem, by_tiles, a, b, c, y);
    case ElementType::i64:
      return product<std::int64_t>(problem, by_tiles, a, b, c, y);
    default:
      return product<std::uint64_t>(problem, by_tiles, a, b, c, y);
  }
}

}  // namespace binet::kernels::gemm
