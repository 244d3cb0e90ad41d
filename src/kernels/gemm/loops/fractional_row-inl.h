// Room: kernels, per target. The last step of integers with a fractional factor, in f64 (scale.h has the rule).
#if defined(BINET_KERNELS_GEMM_LOOPS_FRACTIONAL_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_FRACTIONAL_ROW_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_FRACTIONAL_ROW_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_FRACTIONAL_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/scale.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of f64 from numbers of 32 bits, and back. Unsigned ones become signed ones that are 2^31 less, and are so
/// much more as f64.
template <class D>
class NumbersOf32Bits {
 public:
  using V = hn::Vec<D>;
  explicit HWY_INLINE NumbersOf32Bits(bool are_signed)
      : offset_(hn::Set(D(), are_signed ? 0.0 : 0x1p31)),
        begin_(hn::Set(D(), are_signed ? -0x1p31 : 0.0)),
        end_(hn::Set(D(), are_signed ? 0x1p31 - 1 : 0x1p32 - 1)),
        sign_(hn::Set(kInt, are_signed ? 0 : INT32_MIN)) {}

  HWY_INLINE V Widen(hn::Vec<hn::Rebind<uint32_t, D>> bits) const {
    return hn::Add(hn::PromoteTo(D(), hn::Xor(hn::BitCast(kInt, bits), sign_)), offset_);
  }
  /// Of a number that is no NaN.
  HWY_INLINE hn::Vec<hn::Rebind<uint32_t, D>> Cut(V value) const {
    const V whole = hn::Trunc(hn::Min(hn::Max(value, begin_), end_));
    const auto less = hn::DemoteTo(kInt, hn::Sub(whole, offset_));
    return hn::BitCast(hn::Rebind<uint32_t, D>(), hn::Xor(less, sign_));
  }

 private:
  static constexpr hn::Rebind<int32_t, D> kInt{};
  const V offset_, begin_, end_;
  const hn::Vec<hn::Rebind<int32_t, D>> sign_;
};

/// The same of 64 bits, by halves: as the last bits of 2^52, and of 2^84, each is a number that is exact, and their sum
/// is rounded once.
template <class D>
class NumbersOf64Bits {
 public:
  using V = hn::Vec<D>;
  using Bits = hn::Vec<hn::Rebind<uint64_t, D>>;
  explicit HWY_INLINE NumbersOf64Bits(bool are_signed)
      : begin_(hn::Set(D(), are_signed ? -0x1p63 : 0.0)),
        end_(hn::Set(D(), are_signed ? 0x1p63 : 0x1p64)),
        both_(hn::Set(D(), are_signed ? 0x1p84 + 0x1p63 + 0x1p52 : 0x1p84 + 0x1p52)),
        sign_(hn::Set(kBits, are_signed ? uint64_t{1} << 63 : 0)),
        most_(hn::Set(kBits, are_signed ? ~uint64_t{0} >> 1 : ~uint64_t{0})) {}

  HWY_INLINE V Widen(Bits bits) const {
    const Bits above = hn::Xor(bits, sign_);  // signed ones are 2^63 more
    const Bits high = hn::Or(hn::ShiftRight<32>(above), hn::BitCast(kBits, hn::Set(D(), 0x1p84)));
    const Bits low = hn::Or(hn::And(above, LowHalf()), hn::BitCast(kBits, hn::Set(D(), 0x1p52)));
    return hn::Add(hn::Sub(hn::BitCast(D(), high), both_), hn::BitCast(D(), low));
  }
  HWY_INLINE Bits Cut(V value) const {
    const V whole = hn::Trunc(hn::Max(value, begin_));
    const V high = hn::Floor(hn::Mul(whole, hn::Set(D(), 0x1p-32)));
    const V low = hn::Sub(whole, hn::Mul(high, hn::Set(D(), 0x1p32)));
    const Bits high_bits = hn::BitCast(kBits, hn::Add(high, hn::Set(D(), 0x1.8p52)));  // two's complement
    const Bits low_bits = hn::BitCast(kBits, hn::Add(low, hn::Set(D(), 0x1p52)));
    const Bits bits = hn::Or(hn::ShiftLeft<32>(high_bits), hn::And(low_bits, LowHalf()));
    return hn::IfThenElse(hn::RebindMask(kBits, hn::Ge(value, end_)), most_, bits);
  }

 private:
  static constexpr hn::Rebind<uint64_t, D> kBits{};
  static HWY_INLINE Bits LowHalf() { return hn::Set(kBits, 0xFFFFFFFFu); }
  const V begin_, end_, both_;
  const Bits sign_, most_;
};

/// For uint32_t and uint64_t. Elements of Y lie side by side; C may be null.
template <class T>
HWY_NOINLINE void FinishFractionalRow(const T* sums, size_t n, T* y, const T* c, int64_t c_step, const Scale& scale) {
  size_t i = 0;
#if !BINET_IS_OLD_TARGET
  using D = hn::ScalableTag<double>;
  if (n < hn::MaxLanes(D()) || (c != nullptr && c_step > 1)) return finish_fractional_row(sums, n, y, c, c_step, scale);
  using V = hn::Vec<D>;
  using Numbers = std::conditional_t<sizeof(T) == 4, NumbersOf32Bits<D>, NumbersOf64Bits<D>>;
  constexpr size_t kLanes = hn::MaxLanes(D());
  const hn::Rebind<T, D> of_elements;
  const Numbers numbers(scale.is_signed);
  const V alpha = hn::Set(D(), static_cast<double>(scale.alpha)), beta = hn::Set(D(), static_cast<double>(scale.beta));
  for (; i + kLanes <= n; i += kLanes) {
    V value = hn::Mul(numbers.Widen(hn::LoadU(of_elements, sums + i)), alpha);
    if (c != nullptr) {
      const auto old = c_step == 0 ? hn::Set(of_elements, LoadOne(c)) : hn::LoadU(of_elements, c + i);
      value = hn::Add(value, hn::Mul(numbers.Widen(old), beta));
    }
    hn::StoreU(numbers.Cut(hn::IfThenElseZero(hn::Eq(value, value), value)), of_elements, y + i);
  }
#endif
  if (c != nullptr) c += static_cast<int64_t>(i) * c_step;
  finish_fractional_row(sums + i, n - i, y + i, c, c_step, scale);
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
