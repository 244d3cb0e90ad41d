// Room: kernels, AVX-512 with IFMA and VBMI. 64-bit products by vpmadd52luq and vpmadd52huq, which multiply the lower
// 52 bits of two numbers and add the lower 52 bits of the product, or those above.
//
// With a = ah * 2^52 + al and b = bh * 2^52 + bl, modulo 2^64
//
//   a * b = al * bl + (al * bh + ah * bl) * 2^52
//
// The first product takes two instructions, and what its upper one adds belongs to the sum that counts 2^52. For the
// others the lower 12 bits of al and bl do, and one instruction forms both, from a number x made of each:
//
//   x(a) = (al mod 2^12) * 2^16 + ah * 2^40      x(b) = (bl mod 2^12) * 2^12 + bh * 2^36
//
// In their product, al * bl * 2^28 + (al * bh + ah * bl) * 2^52 + ah * bh * 2^76 of these parts, the first term stays
// below bit 52, and the last one adds, from bit 52 on, a multiple of 2^24, which is lost when the sum is shifted by 52.
//
// x(a) is packed beside a. x(b) is formed from b in two instructions, one of them of VBMI, for each 18 others: packed,
// it would double the bytes of weights, and a product of few rows is as fast as they can be read.
#if defined(BINET_KERNELS_GEMM_LOOPS_MULTIPLY_ADD_52_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_MULTIPLY_ADD_52_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_MULTIPLY_ADD_52_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_MULTIPLY_ADD_52_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/loops/pack-inl.h"
#include "kernels/gemm/loops/two_sums_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3

struct MultiplyAdd52 {
  using T = uint64_t;
  static constexpr int64_t kGroup = 1, kRowsOfB = 1;
  static constexpr int kShift = 52;

  /// x(b). Byte by byte, the instruction takes eight bits from any place in b.
  template <class D, class V>
  static HWY_INLINE V SecondPart(D d, const T*, V b) {
    V bits;
    asm("vpmultishiftqb %2, %1, %0" : "=v"(bits.raw) : "v"(hn::Set(d, 0x3830'0004'3C00).raw), "v"(b.raw));
    return hn::And(bits, hn::Set(d, 0xFFF000FFF000));
  }

  template <class V>
  static HWY_INLINE void Add(V a0, V a1, V b0, V b1, V& low, V& high) {
    low = AddLower(low, a0, b0);
    high = AddUpper(high, a0, b0);
    high = AddUpper(high, a1, b1);
  }

 private:
  // Assembly for the reasons given for VNNI in pair_dots-inl.h.
  template <class V>
  static HWY_INLINE V AddLower(V sum, V a, V b) {
    asm("vpmadd52luq %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    return sum;
  }
  template <class V>
  static HWY_INLINE V AddUpper(V sum, V a, V b) {
    asm("vpmadd52huq %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    return sum;
  }
};

// ---- packing A: a row of numbers, and a row of their x

template <class D>
HWY_INLINE hn::Vec<D> BothEnds(D d, hn::Vec<D> v) {
  const auto lower = hn::And(hn::ShiftLeft<16>(v), hn::Set(d, uint64_t{0xFFF} << 16));
  return hn::Or(lower, hn::ShiftLeft<40>(hn::ShiftRight<52>(v)));
}

/// Lanes side by side in memory, two at a time.
template <size_t kWidth>
void PackPanelWithEnds(const uint64_t* from, const Packing& packing, size_t lanes, uint64_t* to) {
  const hn::CappedTag<uint64_t, 2> d;
  for (int64_t k = 0; k < packing.k; ++k, from += packing.k_step, to += 2 * kWidth) {
    for (size_t i = 0; i < lanes; i += 2) {
      const auto v = i + 2 <= lanes ? LoadAny(d, from + i) : LoadFirst(d, from + i, 1);
      hn::StoreU(v, d, to + i);
      hn::StoreU(BothEnds(d, v), d, to + kWidth + i);
    }
  }
}

/// Lanes(d) values of k of two lanes.
template <size_t kWidth, class D>
HWY_INLINE void TransposeWithEnds(D d, const uint64_t* lane0, const uint64_t* lane1, uint64_t* to) {
  hn::Vec<D> v[2] = {LoadAny(d, lane0), LoadAny(d, lane1)};
  TransposeBlocks(v);
  for (size_t c = 0; c < 2; ++c) {
    uint64_t* place = to + 2 * c * kWidth;
    StoreBlocks(v[c], d, place, 4 * kWidth);
    StoreBlocks(BothEnds(d, v[c]), d, place + kWidth, 4 * kWidth);
  }
}

/// k side by side in memory.
template <size_t kWidth>
void TransposePanelWithEnds(const uint64_t* from, const Packing& packing, size_t lanes, uint64_t* to) {
  const hn::ScalableTag<uint64_t> d;
  const hn::CappedTag<uint64_t, 2> d2;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  for (size_t lane = 0; lane < lanes; lane += 2) {
    const uint64_t* lane0 = from + static_cast<int64_t>(lane) * packing.lane_step;
    const uint64_t* lane1 = lane + 1 < lanes ? lane0 + packing.lane_step : lane0;
    uint64_t* place = to + lane;
    int64_t k = 0;
    for (; k + kLanes <= packing.k; k += kLanes, place += 2 * kLanes * int64_t{kWidth}) {
      TransposeWithEnds<kWidth>(d, lane0 + k, lane1 + k, place);
    }
    for (; k < packing.k; ++k, place += 2 * kWidth) {
      const auto v = hn::OddEven(hn::Set(d2, LoadOne(lane1 + k)), hn::Set(d2, LoadOne(lane0 + k)));
      hn::StoreU(v, d2, place);
      hn::StoreU(BothEnds(d2, v), d2, place + kWidth);
    }
  }
}

template <size_t kWidth>
void PackWithEnds(const Packing& packing) {
  const auto* from = reinterpret_cast<const uint64_t*>(packing.from);
  auto* to = reinterpret_cast<uint64_t*>(packing.to);
  for (int64_t lane = 0; lane < packing.lanes; lane += packing.panel_lanes, to += packing.panel_step) {
    const auto lanes = static_cast<size_t>(HWY_MIN(packing.panel_lanes, packing.lanes - lane));
    const uint64_t* panel = from + lane * packing.lane_step;
    if (packing.lane_step == 1) {
      PackPanelWithEnds<kWidth>(panel, packing, lanes, to);
    } else {
      TransposePanelWithEnds<kWidth>(panel, packing, lanes, to);
    }
  }
}

#endif  // HWY_TARGET == HWY_AVX3

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
