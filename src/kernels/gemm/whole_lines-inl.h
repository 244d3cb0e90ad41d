// Room: kernels, per target. A product with a short K, whose Y is written in whole cache lines.
//
// With a short K hardly anything is done but to write Y. Its rows mostly begin inside of a line, so that each vector of
// a tile lies across two, and tiles side by side come back to the lines in which they meet. Here a few rows go from
// their first column to the last, with A in registers, and each of their lines is stored once: the end of one vector of
// results and the beginning of the next one, brought together by a shuffle.
#if defined(BINET_KERNELS_GEMM_WHOLE_LINES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_WHOLE_LINES_INL_H_
#undef BINET_KERNELS_GEMM_WHOLE_LINES_INL_H_
#else
#define BINET_KERNELS_GEMM_WHOLE_LINES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/tile_ends-inl.h"
#include "kernels/gemm/tile_shape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Where a vector is a line, and one instruction shuffles two of them; else 0. A of three rows fills the registers.
template <class Element, class T>
constexpr std::size_t kMostKOfWholeLines = (HWY_TARGET == HWY_AVX3) && hwy::IsFloat<T>() && std::is_same_v<Element, T>
                                               ? 6
                                               : 0;

#if HWY_TARGET == HWY_AVX3

/// What does not depend on K.
template <class T>
struct OperandsOfLines {
  const Problem& p;
  const T* b;
  const T* c = kNegativeZeros<T>.data();  ///< C, or what changes nothing
  int64_t c_row_step = 0, c_column_step = 0;
  T alpha = T{1}, beta = T{1};
  Last last = Last::sums;

  OperandsOfLines(const Problem& problem, const T* b_of_problem, const T* c_of_problem) : p(problem), b(b_of_problem) {
    const bool has_c = p.has_c && p.beta != 0.0f;
    if (has_c || p.alpha != 1.0f) {
      last = p.alpha == 1.0f && p.beta == 1.0f && has_c ? Last::plus_c : Last::scaled_plus_c;
    }
    alpha = static_cast<T>(p.alpha);
    if (!has_c) return;
    c = c_of_problem;
    beta = static_cast<T>(p.beta);
    c_row_step = p.c_row_step;
    c_column_step = p.c_column_step;
  }

  /// A vector of each of some neighbouring elements in a column of C.
  static HWY_NOINLINE void Repeat(const T* from, int64_t row_step, T* vectors) {
    const hn::ScalableTag<T> d;
    for (int64_t i = 0; i < kRowsOfWholeLines; ++i, vectors += hn::Lanes(d)) {
      hn::Store(hn::Set(d, LoadOne(from + i * row_step)), d, vectors);
    }
  }
};

/// Three rows of Y at a time, for a K of kK.
template <class T, size_t kK>
class WholeLines {
 public:
  explicit WholeLines(const OperandsOfLines<T>& operands) : operands_(operands) {}

