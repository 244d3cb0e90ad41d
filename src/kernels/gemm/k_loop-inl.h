// Room: kernels, per target. The loop over k: the sums of a tile, which stay in registers.
//
// The multiply-adds are its limit on a core of one's own; where two threads share a core it is the number of
// instructions and of loads. So there are several loops, each with no more of them than its operands need. With AVX-512
// a row that is multiplied from memory takes an instruction less than one that is loaded, and a load more: half of the
// rows each.
#if defined(BINET_KERNELS_GEMM_K_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_K_LOOP_INL_H_
#undef BINET_KERNELS_GEMM_K_LOOP_INL_H_
#else
#define BINET_KERNELS_GEMM_K_LOOP_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/from_memory-inl.h"
#include "kernels/gemm/tile_shape-inl.h"

#undef BINET_INLINE_LAMBDA
#define BINET_INLINE_LAMBDA __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// What a tile asks the caches to fetch while it computes, with each k, `step` bytes further each time.
struct Ahead {
  const std::byte* from = nullptr;
  int64_t step = 0;
};

/// Element (row, k) of A is a[row * a_row_step + k * a_column_step]; vector j of row k of B is at
/// b[j / kPanelVectors * b_panel_step + j % kPanelVectors * kLanes + k * b_row_step].
template <class T, class TB>
struct TileOperands {
  const T* a;
  int64_t a_row_step, a_column_step;
  const TB* b;
  int64_t b_panel_step, b_row_step;
  int64_t k;
  bool b_is_whole = true;  ///< all lanes of these vectors may be read; false: ends.last_lanes of a row's last one
  int64_t near = 0;        ///< elements from each vector of B to one that will be read soon, to be fetched with it
  int64_t below = 0;       ///< not 0: low tiles fetch lines that begin so far behind each vector instead
  Ahead far;               ///< for tiles as wide as a panel: what will be read much later
  bool fetches = true;     ///< false: what this tile and the next ones read is near already
  T* packed_b = nullptr;   ///< for tiles that pack what they read of B: its panel (packing_tiles-inl.h)
};

/// What a loop over k may take for granted, and does.
struct Loop {
  bool a_rows_touch = false;     ///< a_row_step is 1, as in packed A: one pointer, and distances that are constants
  bool a_columns_touch = false;  ///< a_column_step is 1
  bool b_is_whole = false;       ///< all lanes may be read
  bool fetches = false;
  bool fetches_below = false;  ///< rows of B further down, with the line in which their last vector may end
  bool stores_b = false;
  bool a_is_packed = false;  ///< in panels of full width: all distances are constants
  bool b_is_packed = false;  ///< the same of B, one panel wide
  size_t k = 1;              ///< in each round
};

/// The sums of one row and one k.
template <class T, class V, size_t kVectors>
HWY_INLINE void AddRow(V a, const V (&b)[kVectors], V (&sum)[kVectors]) {
  HWY_UNROLL(16)
  for (size_t j = 0; j < kVectors; ++j) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
    if constexpr (kPinsRegisters<T>) {
      sum[j] = MultiplyAddInPlace(a, b[j], sum[j]);
      continue;
    }
#endif
    sum[j] = MultiplyAdd(a, b[j], sum[j]);
  }
}

/// body(0), body(1), ... with indices that are constants: arrays under such indices become registers, while of those
/// that a loop advances GCC makes a vector, or leaves them in memory.
template <size_t kCount, class Body>
HWY_INLINE void Unrolled(const Body& body) {
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) HWY_ATTR BINET_INLINE_LAMBDA {
    (body(std::integral_constant<size_t, kIndex>()), ...);
  }
  (std::make_index_sequence<kCount>());
}

