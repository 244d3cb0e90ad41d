// Room: kernels. Lines of a streamed y that are the end of one vector of results and the beginning of the next: what is
// shuffled in registers has its places in a vector, wherever in a line of y it begins. With AVX-512 alone, whose
// vectors are as long as lines.
#if defined(BINET_ELEMENTWISE_JOINED_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_ELEMENTWISE_JOINED_LINES_INL_H_
#undef BINET_ELEMENTWISE_JOINED_LINES_INL_H_
#else
#define BINET_ELEMENTWISE_JOINED_LINES_INL_H_
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernels/elementwise/open_line.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class L>
inline constexpr std::size_t kBytesOfVector = hn::MaxLanes(typename L::Tag()) * sizeof(typename L::T);

/// Of elements of one byte, on CPUs that have VBMI.
template <class L>
struct WithVbmi : L {
  static constexpr bool kHasVbmi = true;
};

template <class L>
concept HasVbmi = requires {
  L::kHasVbmi;
};

/// Whether a vector is a line, and can be made of two others.
template <class L>
inline constexpr bool kCanJoinChunks = (HWY_TARGET == HWY_AVX3) && kBytesOfVector<L> == 64 &&
                                       (sizeof(typename L::T) > 1 || HasVbmi<L>);

#if HWY_TARGET == HWY_AVX3
/// The bytes [begin, end) of a line of y, which wait for the others.
HWY_NOINLINE inline void write_part(__m512i bytes, std::int64_t begin, std::int64_t end, std::byte* y, OpenLine& line) {
  const __mmask64 wanted = _bzhi_u64(~std::uint64_t{0} << begin, static_cast<unsigned>(end));
  _mm512_mask_storeu_epi8(line.place_of(y), wanted, bytes);
  line.advance(y + end);
}

/// Lines of y that are the end of one vector and the beginning of the next.
template <class D>
class JoinedChunks {
  using V = hn::Vec<D>;
  static constexpr std::size_t kSize = sizeof(hn::TFromD<D>);
  using Index =
      std::conditional_t<kSize == 1, std::uint8_t, std::conditional_t<kSize == 2, std::uint16_t, std::uint32_t>>;
  using DIndex = hn::ScalableTag<Index>;

 public:
  /// `end`: how many elements of a line are the end of a vector.
  explicit JoinedChunks(std::size_t end) {
    const std::size_t first = 64 / sizeof(Index) - end * kSize / sizeof(Index);
    places_ = hn::Iota(DIndex(), static_cast<Index>(first));
  }

  HWY_INLINE V line(V before, V v) const {
    const DIndex d;
    const auto from = hn::BitCast(d, before).raw;
    const auto and_from = hn::BitCast(d, v).raw;
    __m512i y = places_.raw;
    if constexpr (sizeof(Index) == 1) {
      asm("vpermi2b %2, %1, %0" : "+v"(y) : "v"(from), "v"(and_from));
    } else if constexpr (sizeof(Index) == 2) {
      y = _mm512_permutex2var_epi16(from, y, and_from);
    } else {
      y = _mm512_permutex2var_epi32(from, y, and_from);
    }
    return hn::BitCast(D(), hn::Vec<DIndex>{y});
  }

 private:
  hn::Vec<DIndex> places_;
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
