// Room: kernels, per target. How the sums of a tile begin, and what becomes of them when a range of k is done.
#if defined(BINET_KERNELS_GEMM_TILE_ENDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILE_ENDS_INL_H_
#undef BINET_KERNELS_GEMM_TILE_ENDS_INL_H_
#else
#define BINET_KERNELS_GEMM_TILE_ENDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/tile_shape-inl.h"

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

/// Tiles end with 16-bit elements where that needs no second form for whole vectors.
template <class Element>
constexpr bool kRoundsInTile = sizeof(Element) == 2 && BINET_MASKS_ARE_CHEAP;

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
  size_t last_lanes = 0;  ///< of the last vector; where masks are not cheap, all of them
};

/// Loads and stores of a row's vectors, of which the last may have fewer lanes where masks are cheap.
template <class D>
class RowOfVectors {
 public:
  RowOfVectors(D d, size_t last_lanes) : d_(d) {
    if constexpr (BINET_MASKS_ARE_CHEAP) {
      mask_ = hn::FirstN(d, last_lanes);
      if constexpr (sizeof(hn::TFromD<D>) == 4) mask16_ = hn::FirstN(D16(), last_lanes);
    }
  }

  template <class Element>
  HWY_INLINE hn::Vec<D> Load(const Element* from, bool is_last) const {
    if (!BINET_MASKS_ARE_CHEAP || !is_last) return LoadElements(d_, from);
    if constexpr (sizeof(Element) == 2) {
      return Widen(d_, hn::MaskedLoad(mask16_, D16(), Bits(from)), Element());
    } else {
      return hn::MaskedLoad(mask_, d_, from);
    }
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
  // For all that a compiler knows, a vector that is stored may change `ends`.
  const int64_t to_row_step = ends.to_row_step, c_row_step = ends.c_row_step;
  HWY_UNROLL(24)
  for (size_t i = 0; i < kRows; ++i, to += to_row_step, c += c_row_step) {
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

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
