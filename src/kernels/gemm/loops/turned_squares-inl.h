// Room: kernels, per target. Few rows of Y and a transposed B that is not packed: squares of B are turned in registers
// and multiplied at once.
//
// Packing would store what is used once or a few times. The lanes of a vector are columns of Y, rows of B in memory: as
// many streams as there are lanes, which the hardware's prefetchers do not follow when they begin a page apart.
#if defined(BINET_KERNELS_GEMM_LOOPS_TURNED_SQUARES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_TURNED_SQUARES_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_TURNED_SQUARES_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_TURNED_SQUARES_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/pack-inl.h"
#include "kernels/gemm/loops/rest_of_k-inl.h"
#include "kernels/gemm/loops/waiting_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has no squares

/// With AVX2 the fetches cost more than they gain (1.0 to 1.2 times as fast without them on Zen 3).
constexpr bool kFetchesRuns = HWY_TARGET != HWY_AVX2;

/// A vector of a whole line is turned half by half where two groups take turns: registers hold no more.
template <size_t kGroups>
constexpr bool kTurnsHalves = kGroups == 2 && HWY_TARGET == HWY_AVX3;

/// One of two blocks is turned at a time, where registers hold no more beside the sums.
template <size_t kRows, class Element, class T>
constexpr bool kTurnsBlocks = (HWY_TARGET == HWY_AVX2) && kRows > 0 && std::is_same_v<Element, T>;

/// Whether the sums of two and three rows, and of four of f32, stay in registers beside the squares of two groups.
template <class Element, class T>
constexpr bool kKeepsSumsOfRows = (HWY_TARGET == HWY_AVX2) && std::is_same_v<Element, T>&& hwy::IsFloat<T>();

/// Whether two groups of columns may be at different k (staggered_squares-inl.h), and for how many rows. Measured with
/// AVX2: longer vectors have more lanes than a set of the cache has lines, shorter ones fewer.
template <class T>
constexpr bool kStaggers = (HWY_TARGET == HWY_AVX2) && std::is_same_v<T, float>;
template <class Element, class T>
constexpr size_t kMostStaggeredRows = std::is_same_v<Element, T> ? 4 : 1;

/// Groups of columns, each a vector of Y, side by side. The last one may have fewer columns than lanes. The others are
/// `ahead` k further on.
template <size_t kGroups, bool kLastIsWhole, class T, class Element>
struct Squares {
  Squares(const Element* from, int64_t lane_step, int64_t last_columns, int64_t ahead) {
    constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
    for (size_t g = 0; g + 1 < kGroups; ++g, from += kLanes * lane_step) whole[g] = {from + ahead, lane_step};
    if constexpr (kLastIsWhole) {
      last = {from, lane_step};
    } else {
      last = {from, lane_step, last_columns};
    }
  }
  /// Calls use(square) with that of group g.
  template <class Use>
  HWY_INLINE void With(size_t g, const Use& use) const {
    if (g + 1 == kGroups) return use(last);
    if constexpr (kGroups > 1) use(whole[g]);
  }
  HWY_INLINE void Advance(int64_t k) {
    for (size_t g = 0; g + 1 < kGroups; ++g) whole[g].Advance(k);
    last.Advance(k);
  }

  SquareOfLanes<T, Element> whole[kGroups > 1 ? kGroups - 1 : 1];
  std::conditional_t<kLastIsWhole, SquareOfLanes<T, Element>, SquareOfFewLanes<T, Element>> last;
};

