// Room: kernels. Rows of y in whole cache lines, streamed past the caches (open_line.h) or stored.
#if defined(BINET_ELEMENTWISE_ROWS_IN_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_ELEMENTWISE_ROWS_IN_LINES_INL_H_
#undef BINET_ELEMENTWISE_ROWS_IN_LINES_INL_H_
#else
#define BINET_ELEMENTWISE_ROWS_IN_LINES_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/row_operands-inl.h"
#include "kernels/elementwise/side_by_side.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// How many elements of y lie before its first cache line; nothing to gain where no element begins a line.
template <class L>
HWY_INLINE std::size_t elements_before_line(const std::byte* y) {
  return (std::uintptr_t{0} - reinterpret_cast<std::uintptr_t>(y)) % kLineBytes / sizeof(LaneOf<L>);
}

/// Whether rows can be streamed: Highway streams 16 bytes at least, whatever the vector's size.
template <class L>
HWY_INLINE bool can_stream(const std::byte* y) {
  constexpr std::size_t kVector = hn::MaxLanes(typename L::Tag()) * sizeof(LaneOf<L>);
  return kVector >= 16 && reinterpret_cast<std::uintptr_t>(y) % sizeof(LaneOf<L>) == 0;
}

/// Whether a vector is a line, and can be loaded in part.
template <class L>
inline constexpr bool kJoinsRows = (HWY_TARGET == HWY_AVX3) && hn::MaxLanes(typename L::Tag()) * sizeof(LaneOf<L>) ==
                                                                   64;

/// Whether rows over which an operand stays are joined to lines where vectors are shorter: Kernel::joins_spread_rows.
template <class B>
inline constexpr bool kJoinsSpreadRows = (HWY_TARGET == HWY_AVX2) && B::kStays;

/// `v`, loaded by an instruction of its own. What an instruction with a mask reads, as the multiplication of 64-bit
/// integers has one (multiply_u64-inl.h), the prefetchers of Zen 5 do not follow: from memory it takes 1.4 times as
/// long.
template <class V>
HWY_INLINE V loaded(V v) {
  return sizeof(hn::TFromV<V>) == 8 ? kept(v) : v;
}

template <class L>
inline constexpr std::size_t kLine = 64 / sizeof(LaneOf<L>);

/// A line of y at once, element i first: memory sets the pace, and several lines at once are more streams to it.
template <class L, class A, class B, bool kStreams>
HWY_INLINE void write_line(const A& a, const B& b, std::byte* y, std::size_t i, std::size_t ahead) {
  const typename L::Tag d;
  const hn::ScalableTag<LaneOf<L>> whole;
  constexpr std::size_t kVectors = kLine<L> / hn::MaxLanes(whole);
  // Two operands with little between their loads ask for as much as memory gives.
  if constexpr (!L::kIsOneInstruction || B::kStays) {
    a.fetch(i, ahead);
    b.fetch(i, ahead);
  }
  const auto value = [&](std::size_t at_v)
                         HWY_ATTR { return L::apply(d, loaded(a.at(d, at_v)), loaded(b.at(d, at_v))); };
  hn::Vec<decltype(whole)> line[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    const std::size_t at_v = i + v * hn::Lanes(whole);
    if constexpr (hn::MaxLanes(whole) == hn::MaxLanes(d)) {
      line[v] = value(at_v);
    } else {
      line[v] = hn::Combine(whole, value(at_v + hn::Lanes(d)), value(at_v));
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    if constexpr (kStreams) {
      hn::Stream(line[v], whole, at<L>(y, i + v * hn::Lanes(whole)));
    } else {
      hn::StoreU(line[v], whole, at<L>(y, i + v * hn::Lanes(whole)));
    }
  }
}

/// Of rows-inl.h. Here it computes a part of a row that fills no line: in its place, or where it waits for the rest.
template <class L, class A, class B>
void each_row(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y);

/// Each line at once: the one that ends a row has the beginning of the next. Streams, or stores.
template <class L, class A, class B, bool kStreams>
HWY_NOINLINE void rows_in_lines(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(LaneOf<L>));
  const auto n = static_cast<std::size_t>(rows.elements);
  // A part of a row that fills no line.
  const auto write_part = [&](std::size_t from, std::size_t count) {
    if (count == 0) return;
    Rows part;
    part.elements = static_cast<std::int64_t>(count);
    std::byte* const to = y + from * sizeof(LaneOf<L>);
    const auto* const of_a = A::place(a, from);
    const auto* const of_b = B::place(b, from);
    if constexpr (!kStreams) return each_row<L, A, B>(part, of_a, of_b, to);
    each_row<L, A, B>(part, of_a, of_b, rows.stream->place_of(to));
    rows.stream->advance(to + count * sizeof(LaneOf<L>));
  };
  const RowSteps<A, B> steps(rows, kSize);
  std::size_t done = 0;  // of a row, with the end of the one before
  for (std::int64_t r = rows.rows; r > 0; --r) {
    const A of_a(a);
    const B of_b(b);
    std::size_t i = done;
    if (i == 0) {
      i = std::min(elements_before_line<L>(y), n);
      write_part(0, i);
    }
    const std::size_t tail = (n - i) % kLine<L>;
    for (; i < n - tail; i += kLine<L>) write_line<L, A, B, kStreams>(of_a, of_b, y, i, kFetchedAhead<L>);
    done = 0;
    if constexpr (kJoinsRows<L>) {
      const typename L::Tag d;
      if (tail != 0 && r > 1 && n + tail >= kLine<L>) {
        const A next_a(steps.next_a(a));
        const B next_b(steps.next_b(b));
        const auto both = L::apply(d, of_a.joined(d, n, tail, next_a), of_b.joined(d, n, tail, next_b));
        kStreams ? hn::Stream(both, d, at<L>(y, i)) : hn::StoreU(both, d, at<L>(y, i));
        done = kLine<L> - tail;
      }
    } else if constexpr (kJoinsSpreadRows<B>) {
      // At once, a vector of it from both rows: a goes on where the row ends.
      if (tail != 0 && r > 1 && n + tail >= kLine<L> && rows.a_row_step == rows.elements) {
        const B next_b(steps.next_b(b));
        const TwoFixed both_b(of_b, next_b, n);
        write_line<L, A, TwoFixed<LaneOf<L>>, kStreams>(of_a, both_b, y, i, kFetchedAhead<L>);
        done = kLine<L> - tail;
      }
    }
    if (done == 0) write_part(i, tail);
    steps.take(a, b, y);
  }
}

/// As FarLoops::side_by_side.
template <class L, class A, class B, bool kStreams>
HWY_NOINLINE void rows_side_by_side(const Runs& runs, std::size_t elements) {
  constexpr std::size_t kInTurn = kBytesInTurn / sizeof(LaneOf<L>);
  for (std::size_t from = 0; from < elements; from += kInTurn) {
    const std::size_t end = std::min(from + kInTurn, elements);
    for (const Places& run : runs) {
      const A a(run.a);
      const B b(run.b);
      std::byte* const y = run.y;  // not read again after each store
      for (std::size_t i = from; i < end; i += kLine<L>)
        write_line<L, A, B, kStreams>(a, b, y, i, kFetchedAheadSideBySide);
    }
  }
}

template <class L, class A, class B, bool kStreams>
inline constexpr FarLoops kFarLoops = {kStreams ? &rows_in_lines<L, A, B, kStreams> : &each_row<L, A, B>,
                                       &rows_side_by_side<L, A, B, kStreams>, sizeof(LaneOf<L>), A::kSize, B::kSize};

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
