// Room: kernels, per target. Lanes whose k lie side by side in memory become rows of lanes, one for each k.
#if defined(BINET_KERNELS_GEMM_LOOPS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_TRANSPOSE_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_TRANSPOSE_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_TRANSPOSE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/loops/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Within each 16-byte block: element (row r, column c) goes to vector c, place r.
template <class V>
HWY_INLINE void TransposeBlocks(V (&)[1]) {}
#if HWY_TARGET != HWY_SCALAR  // which has neither of these instructions
template <class V>
HWY_INLINE void TransposeBlocks(V (&v)[2]) {
  const hn::DFromV<V> d;
  const V even = hn::InterleaveLower(d, v[0], v[1]);
  const V odd = hn::InterleaveUpper(d, v[0], v[1]);
  v[0] = even;
  v[1] = odd;
}
template <class V>
HWY_INLINE void TransposeBlocks(V (&v)[4]) {
  const hn::DFromV<V> d;
  const hn::Repartition<uint64_t, decltype(d)> pairs;
  const auto lower01 = hn::BitCast(pairs, hn::InterleaveLower(d, v[0], v[1]));
  const auto lower23 = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
  const auto upper01 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[0], v[1]));
  const auto upper23 = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
  v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, lower01, lower23));
  v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, lower01, lower23));
  v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, upper01, upper23));
  v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, upper01, upper23));
}
#endif

/// Stores each 16-byte block of `v` by itself, `step` elements apart.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreBlocks(hn::Vec<D> v, D d, T* to, size_t step) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(d) * sizeof(T) > 16) {
    const hn::Half<D> half;
    constexpr size_t kBlocks = hn::MaxLanes(half) * sizeof(T) / 16;
    StoreBlocks(hn::LowerHalf(half, v), half, to, step);
    StoreBlocks(hn::UpperHalf(half, v), half, to + kBlocks * step, step);
    return;
  }
#endif
  (void)step;
  StoreAny(v, d, to);
}

/// Lanes `rows[0..kGroup)`, Lanes(d) values of k from `k` on, to the places of the first of these lanes, `width` apart.
template <size_t kGroup, class D, class Element>
HWY_INLINE void TransposeLanes(D d, const Element* const (&rows)[kGroup], int64_t k, hn::TFromD<D>* to, size_t width) {
  hn::Vec<D> v[kGroup];
  for (size_t r = 0; r < kGroup; ++r) v[r] = LoadElements(d, rows[r] + k);
  TransposeBlocks(v);
  for (size_t c = 0; c < kGroup; ++c) StoreBlocks(v[c], d, to + c * width, kGroup * width);
}

#if HWY_TARGET != HWY_SCALAR
/// As many lanes as a vector has: a pointer for every few of them, so that their addresses need few registers.
template <class T, class OfMemory>
struct SquareOfLanes {
  using Element = OfMemory;
  static constexpr size_t kGroup = TileShape<T>::kGroup;
  static constexpr size_t kGroups = TileShape<T>::kLanes / kGroup;

  SquareOfLanes() = default;
  SquareOfLanes(const Element* from, int64_t step) : lane_step(step) {
    for (size_t g = 0; g < kGroups; ++g) group[g] = from + static_cast<int64_t>(g * kGroup) * step;
  }
  HWY_INLINE const Element* Lane(size_t g, size_t r) const { return group[g] + static_cast<int64_t>(r) * lane_step; }
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, size_t g, size_t r, size_t k) const {
    return LoadElements(d, Lane(g, r) + k);
  }
  HWY_INLINE void Advance(int64_t k) {
    for (size_t g = 0; g < kGroups; ++g) group[g] += k;
  }

  const Element* group[kGroups] = {};
  int64_t lane_step = 0;
};

/// Fewer than that: the last one takes the place of those that are missing.
template <class T, class OfMemory>
struct SquareOfFewLanes {
  using Element = OfMemory;
  static constexpr size_t kGroup = TileShape<T>::kGroup;

  SquareOfFewLanes() = default;
  SquareOfFewLanes(const Element* from, int64_t step, int64_t lanes) {
    for (int64_t i = 0; i < int64_t{TileShape<T>::kLanes}; ++i) lane[i] = from + HWY_MIN(i, lanes - 1) * step;
  }
  HWY_INLINE const Element* Lane(size_t g, size_t r) const { return lane[g * kGroup + r] + first; }
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, size_t g, size_t r, size_t k) const {
    return LoadElements(d, Lane(g, r) + k);
  }
  HWY_INLINE void Advance(int64_t k) { first += k; }

  const Element* lane[TileShape<T>::kLanes] = {};
  int64_t first = 0;
};

