// Compiled for the machine at hand, so nothing is chosen at run time.
#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "base/target.h"
#include "kernels/elementwise/bench/limits.h"
#include "kernels/elementwise/operations-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise::bench {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kLine = 64;

/// The elements of a vector as f32: two vectors, in the order that suits the format.
template <class D>
struct Wide {
  using V = hn::Vec<D>;
  V first;
  V second;
};

template <class D>
HWY_INLINE Wide<D> multiply(const Wide<D>& a, const Wide<D>& b) {
  return {hn::Mul(a.first, b.first), hn::Mul(a.second, b.second)};
}

/// By the conversions of the CPU, from memory to memory; to vectors of D.
template <class D>
struct F16 {
  static constexpr std::uint16_t kOne = 0x3C00;
  using Floats = D;
  using Half = hn::Rebind<hwy::float16_t, Floats>;

  static HWY_INLINE Wide<D> widen(const std::uint16_t* from) {
    const auto* const x = reinterpret_cast<const hwy::float16_t*>(from);
    const Half half;
    return {hn::PromoteTo(Floats(), hn::LoadU(half, x)), hn::PromoteTo(Floats(), hn::LoadU(half, x + hn::Lanes(half)))};
  }
  static HWY_INLINE void narrow(const Wide<D>& x, std::uint16_t* to) {
    auto* const y = reinterpret_cast<hwy::float16_t*>(to);
    const Half half;
    auto first = hn::DemoteTo(half, x.first);
    auto second = hn::DemoteTo(half, x.second);
    // Zen 4 takes longer to convert into memory than to convert and store.
#if HWY_ARCH_X86 && HWY_COMPILER_GCC_ACTUAL
    asm("" : "+x"(first.raw), "+x"(second.raw));
#endif
    hn::StoreU(first, half, y);
    hn::StoreU(second, half, y + hn::Lanes(half));
  }
};

/// Even and odd elements apart; rounded to nearest even together, in the fewest instructions known that keep
/// subnormals.
struct BF16 {
  static constexpr std::uint16_t kOne = 0x3F80;
  using Floats = hn::ScalableTag<float>;
  using Bits = hn::ScalableTag<std::uint16_t>;
  using Words = hn::ScalableTag<std::uint32_t>;

  static HWY_INLINE Wide<Floats> widen(const std::uint16_t* from) {
    const auto x = hn::BitCast(Words(), hn::LoadU(Bits(), from));
    return {hn::BitCast(Floats(), hn::ShiftLeft<16>(x)),
            hn::BitCast(Floats(), hn::And(x, hn::Set(Words(), 0xFFFF0000u)))};
  }
  static HWY_INLINE void narrow(const Wide<Floats>& x, std::uint16_t* to) {
    const Bits d;
    const auto one = hn::Set(d, std::uint16_t{1});
    const auto even = hn::BitCast(d, x.first);
    const auto odd = hn::BitCast(d, x.second);
#if HWY_TARGET <= HWY_AVX3
    const __m512i down = _mm512_set4_epi32(0x0F0E0F0E, 0x0B0A0B0A, 0x07060706, 0x03020302);
    const __m512i up = _mm512_set4_epi32(0x0D0C0D0C, 0x09080908, 0x05040504, 0x01000100);
    const hn::Vec<Bits> upper{_mm512_mask_shuffle_epi8(odd.raw, 0x3333333333333333, even.raw, down)};
    const hn::Vec<Bits> lower{_mm512_mask_shuffle_epi8(even.raw, 0xCCCCCCCCCCCCCCCC, odd.raw, up)};
    const auto rest = hn::Or(lower, hn::And(upper, one));
    const auto is_more = hn::Gt(rest, hn::Set(d, std::uint16_t{0x8000}));
    hn::StoreU(hn::IfThenElse(is_more, hn::Add(upper, one), upper), d, to);
#else
    const auto upper = hn::OddEven(odd, hn::BitCast(d, hn::ShiftRight<16>(hn::BitCast(Words(), even))));
    const auto lower = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(Words(), odd))), even);
    const auto rest = hn::SaturatedSub(lower, hn::AndNot(upper, one));
    hn::StoreU(hn::Add(upper, hn::ShiftRight<15>(rest)), d, to);
#endif
  }
};

/// What fits a first-level cache three times.
constexpr std::int64_t kBytes = 4096;
using Operand = std::array<std::uint16_t, kBytes / sizeof(std::uint16_t)>;

using WideOperand = std::array<float, kBytes / sizeof(std::uint16_t)>;

/// How an operand of products comes.
enum class As {
  elements,  ///< to be widened for each
  widened,   ///< before it is repeated
  one,       ///< element, in a register
};

template <class Format, As kAs>
struct Source {
  using D = typename Format::Floats;

  alignas(kLine) Operand elements;
  alignas(kLine) WideOperand widened;

  Source() {
    elements.fill(Format::kOne);
    widened.fill(1);
  }
  HWY_INLINE Wide<D> at(std::int64_t i) const {
    if constexpr (kAs == As::elements) return Format::widen(elements.data() + i);
    const D d;
    if constexpr (kAs == As::one) i = 0;
    return {hn::Load(d, widened.data() + i), hn::Load(d, widened.data() + i + hn::Lanes(d))};
  }
};

