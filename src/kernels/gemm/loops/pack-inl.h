// Room: kernels, per target. Packing an operand into panels of accumulators (kernels.h, Packing).
//
// The lanes of a panel are rows of A or columns of B; which of the two makes no difference here. Lanes beyond the last
// repeat it or are zero, as far as tiles read them: they compute with them and drop the results.
#if defined(BINET_KERNELS_GEMM_LOOPS_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_PACK_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_PACK_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_PACK_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ---- lanes side by side in memory: copy

/// `count` lanes, 1 to kWidth, of one k.
template <size_t kWidth, class D, class Element>
HWY_INLINE void CopyLanes(D d, const Element* from, size_t count, hn::TFromD<D>* to) {
  constexpr size_t kLanes = hn::MaxLanes(d);
  static_assert(kWidth % kLanes == 0);
  for (size_t i = 0; i < kWidth; i += kLanes) {
    const auto v = i + kLanes <= count ? LoadElements(d, from + i)
                   : i < count         ? LoadElements(d, from + i, count - i)
                                       : hn::Zero(d);
    StoreAny(v, d, to + i);
  }
}

// ---- panels

/// Lanes in front of the end of the last vector that tiles read of a panel with so many lanes.
template <class T>
HWY_INLINE size_t LanesRead(size_t width, size_t lanes) {
  constexpr size_t kLanes = TileShape<T>::kLanes;
  return HWY_MIN(width, (lanes + kLanes - 1) / kLanes * kLanes);
}

/// Rows copied to one panel before the next panel has its turn: with one row the writes would jump from panel to panel,
/// whose distance often is a multiple of a page, with all rows the reads would.
constexpr int64_t kRowsTogether = 4;
/// Rows to fetch ahead: their distance is no pattern that hardware prefetchers follow across pages.
constexpr int64_t kPackRowsAhead = 16;

/// All panels, a few rows at a time, so that memory is read in runs as long as the rows are.
template <size_t kWidth, class T, class Element>
void CopyPanels(const Packing& packing) {
  // Vectors where the width is a whole number of them, else 16-byte blocks.
  constexpr bool kWhole = kWidth % TileShape<T>::kLanes == 0;
  const hn::CappedTag<T, kWhole ? TileShape<T>::kLanes : TileShape<T>::kGroup> d;
  for (int64_t first_k = 0; first_k < packing.k; first_k += kRowsTogether) {
    const int64_t end_k = HWY_MIN(first_k + kRowsTogether, packing.k);
    const auto* from = reinterpret_cast<const Element*>(packing.from) + first_k * packing.k_step;
    auto* to = reinterpret_cast<T*>(packing.to) + first_k * int64_t{kWidth};
    for (int64_t lane = 0; lane < packing.lanes; lane += packing.panel_lanes, to += packing.panel_step) {
      const auto lanes = static_cast<size_t>(HWY_MIN(packing.panel_lanes, packing.lanes - lane));
      for (int64_t k = first_k; k < end_k; ++k) {
        const Element* row = from + lane + (k - first_k) * packing.k_step;
        for (size_t i = 0; i < kWidth * sizeof(Element); i += 64) {
          hwy::Prefetch(reinterpret_cast<const std::byte*>(row + kPackRowsAhead * packing.k_step) + i);
        }
        CopyLanes<kWidth>(d, row, lanes, to + (k - first_k) * int64_t{kWidth});
      }
    }
  }
}

/// The width is no constant, as each more would have a copy of all this.
template <class T, class Element>
HWY_NOINLINE void TransposePanel(const Element* from, const Packing& packing, size_t lanes, T* to, size_t width) {
  constexpr size_t kGroup = TileShape<T>::kGroup;
  const hn::CappedTag<T, kGroup> d_block;
  const size_t end = LanesRead<T>(width, lanes);
  [[maybe_unused]] constexpr size_t kLanes = TileShape<T>::kLanes;
  size_t lane = 0;
  int64_t done = 0;  // values of k, of the lanes from `lane` to the end of their vector
  for (; lane < lanes; lane += kGroup) {
#if HWY_TARGET != HWY_SCALAR
    if (width % kLanes == 0 && lane % kLanes == 0) {
      const Element* first = from + static_cast<int64_t>(lane) * packing.lane_step;
      const auto left = static_cast<int64_t>(lanes - lane);
      const auto turn = [&](auto square) HWY_ATTR {
        return TransposeSquares(square, packing.k, to + lane, static_cast<int64_t>(width));
      };
      done = 0;
      if (left >= int64_t{kLanes}) {
        done = turn(SquareOfLanes<T, Element>(first, packing.lane_step));
      } else if (kLanes > kGroup && left > int64_t{kGroup}) {
        done = turn(SquareOfFewLanes<T, Element>(first, packing.lane_step, left));
      }
    }
#endif
    const Element* rows[kGroup];
    for (size_t r = 0; r < kGroup; ++r) {
      rows[r] = from + static_cast<int64_t>(HWY_MIN(lane + r, lanes - 1)) * packing.lane_step + done;
    }
    TransposeGroup(rows, int64_t{kGroup} * packing.lane_step, packing.k - done,
                   to + static_cast<size_t>(done) * width + lane, width);
  }
  for (; lane < end; lane += kGroup) {
    for (int64_t k = 0; k < packing.k; ++k)
      StoreAny(hn::Zero(d_block), d_block, to + static_cast<size_t>(k) * width + lane);
  }
}

