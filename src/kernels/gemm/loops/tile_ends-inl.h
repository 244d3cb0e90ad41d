// Room: kernels, per target. How the sums of a tile begin, and what becomes of them when a range of k is done.
#if defined(BINET_KERNELS_GEMM_LOOPS_TILE_ENDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_TILE_ENDS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_TILE_ENDS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_TILE_ENDS_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/tile_operands-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"

// GCC else makes a copy of a function for each number that it is called with.
#undef BINET_ONE_COPY
#if HWY_COMPILER_GCC_ACTUAL
#define BINET_ONE_COPY __attribute__((noinline, noclone))
#else
#define BINET_ONE_COPY HWY_NOINLINE
#endif

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// What becomes of the sums of a tile when the range of k is done.
enum class Last : std::uint8_t {
  sums,
  plus_c,         ///< but for 16-bit elements
  scaled_plus_c,  ///< rounded, if elements have 16 bits
  rounded         ///< to 16 bits
};

/// The rows whose last vector may be stored whole though it has fewer lanes: what lies behind it is stored later.
enum class Reach : std::uint8_t { none, all_but_last, all };

/// Tiles end with 16-bit elements where that needs no second form for whole vectors.
template <class Element>
constexpr bool kRoundsInTile = sizeof(Element) == 2 && BINET_MASKS_ARE_CHEAP;

/// Rows that are no whole vectors are ended by EndRows().
template <class Element>
constexpr bool kEndsPartsApart = kTakesAnyColumns<Element> && !BINET_MASKS_ARE_CHEAP;

/// How the chains of a tile begin and end. Rows are whole vectors, but for the last vector of each. T is BitsOf the
/// type that the tile computes with.
template <class T>
struct TileEnds {
  const T* from = nullptr;  ///< the sums to go on from; null: zeros
  int64_t from_row_step = 0;
  T* to = nullptr;  ///< this and C, cast, are of 16-bit elements, and so are their steps, where the last step rounds
  int64_t to_row_step = 0;
  Last last = Last::sums;
  const T* c = nullptr;  ///< neighbouring columns side by side
  int64_t c_row_step = 0;
  float alpha = 1.0f, beta = 1.0f;  ///< of floats
  size_t last_lanes = 0;            ///< of the last vector; all of them, but with kTakesAnyColumns
  Reach reach = Reach::none;
};

/// Of a tile with the last columns of Y, which has n of them, and rows that touch: they are written one after the
/// other, `rows_behind` of the next tiles too, and other columns later. Whole vectors would end so many columns
/// `beyond` Y.
template <class Element, class T>
HWY_INLINE Reach ReachOfRows(int64_t n, int64_t beyond, int64_t rows_behind, const TileEnds<T>& ends) {
  if (!kEndsPartsApart<Element> || ends.to_row_step != n) return Reach::none;
  if (rows_behind > 0 && beyond <= rows_behind * n) return Reach::all;
  return beyond <= n ? Reach::all_but_last : Reach::none;
}

/// Loads and stores of a row's vectors, of which the last may have fewer lanes: loads with kTakesAnyColumns, stores
/// where masks are cheap.
template <class D>
class RowOfVectors {
 public:
  RowOfVectors(D d, size_t last_lanes) : d_(d) {
    if constexpr (kTakesAnyColumns<hn::TFromD<D>>) {
      mask_ = hn::FirstN(d, last_lanes);
      if constexpr (BINET_MASKS_ARE_CHEAP && sizeof(hn::TFromD<D>) == 4) mask16_ = hn::FirstN(D16(), last_lanes);
    }
  }

  template <class Element>
  HWY_INLINE hn::Vec<D> Load(const Element* from, bool is_last) const {
    if constexpr (kTakesAnyColumns<Element> && sizeof(Element) == 2) {
      if (is_last) return Widen(d_, hn::MaskedLoad(mask16_, D16(), Bits(from)), Element());
    } else if constexpr (kTakesAnyColumns<Element>) {
      if (is_last) return hn::MaskedLoad(mask_, d_, from);
    }
    return LoadElements(d_, from);
  }

