// Room: kernels, per target. A product with a short K: B stays in registers, and rows of Y pass by.
//
// In a tile with a few k, what stands around the multiply-adds takes longer than they do: sums begin, the loop over k
// does, B is loaded and addresses are formed. Here all k of a few vectors of columns are loaded once for many rows. A
// row then is its elements of A, the multiply-adds and its stores; rows do not wait for each other.
#if defined(BINET_KERNELS_GEMM_LOOPS_SHORT_K_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_SHORT_K_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_SHORT_K_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_SHORT_K_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/loops/tile_ends-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/plan/short_k.h"
#include "kernels/gemm/portions.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Where there are registers enough, and it is faster; else 0.
template <class Element, class T>
constexpr size_t kMostShortK = !hwy::IsFloat<T>() || !std::is_same_v<Element, T> ? 0
                               : HWY_TARGET == HWY_AVX2                          ? (sizeof(T) == 4 ? 6 : 4)
                               : HWY_TARGET == HWY_AVX3                          ? (sizeof(T) == 4 ? 12 : 8)
                                                                                 : 0;

template <class Element, class T>
constexpr bool kHasShortK = kMostShortK<Element, T> != 0;

/// The most for one vector of columns.
template <class Element, class T>
constexpr size_t kMostShortKOfVector = HWY_TARGET == HWY_AVX2   ? kMostShortK<Element, T>
                                       : kHasShortK<Element, T> ? 16
                                                                : 0;

/// Else the last vector of columns begins in the one before it.
constexpr bool kMasksShortK = HWY_TARGET != HWY_AVX2;

/// Vectors of columns that B's registers hold.
template <class T>
constexpr int64_t VectorsOfShortK(size_t k) {
  if (HWY_TARGET == HWY_AVX2) return k <= 2 ? 4 : k <= 4 ? 3 : 2;
  return k <= kMostShortK<T, T> ? most_vectors_of_short_k(static_cast<int64_t>(k)) : 1;
}

/// Y = A * B + C. Some columns, and some rows of them.
template <class T>
struct ShortKPanel {
  const T* a;
  int64_t a_row_step, a_column_step;
  const T* b;
  int64_t b_row_step;
  const T* c;  ///< null, or what may be read to the last column, whatever the steps
  int64_t c_row_step, c_vector_step;
  bool c_has_whole_vectors;  ///< which may be read beyond the last column
  T* y;
  int64_t y_row_step;
  int64_t rows, columns;
  bool ends_by_masks;  ///< short_k.h
};

/// With the fewest k it is felt whether rows ask for a C: functions for each case.
enum class COfPanel : std::uint8_t { none, some, asked_for };
constexpr size_t kMostKWithCApart = 3;

/// kVectors vectors of columns, of which the last may have fewer lanes; of type D. Zen 5 does not prefetch what is read
/// or written under a mask, so where rows touch, only those at the end are: others are stored whole, and what lies
/// behind them later, unless `ends_by_masks`.
template <size_t kK, size_t kVectors, COfPanel kC, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void MultiplyShortKPanel(const ShortKPanel<T>& panel) {
  using V = hn::Vec<D>;
  constexpr size_t kLanes = hn::MaxLanes(D());
  const D d;
  const auto last_lanes = hn::FirstN(d, static_cast<size_t>(panel.columns) - (kVectors - 1) * kLanes);
  const auto load = [d, last_lanes](const T* from, bool is_last)
                        HWY_ATTR { return is_last ? hn::MaskedLoad(last_lanes, d, from) : hn::LoadU(d, from); };
  V of_b[kK][kVectors];
  const T* b = panel.b;
  HWY_UNROLL(16)
  for (size_t k = 0; k < kK; ++k, b += panel.b_row_step) {
    HWY_UNROLL(4)
    for (size_t j = 0; j < kVectors; ++j) of_b[k][j] = load(b + j * kLanes, j + 1 == kVectors);
  }
  // Copies: for all that a compiler knows, a vector that is stored may change the originals.
  const T* a = panel.a;
  const T* c = panel.c;
  T* y = panel.y;
  const int64_t a_row_step = panel.a_row_step, a_column_step = panel.a_column_step, y_row_step = panel.y_row_step;
  const int64_t c_row_step = panel.c_row_step, c_vector_step = panel.c_vector_step;
  const bool has_c = kC == COfPanel::some || (kC == COfPanel::asked_for && c != nullptr);
  const int64_t columns = panel.columns, beyond = static_cast<int64_t>(kVectors * kLanes) - columns;
  const int64_t rows_before_end = beyond <= columns ? 1 : (beyond + columns - 1) / columns;
  const bool ends_by_masks = beyond != 0 && kK > 1 && kVectors > 1 && panel.ends_by_masks;
  const int64_t masked = !kMasksShortK                            ? 0
                         : y_row_step != columns || ends_by_masks ? panel.rows
                         : beyond == 0                            ? 0
                                                                  : rows_before_end;
  const int64_t c_masked = !kMasksShortK || panel.c_has_whole_vectors ? 0 : c_row_step == columns ? masked : panel.rows;
  for (int64_t rows = panel.rows; rows > 0; --rows, a += a_row_step, c += c_row_step, y += y_row_step) {
    asm("" : "+r"(a), "+r"(c));  // GCC else makes another loop for steps of 1
    V sum[kVectors];
    HWY_UNROLL(4)
    for (size_t j = 0; j < kVectors; ++j) sum[j] = hn::Zero(d);
    HWY_UNROLL(16)
    for (size_t k = 0; k < kK; ++k) {
      const V of_a = hn::Set(d, LoadOne(a + static_cast<int64_t>(k) * a_column_step));
      HWY_UNROLL(4)
      for (size_t j = 0; j < kVectors; ++j) sum[j] = MultiplyAdd(of_a, of_b[k][j], sum[j]);
    }
    HWY_UNROLL(4)
    for (size_t j = 0; j < kVectors; ++j) {
      const bool is_last = j + 1 == kVectors;
      V result = sum[j];
      if (has_c) {
        const bool is_masked = kMasksShortK && is_last && rows <= c_masked;
        result = hn::Add(result, load(c + static_cast<int64_t>(j) * c_vector_step, is_masked));
      }
      const bool is_masked = kMasksShortK && is_last && rows <= masked;
      // Of a single k a row is nothing but stores, which take 1.8 times as long on Zen 5 without a jump between them.
      if (kK == 1 ? is_masked : HWY_UNLIKELY(is_masked)) {
        hn::BlendedStore(result, last_lanes, d, y + j * kLanes);
      } else {
        hn::StoreU(result, d, y + j * kLanes);
      }
    }
  }
}