template <size_t kWidth, class T, class Element>
void Pack(const Packing& packing) {
  if (packing.lane_step == 1) return CopyPanels<kWidth, T, Element>(packing);
  const auto* from = reinterpret_cast<const Element*>(packing.from);
  auto* to = reinterpret_cast<T*>(packing.to);
  for (int64_t lane = 0; lane < packing.lanes; lane += packing.panel_lanes, to += packing.panel_step) {
    const auto lanes = static_cast<size_t>(HWY_MIN(packing.panel_lanes, packing.lanes - lane));
    TransposePanel(from + lane * packing.lane_step, packing, lanes, to, kWidth);
  }
}

/// 16-bit floats, packed but not widened: by way of accumulators, which give back the same bits.
template <size_t kWidth, class T, class Element>
void PackKept(const Packing& packing) {
  const hn::ScalableTag<T> d;
  constexpr int64_t kTogether = 16;
  alignas(64) T widened[kTogether * kWidth];
  for (int64_t lane = 0; lane < packing.lanes; lane += packing.panel_lanes) {
    auto* to = reinterpret_cast<Element*>(packing.to) + lane / packing.panel_lanes * packing.panel_step;
    for (int64_t k = 0; k < packing.k; k += kTogether) {
      Packing part = packing;
      part.from = reinterpret_cast<const std::byte*>(reinterpret_cast<const Element*>(packing.from) +
                                                     lane * packing.lane_step + k * packing.k_step);
      part.lanes = HWY_MIN(packing.panel_lanes, packing.lanes - lane);
      part.k = HWY_MIN(kTogether, packing.k - k);
      part.to = reinterpret_cast<std::byte*>(widened);
      for (size_t i = 0; i < kTogether * kWidth; i += hn::Lanes(d)) hn::Store(hn::Zero(d), d, widened + i);
      Pack<kWidth, T, Element>(part);
      const auto numbers = static_cast<size_t>(part.k) * kWidth;
      for (size_t i = 0; i < numbers; i += hn::Lanes(d)) {
        StoreElements(hn::Load(d, widened + i), d, to + static_cast<size_t>(k) * kWidth + i);
      }
    }
  }
}

/// `count`, a multiple of the lanes of a vector.
template <class T, class Element>
void WidenPacked(const std::byte* from, int64_t count, std::byte* to) {
  const hn::ScalableTag<T> d;
  const auto* elements = reinterpret_cast<const Element*>(from);
  for (size_t i = 0; i < static_cast<size_t>(count); i += hn::Lanes(d)) {
    StoreAny(LoadElements(d, elements + i), d, reinterpret_cast<T*>(to) + i);
  }
}

/// Lines are filled up to whole vectors, with anything: where masks cost something, with what follows in memory as long
/// as that is in front of the end of the last line.
template <class T, class Element>
void WidenLines(const std::byte* from, int64_t from_step, int64_t lines, int64_t count, std::byte* to,
                int64_t to_step) {
  const hn::ScalableTag<T> d;
  constexpr size_t kLanes = hn::MaxLanes(d);
  const auto* line = reinterpret_cast<const Element*>(from);
  auto* widened = reinterpret_cast<T*>(to);
  if (from_step == count && to_step == count) {  // lines that touch are one
    count *= lines;
    lines = 1;
  }
  const auto elements = static_cast<size_t>(count);
  const size_t whole = elements / kLanes * kLanes;
  const size_t filled = whole == elements ? whole : whole + kLanes;
  const auto beyond = static_cast<int64_t>(filled - elements);
  const bool is_one_line = beyond <= from_step;  // without a division, which small products would notice
  const int64_t last_lines = is_one_line ? (beyond > 0 ? 1 : 0) : (beyond + from_step - 1) / from_step;
  const int64_t ends = BINET_MASKS_ARE_CHEAP && beyond > 0 ? lines : last_lines;
  const auto widen = [&](size_t i) HWY_ATTR { StoreAny(LoadElements(d, line + i), d, widened + i); };
  const auto widen_to = [&](size_t end) HWY_ATTR {
    for (size_t i = 0; i < end; i += kLanes) widen(i);
  };
  if (filled == kLanes) {
    for (; lines > ends; --lines, line += from_step, widened += to_step) widen(0);
  } else if (filled == 2 * kLanes) {
    for (; lines > ends; --lines, line += from_step, widened += to_step) {
      widen(0);
      widen(kLanes);
    }
  } else {
    for (; lines > ends; --lines, line += from_step, widened += to_step) widen_to(filled);
  }
  for (; lines > 0; --lines, line += from_step, widened += to_step) {
    widen_to(whole);
    if (beyond > 0) StoreAny(LoadElements(d, line + whole, elements - whole), d, widened + whole);
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
