// Room: kernels, per target. The last step: y = alpha * sum + beta * c, narrowed to the element type and stored.
//
// One expression for every path and target: two products and an addition, each rounded (for 16-bit floats in f32, then
// once more to the type). Integers with whole factors do the same modulo 2^n.
#if defined(BINET_KERNELS_GEMM_LOOPS_FINISH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_FINISH_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_FINISH_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_FINISH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/fractional_row-inl.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/transpose-inl.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// alpha or beta in the accumulator type.
template <class T>
HWY_INLINE T Factor(float value, uint64_t bits) {
  if constexpr (hwy::IsFloat<T>()) {
    (void)bits;
    return static_cast<T>(value);
  } else {
    (void)value;
    return static_cast<T>(bits);
  }
}

// Elements of C with other steps than 0 and 1 are few. Inlined, their addresses would slow down all others.

template <class D, class Element, class T = hn::TFromD<D>>
HWY_NOINLINE hn::Vec<D> Gather(D d, const Element* c, int64_t c_step, size_t count) {
  alignas(64) T gathered[hn::MaxLanes(d)] = {};
  for (size_t i = 0; i < count; ++i) gathered[i] = Widened<T>(c + static_cast<int64_t>(i) * c_step);
  return hn::Load(d, gathered);
}

/// One row: `old(i, count)` gives the elements of C from column i on.
template <bool kHasC, class Element, class T, class OldElements>
HWY_INLINE void FinishRowWith(const T* sums, size_t n, Element* y, const Scale& scale, OldElements&& old) {
  const hn::ScalableTag<T> d;
  constexpr size_t kLanes = hn::MaxLanes(d);
  const auto alpha = hn::Set(d, Factor<T>(scale.alpha, scale.alpha_bits));
  const auto beta = hn::Set(d, Factor<T>(scale.beta, scale.beta_bits));
  const auto result = [&](size_t i, size_t count) HWY_ATTR {
    const auto product = Product(LoadAny(d, sums + i), alpha);
    if constexpr (!kHasC) return product;
    return hn::Add(product, Product(old(i, count), beta));
  };
  size_t i = 0;
  if constexpr (kRoundsTwo<Element>) {
    for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
      const auto first = result(i, kLanes);
      StoreTwo(first, result(i + kLanes, kLanes), d, y + i);
    }
  }
  for (; i + kLanes <= n; i += kLanes) StoreElements(result(i, kLanes), d, y + i);
  if (i < n) StoreElements(result(i, n - i), d, y + i, n - i);
}

template <class Element, class T>
HWY_INLINE void FinishRow(const T* sums, size_t n, Element* y, const Element* c, int64_t c_step, const Scale& scale) {
  const hn::ScalableTag<T> d;
  // Added to anything, the negative zero changes nothing: on old CPUs that is one version of the loop less.
  if (c == nullptr && !BINET_IS_OLD_TARGET) {
    FinishRowWith<false>(sums, n, y, scale, [&](size_t, size_t) HWY_ATTR { return hn::Zero(d); });
  } else if (c == nullptr || c_step == 0) {
    const auto same = hn::Set(d, c == nullptr ? static_cast<T>(-0.0) : Widened<T>(c));
    FinishRowWith<true>(sums, n, y, scale, [&](size_t, size_t) HWY_ATTR { return same; });
  } else if (c_step == 1) {
    FinishRowWith<true>(sums, n, y, scale, [&](size_t i, size_t count) HWY_ATTR {
      return count == hn::Lanes(d) ? LoadElements(d, c + i) : LoadElements(d, c + i, count);
    });
  } else {
    FinishRowWith<true>(sums, n, y, scale, [&](size_t i, size_t count) HWY_ATTR {
      return Gather(d, c + static_cast<int64_t>(i) * c_step, c_step, count);
    });
  }
}

#if HWY_TARGET == HWY_AVX3
/// Five to eight vectors, the last of which may be repeated, become rows of so many elements that touch.
template <class D, class V>
HWY_INLINE void StoreInterleaved5To8(D d, V (&v)[8], size_t rows, hn::TFromD<D>* y) {
  constexpr size_t kGroup = 4, kBlocks = 4;
  static_assert(hn::MaxLanes(d) == kGroup * kBlocks);
  V low[kGroup] = {v[0], v[1], v[2], v[3]}, high[kGroup] = {v[4], v[5], v[6], v[7]};
  TransposeBlocks(low);
  TransposeBlocks(high);
  // Block b of low[c] and high[c] are the two parts of row b * kGroup + c.
  const hn::Half<D> half;
  const auto end = hn::FirstN(half, rows);
  const auto store = [&](size_t block, size_t c, V two_rows) HWY_ATTR {
    hn::BlendedStore(hn::LowerHalf(half, two_rows), end, half, y + (block * kGroup + c) * rows);
    hn::BlendedStore(hn::UpperHalf(half, two_rows), end, half, y + ((block + 2) * kGroup + c) * rows);
  };
  HWY_UNROLL(4)
  for (size_t c = 0; c < kGroup; ++c) {
    store(0, c, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(high[c]), low[c]));
    store(1, c, hn::OddEvenBlocks(high[c], hn::SwapAdjacentBlocks(low[c])));
  }
}
#endif

