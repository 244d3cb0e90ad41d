// Room: kernels, AVX-512 with VNNI. 32-bit products from signed 16-bit halves, added in pairs by vpdpwssd.
//
// With a = ah * 2^16 + al and b = bh * 2^16 + bl, al and bl in -2^15..2^15-1, modulo 2^32
//
//   a * b = al * bl + (al * bh + ah * bl) * 2^16
//
// where the first product must be whole, and of the others the lower 16 bits do. Each instruction adds the products of
// two k: three of them do for two products.
//
// So the two parts of a group of two k, 32 bits each, are the pair (al of k, al of k + 1) and the pair of the ah. As al
// counts as signed, ah is one more where al is negative: (a + 2^15) / 2^16, cut. Where k + 1 is beyond the end it is 0;
// lanes that tiles read beyond the last are 0.
#if defined(BINET_KERNELS_GEMM_LOOPS_PAIR_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_PAIR_DOTS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_PAIR_DOTS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_PAIR_DOTS_INL_H_
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

struct PairDots {
  using T = uint32_t;
  static constexpr int64_t kGroup = 2, kRowsOfB = 2;
  static constexpr int kShift = 16;

  template <class D, class V>
  static HWY_INLINE V SecondPart(D d, const T* second_row, V) {
    return hn::LoadU(d, second_row);
  }

  template <class V>
  static HWY_INLINE void Add(V a0, V a1, V b0, V b1, V& low, V& high) {
    low = AddPairDots(low, a0, b0);
    high = AddPairDots(high, a0, b1);
    high = AddPairDots(high, a1, b0);
  }

 private:
  /// Assembly, because functions for AVX-512 alone have no leave to use VNNI, and GCC 12 keeps the sums of its built-in
  /// function in memory.
  template <class V>
  static HWY_INLINE V AddPairDots(V sum, V a, V b) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    return sum;
  }
};

/// Adds 1 to upper halves above a negative lower one, and leaves the lower ones alone.
template <class D>
HWY_INLINE hn::Vec<D> WithSignedLowerHalves(D d, hn::Vec<D> v) {
  const hn::Repartition<uint16_t, D> halves;
  const auto carried = hn::Add(v, hn::Set(d, 0x8000u));
  return hn::BitCast(d, hn::OddEven(hn::BitCast(halves, carried), hn::BitCast(halves, v)));
}

// ---- lanes side by side in memory

/// The two rows for k and k + 1 of `count` lanes.
template <size_t kWidth, class D>
HWY_INLINE void PackPairs(D d, const uint32_t* first, const uint32_t* second, size_t count, uint32_t* to) {
  constexpr size_t kLanes = hn::MaxLanes(d);
  static_assert(kWidth % kLanes == 0);
  const hn::Repartition<uint16_t, D> halves;
  const auto load = [&](const uint32_t* from, size_t i) HWY_ATTR {
    if (from == nullptr || i >= count) return hn::Zero(d);
    const auto v = i + kLanes <= count ? LoadAny(d, from + i) : LoadFirst(d, from + i, count - i);
    return WithSignedLowerHalves(d, v);
  };
  for (size_t i = 0; i < kWidth; i += kLanes) {
    const auto k0 = load(first, i), k1 = load(second, i);
    const auto low = hn::OddEven(hn::BitCast(halves, hn::ShiftLeft<16>(k1)), hn::BitCast(halves, k0));
    const auto high = hn::OddEven(hn::BitCast(halves, k1), hn::BitCast(halves, hn::ShiftRight<16>(k0)));
    hn::StoreU(hn::BitCast(d, low), d, to + i);
    hn::StoreU(hn::BitCast(d, high), d, to + kWidth + i);
  }
}

template <size_t kWidth>
void PackPanelOfPairs(const uint32_t* from, const Packing& packing, size_t lanes, uint32_t* to) {
  const hn::CappedTag<uint32_t, kWidth> d;
  for (int64_t k = 0; k < packing.k; k += 2, from += 2 * packing.k_step, to += 2 * kWidth) {
    PackPairs<kWidth>(d, from, k + 1 < packing.k ? from + packing.k_step : nullptr, lanes, to);
  }
}

// ---- k side by side in memory: the two numbers of each 64 bits become two words, which are then transposed