  HWY_INLINE void Store(hn::Vec<D> v, hn::TFromD<D>* to, bool is_last) const {
    if (!BINET_MASKS_ARE_CHEAP || !is_last) return StoreAny(v, d_, to);
    hn::BlendedStore(v, mask_, d_, to);
  }

  /// Where masks are cheap.
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

/// The sums to go on from.
template <class Row, class V, size_t kRows, size_t kVectors>
HWY_INLINE void BeginTile(const Row& vectors, const TileEnds<BitsOf<hn::TFromV<V>>>& ends, V (&sum)[kRows][kVectors]) {
  using T = hn::TFromV<V>;
  constexpr size_t kLanes = TileShape<T>::kLanes;
  if (ends.from == nullptr) {
    HWY_UNROLL(24)
    for (size_t i = 0; i < kRows; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(hn::ScalableTag<T>());
    }
  } else {
    const auto* from = reinterpret_cast<const T*>(ends.from);
    HWY_UNROLL(24)
    for (size_t i = 0; i < kRows; ++i, from += ends.from_row_step) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = vectors.Load(from + j * kLanes, j + 1 == kVectors);
    }
  }
}

/// Tiles of which a large Y consists if K is short. They store whole vectors, and load those of C, without a mask: Zen
/// 5 does not prefetch lines that are read or written under one, which is a tenth to a half of the time if they come
/// from memory. In tiles of other shapes a second form would take more room than it is worth.
template <size_t kRows, size_t kVectors>
constexpr bool kStoresWholeVectors = BINET_MASKS_ARE_CHEAP &&
                                     ((kRows == 6 && kVectors == 4) || (kRows == 12 && kVectors <= 2));

/// Stores result(sum, its place in C, whether it is the last of its row), as an Element; perhaps not the last row.
template <class Element, bool kIsWhole = false, class Row, class V, size_t kRows, size_t kVectors, class Result>
HWY_INLINE void StoreTile(const Row& vectors, const TileEnds<BitsOf<hn::TFromV<V>>>& ends,
                          const V (&sum)[kRows][kVectors], bool has_last_row, const Result& result) {
  constexpr size_t kLanes = TileShape<hn::TFromV<V>>::kLanes;
  auto* to = reinterpret_cast<Element*>(ends.to);
  const auto* c = reinterpret_cast<const Element*>(ends.c);
  // For all that a compiler knows, a vector that is stored may change `ends`.
  const int64_t to_row_step = ends.to_row_step, c_row_step = ends.c_row_step;
  HWY_UNROLL(24)
  for (size_t i = 0; i < kRows; ++i, to += to_row_step, c += c_row_step) {
    if (i + 1 == kRows && !has_last_row) return;
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) {
      const bool is_last = !kIsWhole && j + 1 == kVectors;
      vectors.Store(result(sum[i][j], c + j * kLanes, is_last), to + j * kLanes, is_last);
    }
  }
}

/// Added to anything, it changes nothing.
template <class T>
alignas(64) constexpr auto kNegativeZeros = [] {
  std::array<T, TileShape<T>::WideVectors(1) * TileShape<T>::kLanes> zeros{};
  for (T& zero : zeros) zero = static_cast<T>(-0.0);
  return zeros;
}();