/// Rows of sums that become columns of a Y as wide as they are many, so that its rows touch: whole vectors of them at a
/// time. C has an element for each row, or none. Gives the columns done. There are `rows`: kMost, or with kMost = 8
/// five and more.
template <size_t kMost, class T>
HWY_NOINLINE int64_t FinishTransposed(size_t rows, const T* sums, int64_t sums_row_step, int64_t n, T* y, const T* c,
                                      int64_t c_row_step, const Scale& scale) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const V alpha = hn::Set(d, static_cast<T>(scale.alpha));
  const V beta = hn::Set(d, static_cast<T>(scale.beta));
  const auto row_of = [&](size_t r) HWY_ATTR { return static_cast<int64_t>(kMost <= 4 ? r : HWY_MIN(r, rows - 1)); };
  V added[kMost];
  for (size_t r = 0; r < kMost && c != nullptr; ++r) {
    added[r] = Product(hn::Set(d, LoadOne(c + row_of(r) * c_row_step)), beta);
  }
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes, y += rows * size_t{kLanes}) {
    V v[kMost];
    for (size_t r = 0; r < kMost; ++r) {
      v[r] = Product(LoadAny(d, sums + row_of(r) * sums_row_step + i), alpha);
      if (c != nullptr) v[r] = hn::Add(v[r], added[r]);
    }
    if constexpr (kMost == 2) hn::StoreInterleaved2(v[0], v[1], d, y);
    if constexpr (kMost == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d, y);
    if constexpr (kMost == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, y);
#if HWY_TARGET == HWY_AVX3
    if constexpr (kMost == 8) StoreInterleaved5To8(d, v, rows, y);
#endif
  }
  return i;
}

/// The way to do so for so many rows, or null.
template <class T>
HWY_INLINE auto FindFinishTransposed(int64_t rows) {
  decltype(&FinishTransposed<2, T>) finish = nullptr;
  if (rows == 2) finish = &FinishTransposed<2, T>;
  if (rows == 3) finish = &FinishTransposed<3, T>;
  if (rows == 4) finish = &FinishTransposed<4, T>;
  if constexpr (HWY_TARGET == HWY_AVX3 && sizeof(T) == 4) {
    if (rows >= 5 && rows <= 8) finish = &FinishTransposed<8, T>;
  }
  return finish;
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
/// Rows of sums that become columns of Y, whose rows have neighbouring elements side by side: squares are turned. C is
/// like Y, or has one element for a row or for all.
template <class T>
HWY_NOINLINE void FinishTurned(const T* sums, int64_t sums_row_step, int64_t m, int64_t n, T* y, const T* c,
                               const Output& output, const Scale& scale) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const V alpha = hn::Set(d, static_cast<T>(scale.alpha));
  const V beta = hn::Set(d, static_cast<T>(scale.beta));
  alignas(64) T turned[kLanes][kLanes];
  for (int64_t row = 0; row < m; row += kLanes, sums += kLanes * sums_row_step) {
    const int64_t rows = HWY_MIN(kLanes, m - row);
    const auto end = hn::FirstN(d, static_cast<size_t>(rows));
    for (int64_t column = 0; column < n; ++column) {
      const int64_t in_square = column % kLanes;
      if (in_square == 0) {
        TurnSquare(d, SquareOfFewLanes<T, T>(sums + column, sums_row_step, rows),
                   [&](size_t i, V v) HWY_ATTR { hn::Store(v, d, turned[i]); });
      }
      V v = Product(hn::Load(d, turned[in_square]), alpha);
      if (c != nullptr) {
        const T* old = c + row * output.c_row_step + column * output.c_column_step;
        const V of_c = output.c_row_step == 0 ? hn::Set(d, LoadOne(old)) : hn::MaskedLoad(end, d, old);
        v = hn::Add(v, Product(of_c, beta));
      }
      T* const to = y + row + column * output.y_column_step;
      if constexpr (BINET_MASKS_ARE_CHEAP) {
        hn::BlendedStore(v, end, d, to);
      } else {
        StoreInPieces(d, v, to, static_cast<size_t>(rows));
      }
    }
  }
}
#endif

