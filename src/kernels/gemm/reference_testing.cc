#include "kernels/gemm/reference_testing.h"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/gemm/order_testing.h"
#include "kernels/gemm/plan/parts.h"
#include "kernels/gemm/scale.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/tiled.h"

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

/// The product that computes a column: the problem itself, or a part of it (parts.h).
Problem part_of_column(const Problem& p, std::int64_t column) noexcept {
  const std::int64_t last = last_columns_apart(p);
  if (last == 0) return p;
  return with_columns(p, column < p.n - last ? p.n - last : last);
}

/// Rows of an operand, each of k neighbouring numbers of the sum's type.
template <class T>
std::vector<typename Accumulator<T>::type> widened(const std::byte* from, std::int64_t rows, std::int64_t row_step,
                                                   std::int64_t k, std::int64_t k_step) {
  std::vector<typename Accumulator<T>::type> wide(static_cast<std::size_t>(rows * k));
  auto to = wide.begin();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < k; ++i) {
      *to++ = static_cast<typename Accumulator<T>::type>(load<T>(from, row * row_step + i * k_step));
    }
  }
  return wide;
}

template <class T>
void product(const Problem& p, SumOrder how, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y) {
  using Sum = typename Accumulator<T>::type;
  const Scale scale = make_scale(p);
  const std::vector<Sum> rows = widened<T>(a, p.m, p.a_row_step, p.k, p.a_column_step);
  const std::vector<Sum> columns = widened<T>(b, p.n, p.b_column_step, p.k, p.b_row_step);
  for (std::int64_t n = 0; n < p.n; ++n) {
    const Problem part = part_of_column(p, n);
    const Order order = how.by_tiles ? Order::tiles : order_of(part);
    const Sum* const column = columns.data() + n * p.k;
    for (std::int64_t i = 0; i < p.m; ++i) {
      const Sum* const row = rows.data() + i * p.k;
      const auto add_fused = [&](Sum before, std::int64_t k) {
        if constexpr (std::is_floating_point_v<Sum>) return std::fma(row[k], column[k], before);
        return before + row[k] * column[k];
      };
      const auto add_rounded = [&](Sum before, std::int64_t k) {
        const Sum rounded = row[k] * column[k];
        return before + rounded;
      };
      const Sum sum =
          how.is_fused ? sum_in_order<Sum>(part, order, add_fused) : sum_in_order<Sum>(part, order, add_rounded);
      const T old = scale.has_c ? load<T>(c, i * p.c_row_step + n * p.c_column_step) : T{};
      store(finished<T>(sum, old, scale), y, i * p.y_row_step + n);
    }
  }
}

}  // namespace

SumOrder sum_order_of(const Problem& problem, const Kernels& kernels) {
  if (!is_float(problem.type)) return {};
  const bool may_be_tiled =
      kernels.is_fused && problem.type == ElementType::bf16 && takes_tiled(problem, kernels, false);
  return {kernels.is_fused, may_be_tiled && !kernels.tiled->are_vectors};
}

void run_reference(const Problem& problem, SumOrder order, const std::byte* a, const std::byte* b, const std::byte* c,
                   std::byte* y) {
  switch (problem.type) {
    case ElementType::f16:
      return product<Float16>(problem, order, a, b, c, y);
    case ElementType::bf16:
      return product<BFloat16>(problem, order, a, b, c, y);
    case ElementType::f32:
      return product<float>(problem, order, a, b, c, y);
    case ElementType::f64:
      return product<double>(problem, order, a, b, c, y);
    case ElementType::i32:
      return product<std::int32_t>(problem, order, a, b, c, y);
    case ElementType::u32:
      return product<std::uint32_t>(problem, order, a, b, c, y);
    case ElementType::i64:
      return product<std::int64_t>(problem, order, a, b, c, y);
    default:
      return product<std::uint64_t>(problem, order, a, b, c, y);
  }
}

}  // namespace binet::kernels::gemm