/// The end of rows of sums that lie one after the other, from row `first` of a tile on, where it does not do it itself:
/// Y = alpha * sum + beta * C, or the sums as they are.
template <class Element, class T>
BINET_ONE_COPY void EndRows(const T* sums, size_t first, size_t rows, size_t row_vectors,
                            const TileEnds<BitsOf<T>>& ends) {
  constexpr size_t kLanes = TileShape<T>::kLanes;
  const hn::ScalableTag<T> d;
  const RowOfVectors<decltype(d)> vectors(d, ends.last_lanes);
  auto alpha = hn::Set(d, static_cast<T>(ends.alpha)), beta = hn::Set(d, static_cast<T>(ends.beta));
  auto* to = reinterpret_cast<Element*>(ends.to);
  const auto* c = reinterpret_cast<const Element*>(ends.c);
  int64_t c_row_step = ends.c_row_step;
  if constexpr (kEndsPartsApart<Element>) {
    if (ends.last == Last::sums) {
      alpha = beta = hn::Set(d, T{1});
      c = kNegativeZeros<Element>.data();
      c_row_step = 0;
    }
  }
  to += static_cast<int64_t>(first) * ends.to_row_step;
  c += static_cast<int64_t>(first) * c_row_step;
  for (; rows > 0; --rows, to += ends.to_row_step, c += c_row_step) {
    asm volatile("");  // GCC else makes several versions of these loops, of ten times the size
    const auto y = [&](size_t j, bool is_last) HWY_ATTR {
      const auto scaled_c = hn::Mul(vectors.Load(c + j * kLanes, is_last), beta);
      return hn::Add(hn::Mul(hn::Load(d, sums + j * kLanes), alpha), scaled_c);
    };
    const size_t last = row_vectors - 1;
    for (size_t j = 0; j < last; ++j) {
      asm volatile("");
      vectors.Store(y(j, false), to + j * kLanes, false);
    }
    if constexpr (kEndsPartsApart<Element>) {
      StoreInPieces(d, y(last, true), to + last * kLanes, ends.last_lanes);
    } else {
      vectors.Store(y(last, true), to + last * kLanes, true);
    }
    sums += row_vectors * kLanes;
  }
}

/// Stores the sums, or what the last step makes of them. Integers with other factors than 1 go by way of a buffer.
template <class Element, class Row, class V, size_t kRows, size_t kVectors>
HWY_INLINE void EndTile(const Row& vectors, const TileEnds<BitsOf<hn::TFromV<V>>>& ends,
                        const V (&sum)[kRows][kVectors]) {
  using T = hn::TFromV<V>;
  constexpr size_t kLanes = TileShape<T>::kLanes;
  const auto same = [](V v, const auto*, bool) HWY_ATTR { return v; };
  // Rare enough for one function for all heights: in registers it would be a third of a tile's code.
  const auto end_rows = [&](auto first) HWY_ATTR {
    constexpr size_t kFirst = first;
    HWY_ALIGN T sums[(kRows - kFirst) * kVectors * kLanes];
    HWY_UNROLL(24)
    for (size_t i = kFirst; i < kRows; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) {
        hn::Store(sum[i][j], hn::ScalableTag<T>(), sums + ((i - kFirst) * kVectors + j) * kLanes);
      }
    }
    EndRows<Element>(sums, kFirst, kRows - kFirst, kVectors, ends);
  };
  const auto end_all = [&]() HWY_ATTR { end_rows(std::integral_constant<size_t, 0>()); };
  bool has_last_row = true;
  if constexpr (kEndsPartsApart<Element>) {
    has_last_row = ends.last_lanes == kLanes || ends.reach == Reach::all;
    if (ends.last == Last::scaled_plus_c || (!has_last_row && ends.reach == Reach::none)) return end_all();
  }
  if (ends.last == Last::sums || (sizeof(Element) == 2 && !kRoundsInTile<Element>)) {
    if constexpr (kStoresWholeVectors<kRows, kVectors>) {
      if (ends.last_lanes == kLanes) return StoreTile<T, true>(vectors, ends, sum, has_last_row, same);
    }
    StoreTile<T>(vectors, ends, sum, has_last_row, same);
  } else if constexpr (sizeof(Element) == sizeof(T) || kRoundsInTile<Element>) {
    if constexpr (hwy::IsFloat<T>()) {
      if (ends.last == Last::scaled_plus_c) return end_all();
    }
    if constexpr (sizeof(Element) == 2) {
      StoreTile<Element>(vectors, ends, sum, has_last_row, same);
    } else {
      const auto add = [&](V v, const T* c, bool is_last) HWY_ATTR { return hn::Add(v, vectors.Load(c, is_last)); };
      if constexpr (kStoresWholeVectors<kRows, kVectors>) {
        if (ends.last_lanes == kLanes) return StoreTile<T, true>(vectors, ends, sum, has_last_row, add);
      }
      StoreTile<T>(vectors, ends, sum, has_last_row, add);
    }
  }
  // After the rows that reach into it.
  if (!has_last_row) end_rows(std::integral_constant<size_t, kRows - 1>());
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
