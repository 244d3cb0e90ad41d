// Compiled for the machine at hand, so nothing is chosen at run time.
#define HWY_COMPILE_ONLY_STATIC
#include "kernels/elementwise/bench/limits.h"

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise::bench {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

struct Multiply {
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Mul(a, b);
  }
};

struct Combine {
  template <class V>
  static HWY_INLINE V apply(V a, V b) {
    return hn::Xor(a, b);
  }
};

enum class Store { normal, fetched, streaming };

template <class T, Store kStore>
HWY_INLINE void store(hn::Vec<hn::ScalableTag<T>> v, T* y) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t kAhead = 1024 / sizeof(T);
  if (kStore == Store::fetched) __builtin_prefetch(y + kAhead, 1);
  kStore == Store::streaming ? hn::Stream(v, d, y) : hn::Store(v, d, y);
}

/// y[i] = a[i] op b[i]; an operand that is left out is one value. `n` is a multiple of a cache line, y aligned to one.
template <class T, class Op, Store kStore, bool kA, bool kB>
HWY_INLINE void part(const T* a, const T* b, T* y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const auto N = static_cast<std::int64_t>(hn::Lanes(d));
  const auto one = hn::Set(d, T{1});
  const auto at = [&](std::int64_t i)
                      HWY_ATTR { return Op::apply(kA ? hn::LoadU(d, a + i) : one, kB ? hn::LoadU(d, b + i) : one); };
  std::int64_t i = 0;
  for (; i + 4 * N <= n; i += 4 * N) {
    const auto y0 = at(i), y1 = at(i + N), y2 = at(i + 2 * N), y3 = at(i + 3 * N);
    store<T, kStore>(y0, y + i);
    store<T, kStore>(y1, y + i + N);
    store<T, kStore>(y2, y + i + 2 * N);
    store<T, kStore>(y3, y + i + 3 * N);
  }
  for (; i < n; i += N) store<T, kStore>(at(i), y + i);
}

constexpr std::int64_t kLine = 64;
std::int64_t whole_lines(std::int64_t bytes) { return bytes / kLine * kLine; }

/// An operand as the loops read it.
struct Stream {
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
  /// Read from its start again and again; otherwise once, in pieces that lie as far apart in y as its size demands.
  bool repeats = false;

  /// How many of `length` bytes of y, from `begin` on, are made with bytes of this operand, and where those are.
  [[nodiscard]] std::int64_t share(std::int64_t length, std::int64_t y_bytes) const {
    if (repeats || bytes == y_bytes) return length;
    const double part = static_cast<double>(bytes) / static_cast<double>(y_bytes);
    return whole_lines(static_cast<std::int64_t>(static_cast<double>(length) * part));
  }
  [[nodiscard]] const std::byte* at(std::int64_t begin, std::int64_t y_bytes) const {
    return data + (repeats ? begin % whole_lines(bytes) : share(begin, y_bytes));
  }
};

/// In a register where it is too small to be read line by line.
Stream stream_of(const Operands& p, const AlignedBuffer& x, std::int64_t BroadcastLoop::*step) {
  constexpr std::size_t kSmall = 1024;
  if (x.size() < p.y.size() && x.size() < kSmall) return {};
  const bool repeats = x.size() < p.y.size() && p.plan.loops.back().*step == 1;
  return {x.data(), static_cast<std::int64_t>(x.size()), repeats};
}

