#include "kernels/convert/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/element_types.h"

namespace binet::kernels::convert {
namespace {

/// How the elements of a type lie in memory, and the C++ type in which they are computed with.
template <class T>
struct Elements {
  using Value = T;
  static constexpr int kBits = 8 * sizeof(T);

  static T load(const std::byte* x, std::int64_t i) {
    T value;
    std::memcpy(&value, x + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
  }
  static void store(std::byte* y, std::int64_t i, T value) {
    std::memcpy(y + i * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
  }
};

/// i4 and u4; a range of elements begins with a whole byte, so the first of each two may clear the other half.
template <class Byte>
struct HalfBytes {
  using Value = Byte;
  static constexpr int kBits = 4;

  static Byte load(const std::byte* x, std::int64_t i) {
    const auto bits = std::to_integer<std::uint8_t>(i % 2 == 0 ? x[i / 2] & std::byte{0xF} : x[i / 2] >> 4);
    if constexpr (std::is_signed_v<Byte>) return static_cast<Byte>(bits < 8 ? bits : bits - 16);
    return static_cast<Byte>(bits);
  }
  static void store(std::byte* y, std::int64_t i, Byte value) {
    const auto bits = static_cast<std::byte>(value) & std::byte{0xF};
    y[i / 2] = i % 2 == 0 ? bits : y[i / 2] | bits << 4;
  }
};
using Int4 = HalfBytes<std::int8_t>;
using UInt4 = HalfBytes<std::uint8_t>;

template <class T>
inline constexpr bool kIsHalfFloat = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// Float to integer.
template <class To, int kBits>
To cut(double value) {
  constexpr bool kSigned = std::is_signed_v<To>;
  constexpr double kEnd = static_cast<double>(std::uint64_t{1} << (kBits - 1)) * (kSigned ? 1 : 2);
  constexpr double kBegin = kSigned ? -kEnd : 0;
  constexpr auto kMost = static_cast<To>(std::numeric_limits<std::uint64_t>::max() >> (64 - kBits + (kSigned ? 1 : 0)));
  if (std::isnan(value)) return 0;
  const double whole = std::trunc(value);
  if (whole <= kBegin) return static_cast<To>(kBegin);
  return whole >= kEnd ? kMost : static_cast<To>(whole);
}

/// An integer as a binary64 that rounds to 16-bit floats as the integer does: of what binary64 cannot hold, one bit
/// remembers that it was there.
template <class Integer>
double with_sticky_bit(Integer value) {
  if constexpr (sizeof(Integer) < sizeof(double)) {
    return static_cast<double>(value);
  } else {
    constexpr int kExtraBits = 64 - 53;
    const bool negative = value < 0;
    const auto bits = static_cast<std::uint64_t>(value);
    const std::uint64_t magnitude = negative ? std::uint64_t{0} - bits : bits;
    if (magnitude >> 53 == 0) return static_cast<double>(value);
    const bool has_rest = (magnitude & ((std::uint64_t{1} << kExtraBits) - 1)) != 0;
    const double rounded = static_cast<double>(magnitude >> kExtraBits | (has_rest ? 1 : 0)) * 0x1p11;
    return negative ? -rounded : rounded;
  }
}

template <class To, int kBits, class From>
To convert_element(From value) {
  if constexpr (std::is_integral_v<To>) {
    if constexpr (std::is_integral_v<From>) {
      return static_cast<To>(value);
    } else {
      return cut<To, kBits>(static_cast<double>(value));
    }
  } else if constexpr (kIsHalfFloat<To>) {
    if constexpr (std::is_integral_v<From>) {
      return To::from_double(with_sticky_bit(value));
    } else {
      return To::from_double(static_cast<double>(value));
    }
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To>
void convert(const std::byte* __restrict x, std::byte* __restrict y, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    To::store(y, i, convert_element<typename To::Value, To::kBits>(From::load(x, i)));
  }
}

/// Calls visitor.operator()<E>() with the Elements of a type that has a conversion; null for others.
template <class Visitor>
ConvertFunction visit_elements(ElementType type, const Visitor& visitor) {
  if (type == ElementType::i4) return visitor.template operator()<Int4>();
  if (type == ElementType::u4) return visitor.template operator()<UInt4>();
  if (!is_numeric(type)) return nullptr;
  return visit_numeric_type(type, [&]<class T>() { return visitor.template operator()<Elements<T>>(); });
}

/// The same bits without a sign.
template <class E>
struct WithoutSign {
  using Type = Elements<std::make_unsigned_t<typename E::Value>>;
};
template <class Byte>
struct WithoutSign<HalfBytes<Byte>> {
  using Type = UInt4;
};

/// convert() of two types, of which many pairs are one. Integers from integers are modulo 2^n: whether the result has a
/// sign shows in no bit of it, and whether the operand has one only in what a longer result has more.
template <class From, class To>
ConvertFunction find_conversion() {
  if constexpr (std::is_integral_v<typename From::Value> && std::is_integral_v<typename To::Value>) {
    using Bits = typename WithoutSign<To>::Type;
    if constexpr (To::kBits > From::kBits) return &convert<From, Bits>;
    return &convert<typename WithoutSign<From>::Type, Bits>;
  } else {
    return &convert<From, To>;
  }
}

/// A thread's share: even, so that no two threads write to one byte, and worth waking the thread for.
constexpr std::int64_t kElementsPerTask = 64 * 1024;

}  // namespace

ConvertFunction find_kernel(ElementType from, ElementType to) {
  return visit_elements(
      from, [to]<class From>() { return visit_elements(to, []<class To>() { return find_conversion<From, To>(); }); });
}

void run(ConvertFunction kernel, std::int64_t elements, const std::byte* x, std::byte* y, const ThreadPool& pool) {
  const std::int64_t tasks = (elements + kElementsPerTask - 1) / kElementsPerTask;
  pool.run(tasks, [&](std::int64_t task) {
    const std::int64_t begin = task * kElementsPerTask;
    kernel(x, y, begin, std::min(begin + kElementsPerTask, elements));
  });
}

}  // namespace binet::kernels::convert