template <class Format, As kA, As kB>
HWY_NOINLINE void products(std::byte* y, std::int64_t length) {
  static const Source<Format, kA> a;
  static const Source<Format, kB> b;
  const auto N = 2 * static_cast<std::int64_t>(hn::Lanes(typename Format::Floats()));
  auto* const to = reinterpret_cast<std::uint16_t*>(y);
  for (std::int64_t at = 0; at < length; at += kBytes) {
    const std::int64_t n = std::min(kBytes, length - at) / static_cast<std::int64_t>(sizeof(std::uint16_t));
    for (std::int64_t i = 0; i < n; i += N) Format::narrow(multiply(a.at(i), b.at(i)), to + at / 2 + i);
  }
}

/// How operands come at best: what is long, and stays over the innermost loop, in a register; what is repeated
/// otherwise, widened.
As best_source(const BroadcastPlan& plan, std::int64_t BroadcastLoop::*step) {
  if (plan.loops.empty()) return As::elements;
  const bool is_long = plan.loops.back().extent >= kLine / static_cast<std::int64_t>(sizeof(std::uint16_t));
  if (is_long && plan.loops.back().*step == 0) return As::one;
  const bool repeats =
      std::any_of(plan.loops.begin(), plan.loops.end(), [step](const BroadcastLoop& loop) { return loop.*step == 0; });
  return repeats ? As::widened : As::elements;
}

/// As many products as `length` bytes hold, all of them with the same operands. They commute.
template <class Format>
void walk(const Operands& p, std::byte* y, std::int64_t length) {
  const As a = best_source(p.plan, &BroadcastLoop::a_step);
  const As b = best_source(p.plan, &BroadcastLoop::b_step);
  const auto is = [&](As x, As z) { return (a == x && b == z) || (a == z && b == x); };
  if (is(As::elements, As::one)) return products<Format, As::elements, As::one>(y, length);
  if (is(As::elements, As::widened)) return products<Format, As::elements, As::widened>(y, length);
  if (is(As::widened, As::one)) return products<Format, As::widened, As::one>(y, length);
  if (is(As::widened, As::widened)) return products<Format, As::widened, As::widened>(y, length);
  products<Format, As::elements, As::elements>(y, length);
}

void walk_f16(const Operands& p, std::byte* y, std::int64_t length) {
  constexpr std::size_t kAvx2Lanes = 8;
  const bool by_avx2 = target_for_f16_conversions(default_target()) != default_target();
  by_avx2 ? walk<F16<hn::CappedTag<float, kAvx2Lanes>>>(p, y, length) : walk<F16<hn::ScalableTag<float>>>(p, y, length);
}

/// Integers that the CPU multiplies in several steps: a vector at a time, as the kernels do.
template <class T>
void walk_integers(std::byte* y, std::int64_t length) {
  const hn::ScalableTag<T> d;
  const auto N = static_cast<std::int64_t>(hn::Lanes(d));
  alignas(kLine) static const auto ones = [] {
    std::array<std::array<T, kBytes / sizeof(T)>, 2> both;
    for (auto& x : both) x.fill(1);
    return both;
  }();
  auto* const to = reinterpret_cast<T*>(y);
  for (std::int64_t at = 0; at < length; at += kBytes) {
    const std::int64_t n = std::min(kBytes, length - at) / static_cast<std::int64_t>(sizeof(T));
    for (std::int64_t i = 0; i < n; i += N) {
      const auto a = hn::Load(d, ones[0].data() + i), b = hn::Load(d, ones[1].data() + i);
      hn::StoreU(HWY_NAMESPACE::Multiply::apply(d, a, b), d, to + at / static_cast<std::int64_t>(sizeof(T)) + i);
    }
  }
}

}  // namespace

bool has_arithmetic_limit(ElementType type) {
  switch (type) {
    case ElementType::f16:
      return !has_f16_arithmetic(default_target());
    case ElementType::bf16:
    case ElementType::i8:
    case ElementType::u8:
    case ElementType::i32:
    case ElementType::u32:
    case ElementType::i64:
    case ElementType::u64:
      return true;
    default:
      return false;
  }
}

void arithmetic_limit(const Operands& p, const ThreadPool& pool) {
  const auto lines = static_cast<std::int64_t>(round_up_to_cache_line(p.y.size())) / kLine;
  in_parallel(pool, lines, [&](std::int64_t begin, std::int64_t count) {
    std::byte* const y = p.y.data() + begin * kLine;
    switch (byte_size(p.type)) {
      case 1:
        return walk_integers<std::uint8_t>(y, count * kLine);
      case 2:
        return p.type == ElementType::f16 ? walk_f16(p, y, count * kLine) : walk<BF16>(p, y, count * kLine);
      case 4:
        return walk_integers<std::uint32_t>(y, count * kLine);
      default:
        return walk_integers<std::uint64_t>(y, count * kLine);
    }
  });
}

}  // namespace binet::kernels::elementwise::bench
HWY_AFTER_NAMESPACE();