/// Short rows that touch, and that are no whole vectors, are finished some rows at a time, as one run, with as many
/// elements of C: rows by themselves would be loaded and stored in pieces, or under masks. With AVX2 and AVX-512.
template <class Element>
class RunOfRows {
 public:
  static constexpr bool kIsOffered = !BINET_IS_OLD_TARGET && (sizeof(Element) == 2 || HWY_ARCH_X86);

  static HWY_INLINE bool Takes(int64_t m, int64_t n) {
    return m >= kFewestRows && n <= kMostColumns && n % kLanes != 0;
  }

  /// m rows of n columns; C is a row or, where its column step is 0, a column.
  HWY_INLINE RunOfRows(int64_t m, int64_t n, const Element* c, int64_t c_column_step)
      : c_(c), n_(n), rows_(HWY_MIN(m, kMost / n)), is_column_(c_column_step == 0) {
    if (is_column_) return;
    const auto row = static_cast<size_t>(n), all = static_cast<size_t>(rows_ * n);
    std::memcpy(run_, c, row * sizeof(Element));
    for (size_t done = row; done < all; done *= 2) {
      std::memcpy(run_ + done, run_, HWY_MIN(done, all - done) * sizeof(Element));
    }
  }

  int64_t rows() const { return rows_; }

  /// C of the next so many rows.
  HWY_INLINE const Element* Next(int64_t rows) {
    if (is_column_) {
      const hn::CappedTag<Bits, kLanes> d;
      Bits* to = run_;
      for (int64_t i = 0; i < rows; ++i, to += n_) {
        const auto same = hn::Set(d, LoadOne(reinterpret_cast<const Bits*>(c_ + i)));
        for (int64_t j = 0; j < n_; j += kLanes) hn::StoreU(same, d, to + j);
      }
      c_ += rows;
    }
    return reinterpret_cast<const Element*>(run_);
  }

 private:
  using Bits = hwy::UnsignedFromSize<sizeof(Element)>;
  static constexpr int64_t kLanes = sizeof(Element) == 2 ? 8 : 32 / sizeof(Element);
  static constexpr int64_t kFewestRows = 8, kMostColumns = sizeof(Element) == 2 ? 64 : kLanes;
  static constexpr int64_t kMost = sizeof(Element) == 2 ? 512 : 256;
  const Element* c_;
  int64_t n_, rows_;
  bool is_column_;
  Bits run_[kMost + kLanes];  // a vector of the last row may end behind it
};

/// m rows of n sums, of a Y whose rows have their elements side by side. C is null or has any steps.
template <class Element, class T>
HWY_NOINLINE void FinishRows(const T* sums, int64_t sums_row_step, int64_t m, int64_t n, Element* y, int64_t y_row_step,
                             const Element* c, int64_t c_row_step, int64_t c_column_step, const Scale& scale) {
  const auto columns = static_cast<size_t>(n);
  for (int64_t i = 0; i < m; ++i, sums += sums_row_step, y += y_row_step) {
    if constexpr (std::is_integral_v<T>) {
      if (!scale.is_whole) {
        FinishFractionalRow(sums, columns, y, c, c_column_step, scale);
      } else {
        FinishRow(sums, columns, y, c, c_column_step, scale);
      }
    } else {
      FinishRow(sums, columns, y, c, c_column_step, scale);
    }
    if (c != nullptr) c += c_row_step;
  }
}

/// The same of a Y whose columns are apart: its elements are few, and copied one by one.
template <class Element, class T>
HWY_NOINLINE void FinishScattered(const T* sums, int64_t sums_row_step, int64_t m, int64_t n, Element* y,
                                  const Element* c, const Output& output, const Scale& scale) {
  constexpr int64_t kTogether = 64;
  hwy::UnsignedFromSize<sizeof(Element)> elements[kTogether];
  const int64_t step = output.y_column_step * int64_t{sizeof(Element)};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; j += kTogether) {
      const int64_t count = HWY_MIN(kTogether, n - j);
      const Element* const of_c = c == nullptr ? nullptr : c + i * output.c_row_step + j * output.c_column_step;
      FinishRows(sums + i * sums_row_step + j, 0, 1, count, reinterpret_cast<Element*>(elements), 0, of_c, 0,
                 output.c_column_step, scale);
      auto* to = reinterpret_cast<std::byte*>(y + i * output.y_row_step + j * output.y_column_step);
      for (int64_t k = 0; k < count; ++k) std::memcpy(to + k * step, elements + k, sizeof(Element));
    }
  }
}