/// All k of a block for groups of columns. Each group has a chain of multiply-adds for each row, whose latency is what
/// limits where B is near. The sums of kRows, whose A has all its k side by side, stay in registers; kRows = 0: those
/// of any number of rows do not. The last group has `last_columns`. What of k makes no whole square is left to
/// RestOfK. kIsStaggered: of two groups, the first is `ahead` k further on (staggered_squares-inl.h).
template <size_t kGroups, size_t kRows, bool kLastIsWhole, class Element, bool kIsStaggered = false, class T>
HWY_NOINLINE void AddSquares(const Block& block, int64_t column, int64_t last_columns, T* sums, int64_t row_step,
                             int64_t ahead = 0) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  const int64_t lane_step = block.b_column_step;
  const int64_t a_step = kRows > 0 ? 1 : block.a_column_step;
  const auto* b = reinterpret_cast<const Element*>(block.b) + column * lane_step;

  // A run of k has as many squares as there are lanes: each fetches one row of the next run, which is a run of memory.
  constexpr int64_t kRun = kLanes * kLanes;
  const int64_t end = block.k / kLanes * kLanes;
  const bool fetches = kFetchesRuns && block.near_b != 0;
  const auto fetch = [&](int64_t k, int64_t g) HWY_ATTR {
    asm volatile("");  // GCC drops the call of a function that does nothing but fetch
    const int64_t square = k % kRun / kLanes, next_k = k - k % kRun + kRun;
    const Element* next = next_k < end ? b + next_k : b + int64_t{kGroups} * kLanes * lane_step;
    const auto* run = reinterpret_cast<const std::byte*>(next + (g * kLanes + square) * lane_step);
    HWY_UNROLL(16)
    for (size_t i = 0; i < size_t{kRun} * sizeof(Element); i += 64) hwy::Prefetch(run + i);
  };
  // One line of each row, some lines further on: of this group or, at its end, of another one.
  constexpr int64_t kAhead = 1024 / int64_t{sizeof(Element)};
  const bool fetches_lines =
      block.fetched == FarOperand::lines_of_turned_b && end > 0;  // a last range of k may have no whole square
  const int64_t groups_ahead = fetches_lines ? kAhead / end : 0;
  const int64_t k_ahead = kAhead - groups_ahead * end;
  const auto fetch_lines = [&](int64_t k, int64_t g) HWY_ATTR {
    asm volatile("");  // as above
    const bool is_next = k + k_ahead >= end;
    const int64_t next_g = g + (groups_ahead + int64_t{is_next}) * int64_t{kGroups};
    const Element* from = b + next_g * kLanes * lane_step + k + k_ahead - (is_next ? end : 0);
    HWY_UNROLL(16)
    for (int64_t i = 0; i < kLanes; ++i, from += lane_step) hwy::Prefetch(from);
  };
  // The products of kCount k, for the sums of one row and kTogether groups.
  const auto add = [&]<size_t kTogether, int64_t kCount>(const T* from, V* to, const V(&b_row)[kTogether][kCount])
                       HWY_ATTR {
                         HWY_UNROLL(16)
                         for (int64_t i = 0; i < kCount; ++i, from += a_step) {
                           const V factor = hn::Set(d, LoadOne(from));
                           HWY_UNROLL(4)
                           for (size_t g = 0; g < kTogether; ++g) to[g] = MultiplyAdd(factor, b_row[g][i], to[g]);
                         }
                       };
  V sum[kRows + 1][kGroups];
  const T* a[kRows + 1];
  for (size_t m = 0; m != kRows; ++m) {
    a[m] = reinterpret_cast<const T*>(block.a) + int64_t(m) * block.a_row_step;
    for (size_t g = 0; g < kGroups; ++g) sum[m][g] = hn::Load(d, sums + int64_t(m) * row_step + int64_t(g) * kLanes);
  }
  const auto add_rows = [&]<size_t kTogether, int64_t kCount>(size_t first, int64_t k,
                                                              const V(&b_row)[kTogether][kCount]) HWY_ATTR {
    const int64_t k_of_a = kIsStaggered && first == 0 ? k + ahead : k;
    HWY_UNROLL(4)
    for (size_t m = 0; m != kRows; ++m) add(a[m] + k_of_a * a_step, sum[m] + first, b_row);
    if constexpr (kRows == 0) {
      for (int64_t m = 0; m < block.m; ++m) {
        T* place = sums + m * row_step + int64_t(first) * kLanes;
        V row_sum[kTogether];
        for (size_t g = 0; g < kTogether; ++g) row_sum[g] = hn::Load(d, place + int64_t(g) * kLanes);
        add(reinterpret_cast<const T*>(block.a) + m * block.a_row_step + k * a_step, row_sum, b_row);
        for (size_t g = 0; g < kTogether; ++g) hn::Store(row_sum[g], d, place + int64_t(g) * kLanes);
      }
    }
  };

  Squares<kGroups, kLastIsWhole, T, Element> squares(b, lane_step, last_columns, kIsStaggered ? ahead : 0);
  for (int64_t k = 0; k < end; k += kLanes, squares.Advance(kLanes)) {
    if constexpr (kTurnsHalves<kGroups>) {
      HWY_UNROLL(2)
      for (int64_t first = 0; first < kLanes; first += kLanes / 2) {
        V row[kGroups][kLanes / 2];
        HWY_UNROLL(2)
        for (size_t g = 0; g < kGroups; ++g) {
          squares.With(g, [&](const auto& square) HWY_ATTR {
            TurnHalf(d, square, size_t(first), [&](size_t i, V v) HWY_ATTR { row[g][i - size_t(first)] = v; });
          });
        }
        add_rows(0, k + first, row);
      }
    } else {
      HWY_UNROLL(4)
      for (size_t g = 0; g < kGroups; ++g) {
        if (fetches) fetch(k, int64_t(g));
        if (fetches_lines) fetch_lines(k, int64_t(g));
        if constexpr (kTurnsBlocks<kRows, Element, T>) {
          HWY_UNROLL(2)
          for (size_t block_of_k = 0; block_of_k < 2; ++block_of_k) {
            V row[1][kLanes / 2];
            const size_t first = block_of_k * kLanes / 2;
            squares.With(g, [&](const auto& square) HWY_ATTR {
              TurnBlock(d, square, block_of_k, [&](size_t i, V v) HWY_ATTR { row[0][i - first] = v; });
            });
            add_rows(g, k + int64_t(first), row);
          }
          continue;
        }
        V row[1][kLanes];
        squares.With(g, [&](const auto& square)
                            HWY_ATTR { TurnSquare(d, square, [&](size_t i, V v) HWY_ATTR { row[0][i] = v; }); });
        add_rows(g, k, row);
      }
    }
  }
  for (size_t m = 0; m != kRows; ++m) {
    for (size_t g = 0; g < kGroups; ++g) hn::Store(sum[m][g], d, sums + int64_t(m) * row_step + int64_t(g) * kLanes);
  }
}