/// As many of the k of `operands` as rounds of the loop have: adds them to the sums, takes them from the operands, and
/// fetches on the way what the caches should have.
template <Loop kLoop, class Row, class T, class TB, class V, size_t kRows, size_t kVectors>
HWY_INLINE void AddProducts(TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  const hn::ScalableTag<T> d;
  // An instruction that multiplies from memory is one step of the CPU only if its address is a pointer and a constant.
  // Pointers for as many rows as there are registers; some of them serve two rows or three.
  constexpr bool kFromMemory = kMultipliesFromMemory<T> && (kLoop.a_rows_touch || kLoop.a_columns_touch);
  // With AVX2 a pointer serves two rows, and two rows of B.
  constexpr bool kIndexed = !kMultipliesFromMemory<T> && kPinsRegisters<T> && kLoop.a_columns_touch;
  // A row fewer than vectors: it is A that stays in registers, or there would be too few of them.
  constexpr bool kKeepsA = !kMultipliesFromMemory<T> && kPinsRegisters<T> && kVectors == 4 && kRows == 3;
  constexpr size_t kMostPointers = kLoop.a_rows_touch || kLoop.a_is_packed ? 1
                                   : kIndexed                              ? (kRows + 1) / 2
                                   : !kFromMemory                          ? (kRows + 2) / 3
                                   : kVectors == 1                         ? 10
                                                                           : 6;
  constexpr size_t kPointers = HWY_MIN(kRows, kMostPointers);
  constexpr auto kFirstRow = [](size_t pointer) { return (pointer * kRows + kPointers - 1) / kPointers; };
  constexpr auto kPointerOf = [](size_t row) { return row * kPointers / kRows; };
  constexpr bool kLoadsAnew = kMultipliesFromMemory<T> && (kRows == 2 || kRows == 3);  // GCC, if it may
  constexpr size_t kPanels = (kVectors + Shape::kPanelVectors - 1) / Shape::kPanelVectors;
  constexpr int64_t kStep = kLoop.k;

  const int64_t a_row_step = kLoop.a_rows_touch || kLoop.a_is_packed ? 1 : operands.a_row_step;
  const int64_t a_column_step = kLoop.a_is_packed       ? int64_t{Shape::kAWidth}
                                : kLoop.a_columns_touch ? 1
                                                        : operands.a_column_step;
  const T* a[kPointers] = {operands.a};
  Unrolled<kPointers - 1>([&](auto p) HWY_ATTR BINET_INLINE_LAMBDA {
    a[p + 1] = a[p] + static_cast<int64_t>(kFirstRow(p + 1) - kFirstRow(p)) * a_row_step;
  });
  const TB* b[kPanels] = {operands.b};
  Unrolled<kPanels - 1>([&](auto p) HWY_ATTR BINET_INLINE_LAMBDA { b[p + 1] = b[p] + operands.b_panel_step; });

  const int64_t b_row_step = kLoop.b_is_packed ? int64_t{Shape::kPanel} : operands.b_row_step;
  const int64_t near = kLoop.fetches_below ? operands.below : operands.near;
  const std::byte* far = operands.far.from;
  T* packed_b = operands.packed_b;
  int64_t k = operands.k;
  for (; k >= kStep; k -= kStep) {
    Unrolled<kLoop.k>([&](auto column) HWY_ATTR BINET_INLINE_LAMBDA {
      const auto element = [&](size_t i) HWY_ATTR BINET_INLINE_LAMBDA {
        return a[kPointerOf(i)] + static_cast<int64_t>(i - kFirstRow(kPointerOf(i))) * a_row_step +
               static_cast<int64_t>(column) * a_column_step;
      };
      V va[kKeepsA ? kRows : 1];
      if constexpr (kKeepsA) {
        HWY_UNROLL(3)
        for (size_t i = 0; i < kRows; ++i) va[i] = hn::Set(d, LoadOne(element(i)));
      }
      V vb[kVectors];
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) {
        const TB* place = b[j / Shape::kPanelVectors] + j % Shape::kPanelVectors * Shape::kLanes;
        if (kIndexed) {
          place += static_cast<int64_t>(column % 2) * b_row_step;
        } else if (kLoop.b_is_packed) {
          place += static_cast<int64_t>(column) * b_row_step;
        }
        vb[j] = vectors.Load(place, !kLoop.b_is_whole && j + 1 == kVectors);
        if constexpr (kLoadsAnew) vb[j] = LoadedOnce(vb[j]);
        // A packed panel is one stream, which hardware prefetchers follow from the second-level cache.
        if (kLoop.fetches && !kLoop.b_is_packed && j * sizeof(V) % 64 == 0) hwy::Prefetch(place + near);
        if (kLoop.fetches_below && j + 1 == kVectors) hwy::Prefetch(place + near + Shape::kLanes);
        if constexpr (kKeepsA) {
          HWY_UNROLL(3)
          for (size_t i = 0; i < kRows; ++i) sum[i][j] = MultiplyAddInPlace(va[i], vb[j], sum[i][j]);
        }
        if constexpr (kLoop.stores_b) StoreAny(vb[j], d, packed_b + j * Shape::kLanes);
      }
      if (kLoop.stores_b) packed_b += Shape::kPanel;
      Unrolled<kPanels>([&](auto p) HWY_ATTR BINET_INLINE_LAMBDA {
        if (kIndexed ? column % 2 == 0 : kLoop.b_is_packed) return;
        const TB* next = b[p] + (kIndexed ? 2 : 1) * b_row_step;
        if (kFromMemory || kIndexed) asm("" : "+r"(next));  // else distances take registers, more than there are
        b[p] = next;
      });
      if (kLoop.fetches && kVectors == Shape::kPanelVectors) {
        // A line of the next panel is many k's share, unless rows are so few that they are two tiles of four.
        constexpr size_t kTogether = !kLoop.b_is_packed || kRows <= 4 ? 1 : 2;
        if (column % kTogether == 0) {
          __builtin_prefetch(far, 0, 2);
          far += static_cast<int64_t>(kTogether) * operands.far.step;
        }
        if (kFromMemory) asm("" : "+r"(far));
      }
      if constexpr (kFromMemory) {
        Unrolled<kRows>([&](auto i) HWY_ATTR BINET_INLINE_LAMBDA {
          constexpr size_t kRowsOn = i - kFirstRow(kPointerOf(i));
          // In half of the rows, or, without a pointer to each of them, in those that have one.
          if constexpr (kLoop.a_rows_touch ? i % 2 == 0 : kRowsOn == 0) {
            HWY_UNROLL(16)
            for (size_t j = 0; j < kVectors; ++j) sum[i][j] = MultiplyAddFrom(element(i), vb[j], sum[i][j]);
          } else if constexpr (kLoop.a_rows_touch) {
            AddRow<T>(hn::Set(d, LoadOne(element(i))), vb, sum[i]);
          } else {
            const int64_t step = int64_t{kRowsOn} * a_row_step;
            AddRow<T>(Broadcast<column>(d, a[kPointerOf(i)], step), vb, sum[i]);
          }
        });
      } else if constexpr (!kKeepsA) {
        HWY_UNROLL(24)
        for (size_t i = 0; i < kRows; ++i) {
          V of_row;
          if constexpr (kIndexed) {
            const T* const pair = a[kPointerOf(i)];
            of_row = i % 2 == 0 ? hn::Set(d, LoadOne(pair + column)) : Broadcast<column>(d, pair, a_row_step);
          } else {
            of_row = hn::Set(d, LoadOne(element(i)));
          }
          if constexpr (kVectors == 1) {
            sum[i][0] = MultiplyAdd(of_row, vb[0], sum[i][0]);  // which reads the element, where an instruction can
          } else {
            AddRow<T>(of_row, vb, sum[i]);
          }
        }
      }
    });
    if constexpr (kLoop.b_is_packed && !kIndexed) {
      Unrolled<kPanels>([&](auto p) HWY_ATTR BINET_INLINE_LAMBDA {
        const TB* next = b[p] + kStep * b_row_step;
        asm("" : "+r"(next));
        b[p] = next;
      });
    }
    Unrolled<kPointers>([&](auto p) HWY_ATTR BINET_INLINE_LAMBDA {
      const T* next = a[p] + kStep * a_column_step;
      // GCC else counts one index instead of the pointers, and each address consists of two parts.
      asm("" : "+r"(next));
      a[p] = next;
    });
  }
  operands.a = a[0];
  operands.b = b[0];
  operands.far.from = far;
  operands.k = k;
}

