// Room: kernels. The loops over rows: vector with vector, vector with scalar, scalar with vector.
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
  return {reference_kernel(operation, element_type_of<Element>), kLookups};
}

#else

namespace hn = hwy::HWY_NAMESPACE;

/// An operand that moves with y.
template <class T>
class Moving {
 public:
  explicit Moving(const std::byte* start) : start_(start) {}

  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t i) const {
    return load(d, reinterpret_cast<const T*>(start_ + i * sizeof(T)));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> first(D d) const {
    T value;
    std::memcpy(&value, start_, sizeof(T));
    return hn::Set(d, value);
  }

 private:
  const std::byte* start_;
};

/// An operand that stays.
template <class T>
class Fixed {
 public:
  explicit Fixed(const std::byte* value) { std::memcpy(&value_, value, sizeof(T)); }

  template <class D>
  HWY_INLINE hn::Vec<D> at(D d, std::size_t) const {
    return hn::Set(d, value_);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> first(D d) const {
    return hn::Set(d, value_);
  }

 private:
  T value_;
};

template <class L>
using LaneOf = typename L::T;

template <class L>
HWY_INLINE LaneOf<L>* at(std::byte* y, std::size_t i) {
  return reinterpret_cast<LaneOf<L>*>(y + i * sizeof(LaneOf<L>));
}

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

/// The vectors at i, i + N, ... below `end`; the last of them may reach beyond it.
template <class L, class A, class B, class Store>
HWY_INLINE void vectors(const A& a, const B& b, std::size_t i, std::size_t end, const Store& store) {
  const typename L::Tag d;
  const std::size_t N = hn::Lanes(d);
  // Four at a time: with one the loop's own instructions weigh as much as the vector's.
  for (; i + 3 * N < end; i += 4 * N) {
    const auto y0 = L::apply(d, a.at(d, i), b.at(d, i));
    const auto y1 = L::apply(d, a.at(d, i + N), b.at(d, i + N));
    const auto y2 = L::apply(d, a.at(d, i + 2 * N), b.at(d, i + 2 * N));
    const auto y3 = L::apply(d, a.at(d, i + 3 * N), b.at(d, i + 3 * N));
    store(y0, i);
    store(y1, i + N);
    store(y2, i + 2 * N);
    store(y3, i + 3 * N);
  }
  for (; i < end; i += N) store(L::apply(d, a.at(d, i), b.at(d, i)), i);
}

/// How many elements of y lie before its first cache line; nothing to gain where no element begins a line.
template <class L>
HWY_INLINE std::size_t elements_before_line(const std::byte* y) {
  return (std::uintptr_t{0} - reinterpret_cast<std::uintptr_t>(y)) % 64 / sizeof(LaneOf<L>);
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
HWY_INLINE void row(const A& a, const B& b, std::byte* y, std::size_t n) {
  const typename L::Tag d;
  const std::size_t N = hn::Lanes(d);
  if (n < N) return short_row<L, hn::MaxLanes(d) / 2>(a, b, y, n);
  const auto store = [d, y](hn::Vec<decltype(d)> v, std::size_t i) HWY_ATTR { hn::StoreU(v, d, at<L>(y, i)); };
  const std::size_t second = second_vector<L>(y, n);
  if (n % N == 0 && second == N) return vectors<L>(a, b, 0, n, store);
  // The first and the last vector overlap their neighbours: computed first, stored last.
  const auto head = L::apply(d, a.at(d, 0), b.at(d, 0));
  const auto tail = L::apply(d, a.at(d, n - N), b.at(d, n - N));
  vectors<L>(a, b, second, n - N, store);
  store(head, 0);
  store(tail, n - N);
}

/// Whether a row pays for streaming, and can: Highway streams 16 bytes at least, whatever the vector's size. A line
/// that is streamed in part goes to memory in part, so short rows must consist of whole lines.
template <class L>
HWY_INLINE bool can_stream(const std::byte* y, std::size_t n) {
  constexpr std::size_t kVector = hn::MaxLanes(typename L::Tag()) * sizeof(LaneOf<L>);
  constexpr std::size_t kLong = 4096;
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(y);
  const std::size_t bytes = n * sizeof(LaneOf<L>);
  const bool whole_lines = (start | bytes) % 64 == 0;
  return kVector >= 16 && (whole_lines || (bytes >= kLong && start % sizeof(LaneOf<L>) == 0));
}

/// For rows that can be streamed. y is neither a nor b, so what is written before its first line and behind its last
/// one may be computed again.
template <class L, class A, class B>
HWY_NOINLINE void streaming_row(A a, B b, std::byte* y, std::size_t n) {
  const typename L::Tag d;
  const std::size_t N = hn::Lanes(d);
  const auto value = [&](std::size_t i) HWY_ATTR { return L::apply(d, a.at(d, i), b.at(d, i)); };
  const std::size_t head = elements_before_line<L>(y);
  for (std::size_t i = 0; i < head; i += N) hn::StoreU(value(i), d, at<L>(y, i));
  // One at a time: memory sets the pace, and a compiler would change the order of four.
  const hn::ScalableTag<LaneOf<L>> whole;
  const std::size_t of_whole = hn::Lanes(whole);
  std::size_t i = head;
  for (; i + of_whole <= n; i += of_whole) {
    if constexpr (hn::MaxLanes(whole) == hn::MaxLanes(d)) {
      hn::Stream(value(i), whole, at<L>(y, i));
    } else {
      hn::Stream(hn::Combine(whole, value(i + N), value(i)), whole, at<L>(y, i));
    }
  }
  for (; i < n; i += N) hn::StoreU(value(std::min(i, n - N)), d, at<L>(y, std::min(i, n - N)));
}

/// Rows of less than so many vectors are over before four at a time pay.
constexpr std::size_t kFewVectors = 16;

/// Rows of at least a vector; y is neither a nor b. The first and last vector of a row overlap their neighbours, but
/// for kStream, which wants rows of whole lines.
template <class L, bool kStream, class A, class B>
HWY_INLINE void rows_of_vectors(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(LaneOf<L>));
  const typename L::Tag d;
  const auto store = [d](hn::Vec<decltype(d)> v, LaneOf<L>* to)
                         HWY_ATTR { kStream ? hn::Stream(v, d, to) : hn::StoreU(v, d, to); };
  const std::size_t N = hn::Lanes(d);
  const std::size_t last = static_cast<std::size_t>(rows.elements) - N;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const A of_a(a);
    const B of_b(b);
    std::size_t i = 0;
    if (!kStream) {
      store(L::apply(d, of_a.at(d, 0), of_b.at(d, 0)), at<L>(y, 0));
      i = second_vector<L>(y, last + N);
    }
    for (; i < last; i += N) store(L::apply(d, of_a.at(d, i), of_b.at(d, i)), at<L>(y, i));
    store(L::apply(d, of_a.at(d, last), of_b.at(d, last)), at<L>(y, last));
    a += rows.a_row_step * kSize;
    b += rows.b_row_step * kSize;
    y += rows.elements * kSize;
  }
}

