// Room: kernels, per target. The loop over k: the sums of a tile, which stay in registers.
//
// The multiply-adds are its limit on a core of one's own; where two threads share a core it is the number of
// instructions and of loads. So there are several loops, each with no more of them than its operands need. With AVX-512
// a row that is multiplied from memory takes an instruction less than one that is loaded, and a load more for each
// further vector: half of the rows is, where lines are fetched a third. A core loads two vectors in the time of two
// multiply-adds, and those of a B whose rows begin off a line count twice.
#if defined(BINET_KERNELS_GEMM_LOOPS_K_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_K_LOOP_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_K_LOOP_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_K_LOOP_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/from_memory-inl.h"
#include "kernels/gemm/loops/tile_operands-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
  bool is_alone = false;     ///< Ahead::is_alone
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

/// As many of the k of `operands` as rounds of the loop have: adds them to the sums, takes them from the operands, and
/// fetches on the way what the caches should have.
template <Loop kLoop, class Row, class T, class TB, class V, size_t kRows, size_t kVectors>
HWY_INLINE void AddProducts(TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  const hn::DFromV<V> d;
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
  // One of so many rows is multiplied from memory, which needs a pointer of its own: more where lines are not fetched.
  constexpr size_t kOneOf = kLoop.fetches && !kLoop.b_is_packed ? 3 : 2;

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
  // A line of the next panel is many k's share, unless rows are so few that they are two tiles of four.
  constexpr size_t kTogether = !kLoop.b_is_packed || kLoop.is_alone || kRows <= 4 ? 1 : 2;
  constexpr bool kFetchesRuns = HWY_TARGET == HWY_AVX2 && kLoop.fetches && kLoop.b_is_packed;
  const std::byte* far = operands.far.from;
  const int64_t far_step = static_cast<int64_t>(kTogether) * operands.far.step;
  const int64_t far_apart = far_step + operands.far.apart;
  T* packed_b = operands.packed_b;
  int64_t k = operands.k;
  for (; k >= kStep; k -= kStep) {
    if constexpr (kMultipliesFromMemory<T> && !kFromMemory) KeepInRegisters(sum);
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
        if (column % kTogether == 0) {
          if constexpr (kFetchesRuns) {
            __builtin_prefetch(far + static_cast<int64_t>(column / kTogether) * far_apart, 0, 2);
          } else {
            __builtin_prefetch(far, 0, 2);
            far += far_step;
          }
        }
        if (kFromMemory) asm("" : "+r"(far));
      }
      if constexpr (kFromMemory) {
        Unrolled<kRows>([&](auto i) HWY_ATTR BINET_INLINE_LAMBDA {
          constexpr size_t kRowsOn = i - kFirstRow(kPointerOf(i));
          if constexpr (kLoop.a_rows_touch ? i % kOneOf == 0
                                           : kRowsOn == 0 && (kOneOf == 2 || kPointerOf(i) % 2 == 0)) {
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
    if constexpr (kFetchesRuns) far += kStep * operands.far.step;
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

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