/// C as panels add it: nothing, vectors of what lies there, or of what is repeated along its rows.
template <class T>
class COfShortK {
 public:
  explicit COfShortK(const Problem& p, const T* c) {
    if (!p.has_c || p.beta == 0.0f) return;
    c_ = c;
    row_step_ = p.c_row_step;
    column_step_ = p.c_column_step;
    repeats_ = column_step_ == 0;
    is_single_ = repeats_ && row_step_ == 0;
  }

  /// At a time.
  int64_t most_rows() const { return repeats_ && !is_single_ ? kMostRows : std::numeric_limits<int64_t>::max(); }

  /// Rows from m on.
  HWY_INLINE void Place(int64_t m, int64_t rows, ShortKPanel<T>& panel) {
    rows_ = c_ + m * row_step_;
    panel.c_row_step = row_step_;
    panel.c_vector_step = column_step_ * kLanes;
    panel.c_has_whole_vectors = repeats_;
    if (!repeats_) return;
    const hn::ScalableTag<T> d;
    panel.c_row_step = is_single_ ? 0 : kLanes;
    if (is_single_) rows = 1;
    for (int64_t i = 0; i < rows; ++i) hn::Store(hn::Set(d, LoadOne(rows_ + i * row_step_)), d, repeated_ + i * kLanes);
    rows_ = repeated_;
  }

  const T* At(int64_t column) const { return rows_ + column * column_step_; }

 private:
  static constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  static constexpr int64_t kMostRows = 128;
  const T *c_ = nullptr, *rows_ = nullptr;
  int64_t row_step_ = 0, column_step_ = 0;
  bool repeats_ = false, is_single_ = false;
  alignas(64) T repeated_[kMostRows * kLanes];
};

/// For panels of half a vector, one vector, two, and as many as B's registers hold. Three of four are two and one: more
/// functions would not be worth their size.
template <class T>
struct ShortKFunctions {
  using Function = void (*)(const ShortKPanel<T>&);
  Function half, one, two, most;
  int64_t most_vectors;
};

template <class T, size_t kK, COfPanel kC, class D = hn::ScalableTag<T>>
constexpr ShortKFunctions<T> FunctionsOfShortK() {
  constexpr int64_t kMost = VectorsOfShortK<T>(kK);
  constexpr COfPanel kForm = kK <= kMostKWithCApart ? kC : COfPanel::asked_for;
  constexpr auto kOne = &MultiplyShortKPanel<kK, 1, kForm, D>;
  if constexpr (kMost == 1) return {kOne, kOne, kOne, kOne, kMost};
  constexpr auto kTwo = &MultiplyShortKPanel<kK, 2, kForm, D>;
  if constexpr (!kMasksShortK) return {kOne, kOne, kTwo, &MultiplyShortKPanel<kK, kMost, kForm, D>, kMost};
  return {&MultiplyShortKPanel<kK, 1, kForm, hn::Half<D>>, kOne, &MultiplyShortKPanel<kK, 2, kForm, D>,
          &MultiplyShortKPanel<kK, kMost, kForm, D>, kMost};
}

