// Room: kernels, per target. The tile: kRows x kVectors vectors of sums held in registers over a range of k.
//
// One chain of multiply-adds per element, in the order of k, whatever the shape of the tile: that is where Binet's
// promise about bits is kept.
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
#include <type_traits>

#include "kernels/gemm/elements-inl.h"

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
  // Integer products need registers of their own, and second sums as many again.
  static constexpr size_t kRows = kByHalves<T>        ? (kHas32Registers ? 6 : 3)
                                  : kHas32Registers   ? 12
                                  : hwy::IsFloat<T>() ? 6
                                                      : 4;
  static constexpr size_t kPanelVectors = 2;
  static constexpr size_t kPanel = kPanelVectors * kLanes;

  /// Lanes of A that one 16-byte vector transposes at a time.
  static constexpr size_t kGroup = kLanes == 1 ? 1 : 16 / sizeof(T);
  static constexpr size_t kAWidth = (kRows + kGroup - 1) / kGroup * kGroup;

  /// Few rows leave registers for more columns, which then hide the latency of the multiply-adds.
  static constexpr size_t WideVectors(size_t rows) {
    if (kByHalves<T>) return rows == 1 || (rows <= 3 && kHas32Registers) ? 4 : kPanelVectors;
    if (rows == 1) return 8;
    if (rows == 2) return kHas32Registers ? 8 : 4;
    return rows <= 6 && kHas32Registers ? 4 : kPanelVectors;
  }
};

/// Rows of packed B to fetch ahead: a panel may be larger than the first-level cache.
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

/// A product by itself: of floats it is rounded.
template <class V>
HWY_INLINE V Product(V a, V b) {
  if constexpr (hwy::IsFloat<hn::TFromV<V>>()) {
    return hn::Mul(a, b);
  } else {
    return MultiplyAdd(a, b, hn::Zero(hn::DFromV<V>()));
  }
}

/// What a tile asks the caches to fetch while it computes, with each k, `step` bytes further each time.
struct Ahead {
  const std::byte* from = nullptr;
  int64_t step = 0;
};

/// Element (row, k) of A is a[row * a_row_step + k * a_column_step]; vector j of row k of B is at
/// b[j / kPanelVectors * b_panel_step + j % kPanelVectors * kLanes + k * b_row_step].
template <class T, class TB>
struct TileOperands {
  const T* a;
  int64_t a_row_step, a_column_step;
  const TB* b;
  int64_t b_panel_step, b_row_step;
  int64_t k;
  int64_t near = 0;     ///< elements from each vector of B to one that will be read soon, to be fetched with it
  Ahead far;            ///< for tiles as wide as a panel: what will be read much later
  bool fetches = true;  ///< false: for tiles as wide as a panel, if what they and the next ones read is near already
};

/// What becomes of the sums of a tile when the range of k is done.
enum class Last : std::uint8_t {
  sums,
  plus_c,         ///< but for 16-bit elements
  scaled_plus_c,  ///< rounded, if elements have 16 bits
  rounded         ///< to 16 bits
};

/// Tiles end with 16-bit elements where that needs no second form for whole vectors.
template <class Element>
constexpr bool kRoundsInTile = sizeof(Element) == 2 && BINET_MASKS_ARE_FREE;

/// How the chains of a tile begin and end. Rows are whole vectors, but for the last vector of each.
template <class T>
struct TileEnds {
  const T* from = nullptr;  ///< the sums to go on from; null: zeros
  int64_t from_row_step = 0;
  T* to = nullptr;  ///< this and C, cast, are of 16-bit elements, and so are their steps, where the last step rounds
  int64_t to_row_step = 0;
  Last last = Last::sums;
  const T* c = nullptr;  ///< neighbouring columns side by side
  int64_t c_row_step = 0;
  T alpha = T{1}, beta = T{1};
  size_t last_lanes = 0;  ///< of the last vector; where masks are not free, all of them
};

/// Loads and stores of a row's vectors, of which the last may have fewer lanes where masks are free.
template <class D>
class RowOfVectors {
 public:
  RowOfVectors(D d, size_t last_lanes) : d_(d) {
    if constexpr (BINET_MASKS_ARE_FREE) {
      mask_ = hn::FirstN(d, last_lanes);
      if constexpr (sizeof(hn::TFromD<D>) == 4) mask16_ = hn::FirstN(D16(), last_lanes);
    }
  }

  template <class Element>
  HWY_INLINE hn::Vec<D> Load(const Element* from, bool is_last) const {
    if (!BINET_MASKS_ARE_FREE || !is_last) return LoadElements(d_, from);
    if constexpr (sizeof(Element) == 2) {
      return Widen(d_, hn::MaskedLoad(mask16_, D16(), Bits(from)), Element());
    } else {
      return hn::MaskedLoad(mask_, d_, from);
    }
  }