/// m x n sums, whose rows may be read to the end of a vector, become the elements of Y from (row, column) on.
template <class Element, class T>
HWY_NOINLINE void FinishTile(const T* sums, int64_t sums_row_step, int64_t m, int64_t n, const Output& output,
                             int64_t row, int64_t column, const Scale& scale) {
  auto* y = reinterpret_cast<Element*>(output.y) + row * output.y_row_step + column * output.y_column_step;
  const Element* c = nullptr;
  if (scale.has_c) {
    c = reinterpret_cast<const Element*>(output.c) + row * output.c_row_step + column * output.c_column_step;
  }
  if (output.y_column_step == 1 && sums_row_step == n && output.y_row_step == n) {
    const bool c_is_long = output.c_column_step == 1 && output.c_row_step == n;
    const bool c_is_one = output.c_column_step == 0 && output.c_row_step == 0;
    if (c == nullptr || c_is_long || c_is_one) {  // one long row
      n *= m;
      m = 1;
    }
  }
  if constexpr (std::is_same_v<Element, T> && hwy::IsFloat<T>() &&
                hn::MaxLanes(hn::ScalableTag<T>()) * sizeof(T) >= 32) {
    const bool is_transposed = output.y_row_step == 1 && output.y_column_step == m;
    const auto finish = FindFinishTransposed<T>(m);
    if (is_transposed && finish != nullptr && (c == nullptr || output.c_column_step == 0)) {
      const int64_t done = finish(static_cast<size_t>(m), sums, sums_row_step, n, y, c, output.c_row_step, scale);
      sums += done;
      y += done * output.y_column_step;
      n -= done;
      if (c != nullptr) c += done * output.c_column_step;
    }
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    const bool may_turn = c == nullptr || output.c_row_step == 0 || output.c_row_step == 1;
    if (output.y_row_step == 1 && output.y_column_step != 1 && m > 4 && may_turn)
      return FinishTurned(sums, sums_row_step, m, n, y, c, output, scale);
#endif
  }
  if (output.y_column_step != 1) return FinishScattered<Element>(sums, sums_row_step, m, n, y, c, output, scale);
  if constexpr (RunOfRows<Element>::kIsOffered) {
    const bool rows_touch = sums_row_step == n && output.y_row_step == n;
    if (rows_touch && c != nullptr && RunOfRows<Element>::Takes(m, n)) {
      RunOfRows<Element> run(m, n, c, output.c_column_step);
      for (int64_t i = 0; i < m; i += run.rows()) {
        const int64_t rows = HWY_MIN(run.rows(), m - i);
        FinishRows(sums + i * n, 0, 1, rows * n, y + i * n, 0, run.Next(rows), 0, 1, scale);
      }
      return;
    }
  }
  FinishRows(sums, sums_row_step, m, n, y, output.y_row_step, c, output.c_row_step, output.c_column_step, scale);
}

/// The same of sums that lie where Y will: no vector may be read beyond the last of them.
template <class T>
HWY_NOINLINE void FinishInPlace(const Problem& p, const T* c, T* y) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  const Scale scale = make_scale(p);
  const bool is_run = ends_as_one_run(p);
  const int64_t m = is_run ? 1 : p.m, n = is_run ? p.m * p.n : p.n;
  if (!scale.has_c) c = nullptr;
  // Behind other rows there are enough sums.
  const int64_t last_rows = HWY_MIN(m, ceil_div(kLanes - 1, p.y_row_step));
  for (int64_t i = 0; i < m; ++i, y += p.y_row_step) {
    const int64_t apart = m - i <= last_rows ? n % kLanes : 0;
    FinishRow(y, static_cast<size_t>(n - apart), y, c, p.c_column_step, scale);
    if (apart != 0) {
      alignas(64) T sums[kLanes];
      std::memcpy(sums, y + (n - apart), static_cast<size_t>(apart) * sizeof(T));
      const T* const of_c = c == nullptr ? nullptr : c + (n - apart) * p.c_column_step;
      FinishRows(sums, 0, 1, apart, y + (n - apart), 0, of_c, 0, p.c_column_step, scale);
    }
    if (c != nullptr) c += p.c_row_step;
  }
}

template <class Element, class T>
void Finish(const std::byte* sums, int64_t sums_row_step, int64_t m, int64_t n, const Output& output, int64_t row,
            int64_t column, const Scale& scale) {
  FinishTile<Element>(reinterpret_cast<const T*>(sums), sums_row_step, m, n, output, row, column, scale);
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