template <class D>
HWY_INLINE hn::Vec<D> PairsOfHalves(D d, hn::Vec<D> v) {
  const hn::Repartition<uint8_t, D> bytes;
  alignas(16) static constexpr uint8_t kOrder[16] = {0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15};
  const auto split = hn::BitCast(bytes, WithSignedLowerHalves(d, v));
  return hn::BitCast(d, hn::TableLookupBytes(split, hn::LoadDup128(bytes, kOrder)));
}

/// All k of four lanes; `count` of Lanes(d) values of k at a time.
template <size_t kWidth, class D>
HWY_INLINE void TransposePairs(D d, const uint32_t* const (&rows)[4], int64_t k, size_t count, uint32_t* to) {
  hn::Vec<D> v[4];
  for (size_t r = 0; r < 4; ++r) {
    const uint32_t* from = rows[r] + k;
    v[r] = PairsOfHalves(d, count == hn::Lanes(d) ? LoadAny(d, from) : LoadFirst(d, from, count));
  }
  TransposeBlocks(v);
  for (size_t c = 0; c < 4; ++c) StoreBlocks(v[c], d, to + c * kWidth, 4 * kWidth);
}

/// The last one to three k, which give two or four rows.
template <size_t kWidth>
HWY_INLINE void TransposeLastPairs(const uint32_t* const (&rows)[4], int64_t k, size_t count, uint32_t* to) {
  const hn::CappedTag<uint32_t, 4> d;
  alignas(16) uint32_t last[4 * 4];
  TransposePairs<4>(d, rows, k, count, last);
  for (size_t row = 0; row < (count + 1) / 2 * 2; ++row) {
    hn::StoreU(hn::Load(d, last + 4 * row), d, to + row * kWidth);
  }
}

template <size_t kWidth>
void TransposePanelOfPairs(const uint32_t* from, const Packing& packing, size_t lanes, uint32_t* to) {
  const hn::ScalableTag<uint32_t> d;
  const hn::CappedTag<uint32_t, 4> d_block;
  constexpr int64_t kLanes = hn::MaxLanes(d), kBlock = 4;
  for (size_t lane = 0; lane < lanes; lane += 4) {
    const uint32_t* rows[4];
    for (size_t r = 0; r < 4; ++r) {
      rows[r] = from + static_cast<int64_t>(HWY_MIN(lane + r, lanes - 1)) * packing.lane_step;
    }
    uint32_t* place = to + lane;
    int64_t k = 0;
    for (; k + kLanes <= packing.k; k += kLanes, place += kLanes * int64_t{kWidth}) {
      TransposePairs<kWidth>(d, rows, k, size_t{kLanes}, place);
    }
    for (; k + kBlock <= packing.k; k += kBlock, place += kBlock * int64_t{kWidth}) {
      TransposePairs<kWidth>(d_block, rows, k, size_t{kBlock}, place);
    }
    if (k < packing.k) TransposeLastPairs<kWidth>(rows, k, static_cast<size_t>(packing.k - k), place);
  }
  const size_t first_missing = (lanes + 3) / 4 * 4;
  const int64_t packed_rows = (packing.k + 1) / 2 * 2;
  for (size_t lane = first_missing; lane < LanesRead<uint32_t>(kWidth, lanes); lane += 4) {
    for (int64_t row = 0; row < packed_rows; ++row) {
      hn::StoreU(hn::Zero(d_block), d_block, to + row * int64_t{kWidth} + lane);
    }
  }
}

template <size_t kWidth>
void PackPairDots(const Packing& packing) {
  const auto* from = reinterpret_cast<const uint32_t*>(packing.from);
  auto* to = reinterpret_cast<uint32_t*>(packing.to);
  for (int64_t lane = 0; lane < packing.lanes; lane += packing.panel_lanes, to += packing.panel_step) {
    const auto lanes = static_cast<size_t>(HWY_MIN(packing.panel_lanes, packing.lanes - lane));
    const uint32_t* panel = from + lane * packing.lane_step;
    if (packing.lane_step == 1) {
      PackPanelOfPairs<kWidth>(panel, packing, lanes, to);
    } else {
      TransposePanelOfPairs<kWidth>(panel, packing, lanes, to);
    }
  }
}

#endif  // HWY_TARGET == HWY_AVX3

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