/// All of k, of the high tiles of a panel with AVX-512.
template <size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddAllFromMemory(TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  if (operands.b_is_whole && operands.a_row_step == 1) {
    if (operands.fetches) {
      AddProducts<Loop{.a_rows_touch = true, .b_is_whole = true, .fetches = true}>(operands, vectors, sum);
    } else {
      AddProducts<Loop{.a_rows_touch = true, .b_is_whole = true}>(operands, vectors, sum);
    }
    return;
  }
  if (operands.b_is_whole && operands.a_column_step == 1) {
    if (operands.fetches) {
      AddProducts<Loop{.a_columns_touch = true, .b_is_whole = true, .fetches = true, .k = 4}>(operands, vectors, sum);
    } else {
      AddProducts<Loop{.a_columns_touch = true, .b_is_whole = true, .k = 4}>(operands, vectors, sum);
    }
  }
  AddProducts<Loop{}>(operands, vectors, sum);
}

/// The same with AVX2. Tiles that fetch rows of B in place wait for them, whatever the loop.
template <size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddAllIndexed(TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  constexpr Loop kPacked = {.b_is_whole = true, .a_is_packed = true, .b_is_packed = true, .k = 4};
  constexpr Loop kPackedFar = {.b_is_whole = true, .fetches = true, .a_is_packed = true, .b_is_packed = true, .k = 4};
  constexpr Loop kColumns = {.a_columns_touch = true, .b_is_whole = true, .k = 4};
  constexpr Loop kColumnsFar = {
      .a_columns_touch = true, .b_is_whole = true, .fetches = true, .b_is_packed = true, .k = 4};
  const bool a_is_packed = operands.a_row_step == 1 && operands.a_column_step == int64_t{Shape::kAWidth};
  const bool b_is_packed = operands.b_row_step == int64_t{Shape::kPanel};
  if (operands.b_is_whole && a_is_packed && b_is_packed) {
    if (operands.fetches) {
      AddProducts<kPackedFar>(operands, vectors, sum);
    } else {
      AddProducts<kPacked>(operands, vectors, sum);
    }
  } else if (operands.b_is_whole && operands.a_column_step == 1) {
    if (!operands.fetches) {
      AddProducts<kColumns>(operands, vectors, sum);
    } else if (b_is_packed) {
      AddProducts<kColumnsFar>(operands, vectors, sum);
    }
  } else if (operands.b_is_whole && operands.a_row_step == 1 && !operands.fetches) {
    AddProducts<Loop{.a_rows_touch = true, .b_is_whole = true}>(operands, vectors, sum);
  }
  AddProducts<Loop{.fetches = true}>(operands, vectors, sum);  // what is left of k, or all of it
}

