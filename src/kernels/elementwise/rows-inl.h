// Room: kernels. The loops over rows: vector with vector, vector with scalar.
//
// No element outside of a, b and y is touched, and none of y is written before the elements of a and b at its place,
// and at the places of the vectors it shares, have been read: so y may be a or b.
#if defined(BINET_ELEMENTWISE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_ELEMENTWISE_ROWS_INL_H_
#undef BINET_ELEMENTWISE_ROWS_INL_H_
#else
#define BINET_ELEMENTWISE_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/elementwise/elementwise.h"
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#include "kernels/elementwise/lanes-inl.h"
#include "kernels/elementwise/lookups-inl.h"
#include "kernels/elementwise/row_operands-inl.h"
#include "kernels/elementwise/rows_in_lines-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

/// The portable target is the plain loops of reference.cc: a compiler vectorizes those for its baseline, but not
/// Highway's emulation of vectors, which GCC before 12.3 moreover miscompiles.
template <class Element>
Kernel choose_for(Operation operation) {
  static constexpr Lookup kLookups[] = {kMoveElements<sizeof(Element)>};
  return {reference_kernel(operation, element_type_of<Element>), 0, kLookups, {}, false, true};
}

#else

namespace hn = hwy::HWY_NAMESPACE;

/// A row shorter than 2 * kLanes: two vectors that may overlap, of the largest size that fits.
template <class L, std::size_t kLanes, class A, class B>
HWY_INLINE void short_row(const A& a, const B& b, std::byte* y, std::size_t n) {
  if constexpr (kLanes >= 2) {
    if (n >= kLanes) {
      const hn::CappedTag<LaneOf<L>, kLanes> d;
      const auto head = L::apply(d, a.at(d, 0), b.at(d, 0));
      const auto tail = L::apply(d, a.at(d, n - kLanes), b.at(d, n - kLanes));
      hn::StoreU(head, d, at<L>(y, 0));
      hn::StoreU(tail, d, at<L>(y, n - kLanes));
      return;
    }
    short_row<L, kLanes / 2>(a, b, y, n);
  } else if (n == 1) {
    const hn::CappedTag<LaneOf<L>, 2> d;
    const LaneOf<L> value = hn::GetLane(L::apply(d, a.first(d), b.first(d)));
    std::memcpy(y, &value, sizeof(value));
  }
}

/// The vectors at i, i + N, ... below `end`; the last of them may reach beyond it. Returns where the next one would be.
template <class L, class A, class B, class Store>
HWY_INLINE std::size_t vectors(const A& a, const B& b, std::size_t i, std::size_t end, const Store& store,
                               const std::byte* fetch_from) {
  const typename L::Tag d;
  const std::size_t N = hn::Lanes(d);
  // Four at a time: with one the loop's own instructions weigh as much as the vector's. Not where those are dozens.
  constexpr bool kPays = !(L::kTakesLong && HWY_TARGET == HWY_SSE4);
  for (; kPays && i + 3 * N < end; i += 4 * N) {
    const auto y0 = L::apply(d, a.at(d, i), b.at(d, i));
    const auto y1 = L::apply(d, a.at(d, i + N), b.at(d, i + N));
    const auto y2 = L::apply(d, a.at(d, i + 2 * N), b.at(d, i + 2 * N));
    const auto y3 = L::apply(d, a.at(d, i + 3 * N), b.at(d, i + 3 * N));
    if (fetch_from != nullptr) {
      const std::byte* const from = fetch_from + i * sizeof(LaneOf<L>);
      for (std::size_t line = 0; line < 4 * N * sizeof(LaneOf<L>); line += kLineBytes) fetch_to_write(from + line);
    }
    store(y0, i);
    store(y1, i + N);
    store(y2, i + 2 * N);
    store(y3, i + 3 * N);
  }
  for (; i < end; i += N) {
    if (fetch_from != nullptr) fetch_to_write(fetch_from + i * sizeof(LaneOf<L>));
    store(L::apply(d, a.at(d, i), b.at(d, i)), i);
  }
  return i;
}

/// Where a row's vectors begin behind its first one, which they may overlap. With vectors as long as a line, each store
/// of a row that does not begin one would lie across two, which takes twice as long. That must pay for one vector more.
template <class L>
HWY_INLINE std::size_t second_vector(const std::byte* y, std::size_t n) {
  constexpr std::size_t kEnough = L::kTakesLong ? 16 : 3;
  const std::size_t N = hn::Lanes(typename L::Tag());
  if (N * sizeof(LaneOf<L>) < 64 || n < kEnough * N) return N;
  const std::size_t head = elements_before_line<L>(y);
  return head == 0 ? N : head;
}

