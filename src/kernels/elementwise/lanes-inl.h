// Room: kernels. How an operation meets the elements of a type: Lanes<Op, Element> has
//   T           what a lane holds in memory (16-bit floats: their bits)
//   Tag         the Highway tag of the widest vector it works on
//   apply       the operation on vectors of T, of Tag or any smaller one with at least two lanes
//   kTakesLong  whether that takes longer than loading and storing
//   kIsOneInstruction  whether it is a single quick one
//   Wide        where it is worth while to convert an operand once for several uses: what it is converted to. apply
//               then takes vectors of that, too, as the second operand or both; widen gives them.
#if defined(BINET_ELEMENTWISE_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_ELEMENTWISE_LANES_INL_H_
#undef BINET_ELEMENTWISE_LANES_INL_H_
#else
#define BINET_ELEMENTWISE_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernels/elementwise/operations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of bytes from memory, loaded once: they are used several times, and GCC would load them anew for each, which
/// costs more than a register where they lie across two cache lines.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from) {
  auto v = hn::LoadU(d, from);
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
  if constexpr (sizeof(hn::TFromD<D>) == 1) asm("" : "+v"(v.raw));
#endif
  return v;
}

/// Asks for the cache line that will be written some lines behind `y`. A store asks, too, but not before its turn: from
/// a far cache fewer lines are then on their way at a time. Only where such caches have been measured.
HWY_INLINE void fetch_to_write([[maybe_unused]] const std::byte* y) {
  [[maybe_unused]] constexpr std::size_t kAhead = 1024;
#if HWY_TARGET == HWY_AVX3
  __builtin_prefetch(y + kAhead, 1);
#endif
}

/// Asks for a line of an operand, `ahead` bytes before its turn. Beside streaming stores alone: others ask for their
/// lines as well, and gain nothing. Only where that has been measured.
HWY_INLINE void fetch_to_read([[maybe_unused]] const std::byte* x, [[maybe_unused]] std::size_t ahead) {
#if HWY_TARGET == HWY_AVX2
  __builtin_prefetch(x + ahead);
#endif
}

/// The value, in a register. Of a constant GCC would otherwise make a new copy for each row, and of an operand that is
/// used twice it would load each copy anew.
template <class V>
HWY_INLINE V kept(V v) {
#if HWY_TARGET == HWY_AVX3 && HWY_COMPILER_GCC_ACTUAL
  asm("" : "+v"(v.raw));
#endif
  return v;
}

template <class Op, class Element>
struct Lanes {
  static constexpr bool kTakesLong = false;
  static constexpr bool kIsOneInstruction = Op::template kIsOneInstruction<Element>;
  using T = Element;
  using Tag = hn::ScalableTag<T>;

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V apply(D d, V a, V b) {
    return Op::apply(d, a, b);
  }
};

/// binary16. Op's f32 result must round to binary16 as the exact result does: products are exact in f32, and of sums,
/// quotients and roots 24 bits are enough to round twice without harm (24 >= 2 * 11 + 2).
template <class Op>
struct Lanes<Op, Float16> {
  static constexpr bool kTakesLong = true;
  static constexpr bool kIsOneInstruction = false;
  using T = std::uint16_t;
  using Tag = hn::Rebind<std::uint16_t, hn::ScalableTag<float>>;

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V apply(D d, V a, V b) {
    const hn::Rebind<float, D> d_float;
    return narrow(d, Op::apply(d_float, widen(d_float, a), widen(d_float, b)));
  }

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  using Wide = float;