  /// At least kRowsOfWholeLines rows, of at least a vector. The last ones may begin with some of those above them,
  /// which are stored again.
  HWY_NOINLINE void Multiply(const T* a, T* y) const {
    const OperandsOfLines<T>& o = operands_;
    for (int64_t m = 0; m < o.p.m; m += kRows) {
      const int64_t row = HWY_MIN(m, o.p.m - kRows);
      MultiplyRows(a + row * o.p.a_row_step, o.c + row * o.c_row_step, y + row * o.p.y_row_step);
    }
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kRows = kRowsOfWholeLines, kLanes = hn::MaxLanes(D());

  /// The first `count` lanes, or all: of up to 255.
  static HWY_INLINE hn::Mask<D> FirstLanes(int64_t count) {
    return {static_cast<decltype(hn::Mask<D>::raw)>(_bzhi_u32(~0u, static_cast<unsigned>(count)))};
  }

  /// Lanes `places` of `before` and, behind it, `after`.
  static HWY_INLINE V Joined(V before, V after, V places) {
    if constexpr (sizeof(T) == 4) {
      return V{_mm512_permutex2var_ps(before.raw, _mm512_castps_si512(places.raw), after.raw)};
    } else {
      return V{_mm512_permutex2var_pd(before.raw, _mm512_castpd_si512(places.raw), after.raw)};
    }
  }

  /// The value, in a register. GCC else reads what is used several times from memory each time.
  static HWY_INLINE V Loaded(V v) {
    asm("" : "+v"(v.raw));
    return v;
  }

  /// Results of neighbouring columns: B and C from the first of them on. `a`: a vector of each element of the rows.
  template <class Load>
  HWY_INLINE void Results(const V (&a)[kRows][kK], const T* b, int64_t b_row_step, const T* c, int64_t c_row_step,
                          Last last, const Load& load, V (&results)[kRows]) const {
    const D d;
    HWY_UNROLL(3)
    for (int64_t i = 0; i < kRows; ++i) results[i] = hn::Zero(d);
    HWY_UNROLL(6)
    for (size_t k = 0; k < kK; ++k) {
      const V of_b = Loaded(load(b + static_cast<int64_t>(k) * b_row_step));
      HWY_UNROLL(3)
      for (int64_t i = 0; i < kRows; ++i) results[i] = MultiplyAdd(a[i][k], of_b, results[i]);
    }
    if (last == Last::sums) return;
    if (last == Last::plus_c) {
      HWY_UNROLL(3)
      for (int64_t i = 0; i < kRows; ++i, c += c_row_step) results[i] = hn::Add(results[i], load(c));
      return;
    }
    const auto alpha = hn::Set(d, operands_.alpha), beta = hn::Set(d, operands_.beta);
    HWY_UNROLL(3)
    for (int64_t i = 0; i < kRows; ++i, c += c_row_step) {
      results[i] = hn::Add(hn::Mul(results[i], alpha), hn::Mul(load(c), beta));
    }
  }

  HWY_INLINE void MultiplyRows(const T* a, const T* c, T* y) const {
    const D d;
    // Copies: for all that a compiler knows, a vector that is stored may change the originals.
    const Problem& p = operands_.p;
    const int64_t columns = p.n, b_row_step = p.b_row_step, c_column_step = operands_.c_column_step;
    int64_t c_row_step = operands_.c_row_step;
    const T* const b = operands_.b;
    const Last last = operands_.last;
    alignas(64) T same[kRows * kLanes];
    if (c_column_step == 0 && last != Last::sums) {
      OperandsOfLines<T>::Repeat(c, c_row_step, same);
      c = same;
      c_row_step = kLanes;
    }
    V of_a[kRows][kK];
    HWY_UNROLL(3)
    for (int64_t i = 0; i < kRows; ++i, a += p.a_row_step) {
      HWY_UNROLL(6)
      for (size_t k = 0; k < kK; ++k) {
        of_a[i][k] = Loaded(hn::Set(d, LoadOne(a + static_cast<int64_t>(k) * p.a_column_step)));
      }
    }
    int64_t heads[kRows] = {};  // what a row has in front of its first whole line
    T* lines[kRows] = {};
    V places[kRows], before[kRows];
    HWY_UNROLL(3)
    for (int64_t i = 0; i < kRows; ++i) places[i] = before[i] = hn::Zero(d);
    for (int64_t n = 0;;) {  // the first vector of each row; then what is left of them
      V next[kRows];
      const int64_t left = HWY_MIN(columns - n, kLanes);
      const auto mask = FirstLanes(left);
      const auto load_first = [d, mask](const T* from) HWY_ATTR { return hn::MaskedLoad(mask, d, from); };
      Results(of_a, b + n, b_row_step, c + n * c_column_step, c_row_step, last, load_first, next);
      if (n > 0) {
        HWY_UNROLL(3)
        for (int64_t i = 0; i < kRows; ++i) {
          const int64_t end = left + kLanes - heads[i];
          hn::BlendedStore(Joined(before[i], next[i], places[i]), FirstLanes(end), d, lines[i] + n);
          if (end <= kLanes) continue;
          hn::BlendedStore(Joined(next[i], next[i], places[i]), FirstLanes(end - kLanes), d, lines[i] + n + kLanes);
        }
        return;
      }
      HWY_UNROLL(3)
      for (int64_t i = 0; i < kRows; ++i, y += p.y_row_step) {
        constexpr int64_t kLineBytes = 64, kBytes = sizeof(T);
        heads[i] = static_cast<int64_t>((0 - reinterpret_cast<uintptr_t>(y)) % kLineBytes) / kBytes;
        const hn::RebindToUnsigned<D> du;
        const auto head = hn::Set(du, static_cast<hn::TFromD<decltype(du)>>(heads[i]));
        places[i] = hn::BitCast(d, hn::Add(hn::Iota(du, 0), head));
        hn::BlendedStore(next[i], FirstLanes(heads[i]), d, y);
        lines[i] = y + heads[i] - kLanes;
        before[i] = next[i];
      }
      for (n = kLanes; n + kLanes <= columns; n += kLanes) {
        const auto load = [d](const T* from) HWY_ATTR { return hn::LoadU(d, from); };
        Results(of_a, b + n, b_row_step, c + n * c_column_step, c_row_step, last, load, next);
        HWY_UNROLL(3)
        for (int64_t i = 0; i < kRows; ++i) {
          hn::StoreU(Joined(before[i], next[i], places[i]), d, lines[i] + n);
          before[i] = next[i];
        }
      }
    }
  }

  const OperandsOfLines<T>& operands_;
};

/// Y, for a K of 1 to kK.
template <size_t kK, class T>
HWY_INLINE void WriteWholeLines(const OperandsOfLines<T>& operands, const T* a, T* y) {
  if constexpr (kK > 0) {
    if (operands.p.k == kK) return WholeLines<T, kK>(operands).Multiply(a, y);
    WriteWholeLines<kK - 1>(operands, a, y);
  }
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