template <class L, class A, class B>
HWY_INLINE void row(const A& a, const B& b, std::byte* y, std::size_t n, bool fetch) {
  const typename L::Tag d;
  const std::size_t N = hn::Lanes(d);
  if (n < N) return short_row<L, hn::MaxLanes(d) / 2>(a, b, y, n);
  const auto store = [d, y](hn::Vec<decltype(d)> v, std::size_t i) HWY_ATTR { hn::StoreU(v, d, at<L>(y, i)); };
  const std::size_t second = second_vector<L>(y, n);
  const std::byte* const fetch_from = fetch ? y : nullptr;
  // The first and the last vector overlap their neighbours: computed before, stored behind them. The last one not
  // earlier than that: its operands may be far away, and what comes after an instruction that waits soon waits, too.
  const auto head = L::apply(d, a.at(d, 0), b.at(d, 0));
  if (n == N) return store(head, 0);
  const std::size_t i = vectors<L>(a, b, second, n - HWY_MIN(n, 2 * N), store, fetch_from);
  const auto tail = L::apply(d, a.at(d, n - N), b.at(d, n - N));
  if (i < n - N) store(L::apply(d, a.at(d, i), b.at(d, i)), i);
  store(head, 0);
  store(tail, n - N);
}

/// Rows of at least a vector; y is neither a nor b. The first and last vector of a row overlap their neighbours.
template <class L, class A, class B>
HWY_NOINLINE void rows_of_vectors(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(LaneOf<L>));
  const typename L::Tag d;
  const auto store = [d](hn::Vec<decltype(d)> v, LaneOf<L>* to) HWY_ATTR { hn::StoreU(v, d, to); };
  const std::size_t N = hn::Lanes(d);
  const std::size_t last = static_cast<std::size_t>(rows.elements) - N;
  // From the end of a block to the next one.
  const std::int64_t a_turn = rows.a_block_step - rows.rows * rows.a_row_step;
  const std::int64_t b_turn = rows.b_block_step - rows.rows * rows.b_row_step;
  const RowSteps<A, B> steps(rows, kSize);
  // `rest`: writes what follows a row's first vector.
  const auto each = [&](const auto& rest) HWY_ATTR {
    for (std::int64_t block = rows.blocks; block > 0; --block, a += a_turn * A::kSize, b += b_turn * B::kSize) {
      for (std::int64_t r = rows.rows; r > 0; --r) {
        const A of_a(a);
        const B of_b(b);
        store(L::apply(d, of_a.at(d, 0), of_b.at(d, 0)), at<L>(y, 0));
        rest(of_a, of_b);
        steps.take(a, b, y);
      }
    }
  };
  const auto end = [&](const A& of_a, const B& of_b)
                       HWY_ATTR { store(L::apply(d, of_a.at(d, last), of_b.at(d, last)), at<L>(y, last)); };
  // Two vectors without a loop: where another program shares the core, each jump that is taken costs as much as one of
  // them, and the three around an empty loop make such rows take twice as long.
  constexpr bool kTwoApart = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;
  if (kTwoApart && last <= N) {
    return each([&](const A& of_a, const B& of_b) HWY_ATTR {
      if (last != 0) end(of_a, of_b);
    });
  }
  each([&](const A& of_a, const B& of_b) HWY_ATTR {
    std::size_t i = second_vector<L>(y, last + N);
    if (kTwoApart || i < last) {
      do {
        store(L::apply(d, of_a.at(d, i), of_b.at(d, i)), at<L>(y, i));
        i += N;
      } while (i < last);
    }
    if (kTwoApart || last != 0) end(of_a, of_b);
  });
}

/// `to` has room for whole vectors.
template <class L>
void widen(const std::byte* from, std::int64_t elements, std::byte* to) {
  const typename L::Tag d;
  const hn::Rebind<typename L::Wide, decltype(d)> d_wide;
  const auto n = static_cast<std::size_t>(elements);
  const std::size_t N = hn::Lanes(d);
  const auto store = [&](hn::Vec<decltype(d)> v, std::size_t i) HWY_ATTR {
    hn::StoreU(L::widen(d_wide, v), d_wide, reinterpret_cast<typename L::Wide*>(to) + i);
  };
  const auto* const x = reinterpret_cast<const LaneOf<L>*>(from);
  std::size_t i = 0;
  for (; i + N <= n; i += N) store(hn::LoadU(d, x + i), i);
  if (i == n) return;
    // A copy in memory would be read back before it is there, which takes long.
#if HWY_TARGET == HWY_AVX3
  store(hn::MaskedLoad(hn::FirstN(d, n - i), d, x + i), i);
#else
  if (n > N) return store(hn::LoadU(d, x + n - N), n - N);
  LaneOf<L> last[hn::MaxLanes(d)] = {};
  std::memcpy(last, x + i, (n - i) * sizeof(LaneOf<L>));
  store(hn::LoadU(d, last), i);
#endif
}