  HWY_INLINE void Store(hn::Vec<D> v, hn::TFromD<D>* to, bool is_last) const {
    if (!BINET_MASKS_ARE_FREE || !is_last) return StoreAny(v, d_, to);
    hn::BlendedStore(v, mask_, d_, to);
  }

  /// Where masks are free.
  template <class Half>
  requires(sizeof(Half) == 2) HWY_INLINE void Store(hn::Vec<D> v, Half* to, bool is_last) const {
    const auto rounded = Narrow(d_, v, Half());
    auto* bits = const_cast<uint16_t*>(Bits(to));
    if (!is_last) return StoreAny(rounded, D16(), bits);
    hn::BlendedStore(rounded, mask16_, D16(), bits);
  }

 private:
  using D16 = std::conditional_t<sizeof(hn::TFromD<D>) == 4, hn::Rebind<uint16_t, D>, D>;
  D d_;
  hn::Mask<D> mask_;
  hn::Mask<D16> mask16_;
};

/// GCC else finds memory for sums that the last step needs later, and stores them in every round of the loop over k.
template <class V, size_t kRows, size_t kVectors>
HWY_INLINE void KeepInRegisters(V (&sum)[kRows][kVectors]) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  HWY_UNROLL(24)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) {
      auto raw = sum[i][j].raw;
      asm("" : "+v"(raw));
      sum[i][j].raw = raw;
    }
  }
#else
  (void)sum;
#endif
}

/// The sums to go on from.
template <class Row, class T, class V, size_t kRows, size_t kVectors>
HWY_INLINE void BeginTile(const Row& vectors, const TileEnds<T>& ends, V (&sum)[kRows][kVectors]) {
  constexpr size_t kLanes = TileShape<T>::kLanes;
  if (ends.from == nullptr) {
    HWY_UNROLL(24)
    for (size_t i = 0; i < kRows; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(hn::ScalableTag<T>());
    }
  } else {
    const T* from = ends.from;
    HWY_UNROLL(24)
    for (size_t i = 0; i < kRows; ++i, from += ends.from_row_step) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = vectors.Load(from + j * kLanes, j + 1 == kVectors);
    }
  }
}

/// Stores result(sum, its place in C, whether it is the last of its row), as an Element.
template <class Element, class Row, class T, class V, size_t kRows, size_t kVectors, class Result>
HWY_INLINE void StoreTile(const Row& vectors, const TileEnds<T>& ends, const V (&sum)[kRows][kVectors],
                          const Result& result) {
  constexpr size_t kLanes = TileShape<T>::kLanes;
  auto* to = reinterpret_cast<Element*>(ends.to);
  const auto* c = reinterpret_cast<const Element*>(ends.c);
  HWY_UNROLL(24)
  for (size_t i = 0; i < kRows; ++i, to += ends.to_row_step, c += ends.c_row_step) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) {
      const bool is_last = j + 1 == kVectors;
      vectors.Store(result(sum[i][j], c + j * kLanes, is_last), to + j * kLanes, is_last);
    }
  }
}

/// Y = alpha * sum + beta * C for rows of sums that lie one after the other.
template <class Element, size_t kVectors, class T>
HWY_NOINLINE void ScaleRows(const T* sums, size_t rows, const TileEnds<T>& ends) {
  constexpr size_t kLanes = TileShape<T>::kLanes;
  const hn::ScalableTag<T> d;
  const RowOfVectors<decltype(d)> vectors(d, ends.last_lanes);
  const auto alpha = hn::Set(d, ends.alpha);
  const auto beta = hn::Set(d, ends.beta);
  auto* to = reinterpret_cast<Element*>(ends.to);
  const auto* c = reinterpret_cast<const Element*>(ends.c);
  for (; rows > 0; --rows, to += ends.to_row_step, c += ends.c_row_step) {
    for (size_t j = 0; j < kVectors; ++j, sums += kLanes) {
      const bool is_last = j + 1 == kVectors;
      const auto scaled_c = hn::Mul(vectors.Load(c + j * kLanes, is_last), beta);
      vectors.Store(hn::Add(hn::Mul(hn::Load(d, sums), alpha), scaled_c), to + j * kLanes, is_last);
    }
  }
}