  template <class D, class VFloat = hn::Vec<hn::Rebind<float, D>>>
  requires(!std::is_same_v<hn::Vec<D>, VFloat>) static HWY_INLINE hn::Vec<D> apply(D d, hn::Vec<D> a, VFloat b) {
    const hn::Rebind<float, D> d_float;
    return narrow(d, Op::apply(d_float, widen(d_float, a), b));
  }
  template <class D, class VFloat = hn::Vec<hn::Rebind<float, D>>>
  requires(!std::is_same_v<hn::Vec<D>, VFloat>) static HWY_INLINE hn::Vec<D> apply(D d, VFloat a, VFloat b) {
    return narrow(d, Op::apply(hn::Rebind<float, D>(), a, b));
  }
#else
 private:
#endif

// Highway's conversions without F16C lose infinities and NaNs, and truncate: these do not.
#if HWY_TARGET == HWY_SSE4
  template <class DFloat, class V>
  static HWY_INLINE hn::Vec<DFloat> widen(DFloat d_float, V bits) {
    const hn::RebindToUnsigned<DFloat> d32;
    const hn::RebindToSigned<DFloat> d32i;
    const auto wide = hn::PromoteTo(d32, bits);
    const auto magnitude = hn::And(wide, hn::Set(d32, 0x7FFFu));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(wide, magnitude));
    const auto exponent_step = hn::Set(d32, (127u - 15u) << 23);
    const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), exponent_step);
    const auto special = hn::Add(normal, exponent_step);
    const auto subnormal =
        hn::BitCast(d32, hn::Mul(hn::ConvertTo(d_float, hn::BitCast(d32i, magnitude)), hn::Set(d_float, 0x1p-24f)));
    const auto finite = hn::IfThenElse(less(d32, magnitude, 0x0400u), subnormal, normal);
    return hn::BitCast(d_float, hn::Or(sign, hn::IfThenElse(less(d32, magnitude, 0x7C00u), finite, special)));
  }

  // Some forty instructions, of which there would be dozens of copies.
  template <class D, class VFloat>
  static HWY_NOINLINE hn::Vec<D> narrow(D d, VFloat value) {
    const hn::Rebind<float, D> d_float;
    const hn::RebindToUnsigned<decltype(d_float)> d32;
    const hn::RebindToSigned<decltype(d_float)> d32i;
    const auto bits = hn::BitCast(d32, value);
    const auto magnitude = hn::And(bits, hn::Set(d32, 0x7FFFFFFFu));
    const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
    // To nearest even: adds just under half, and one more where the lowest kept bit is 1; a carry moves the exponent
    // on.
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 1u));
    const auto rounding = hn::Set(d32, 0x0FFFu - ((127u - 15u) << 23));
    const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, rounding), odd));
    // The last bit of 0.5f is 2^-24, the unit of binary16's subnormals: the addition rounds to it.
    const auto half = hn::Set(d_float, 0.5f);
    const auto subnormal =
        hn::Sub(hn::BitCast(d32, hn::Add(hn::BitCast(d_float, magnitude), half)), hn::BitCast(d32, half));
    const auto finite = hn::IfThenElse(less(d32, magnitude, 0x38800000u), subnormal, normal);
    const auto special =
        hn::IfThenElse(less(d32, magnitude, 0x7F800001u), hn::Set(d32, 0x7C00u), hn::Set(d32, 0x7E00u));
    const auto rounded = hn::IfThenElse(less(d32, magnitude, 0x47800000u), finite, special);
    const auto low16 = hn::Or(sign, rounded);
    // DemoteTo saturates signed values: sign-extended, every 16-bit pattern passes unchanged.
    const auto extended = hn::ShiftRight<16>(hn::BitCast(d32i, hn::ShiftLeft<16>(low16)));
    return hn::BitCast(d, hn::DemoteTo(hn::RebindToSigned<D>(), extended));
  }

  /// Lanes under `limit`, for values and limits below 2^31: SSE compares signed integers only.
  template <class D32, class V>
  static HWY_INLINE hn::Mask<D32> less(D32 d32, V value, std::uint32_t limit) {
    const hn::RebindToSigned<D32> d32i;
    const auto mask = hn::Lt(hn::BitCast(d32i, value), hn::Set(d32i, static_cast<std::int32_t>(limit)));
    return hn::RebindMask(d32, mask);
  }
#else
  template <class DFloat, class V>
  static HWY_INLINE hn::Vec<DFloat> widen(DFloat d_float, V bits) {
    return hn::PromoteTo(d_float, hn::BitCast(hn::Rebind<hwy::float16_t, DFloat>(), bits));
  }

 private:
  template <class D, class VFloat>
  static HWY_INLINE hn::Vec<D> narrow(D d, VFloat value) {
    auto bits = hn::BitCast(d, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), value));
    // Converting into memory is one instruction, too, but takes Zen 4 twice as long as this and a store.
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
    asm("" : "+x"(bits.raw));
#endif
    return bits;
  }
#endif
};

#if HWY_TARGET == HWY_AVX3 && defined(BINET_HAS_AVX512_FP16)
/// binary16 as AVX512-FP16 multiplies it: rounded once to nearest even. It keeps subnormals even where the thread is
/// set to flush them, as the conversions above do, and takes no longer for them.
struct InstructionFloat16 {};

template <>
struct Lanes<Multiply, InstructionFloat16> {
  static constexpr bool kTakesLong = false;
  static constexpr bool kIsOneInstruction = true;
  using T = std::uint16_t;
  using Tag = hn::ScalableTag<T>;

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V apply(D /*d*/, V a, V b) {
    V y;
    asm("vmulph %1, %2, %0" : "=v"(y.raw) : "v"(a.raw), "v"(b.raw));
    return y;
  }
};
#endif

