// Room: kernels. The operations on vectors, one functor each; and the choice among them.
//
// A functor works on vectors of f32, f64 or integers; lanes-inl.h brings f16 and bf16 to f32 and back. kSignMatters
// says whether i32 and u32 (and so on) need different code, kCommutes whether the operands may change places.
#if defined(BINET_ELEMENTWISE_OPERATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_ELEMENTWISE_OPERATIONS_INL_H_
#undef BINET_ELEMENTWISE_OPERATIONS_INL_H_
#else
#define BINET_ELEMENTWISE_OPERATIONS_INL_H_
#endif

#include <hwy/highway.h>

#include "kernels/elementwise/elementwise.h"
#include "kernels/multiply_u64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Multiply {
  static constexpr bool kSignMatters = false;
  static constexpr bool kCommutes = true;
  /// Of vectors of T; AVX-512's product of 64 bits, which is one, takes several times as long as others.
  template <class T>
  static constexpr bool kIsOneInstruction = hwy::IsFloat<T>() || sizeof(T) == 2 || sizeof(T) == 4;

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V apply(D d, V a, V b) {
    if constexpr (sizeof(hn::TFromD<D>) == 1) {
      return multiply_bytes(d, a, b);
    } else if constexpr (sizeof(hn::TFromD<D>) == 8 && !hwy::IsFloat<hn::TFromD<D>>()) {
      return kernels::HWY_NAMESPACE::MultiplyU64(a, b);
    } else {
      return a * b;
    }
  }

 private:
  // No target multiplies bytes. In each 16-bit lane the low byte of the lanes' product is the even byte's product; with
  // the even byte of one factor cleared and the other shifted down, the high byte is the odd byte's.
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V multiply_bytes(D d, V a, V b) {
    const hn::Repartition<std::uint16_t, D> d16;
    const auto a16 = hn::BitCast(d16, a);
    const auto b16 = hn::BitCast(d16, b);
    const auto low_bytes = hn::Set(d16, std::uint16_t{0x00FF});
    const auto even = hn::Mul(a16, b16);
    const auto odd = hn::Mul(hn::ShiftRight<8>(a16), hn::AndNot(low_bytes, b16));
#if HWY_TARGET == HWY_AVX2
    // One instruction, where one that clears and one that joins are two.
    return hn::IfThenElse(hn::MaskFromVec(hn::BitCast(d, low_bytes)), hn::BitCast(d, even), hn::BitCast(d, odd));
#else
    return hn::BitCast(d, hn::Or(hn::And(even, low_bytes), odd));
#endif
  }
};

struct Add {
  static constexpr bool kSignMatters = false;
  static constexpr bool kCommutes = true;
  template <class T>
  static constexpr bool kIsOneInstruction = true;

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V apply(D /*d*/, V a, V b) {
    return hn::Add(a, b);
  }
};

/// Calls visitor.operator()<Op>() with the functor of `operation`.
template <class Visitor>
Kernel visit_operation(Operation operation, const Visitor& visitor) {
  switch (operation) {
    case Operation::multiply:
      break;
    case Operation::add:
      return visitor.template operator()<Add>();
  }
  return visitor.template operator()<Multiply>();
}

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