/// Fewer k than that, at least one: zeros take the place of those that are missing.
template <class Lanes>
struct SquareOfFewK : Lanes {
  SquareOfFewK(const Lanes& lanes, size_t k_count) : Lanes(lanes), count(k_count) {}

  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, size_t g, size_t r, size_t k) const {
    const typename Lanes::Element* from = this->Lane(g, r) + k;
#if BINET_MASKS_ARE_CHEAP
    return LoadElementsOf(d, from, ((1u << count) - 1) >> k);
#else
    if (k >= count) return hn::Zero(d);
    return count - k < hn::MaxLanes(d) ? LoadElements(d, from, count - k) : LoadElements(d, from);
#endif
  }

  size_t count;
};

/// Half as many k as lanes, from b * kGroup on, where a vector has two blocks: what is one block of it in memory is
/// loaded there, so that no shuffle has to cross them.
template <class D, class Square, class Put>
HWY_INLINE void TurnBlock(D d, const Square& from, size_t b, const Put& put_at) {
  constexpr size_t kGroup = Square::kGroup;
  const hn::Half<D> block;
  hn::Vec<D> v[kGroup];
  HWY_UNROLL(4)
  for (size_t r = 0; r < kGroup; ++r) {
    v[r] = hn::Combine(d, from.Load(block, 1, r, b * kGroup), from.Load(block, 0, r, b * kGroup));
  }
  TransposeBlocks(v);
  HWY_UNROLL(4)
  for (size_t c = 0; c < kGroup; ++c) put_at(b * kGroup + c, v[c]);
}

/// Half as many k as lanes, from k on, where a vector has four blocks: halves of two lanes in memory are loaded as one
/// vector, and only blocks that are neighbours change places. A quarter of the shuffles less than with whole lanes.
template <class D, class Square, class Put>
HWY_INLINE void TurnHalf(D d, const Square& from, size_t k, const Put& put_at) {
  constexpr size_t kGroup = Square::kGroup;
  const hn::Half<D> half;
  hn::Vec<D> v[2][kGroup];
  HWY_UNROLL(2)
  for (size_t g = 0; g < 2; ++g) {
    HWY_UNROLL(4)
    for (size_t r = 0; r < kGroup; ++r) {
      v[g][r] = hn::Combine(d, from.Load(half, g + 2, r, k), from.Load(half, g, r, k));
    }
    TransposeBlocks(v[g]);
  }
  // The blocks of v[g][c] are groups g, g, g + 2 and g + 2 at two places of k in turn.
  HWY_UNROLL(4)
  for (size_t c = 0; c < kGroup; ++c) {
    put_at(k + c, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[1][c]), v[0][c]));
    put_at(k + kGroup + c, hn::OddEvenBlocks(v[1][c], hn::SwapAdjacentBlocks(v[0][c])));
  }
}

/// A quarter of that: each block of memory is loaded into its place.
template <class D, class Square, class Put>
HWY_INLINE void TurnQuarter(D d, const Square& from, const Put& put_at) {
  constexpr size_t kGroup = Square::kGroup;
  const hn::Half<D> half;
  const hn::Half<decltype(half)> block;
  const auto pair = [&](size_t g, size_t r) HWY_ATTR {
    return hn::Combine(half, from.Load(block, g + 1, r, 0), from.Load(block, g, r, 0));
  };
  hn::Vec<D> v[kGroup];
  HWY_UNROLL(4)
  for (size_t r = 0; r < kGroup; ++r) v[r] = hn::Combine(d, pair(2, r), pair(0, r));
  TransposeBlocks(v);
  HWY_UNROLL(4)
  for (size_t c = 0; c < kGroup; ++c) put_at(c, v[c]);
}

