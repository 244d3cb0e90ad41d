// Room: kernels, per target. Few rows of Y and a transposed B: what of k makes no whole square, or all of a short one.
//
// The k that are missing in a square change no sum: A is filled up with -0 and B with 0, whose product is -0, and any
// sum plus -0 is that sum.
#if defined(BINET_KERNELS_GEMM_LOOPS_REST_OF_K_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_REST_OF_K_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_REST_OF_K_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_REST_OF_K_INL_H_
#endif

#include <hwy/highway.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/fetch_run-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/loops/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has no squares

#if HWY_TARGET == HWY_AVX3
/// As many lanes as a vector has, of up to half as many k each, which lie one behind the other: a few lanes are loaded
/// at a time, and turned in an order of their own. Sums change places once, where a load for each lane, and a shuffle
/// to put it in its place, would take several times as long.
template <class T>
class TouchingLanes {
 public:
  static constexpr size_t kLanes = TileShape<T>::kLanes, kGroup = TileShape<T>::kGroup;
  static constexpr size_t kMostK = kLanes / 2;

  explicit TouchingLanes(size_t count)
      : count_(count), reach_(count <= kGroup ? kGroup : kMostK), lanes_together_(kLanes / reach_) {
    const DU d;
    alignas(64) U from[kLanes], to[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      from[i] = static_cast<U>(i / reach_ * count + i % reach_);
      // Where a sum ends up: see Turn().
      const size_t block = i / kGroup, r = i % kGroup;
      const size_t lane = reach_ == kGroup ? kBlocks * r + block : block % 2 * kMostK + 2 * r + block / 2;
      to[lane] = static_cast<U>(i);
    }
    from_ = hn::Load(d, from);
    to_ = hn::Load(d, to);
    for (size_t i = 0; i < kLanes; ++i) is_there_ |= uint32_t{i % reach_ < count} << i;
  }

  /// put(k, vector of the lanes from `from` on), in the order that InOrder() mends.
  template <class Put>
  HWY_INLINE void Turn(const T* from, const Put& put) const {
    const D d;
    const auto load = [&](size_t i) HWY_ATTR { return Load(from + i * lanes_together_ * count_); };
    V v[2][kGroup];
    HWY_UNROLL(4)
    for (size_t r = 0; r < kGroup; ++r) v[0][r] = load(r);
    TransposeBlocks(v[0]);
    if (reach_ == kGroup) {  // each block is another lane
      HWY_UNROLL(4)
      for (size_t c = 0; c < kGroup; ++c) put(c, v[0][c]);
      return;
    }
    HWY_UNROLL(4)
    for (size_t r = 0; r < kGroup; ++r) v[1][r] = load(kGroup + r);
    TransposeBlocks(v[1]);
    HWY_UNROLL(4)
    for (size_t c = 0; c < kGroup; ++c) {  // two neighbouring blocks are
      put(c, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(v[1][c]), v[0][c]));
      put(kGroup + c, hn::OddEvenBlocks(v[1][c], hn::SwapAdjacentBlocks(v[0][c])));
    }
  }

  HWY_INLINE hn::Vec<hn::ScalableTag<T>> InOrder(hn::Vec<hn::ScalableTag<T>> sums) const {
    return hn::TableLookupLanes(sums, hn::IndicesFromVec(D(), to_));
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using DU = hn::RebindToUnsigned<D>;
  using U = hn::TFromD<DU>;
  static constexpr size_t kBlocks = kLanes / kGroup;

  HWY_INLINE V Load(const T* from) const {
    const D d;
    const V all = LoadElementsOf(d, from, (1u << lanes_together_ * count_) - 1);
    using Mask = hn::Mask<D>;
    return hn::IfThenElseZero(Mask{static_cast<typename Mask::Raw>(is_there_)},
                              hn::TableLookupLanes(all, hn::IndicesFromVec(d, from_)));
  }

  size_t count_, reach_, lanes_together_;
  hn::Vec<DU> from_, to_;
  uint32_t is_there_ = 0;
};
#endif