/// bfloat16. Even and odd elements are widened apart, as each is the upper half of an f32 already; the results are
/// rounded together, as 16-bit numbers. The CPU's own bfloat16 conversions are of no use here: they flush subnormals.
///
/// Op's f32 result must round to bfloat16 as the exact result does. Of sums, quotients and roots, 24 bits are enough to
/// round twice (24 >= 2 * 8 + 2). A product has 16 bits: f32 holds it exactly unless its last bit is under 2^-149, the
/// smallest f32. It is then under 2^-134, half of the smallest bfloat16, and f32 makes it 2^-134 at most: both ways
/// give 0.
template <class Op>
struct Lanes<Op, BFloat16> {
  static constexpr bool kTakesLong = true;
  static constexpr bool kIsOneInstruction = false;
  using T = std::uint16_t;
  using Tag = hn::ScalableTag<T>;

  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V apply(D d, V a, V b) {
    const hn::Repartition<float, D> d_float;
    a = kept(a);
    b = kept(b);
    const auto even = hn::BitCast(d, Op::apply(d_float, even_of(d_float, a), even_of(d_float, b)));
    const auto odd = hn::BitCast(d, Op::apply(d_float, odd_of(d_float, a), odd_of(d_float, b)));
    return round(d, upper_halves(d, even, odd), lower_halves(d, even, odd));
  }

 private:
  template <class DFloat, class V>
  static HWY_INLINE hn::Vec<DFloat> even_of(DFloat d_float, V bits) {
    const hn::RebindToUnsigned<DFloat> d32;
    return hn::BitCast(d_float, hn::ShiftLeft<16>(hn::BitCast(d32, bits)));
  }

  template <class DFloat, class V>
  static HWY_INLINE hn::Vec<DFloat> odd_of(DFloat d_float, V bits) {
    const hn::RebindToUnsigned<DFloat> d32;
    return hn::BitCast(d_float, hn::And(hn::BitCast(d32, bits), kept(hn::Set(d32, 0xFFFF0000u))));
  }

  /// The halves of f32 results in the order of the elements.
  template <class D, class V>
  static HWY_INLINE V upper_halves(D d, V even, V odd) {
#if HWY_TARGET == HWY_AVX3
    // A shuffle under a mask is one instruction, a shift and a blend are two.
    if constexpr (hn::MaxLanes(D()) == 32) {
      const V down = kept(V{_mm512_set4_epi32(0x0F0E0F0E, 0x0B0A0B0A, 0x07060706, 0x03020302)});
      return V{_mm512_mask_shuffle_epi8(odd.raw, kept_mask(kBytesOfEven), even.raw, down.raw)};
    }
#endif
    const hn::Repartition<std::uint32_t, D> d32;
    return hn::OddEven(odd, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(d32, even))));
  }
  template <class D, class V>
  static HWY_INLINE V lower_halves(D d, V even, V odd) {
#if HWY_TARGET == HWY_AVX3
    if constexpr (hn::MaxLanes(D()) == 32) {
      const V up = kept(V{_mm512_set4_epi32(0x0D0C0D0C, 0x09080908, 0x05040504, 0x01000100)});
      return V{_mm512_mask_shuffle_epi8(even.raw, kept_mask(~kBytesOfEven), odd.raw, up.raw)};
    }
#endif
    const hn::Repartition<std::uint32_t, D> d32;
    return hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(d32, odd))), even);
  }
  static constexpr std::uint64_t kBytesOfEven = 0x3333333333333333;
#if HWY_TARGET == HWY_AVX3
  static HWY_INLINE __mmask64 kept_mask(__mmask64 mask) {
#if HWY_COMPILER_GCC_ACTUAL
    asm("" : "+Yk"(mask));
#endif
    return mask;
  }
#endif

  /// The upper half rounded to nearest even: one more where the lower half is above 0x8000, or is 0x8000 and the upper
  /// half is odd. A NaN that comes out of an operation on widened elements has a lower half of zeros, as infinity has:
  /// it stays as it is.
  template <class D, class V>
  static HWY_INLINE V round(D d, V upper, V lower) {
    const auto one = kept(hn::Set(d, std::uint16_t{1}));
#if HWY_TARGET == HWY_AVX3
    const auto rest = hn::Or(lower, hn::And(upper, one));
    return hn::IfThenElse(hn::Gt(rest, kept(hn::Set(d, std::uint16_t{0x8000}))), hn::Add(upper, one), upper);
#else
    // Without unsigned comparisons: an even number loses the tie by having one taken from it, and the highest bit then
    // decides.
    const auto rest = hn::SaturatedSub(lower, hn::AndNot(upper, one));
    return hn::Add(upper, hn::ShiftRight<15>(rest));
#endif
  }
};

/// How far ahead an operand is fetched. The prefetchers end at a page, and where a line's arithmetic takes long, few
/// loads are on their way at a time, so that memory waits. Where it does not, twice as far is too much for memory.
template <class L>
inline constexpr std::size_t kFetchedAhead = L::kIsOneInstruction ? 1536 : 3072;

/// Whether an operand that is used several times may be converted before.
template <class L>
inline constexpr bool kWidens = requires {
  typename L::Wide;
};

/// Whether operands are converted before shuffles repeat them. That leaves twice as many vectors to be shuffled: with
/// vectors of 32 bytes these take longer than the conversions (1.3 to 1.7 times the time of a tile on Zen 3).
template <class L>
inline constexpr bool kShufflesWide = kWidens<L>&& HWY_TARGET != HWY_AVX2;

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