template <class T, class Op, Store kStore>
HWY_INLINE void piece(const Stream& a, const Stream& b, std::byte* y, std::int64_t y_bytes, std::int64_t begin,
                      std::int64_t length) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const auto as_t = [](const std::byte* from) { return reinterpret_cast<const T*>(from); };
  const bool a_has_more = a.share(length, y_bytes) >= b.share(length, y_bytes);
  const Stream& more = a_has_more ? a : b;
  const Stream& less = a_has_more ? b : a;
  const std::int64_t of_one = more.share(length, y_bytes);
  const std::int64_t of_both = less.share(length, y_bytes);
  T* const to = reinterpret_cast<T*>(y + begin);
  const std::byte* const from = more.at(begin, y_bytes);
  part<T, Op, kStore, true, true>(as_t(from), as_t(less.at(begin, y_bytes)), to, of_both / kSize);
  part<T, Op, kStore, true, false>(as_t(from + of_both), nullptr, to + of_both / kSize, (of_one - of_both) / kSize);
  part<T, Op, kStore, false, false>(nullptr, nullptr, to + of_one / kSize, (length - of_one) / kSize);
}

template <class T, class Op, Store kStore>
void walk(const Operands& p, std::int64_t begin, std::int64_t length) {
  const Stream a = stream_of(p, p.a, &BroadcastLoop::a_step);
  const Stream b = stream_of(p, p.b, &BroadcastLoop::b_step);
  const auto y_bytes = static_cast<std::int64_t>(p.y.size());
  while (length > 0) {
    std::int64_t n = length;
    for (const Stream& x : {a, b}) {
      if (x.repeats) n = std::min(n, whole_lines(x.bytes) - begin % whole_lines(x.bytes));
      // Where an operand is read in part, the parts lie close together, as in the product.
      if (!x.repeats && x.bytes != 0 && x.bytes != y_bytes) n = std::min(n, std::int64_t{8192});
    }
    piece<T, Op, kStore>(a, b, p.y.data(), y_bytes, begin, n);
    begin += n;
    length -= n;
  }
}

template <Store kStore>
void run_limit(const Operands& p, const ThreadPool& pool) {
  // Buffers end with a whole cache line.
  const auto lines = static_cast<std::int64_t>(round_up_to_cache_line(p.y.size())) / kLine;
  in_parallel(pool, lines, [&](std::int64_t begin, std::int64_t count) {
    if (p.type == ElementType::f32) {
      walk<float, Multiply, kStore>(p, begin * kLine, count * kLine);
    } else if (p.type == ElementType::f64) {
      walk<double, Multiply, kStore>(p, begin * kLine, count * kLine);
    } else {
      walk<std::uint32_t, Combine, kStore>(p, begin * kLine, count * kLine);
    }
    if (kStore == Store::streaming) hwy::FlushStream();
  });
}

}  // namespace

void copy_limit(const Operands& p, const ThreadPool& pool) {
  const std::int64_t half = p.bytes() / 2;
  const auto y_bytes = static_cast<std::int64_t>(p.y.size());
  in_parallel(pool, half, [&](std::int64_t begin, std::int64_t count) {
    // From operands that together are smaller than what is to be read, the rest is read from y.
    const AlignedBuffer& large = p.a.size() >= p.b.size() ? p.a : p.b;
    const AlignedBuffer& from = static_cast<std::int64_t>(large.size()) * 2 >= y_bytes ? large : p.y;
    const auto from_bytes = static_cast<std::int64_t>(from.size());
    while (count > 0) {
      const std::int64_t to_at = (&from == &p.y ? begin + y_bytes / 2 : begin) % y_bytes;
      const std::int64_t from_at = begin % from_bytes;
      const std::int64_t n = std::min({count, y_bytes - to_at, from_bytes - from_at});
      std::memcpy(p.y.data() + to_at, from.data() + from_at, static_cast<std::size_t>(n));
      begin += n;
      count -= n;
    }
  });
}

void multiply_limit(const Operands& operands, const ThreadPool& pool) { run_limit<Store::normal>(operands, pool); }
void fetching_limit(const Operands& operands, const ThreadPool& pool) { run_limit<Store::fetched>(operands, pool); }
void streaming_limit(const Operands& operands, const ThreadPool& pool) { run_limit<Store::streaming>(operands, pool); }

}  // namespace binet::kernels::elementwise::bench
HWY_AFTER_NAMESPACE();