template <class L, class A, class B>
void each_row(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(LaneOf<L>));
  const auto n = static_cast<std::size_t>(rows.elements);
  const std::size_t N = hn::Lanes(typename L::Tag());
  const bool few_vectors = rows.rows > 1 && n >= N && n < kFewVectors * N;
  if (few_vectors && !rows.stream) return rows_of_vectors<L, false, A, B>(rows, a, b, y);
  if constexpr (L::kStreamsRowsTogether) {
    const bool whole_lines = (reinterpret_cast<std::uintptr_t>(y) | n * sizeof(LaneOf<L>)) % 64 == 0;
    if (few_vectors && whole_lines) return rows_of_vectors<L, true, A, B>(rows, a, b, y);
  }
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    if (rows.stream && can_stream<L>(y, n)) {
      streaming_row<L>(A(a), B(b), y, n);
    } else {
      row<L>(A(a), B(b), y, n);
    }
    a += rows.a_row_step * kSize;
    b += rows.b_row_step * kSize;
    y += rows.elements * kSize;
  }
}

/// The kernel of one operation and element type.
template <class L>
void walk(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  using T = LaneOf<L>;
  if (rows.a_step == 0) return each_row<L, Fixed<T>, Moving<T>>(rows, a, b, y);
  if (rows.b_step == 0) return each_row<L, Moving<T>, Fixed<T>>(rows, a, b, y);
  each_row<L, Moving<T>, Moving<T>>(rows, a, b, y);
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
    static_assert(Op::kCommutes, "lookups take the operand that is laid out as the second one");
    using L = Lanes<Op, typename SeenAs<Op, Element>::Type>;
    return {&walk<L>, lookups_for<L>()};
  });
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