/// The same of a B that is widened on the way, with A in lines if B is packed.
template <size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddAllWidened(TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  constexpr Loop kLines = {.a_columns_touch = true, .b_is_whole = true, .fetches = true, .b_is_packed = true, .k = 4};
  const bool b_is_packed = operands.b_is_whole && operands.b_row_step == int64_t{TileShape<T>::kPanel};
  if (kPinsRegisters<T> && b_is_packed && operands.a_column_step == 1 && operands.fetches) {
    AddProducts<kLines>(operands, vectors, sum);
  }
  if (operands.fetches) {
    AddProducts<Loop{.fetches = true}>(operands, vectors, sum);
  } else {
    AddProducts<Loop{}>(operands, vectors, sum);
  }
}

/// All of k. A tile of one vector has no load to spare for fetching, and one of three mostly belongs to a product that
/// is near as a whole. Other tiles than the high ones of a panel and, with AVX-512, those of four vectors are few: one
/// loop does for them, and one where the next panel is not worth fetching.
template <size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddAllProducts(TileOperands<T, TB> operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  constexpr bool kIsLow = kVectors >= 4 || (kVectors == 3 && kRows > Shape::kRows / 2 && Shape::kHas32Registers);
  constexpr bool kMayFetchBelow = kIsLow && std::is_same_v<T, TB> && !BINET_IS_OLD_TARGET;
  constexpr bool kIsHigh = kVectors == Shape::kPanelVectors && kRows > Shape::kRows / 2 && kRows <= Shape::kRows;
  if constexpr (kMultipliesFromMemory<T> && kVectors == 1 && kRows > Shape::kRows) {
    if (operands.a_column_step == 1) AddProducts<Loop{.a_columns_touch = true, .k = 4}>(operands, vectors, sum);
    AddProducts<Loop{}>(operands, vectors, sum);
  } else if constexpr (kVectors == 4 && kMultipliesFromMemory<T>) {
    if (kMayFetchBelow && operands.below != 0) {
      AddProducts<Loop{.fetches = true, .fetches_below = kMayFetchBelow}>(operands, vectors, sum);
    } else if (operands.fetches) {
      AddProducts<Loop{.fetches = true}>(operands, vectors, sum);
    } else {
      if (operands.b_is_whole) AddProducts<Loop{.b_is_whole = true, .k = 2}>(operands, vectors, sum);
      AddProducts<Loop{}>(operands, vectors, sum);
    }
  } else if constexpr (!kIsHigh) {
    if (kMayFetchBelow && operands.below != 0) {
      AddProducts<Loop{.fetches = kMayFetchBelow, .fetches_below = kMayFetchBelow}>(operands, vectors, sum);
    } else {
      AddProducts<Loop{.fetches = kVectors != 1 && kVectors != 3}>(operands, vectors, sum);
    }
  } else if constexpr (kMultipliesFromMemory<T>) {
    AddAllFromMemory(operands, vectors, sum);
  } else if constexpr (kPinsRegisters<T> && std::is_same_v<T, TB>) {
    AddAllIndexed(operands, vectors, sum);
  } else {
    AddAllWidened(operands, vectors, sum);
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