/// Stores the sums, or what the last step makes of them. Integers with other factors than 1 go by way of a buffer.
template <class Element, class Row, class T, class V, size_t kRows, size_t kVectors>
HWY_INLINE void EndTile(const Row& vectors, const TileEnds<T>& ends, const V (&sum)[kRows][kVectors]) {
  const auto same = [](V v, const auto*, bool) HWY_ATTR { return v; };
  if (ends.last == Last::sums || (sizeof(Element) == 2 && !kRoundsInTile<Element>)) {
    return StoreTile<T>(vectors, ends, sum, same);
  }
  if constexpr (sizeof(Element) == sizeof(T) || kRoundsInTile<Element>) {
    if constexpr (hwy::IsFloat<T>()) {
      if (ends.last == Last::scaled_plus_c) {
        // Rare enough for one function for all heights: in registers it would be a third of a tile's code.
        constexpr size_t kLanes = TileShape<T>::kLanes;
        HWY_ALIGN T sums[kRows * kVectors * kLanes];
        HWY_UNROLL(24)
        for (size_t i = 0; i < kRows; ++i) {
          HWY_UNROLL(16)
          for (size_t j = 0; j < kVectors; ++j) {
            hn::Store(sum[i][j], hn::ScalableTag<T>(), sums + (i * kVectors + j) * kLanes);
          }
        }
        return ScaleRows<Element, kVectors>(sums, kRows, ends);
      }
    }
    if constexpr (sizeof(Element) == 2) {
      StoreTile<Element>(vectors, ends, sum, same);
    } else {
      StoreTile<T>(vectors, ends, sum,
                   [&](V v, const T* c, bool is_last) HWY_ATTR { return hn::Add(v, vectors.Load(c, is_last)); });
    }
  }
}

/// All of k: the sums of a tile, and on the way what the caches should fetch.
template <bool kFetches, class Row, class T, class TB, class V, size_t kRows, size_t kVectors>
HWY_INLINE void AddProducts(const TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  const hn::ScalableTag<T> d;
  // A pointer for every third row, so that the addresses of all rows need few registers.
  constexpr size_t kPointers = (kRows + 2) / 3;
  constexpr size_t kPanels = (kVectors + Shape::kPanelVectors - 1) / Shape::kPanelVectors;

  const int64_t a_row_step = operands.a_row_step;
  const T* a[kPointers] = {operands.a};
  for (size_t p = 1; p < kPointers; ++p) a[p] = a[p - 1] + 3 * a_row_step;
  const TB* b[kPanels] = {operands.b};
  for (size_t p = 1; p < kPanels; ++p) b[p] = b[p - 1] + operands.b_panel_step;

  const int64_t near = operands.near;
  const std::byte* far = operands.far.from;
  for (int64_t k = operands.k; k > 0; --k) {
    V vb[kVectors];
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) {
      const TB* place = b[j / Shape::kPanelVectors] + j % Shape::kPanelVectors * Shape::kLanes;
      vb[j] = vectors.Load(place, j + 1 == kVectors);
      if (kFetches) hwy::Prefetch(place + near);
    }
    if (kFetches && kVectors == Shape::kPanelVectors) __builtin_prefetch(far, 0, 2);
    HWY_UNROLL(24)
    for (size_t i = 0; i < kRows; ++i) {
      const V va = hn::Set(d, LoadOne(a[i / 3] + static_cast<int64_t>(i % 3) * a_row_step));
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = MultiplyAdd(va, vb[j], sum[i][j]);
    }
    for (size_t p = 0; p < kPointers; ++p) a[p] += operands.a_column_step;
    for (size_t p = 0; p < kPanels; ++p) b[p] += operands.b_row_step;
    if (kFetches) far += operands.far.step;
  }
}

template <size_t kRows, size_t kVectors, class T, class TB>
HWY_INLINE void ComputeSums(const TileOperands<T, TB>& operands, const TileEnds<T>& ends) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const RowOfVectors<decltype(d)> vectors(d, ends.last_lanes);

  V sum[kRows][kVectors];
  BeginTile(vectors, ends, sum);
  // A tile of one vector has no load to spare. Low tiles are few: not worth a second loop.
  constexpr bool kMayFetch = kVectors > 1;
  constexpr bool kMustFetch = kVectors != TileShape<T>::kPanelVectors || kRows <= TileShape<T>::kRows / 2;
  if (kMayFetch && (kMustFetch || operands.fetches)) {
    AddProducts<true>(operands, vectors, sum);
  } else {
    AddProducts<false>(operands, vectors, sum);
  }

  EndTile<TB>(vectors, ends, sum);  // with a B of 16-bit floats Y consists of them too
}

/// kRows x kVectors sums.
template <size_t kRows, size_t kVectors, class T, class TB>
requires(!kByHalves<T>) HWY_NOINLINE void MultiplyTile(const TileOperands<T, TB>& operands, const TileEnds<T>& ends) {
  ComputeSums<kRows, kVectors>(operands, ends);
}

/// Such tiles one below the other: with a short k, a call for each would take a third of the time.
template <size_t kRows, size_t kVectors, class T, class TB>
HWY_NOINLINE void MultiplyTiles(TileOperands<T, TB> operands, TileEnds<T> ends, int64_t tiles) {
  for (; tiles > 0; --tiles) {
    ComputeSums<kRows, kVectors>(operands, ends);
    operands.a += int64_t{kRows} * operands.a_row_step;
    ends.to += int64_t{kRows} * ends.to_row_step;
    ends.c += int64_t{kRows} * ends.c_row_step;
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