/// Where vectors are long, whole ones of a single group are apart for one row only: to load a pointer for each lane
/// costs others little.
constexpr bool kIsWholeForAllRows = HWY_TARGET != HWY_AVX3;

/// Two groups at the same k are computed as staggered ones, unless that is slower: one row of f32 shares what is read
/// of A, and the sums of three and more leave no registers.
template <size_t kRows, class Element, class T>
constexpr bool kStaggersAlways = kStaggers<T>&& kRows == (std::is_same_v<Element, T> ? 2 : 1);

/// kGroups of whole vectors if kLastIsWhole, for any number of rows; or for one row, whose A has its k side by side.
template <size_t kGroups, bool kLastIsWhole, class Element, class T>
HWY_NOINLINE void AddSquaresOfRows(const Block& block, int64_t column, int64_t last_columns, T* sums,
                                   int64_t row_step) {
  const auto add = [&]<size_t kRows>() HWY_ATTR {
    constexpr bool kIsStaggered = kLastIsWhole && kGroups == 2 && kStaggersAlways<kRows, Element, T>;
    AddSquares<kGroups, kRows, kLastIsWhole, Element, kIsStaggered>(block, column, last_columns, sums, row_step);
  };
  if constexpr (kLastIsWhole && !kIsWholeForAllRows) return add.template operator()<1>();
  if (block.a_column_step != 1) return add.template operator()<0>();
  if constexpr (kTurnsHalves<kGroups> && sizeof(Element) == sizeof(T)) {
    switch (block.m) {
      case 1:
        return add.template operator()<1>();
      case 2:
        return add.template operator()<2>();
      case 3:
        return add.template operator()<3>();
      case 4:
        return add.template operator()<4>();
      case 5:
        return add.template operator()<5>();
      default:
        return add.template operator()<0>();
    }
  }
  if constexpr (kLastIsWhole) {
    if (block.m == 1) return add.template operator()<1>();
    if constexpr (kKeepsSumsOfRows<Element, T> && kGroups == 2) {
      if (block.m == 2) return add.template operator()<2>();
      if (block.m == 3) return add.template operator()<3>();
      if constexpr (sizeof(T) == 4) {  // four rows of f64 are packed, or computed as Y^T
        if (block.m == 4) return add.template operator()<4>();
      }
    }
  }
  add.template operator()<0>();
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
