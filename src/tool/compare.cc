#include "tool/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "tool/print_tensor.h"

namespace binet::tool {
namespace {

bool is_equal_bits(const Tensor& want, const Tensor& got, std::size_t i) {
  if (is_four_bit(want.type())) return element_as_double(want, i) == element_as_double(got, i);
  const std::size_t size = byte_size(want.type());
  return std::memcmp(want.bytes().data() + i * size, got.bytes().data() + i * size, size) == 0;
}

bool passes(const Tensor& want, const Tensor& got, std::size_t i, const Tolerance& tolerance) {
  if (is_equal_bits(want, got, i)) return true;
  if (!is_float(want.type())) return false;
  const double x = element_as_double(want, i);
  const double y = element_as_double(got, i);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  const double bound = tolerance.each != nullptr ? tolerance.each->values<double>()[i]
                                                 : tolerance.absolute + tolerance.relative * std::fabs(x);
  return std::fabs(x - y) <= bound;
}

/// "[1, 2]", the place of an element.
std::string place(const Shape& shape, std::size_t index) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[d]);
    text = fmt::format("{}{}{}", index % extent, text.empty() ? "" : ", ", text);
    index /= extent;
  }
  return "[" + text + "]";
}

}  // namespace

std::optional<std::string> difference(const Tensor& want, const Tensor& got, const Tolerance& tolerance) {
  if (want.type() != got.type() || want.shape() != got.shape()) {
    return fmt::format("{} {}, where {} {} is expected", to_string(got.type()), to_string(got.shape()),
                       to_string(want.type()), to_string(want.shape()));
  }
  std::size_t count = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < want.element_count(); ++i) {
    if (passes(want, got, i, tolerance)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return std::nullopt;
  return fmt::format("{} of {} elements differ, first at {}: {}, where {} is expected", count, want.element_count(),
                     place(want.shape(), first), format_element(got, first), format_element(want, first));
}

}  // namespace binet::tool
