// Room: kernels. The operands of a row of y, one that moves with it and one that stays, as vectors.
#if defined(BINET_ELEMENTWISE_ROW_OPERANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_ELEMENTWISE_ROW_OPERANDS_INL_H_
#undef BINET_ELEMENTWISE_ROW_OPERANDS_INL_H_
#else
#define BINET_ELEMENTWISE_ROW_OPERANDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstring>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// An operand that moves with y.
template <class T>
class Moving {
 public:
  static constexpr bool kStays = false, kIsConverted = false;
  static constexpr std::int64_t kSize = sizeof(T);
  explicit Moving(const std::byte* start) : start_(start) {}

  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    return load(d, reinterpret_cast<const T*>(start_ + i * sizeof(T)));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> first(D d) const {
    T value;
    std::memcpy(&value, start_, sizeof(T));
    return hn::Set(d, value);
  }
  static const std::byte* place(const std::byte* start, std::size_t i) { return start + i * sizeof(T); }
  HWY_INLINE void fetch(std::size_t i, std::size_t ahead) const { fetch_to_read(start_ + i * sizeof(T), ahead); }
#if HWY_TARGET == HWY_AVX3
  /// The last `tail` of n elements, and the first ones of `next`.
  template <class D>
  HWY_INLINE hn::Vec<D> joined(D d, std::size_t n, std::size_t tail, const Moving& next) const {
    if (next.start_ == start_ + n * sizeof(T)) return at(d, n - tail);
    const auto here = hn::FirstN(d, tail);
    const auto ends = hn::MaskedLoad(here, d, reinterpret_cast<const T*>(start_ + (n - tail) * sizeof(T)));
    const auto begins = hn::MaskedLoad(hn::Not(here), d, reinterpret_cast<const T*>(next.start_ - tail * sizeof(T)));
    return hn::IfThenElse(here, ends, begins);
  }
#endif

 private:
  const std::byte* start_;
};

/// An operand of T that moves with y and has been converted to Wide.
template <class T, class Wide>
class MovingWide {
 public:
  static constexpr bool kStays = false, kIsConverted = true;
  static constexpr std::int64_t kSize = sizeof(Wide);
  explicit MovingWide(const std::byte* start) : start_(start) {}

  template <class D>
  HWY_INLINE auto at(D /*d*/, std::size_t i) const {
    return hn::LoadU(hn::Rebind<Wide, D>(), reinterpret_cast<const Wide*>(start_) + i);
  }
  template <class D>
  HWY_INLINE auto first(D /*d*/) const {
    return hn::Set(hn::Rebind<Wide, D>(), *reinterpret_cast<const Wide*>(start_));
  }
  static const std::byte* place(const std::byte* start, std::size_t i) { return start + i * sizeof(Wide); }
  HWY_INLINE void fetch(std::size_t /*i*/, std::size_t /*ahead*/) const {}

 private:
  const std::byte* start_;
};

/// An operand that stays.
template <class T>
class Fixed {
 public:
  static constexpr bool kStays = true, kIsConverted = false;
  static constexpr std::int64_t kSize = sizeof(T);
  explicit Fixed(const std::byte* value) { std::memcpy(&value_, value, sizeof(T)); }

  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t) const {
    return hn::Set(d, value_);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> first(D d) const {
    return hn::Set(d, value_);
  }
  static const std::byte* place(const std::byte* value, std::size_t) { return value; }
  HWY_INLINE void fetch(std::size_t, std::size_t) const {}
  template <class D>
  HWY_INLINE hn::Vec<D> joined(D d, std::size_t, std::size_t tail, const Fixed& next) const {
    return hn::IfThenElse(hn::FirstN(d, tail), hn::Set(d, value_), hn::Set(d, next.value_));
  }

 private:
  T value_;
};

/// An operand that stays over a row of n elements, and goes on as another one.
template <class T>
class TwoFixed {
 public:
  static constexpr bool kStays = true;
  TwoFixed(const Fixed<T>& first, const Fixed<T>& second, std::size_t n) : first_(first), second_(second), n_(n) {}

  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    return first_.joined(d, n_, i < n_ ? HWY_MIN(n_ - i, hn::Lanes(d)) : 0, second_);
  }
  HWY_INLINE void fetch(std::size_t, std::size_t) const {}

 private:
  const Fixed<T>& first_;
  const Fixed<T>& second_;
  std::size_t n_;
};

/// From row to row, in bytes. Not read from Rows in each turn: stores of vectors may change anything, as far as
/// compilers know, and stores whose address has to be loaded first hold up all loads behind them (1.05 to 1.4 times the
/// time of short rows on Zen 5).
template <class A, class B>
class RowSteps {
 public:
  HWY_INLINE RowSteps(const Rows& rows, std::int64_t element_bytes)
      : a_(rows.a_row_step * A::kSize), b_(rows.b_row_step * B::kSize), y_(rows.elements * element_bytes) {}

  [[nodiscard]] HWY_INLINE const std::byte* next_a(const std::byte* a) const { return a + a_; }
  [[nodiscard]] HWY_INLINE const std::byte* next_b(const std::byte* b) const { return b + b_; }
  HWY_INLINE void take(const std::byte*& a, const std::byte*& b, std::byte*& y) const {
    a = next_a(a);
    b = next_b(b);
    y += y_;
  }

 private:
  std::int64_t a_;
  std::int64_t b_;
  std::int64_t y_;
};

template <class L>
using LaneOf = typename L::T;

template <class L>
HWY_INLINE LaneOf<L>* at(std::byte* y, std::size_t i) {
  return reinterpret_cast<LaneOf<L>*>(y + i * sizeof(LaneOf<L>));
}

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
