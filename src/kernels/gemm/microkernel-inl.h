// Room: kernels, per target. The tile: kRows x kVectors vectors of sums held in registers over a range of k.
//
// One chain of multiply-adds per element, in the order of k, whatever the shape of the tile: that is where Binet's
// promise about bits is kept. Nothing here knows about edges: the columns of a tile are whole vectors.
#if defined(BINET_KERNELS_GEMM_MICROKERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_MICROKERNEL_INL_H_
#undef BINET_KERNELS_GEMM_MICROKERNEL_INL_H_
#else
#define BINET_KERNELS_GEMM_MICROKERNEL_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The largest tile for accumulators of type T, and what follows from it.
template <class T>
struct TileShape {
  static constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  static constexpr bool kHas32Registers = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
  // Integer products need registers of their own, 64-bit ones several.
  static constexpr size_t kRows = kHas32Registers ? 12 : hwy::IsFloat<T>() ? 6 : 4;
  static constexpr size_t kPanelVectors = 2;
  static constexpr size_t kPanel = kPanelVectors * kLanes;

  /// Lanes of A that one 16-byte vector transposes at a time.
  static constexpr size_t kGroup = kLanes == 1 ? 1 : 16 / sizeof(T);
  static constexpr size_t kAWidth = (kRows + kGroup - 1) / kGroup * kGroup;

  /// Few rows leave registers for more columns, which then hide the latency of the multiply-adds.
  static constexpr size_t WideVectors(size_t rows) {
    if (rows == 1) return 8;
    if (rows == 2) return kHas32Registers ? 8 : 4;
    return rows == 4 && kHas32Registers ? 4 : kPanelVectors;
  }
};

/// Rows of B to fetch ahead: the time of that many covers the way to L3. Where B is read in place, each row begins on
/// another page, and no hardware prefetcher follows.
constexpr int64_t kPrefetchRows = 32;

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
#endif
  } else {
    return hn::Add(sum, hn::Mul(a, b));
  }
}

/// Element (row, k) of A is a[row * a_row_step + k * a_column_step]; vector j of row k of B is at
/// b[j / kPanelVectors * b_panel_step + j % kPanelVectors * kLanes + k * b_row_step].
template <class T, class TB>
struct TileOperands {
  const T* a;
  int64_t a_row_step, a_column_step;
  const TB* b;
  int64_t b_panel_step, b_row_step;
  int64_t k;
};

/// Continues the chains that begin with `from` (null: zeros) and leaves them in `to`. The last rows of the tile may be
/// padding: only `rows` of them are read and written.
template <size_t kRows, size_t kVectors, class T, class TB>
HWY_NOINLINE void MultiplyTile(const TileOperands<T, TB>& operands, const T* from, int64_t from_row_step, T* to,
                               int64_t to_row_step, size_t rows) {
  using Shape = TileShape<T>;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  // A pointer for every third row, so that the addresses of all rows need few registers.
  constexpr size_t kPointers = (kRows + 2) / 3;
  constexpr size_t kPanels = (kVectors + Shape::kPanelVectors - 1) / Shape::kPanelVectors;

  V sum[kRows][kVectors];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
  }
  if (from != nullptr) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRows; ++i, from += from_row_step) {
      if (i >= rows) break;
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = LoadAny(d, from + j * Shape::kLanes);
    }
  }

  const int64_t a_row_step = operands.a_row_step;
  const T* a[kPointers] = {operands.a};
  for (size_t p = 1; p < kPointers; ++p) a[p] = a[p - 1] + 3 * a_row_step;
  const TB* b[kPanels] = {operands.b};
  for (size_t p = 1; p < kPanels; ++p) b[p] = b[p - 1] + operands.b_panel_step;

  const int64_t ahead = kPrefetchRows * operands.b_row_step;
  for (int64_t k = operands.k; k > 0; --k) {
    V vb[kVectors];
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) {
      const TB* place = b[j / Shape::kPanelVectors] + j % Shape::kPanelVectors * Shape::kLanes;
      vb[j] = LoadElements(d, place);
      hwy::Prefetch(place + ahead);
    }
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRows; ++i) {
      const V va = hn::Set(d, LoadOne(a[i / 3] + static_cast<int64_t>(i % 3) * a_row_step));
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = MultiplyAdd(va, vb[j], sum[i][j]);
    }
    for (size_t p = 0; p < kPointers; ++p) a[p] += operands.a_column_step;
    for (size_t p = 0; p < kPanels; ++p) b[p] += operands.b_row_step;
  }

  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i, to += to_row_step) {
    if (i >= rows) break;
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) StoreAny(sum[i][j], d, to + j * Shape::kLanes);
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
