// Room: kernels, per target. How large tiles are, and the product that they consist of.
#if defined(BINET_KERNELS_GEMM_LOOPS_TILE_SHAPE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_TILE_SHAPE_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_TILE_SHAPE_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_TILE_SHAPE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/multiply_u64-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Without a 64-bit multiplication there are two sums for each element (u64_halves_tile-inl.h).
template <class T>
constexpr bool kByHalves = sizeof(T) == 8 && !hwy::IsFloat<T>() && HWY_TARGET != HWY_AVX3 && HWY_TARGET != HWY_SCALAR;

/// The largest tile for accumulators of type T, and what follows from it.
template <class T>
struct TileShape {
  static constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  static constexpr bool kHas32Registers = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
  // Integer products need registers of their own, one where loops say which, and second sums as many again.
  static constexpr bool kHasSixRows = hwy::IsFloat<T>() || HWY_TARGET == HWY_AVX2;
  // Without vectors a product takes so long that larger tiles would gain nothing for their room.
  static constexpr size_t kRowsOf16Registers = HWY_TARGET == HWY_SCALAR ? 2 : kByHalves<T> ? 3 : kHasSixRows ? 6 : 4;
  static constexpr size_t kRows = kHas32Registers ? (kByHalves<T> ? 6 : 12) : kRowsOf16Registers;
  static constexpr size_t kPanelVectors = 2;
  static constexpr size_t kPanel = kPanelVectors * kLanes;

  /// Lanes of A that one 16-byte vector transposes at a time.
  static constexpr size_t kGroup = kLanes == 1 ? 1 : 16 / sizeof(T);
  static constexpr size_t kAWidth = (kRows + kGroup - 1) / kGroup * kGroup;

  /// Few rows leave registers for more columns, which then hide the latency of the multiply-adds.
  static constexpr size_t WideVectors(size_t rows) {
    if (HWY_TARGET == HWY_SCALAR) return rows <= 2 ? 4 : kPanelVectors;
    if (kByHalves<T>) return rows == 1 || (rows <= 3 && kHas32Registers) ? 4 : kPanelVectors;
    if (rows == 1) return 8;
    if (rows == 2) return kHas32Registers ? 8 : 4;
    if (rows == 3 && HWY_TARGET == HWY_AVX2 && hwy::IsFloat<T>()) return 4;
    return rows <= 6 && kHas32Registers ? 4 : kPanelVectors;
  }
};

/// Tiles turn a B of 16-bit floats into accumulators while they read it: where that is an instruction or two.
template <class Element, class T>
constexpr bool kWidensInTiles = sizeof(Element) < sizeof(T) &&
                                (!BINET_IS_OLD_TARGET || (HWY_TARGET == HWY_SSE4 && std::is_same_v<Element, BFloat16>));

/// Rows of tiles four vectors wide. While B is near these are fewer loads than those of twelve rows, two vectors, and
/// fewer instructions. Of 16-bit floats each tile would widen twice as much.
constexpr size_t kWideRows = 6;
template <class Element, class T>
constexpr bool kPrefersWideTiles = (HWY_TARGET == HWY_AVX3) && hwy::IsFloat<T>() && sizeof(Element) == sizeof(T);

/// Rows of packed B to fetch ahead: a panel may be larger than the first-level cache.
constexpr int64_t kPrefetchRows = 32;
/// The same for tiles wider than a panel, of few rows, which take B from memory: with AVX2 half a kilobyte is better
/// than two (1.2 times as fast on Zen 3).
constexpr int64_t kPrefetchRowsOfWide = HWY_TARGET == HWY_AVX2 ? 8 : kPrefetchRows;

template <class V>
HWY_INLINE V MultiplyAdd(V a, V b, V sum) {
  using T = hn::TFromV<V>;
  if constexpr (hwy::IsFloat<T>()) {
    return hn::MulAdd(a, b, sum);
#if HWY_TARGET != HWY_AVX3 && HWY_TARGET != HWY_SCALAR
  } else if constexpr (sizeof(T) == 8) {
    // a * b modulo 2^64 from products of 32-bit halves; that of the upper halves is lost.
    const hn::DFromV<V> d;
    const hn::Repartition<uint32_t, decltype(d)> d32;
    const auto a32 = hn::BitCast(d32, a);
    const auto b32 = hn::BitCast(d32, b);
    const auto a_high = hn::BitCast(d32, hn::ShiftRight<32>(a));
    const auto b_high = hn::BitCast(d32, hn::ShiftRight<32>(b));
    const auto cross = hn::Add(hn::MulEven(a_high, b32), hn::MulEven(a32, b_high));
    return hn::Add(sum, hn::Add(hn::MulEven(a32, b32), hn::ShiftLeft<32>(cross)));
#else
  } else if constexpr (sizeof(T) == 8) {
    return hn::Add(sum, kernels::HWY_NAMESPACE::MultiplyU64(a, b));
#endif
  } else {
    return hn::Add(sum, hn::Mul(a, b));
  }
}

/// A product by itself: of floats it is rounded.
template <class V>
HWY_INLINE V Product(V a, V b) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
    return hn::Mul(a, b);
  } else {
    return MultiplyAdd(a, b, hn::Zero(hn::DFromV<V>()));
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