/// The last k of a block, fewer than lanes.
template <class Element, class T>
class RestOfK {
 public:
  HWY_NOINLINE explicit RestOfK(const Block& block)
      : block_(block), k_(block.k / kLanes * kLanes), count_(size_t(block.k - k_)) {
    for (int64_t m = 0; count_ > 0 && m < block.m; ++m) {
      const T* row = reinterpret_cast<const T*>(block.a) + m * block.a_row_step + k_ * block.a_column_step;
      hn::Store(hn::Set(D(), static_cast<T>(-0.0)), D(), a_[m]);
      for (size_t i = 0; i < count_; ++i) {
        a_[m][i] = LoadOne(row + int64_t(i) * block.a_column_step);
        std::atomic_signal_fence(std::memory_order_acq_rel);  // so few are not worth the room of a loop by vectors
      }
    }
  }
  bool IsEmpty() const { return count_ == 0; }

  /// Adds their products with so many columns of B from `column` on, a vector or less at a time.
  HWY_NOINLINE void Add(int64_t column, int64_t columns, T* sums, int64_t row_step) const {
    const int64_t lane_step = block_.b_column_step;
    const auto* from = reinterpret_cast<const Element*>(block_.b) + column * lane_step + k_;
    const bool is_far = BINET_MASKS_ARE_CHEAP && block_.fetched == FarOperand::lines_of_turned_b && k_ == 0;
    int64_t n = 0;
#if HWY_TARGET == HWY_AVX3
    if constexpr (std::is_same_v<Element, T>) {
      if (lane_step == int64_t(count_) && count_ <= TouchingLanes<T>::kMostK)
        n = AddTouching(from, columns, is_far, sums, row_step);
    }
#endif
    for (; n < columns; n += kLanes) {
      const auto turn_lanes = [&](const auto& square) HWY_ATTR {
        AddTurned([&](const auto& put) HWY_ATTR { TurnFewK(D(), square, count_, put); },
                  [](hn::Vec<D> sum) HWY_ATTR { return sum; }, sums + n, row_step);
      };
      if (is_far) FetchBehind(from + n * lane_step, kLanes * lane_step);
      if (columns - n >= kLanes) {
        turn_lanes(SquareOfLanes<T, Element>(from + n * lane_step, lane_step));
      } else {
        turn_lanes(SquareOfFewLanes<T, Element>(from + n * lane_step, lane_step, columns - n));
      }
    }
  }

 private:
  using D = hn::ScalableTag<T>;
  static constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  static constexpr auto kTogether = static_cast<int64_t>(TileShape<T>::kGroup);  // of k, the least that is turned

#if HWY_TARGET == HWY_AVX3
  /// All that are whole vectors of columns: their number. These are all k, so that sums begin here.
  HWY_INLINE int64_t AddTouching(const T* from, int64_t columns, bool is_far, T* sums, int64_t row_step) const {
    const TouchingLanes<T> lanes(count_);
    int64_t n = 0;
    for (; n + kLanes <= columns; n += kLanes, from += size_t{kLanes} * count_) {
      if (is_far) FetchBehind(from, kLanes * int64_t(count_));
      AddTurned([&](const auto& put) HWY_ATTR { lanes.Turn(from, put); },
                [&](hn::Vec<D> sum) HWY_ATTR { return lanes.InOrder(sum); }, sums + n, row_step);
    }
    return n;
  }
#endif

  template <class Turn, class InOrder>
  HWY_INLINE void AddTurned(const Turn& turn, const InOrder& in_order, T* sums, int64_t row_step) const {
    const D d;
    hn::Vec<D> b[kLanes];
    turn([&](size_t k, hn::Vec<D> row) HWY_ATTR { b[k] = row; });
    for (int64_t m = 0; m < block_.m; ++m, sums += row_step) {
      auto sum = hn::Load(d, sums);
      HWY_UNROLL(4)
      for (int64_t first = 0; first < kLanes; first += kTogether) {
        if (first >= int64_t(count_)) break;
        HWY_UNROLL(4)
        for (int64_t k = first; k < first + kTogether; ++k) sum = MultiplyAdd(hn::Set(d, a_[m][k]), b[k], sum);
      }
      hn::Store(in_order(sum), d, sums);
    }
  }

  const Block& block_;
  int64_t k_;
  size_t count_;
  alignas(64) T a_[kMostTurnedRows][kLanes];
};

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