template <class T, COfPanel kC, size_t... kKLessOne>
constexpr auto AllFunctionsOfShortK(std::index_sequence<kKLessOne...>) {
  return std::array<ShortKFunctions<T>, sizeof...(kKLessOne)>{FunctionsOfShortK<T, kKLessOne + 1, kC>()...};
}

/// As Schedule has them.
struct ShortKWays {
  bool fetches_y = false, fetches_c = false, ends_by_masks = false;
};

/// Y, for a K of 1 to kMostK.
template <size_t kMostK, class T>
HWY_NOINLINE void MultiplyShortK(const Problem& p, ShortKWays ways, const T* a, const T* b, const T* c, T* y) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  using AllK = std::make_index_sequence<kMostK>;
  static constexpr auto kWithC = AllFunctionsOfShortK<T, COfPanel::some>(AllK());
  static constexpr auto kWithoutC =
      AllFunctionsOfShortK<T, COfPanel::none>(std::make_index_sequence<kMostKWithCApart>());
  const bool has_c = p.has_c && p.beta != 0.0f;
  const size_t k_less_one = static_cast<size_t>(p.k) - 1;
  const bool has_none = !has_c && k_less_one < kWithoutC.size();
  const ShortKFunctions<T>& functions = has_none ? kWithoutC[k_less_one] : kWithC[k_less_one];
  const int64_t most_columns = functions.most_vectors * kLanes;
  // Rows whose lines of Y stay near from panel to panel, so few that hardware prefetchers follow them where Y is far.
  // If lines of Y are fetched, the same rows of the second panel further on, more rows hide the wait for them. Where
  // rows share few sets of a cache, what prefetchers have brought of more of them is gone before it is written.
  constexpr int64_t kBytesAhead = 512, kRowsThatMeet = 8, kRowsOfFarY = 16, kNearRows = 32;
  COfShortK<T> all_of_c(p, c);
  const int64_t near_rows = many_rows_meet(p.y_row_step * int64_t{sizeof(T)}) ? kRowsThatMeet
                            : ways.fetches_y || ways.fetches_c                ? kRowsOfFarY
                                                                              : kNearRows;
  // A second panel finds lines of Y that it shares with the first in the first-level cache.
  constexpr int64_t kBytesInL1 = 16 * 1024;
  const bool is_near = p.n <= most_columns && p.m * p.n * int64_t{sizeof(T)} <= kBytesInL1;
  const bool is_one_pass = is_near || is_one_panel_of_short_k(p.n, functions.most_vectors, kLanes);
  const int64_t together = is_one_pass ? HWY_MIN(p.m, all_of_c.most_rows()) : near_rows;
  ShortKPanel<T> panel;
  panel.a_row_step = p.a_row_step;
  panel.a_column_step = p.a_column_step;
  panel.b_row_step = p.b_row_step;
  panel.y_row_step = p.y_row_step;
  panel.ends_by_masks = ways.ends_by_masks;
  const auto fetch_ahead = [&](bool fetches, const T* from, int64_t row_step) HWY_ATTR {
    for (int64_t i = 0; fetches && i < panel.rows; ++i, from += row_step) {
      for (int64_t j = 0; j < most_columns; j += kLanes) hwy::Prefetch(from + j + kBytesAhead / int64_t{sizeof(T)});
    }
  };
  for (int64_t m = 0; m < p.m; m += together) {
    panel.a = a + m * p.a_row_step;
    panel.rows = HWY_MIN(together, p.m - m);
    all_of_c.Place(m, panel.rows, panel);
    for (int64_t n = 0; n < p.n; n += panel.columns) {
      int64_t left = p.n - n;
      if (!kMasksShortK && left < most_columns) {  // whole vectors, with columns from before if there are such
        const int64_t whole = round_up(left, kLanes);
        left = whole <= p.n ? whole : left / kLanes * kLanes;
        if (whole <= p.n) n = p.n - whole;
      }
      panel.b = b + n;
      panel.c = all_of_c.At(n);
      panel.y = y + m * p.y_row_step + n;
      fetch_ahead(ways.fetches_y, panel.y, p.y_row_step);
      fetch_ahead(ways.fetches_c, panel.c, panel.c_row_step);
      const bool are_two_and_two = !kMasksShortK && left > most_columns && left <= 4 * kLanes;
      if (left > most_columns - kLanes && !are_two_and_two) {
        panel.columns = HWY_MIN(left, most_columns);
        functions.most(panel);
      } else {
        panel.columns = HWY_MIN(left, 2 * kLanes);
        const auto function = left > kLanes ? functions.two : left > kLanes / 2 ? functions.one : functions.half;
        function(panel);
      }
    }
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