/// As many k as lanes: put_at(k, vector of these lanes).
template <class D, class Square, class Put>
HWY_INLINE void TurnSquare(D d, const Square& from, const Put& put_at) {
  using T = hn::TFromD<D>;
  using Element = typename Square::Element;
  constexpr size_t kGroup = TileShape<T>::kGroup;
  constexpr size_t kGroups = TileShape<T>::kLanes / kGroup;
  if constexpr (kGroups == 2 && sizeof(Element) == sizeof(T)) {
    HWY_UNROLL(2)
    for (size_t b = 0; b < 2; ++b) TurnBlock(d, from, b, put_at);
    return;
  }
  if constexpr (kGroups == 4 && sizeof(Element) == sizeof(T)) {
    TurnHalf(d, from, 0, put_at);
    return TurnHalf(d, from, 2 * kGroup, put_at);
  }
  hn::Vec<D> v[kGroups][kGroup];
  HWY_UNROLL(4)
  for (size_t g = 0; g < kGroups; ++g) {
    HWY_UNROLL(4)
    for (size_t r = 0; r < kGroup; ++r) v[g][r] = from.Load(d, g, r, 0);
    TransposeBlocks(v[g]);
  }
  // Block b of v[g][c] holds group g at k = b * kGroup + c; a row of the panel wants that block of all groups.
  const auto put = [&](size_t b, size_t c, hn::Vec<D> row) HWY_ATTR { put_at(b * kGroup + c, row); };
  HWY_UNROLL(4)
  for (size_t c = 0; c < kGroup; ++c) {
    if constexpr (kGroups == 2) {
      put(0, c, hn::ConcatLowerLower(d, v[1][c], v[0][c]));
      put(1, c, hn::ConcatUpperUpper(d, v[1][c], v[0][c]));
    } else if constexpr (kGroups == 4) {
      const auto lower02 = hn::ConcatLowerLower(d, v[2][c], v[0][c]);
      const auto lower13 = hn::ConcatLowerLower(d, v[3][c], v[1][c]);
      const auto upper02 = hn::ConcatUpperUpper(d, v[2][c], v[0][c]);
      const auto upper13 = hn::ConcatUpperUpper(d, v[3][c], v[1][c]);
      put(0, c, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(lower13), lower02));
      put(1, c, hn::OddEvenBlocks(lower13, hn::SwapAdjacentBlocks(lower02)));
      put(2, c, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(upper13), upper02));
      put(3, c, hn::OddEvenBlocks(upper13, hn::SwapAdjacentBlocks(upper02)));
    } else {
      put(0, c, v[0][c]);
    }
  }
}

/// The same of `count` k, fewer than that: zeros are put for those that are missing, or nothing.
template <class D, class Square, class Put>
HWY_INLINE void TurnFewK(D d, const Square& lanes, size_t count, const Put& put_at) {
  using T = hn::TFromD<D>;
  constexpr size_t kGroup = TileShape<T>::kGroup;
  const SquareOfFewK<Square> square(lanes, count);
  if constexpr (TileShape<T>::kLanes == 4 * kGroup && sizeof(typename Square::Element) == sizeof(T)) {
    if (count <= kGroup) return TurnQuarter(d, square, put_at);
    TurnHalf(d, square, 0, put_at);
    if (count > 2 * kGroup) TurnHalf(d, square, 2 * kGroup, put_at);
  } else {
    TurnSquare(d, square, put_at);
  }
}

/// More rows than hardware prefetchers follow at a time.
constexpr int64_t kSquaresAhead = 8;

/// As many k as make whole squares, each k a row of a vector, `width` apart; gives their number.
template <class T, class Square>
HWY_INLINE int64_t TransposeSquares(Square square, int64_t count, T* to, int64_t width) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  constexpr size_t kGroup = TileShape<T>::kGroup;
  constexpr int64_t kLineLanes = 64 / sizeof(typename Square::Element);
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes, square.Advance(kLanes), to += kLanes * width) {
    if (k % kLineLanes == 0) {
      for (size_t r = 0; r < size_t{kLanes}; ++r) {
        hwy::Prefetch(square.Lane(r / kGroup, r % kGroup) + kSquaresAhead * kLanes);
      }
    }
#if HWY_COMPILER_GCC_ACTUAL
    // Else GCC has a pointer for each row of the square, more than there are registers.
    asm("" : "+r"(to), "+r"(width));
#endif
    // Whole vectors are stored, where blocks one by one would take longest.
    TurnSquare(d, square, [&](size_t i, hn::Vec<decltype(d)> row) HWY_ATTR {
      StoreAny(row, d, to + static_cast<int64_t>(i) * width);
    });
  }
  return k;
}
#endif

/// All k of kGroup lanes, to places `width` apart. Each line of memory that is read has that of the next kGroup lanes,
/// `next` elements further, fetched: rows end before hardware prefetchers have found their pace.
template <size_t kGroup, class T, class Element>
HWY_INLINE void TransposeGroup(const Element* const (&rows)[kGroup], int64_t next, int64_t count, T* to, size_t width) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, kGroup> d_block;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    for (size_t r = 0; r < kGroup; ++r) hwy::Prefetch(rows[r] + next + k);
    TransposeLanes(d, rows, k, to + static_cast<size_t>(k) * width, width);
  }
  for (; k + int64_t{kGroup} <= count; k += kGroup)
    TransposeLanes(d_block, rows, k, to + static_cast<size_t>(k) * width, width);
  for (; k < count; ++k) {
    for (size_t r = 0; r < kGroup; ++r) to[static_cast<size_t>(k) * width + r] = Widened<T>(rows[r] + k);
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