/// Whether rows that are no whole vectors had better be computed as one run of lines: each row then has no first and
/// last vector that lies across two of them, or repeats a part of its neighbour. That pays where a runs as y does, y is
/// larger than the first-level cache, and rows are short enough.
template <class L, class B>
HWY_INLINE bool pays_to_join_rows(const Rows& rows, const std::byte* y) {
  constexpr std::int64_t kFewestBytes = 32 * 1024, kFewestRows = 4, kMostVectors = 64;
  constexpr std::int64_t kFewestVectors = B::kStays ? 2 : 8;
  constexpr auto kLanes = static_cast<std::int64_t>(hn::MaxLanes(typename L::Tag()));
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(LaneOf<L>));
  const std::int64_t n = rows.elements;
  return rows.blocks == 1 && n % kLanes != 0 && n >= kFewestVectors * kLanes && n < kMostVectors * kLanes &&
         rows.rows >= kFewestRows && rows.a_row_step == n && rows.rows * n * kSize >= kFewestBytes && !rows.fetch &&
         reinterpret_cast<std::uintptr_t>(y) % sizeof(LaneOf<L>) == 0;
}

/// Whether rows from far away are computed side by side. Not with an operand that was converted before, and is near: it
/// takes 1.0 to 1.07 of the time. With AVX-512 that was not measured.
template <class A, class B>
inline constexpr bool kTakesRuns = HWY_TARGET == HWY_AVX2 && !A::kIsConverted && !B::kIsConverted;

template <class L, class A, class B>
HWY_NOINLINE void each_row(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(LaneOf<L>));
  // Out of the way of small calls, for which each jump counts.
  if (rows.stream != nullptr || rows.is_far) [[unlikely]] {
    const bool streams = rows.stream != nullptr && can_stream<L>(y);
    if constexpr (kTakesRuns<A, B>) {
      if (rows.is_far) {
        return take_far_rows(streams ? kFarLoops<L, A, B, true> : kFarLoops<L, A, B, false>, rows, a, b, y);
      }
    }
    if (streams) return rows_in_lines<L, A, B, true>(rows, a, b, y);
  }
  const auto n = static_cast<std::size_t>(rows.elements);
  if constexpr (kJoinsRows<L> && !L::kTakesLong) {
    if (pays_to_join_rows<L, B>(rows, y)) return rows_in_lines<L, A, B, false>(rows, a, b, y);
  }
  if (rows.rows * rows.blocks > 1 && has_few_vectors(rows, hn::MaxLanes(typename L::Tag())))
    return rows_of_vectors<L, A, B>(rows, a, b, y);
  const RowSteps<A, B> steps(rows, kSize);
  const bool fetch = rows.fetch;
  for (std::int64_t r = rows.rows; r > 0; --r) {
    row<L>(A(a), B(b), y, n, fetch);
    steps.take(a, b, y);
  }
}

template <class L>
constexpr Widening widening() {
  if constexpr (kWidens<L>) {
    using Wide = MovingWide<LaneOf<L>, typename L::Wide>;
    return {sizeof(typename L::Wide), &widen<L>, &each_row<L, Moving<LaneOf<L>>, Wide>, &each_row<L, Wide, Wide>,
            hn::MaxLanes(typename L::Tag()) * sizeof(LaneOf<L>)};
  }
  return {};
}

/// The kernel of one operation and element type.
template <class L>
void walk(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  using T = LaneOf<L>;
  if (rows.b_step == 0) return each_row<L, Moving<T>, Fixed<T>>(rows, a, b, y);
  each_row<L, Moving<T>, Moving<T>>(rows, a, b, y);
}

template <class L>
Kernel kernel_of(std::span<const Lookup> lookups = lookups_for<L>()) {
  return {&walk<L>,
          hn::MaxLanes(typename L::Tag()),
          lookups,
          widening<L>(),
          kShufflesWide<L>,
          !L::kIsOneInstruction,
          kJoinsSpreadRows<Fixed<LaneOf<L>>>};
}

/// The type as which an operation sees an element: integers are unsigned where the operation allows that.
template <class Op, class Element>
struct SeenAs {
  using Type = Element;
};
template <class Op, class Element>
requires(std::is_integral_v<Element> && !Op::kSignMatters) struct SeenAs<Op, Element> {
  using Type = std::make_unsigned_t<Element>;
};

template <class Element>
Kernel choose_for(Operation operation) {
  return visit_operation(operation, []<class Op>() -> Kernel {
    static_assert(Op::kCommutes, "an operand that stays, or is laid out, is taken as the second one");
    using L = Lanes<Op, typename SeenAs<Op, Element>::Type>;
    return kernel_of<L>();
  });
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
