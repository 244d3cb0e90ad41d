// Room: kernels, per target. A product in one go: one thread, operands read where they lie, sums in registers from the
// first k to the last.
//
// Small products take little longer than a call. So nothing is packed or looked up here, and tiles are found by strips
// and heights (block_at_once-inl.h). 16-bit floats are widened: A always, some rows at a time, and B for more than a
// few of them (Schedule::widens_b).
#if defined(BINET_KERNELS_GEMM_LOOPS_AT_ONCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_AT_ONCE_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_AT_ONCE_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_AT_ONCE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/loops/block_at_once-inl.h"
#include "kernels/gemm/loops/finish-inl.h"
#include "kernels/gemm/loops/one_row-inl.h"
#include "kernels/gemm/loops/pack-inl.h"
#include "kernels/gemm/loops/short_k-inl.h"
#include "kernels/gemm/loops/turned_rows-inl.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

template <class Element, class T>
using BlockOf = BlockAtOnce<BitsOf<Element>, SameTiles<T>>;

/// A of 16-bit floats, row by row or transposed, becomes accumulators in lines: body(m, rows, a, row step, column step)
/// for so many rows at a time.
template <class Element, class T, class Body>
HWY_INLINE void WithWidenedA(const Problem& p, const Schedule& schedule, const std::byte* a, std::byte* workspace,
                             const Body& body) {
  const bool by_rows = p.a_column_step == 1;
  const int64_t line_step = by_rows ? p.a_row_step : p.a_column_step, step = schedule.a_line_step;
  const auto* widened = reinterpret_cast<const BitsOf<T>*>(workspace);
  for (int64_t m = 0; m < p.m; m += schedule.widened_rows) {
    const int64_t rows = HWY_MIN(schedule.widened_rows, p.m - m);
    const std::byte* from = a + m * p.a_row_step * int64_t{sizeof(Element)};
    WidenLines<T, Element>(from, line_step, by_rows ? rows : p.k, by_rows ? p.k : rows, workspace, step);
    body(m, rows, widened, by_rows ? step : 1, by_rows ? 1 : step);
  }
}

/// Up to which K sums of so many columns keep a widened B in registers: with more columns than a vector tiles are soon
/// as fast. 0: never.
template <class T>
HWY_INLINE int64_t MostShortKOfSums(const Schedule& schedule, int64_t columns) {
  if (!kMasksShortK) return 0;
  constexpr size_t kMostOfVectors = HWY_MIN((kMostShortK<T, T>), size_t{8});
  const bool may_be_long = schedule.sums_keep_longer_b && columns <= int64_t{TileShape<T>::kLanes};
  return int64_t{may_be_long ? kMostShortKOfVector<T, T> : kMostOfVectors};
}

/// Sums of accumulators, as Y of a problem without C.
template <class T>
HWY_INLINE void SumShortK(const Problem& p, const BitsOf<T>* a, const BitsOf<T>* b, BitsOf<T>* sums) {
  if constexpr (kHasShortK<T, T>) {
    MultiplyShortK<kMostShortKOfVector<T, T>>(p, {}, reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
                                              static_cast<const T*>(nullptr), reinterpret_cast<T*>(sums));
  }
}

/// Both operands of 16-bit floats become accumulators, B before everything else, in strips of columns that lie
/// together; the sums of each strip are finished while they are near.
template <class Element, class T>
HWY_INLINE void MultiplyWidened(const Problem& p, const Schedule& schedule, const std::byte* a, const std::byte* b,
                                const std::byte* c, std::byte* y, std::byte* workspace) {
  const int64_t strip = schedule.strip_columns;
  auto* const widened_b = reinterpret_cast<BitsOf<T>*>(workspace + schedule.slot_a_bytes);
  auto* const sums = reinterpret_cast<BitsOf<T>*>(workspace + schedule.slot_a_bytes + schedule.slot_b_bytes);
  for (int64_t n = 0; n < p.n; n += strip) {
    const std::byte* const from = b + n * p.b_column_step * int64_t{sizeof(Element)};
    auto* const to = reinterpret_cast<T*>(widened_b + n * p.k);
    const int64_t columns = HWY_MIN(strip, p.n - n);
    if (p.b_column_step == 1) {
      WidenLines<T, Element>(from, p.b_row_step, p.k, columns, reinterpret_cast<std::byte*>(to), strip);
    } else {
      // First as it lies, where A will be: squares of accumulators are turned for other products, too.
      const int64_t step = round_up(p.k, int64_t{TileShape<T>::kLanes});
      WidenLines<T, Element>(from, p.b_column_step, columns, p.k, workspace, step);
      TurnRows<T, T>({workspace, step, 1, columns, p.k, reinterpret_cast<std::byte*>(to), strip, 0});
    }
  }
  // Rows of sums in a single strip may touch as those of Y do, so that all of them are finished as one run.
  const int64_t sums_step = p.n < strip && p.y_row_step == p.n ? p.n : strip;
  Problem wide = sums_alone(p);
  wide.b_row_step = strip;
  BlockOf<T, T> block(wide, kTileSet<T, T>, nullptr, nullptr, schedule);
  const Output output = {y, p.y_row_step, 1, c, p.c_row_step, p.c_column_step};
  const Scale scale = make_scale(p);
  WithWidenedA<Element, T>(
      p, schedule, a, workspace,
      [&](int64_t m, int64_t rows, const auto* from, int64_t row_step, int64_t column_step) HWY_ATTR {
        for (int64_t n = 0; n < p.n;) {
          const int64_t in_strip = n % strip;
          const auto* const columns_of_b = widened_b + (n - in_strip) * p.k + in_strip;
          int64_t columns = HWY_MIN(strip - in_strip, p.n - n);
          if (p.k <= MostShortKOfSums<T>(schedule, columns)) {
            Problem part = wide;
            part.m = rows;
            part.n = columns;
            part.a_row_step = row_step;
            part.a_column_step = column_step;
            part.y_row_step = sums_step;
            SumShortK<T>(part, from, columns_of_b, sums);
          } else {
            columns = block.MultiplyStripTo(sums, sums_step, from, row_step, column_step, rows, columns_of_b, columns);
          }
          FinishTile<Element>(reinterpret_cast<const T*>(sums), sums_step, rows, columns, output, m, n, scale);
          n += columns;
        }
      });
}

/// The same where tiles don't end with 16-bit elements: B as it lies, in whole rows, whose sums are finished as one run
/// if Y is one.
template <class Element, class T>
HWY_INLINE void MultiplyAsAccumulators(const Problem& p, const Schedule& schedule, const std::byte* a,
                                       const std::byte* b, const std::byte* c, std::byte* y, std::byte* workspace) {
  std::byte* const widened_b = workspace + schedule.slot_a_bytes;
  std::byte* const sums = widened_b + schedule.slot_b_bytes;
  const int64_t whole = round_up(p.n, int64_t{TileShape<T>::kLanes});
  if (p.b_column_step == 1) {
    const int64_t columns = p.b_has_whole_vectors ? whole : p.n;
    WidenLines<T, Element>(b, p.b_row_step, p.k, columns, widened_b, schedule.b_line_step);
  } else {
    TurnRows<T, Element>({b, p.b_column_step, 1, p.n, p.k, widened_b, schedule.b_line_step, 0});
  }
  Problem wide = sums_alone(p);
  wide.b_row_step = schedule.b_line_step;
  wide.b_has_whole_vectors = true;
  if (!kTakesAnyColumns<T>) wide.n = whole;
  wide.y_row_step = wide.n;
  BlockOf<T, T> block(wide, kTileSet<T, T>, widened_b, nullptr, schedule);
  const Output output = {y, p.y_row_step, 1, c, p.c_row_step, p.c_column_step};
  const Scale scale = make_scale(p);
  WithWidenedA<Element, T>(
      p, schedule, a, workspace,
      [&](int64_t m, int64_t rows, const auto* from, int64_t row_step, int64_t column_step) HWY_ATTR {
        block.MultiplyApart(from, row_step, column_step, 0, rows, sums);
        FinishTile<Element>(reinterpret_cast<const T*>(sums), wide.n, rows, p.n, output, m, 0, scale);
      });
}

/// The last step may be a passage of its own, over sums that lie in Y already.
template <class Element, class T>
constexpr bool kMayEndApart = (HWY_TARGET == HWY_AVX2) && hwy::IsFloat<T>() && std::is_same_v<Element, T>;

/// Whether it had better be. Tiles have no registers for factors: they would store and load their sums once more, a few
/// at a time. But few sums are not worth a passage, nor are short rows that end in a part of a vector each.
template <class T>
HWY_INLINE bool EndsApart(const Problem& p) {
  constexpr int64_t kFewestSums = 128, kManyVectors = 8;
  if (!has_factors(p) || p.m * p.n < kFewestSums) return false;
  return p.n >= kManyVectors * int64_t{TileShape<T>::kLanes} || ends_as_one_run(p);
}

/// Where strips of B are packed, or null.
HWY_INLINE std::byte* StripOf(const std::byte* b, const Schedule& schedule, std::byte* workspace) {
  constexpr uintptr_t kLine = 64;
  if (HWY_TARGET != HWY_AVX2 || !schedule.packs_b_off_lines) return nullptr;
  return reinterpret_cast<uintptr_t>(b) % kLine != 0 ? workspace : nullptr;
}

template <class Element, class T>
HWY_INLINE void MultiplyShortKOf(const Problem& p, const Schedule& schedule, const std::byte* a, const std::byte* b,
                                 const std::byte* c, std::byte* y) {
  const ShortKWays ways = {schedule.fetches_y, schedule.fetches_c, schedule.ends_by_masks};
  MultiplyShortK<kMostShortKOfVector<Element, T>>(p, ways, reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b),
                                                  reinterpret_cast<const T*>(c), reinterpret_cast<T*>(y));
}

/// Called for tall products of some hundred sums, for which run() would take too long to do the same
/// (finish_in_place()).
template <class Element, class T>
HWY_NOINLINE void MultiplyShortKAndEnd(const Problem& p, const Schedule& schedule, const std::byte* a,
                                       const std::byte* b, const std::byte* c, std::byte* y) {
  MultiplyShortKOf<Element, T>(sums_alone(p), schedule, a, b, nullptr, y);
  FinishInPlace(p, reinterpret_cast<const T*>(c), reinterpret_cast<T*>(y));
}

template <class Element, class T>
HWY_NOINLINE void MultiplyAndEnd(const Problem& p, const Schedule& schedule, const std::byte* a, const std::byte* b,
                                 const std::byte* c, std::byte* y, std::byte* strip_of_b) {
  const Problem sums = sums_alone(p);
  BlockOf<Element, T> block(sums, kTileSet<T, T>, b, nullptr, schedule, strip_of_b);
  block.MultiplyApart(reinterpret_cast<const BitsOf<T>*>(a), p.a_row_step, p.a_column_step, 0, p.m, y);
  FinishInPlace(p, reinterpret_cast<const T*>(c), reinterpret_cast<T*>(y));
}

template <class Element, class T>
void MultiplyAtOnce(const Problem& p, const Schedule& schedule, const std::byte* a, const std::byte* b,
                    const std::byte* c, std::byte* y, std::byte* workspace) {
  if constexpr (sizeof(Element) == sizeof(T)) {
    if constexpr (kHasShortK<Element, T>) {
      if (schedule.keeps_b_in_registers) {
        if (has_factors(p)) return MultiplyShortKAndEnd<Element, T>(p, schedule, a, b, c, y);
        return MultiplyShortKOf<Element, T>(p, schedule, a, b, c, y);
      }
    }
    if constexpr (kKeepsRowOfSums<Element, T>) {
      if (schedule.keeps_sums_in_registers) return MultiplyOneRow<T>(p, schedule.rows_of_b, a, b, c, y);
    }
    std::byte* const strip_of_b = StripOf(b, schedule, workspace);
    if constexpr (kMayEndApart<Element, T>) {
      if (EndsApart<T>(p)) return MultiplyAndEnd<Element, T>(p, schedule, a, b, c, y, strip_of_b);
    }
    BlockOf<Element, T> block(p, kTileSet<T, T>, b, c, schedule, strip_of_b);
    const auto* const from = reinterpret_cast<const BitsOf<T>*>(a);
    if constexpr (hwy::IsFloat<T>() || kByHalves<T>) {
      block.Multiply(from, p.a_row_step, p.a_column_step, 0, p.m, y);
    } else {
      block.MultiplyApart(from, p.a_row_step, p.a_column_step, 0, p.m, y);
    }
  } else {
    if constexpr (!kRoundsInTile<Element>) {
      MultiplyAsAccumulators<Element, T>(p, schedule, a, b, c, y, workspace);
    } else {
      if (schedule.widens_b) return MultiplyWidened<Element, T>(p, schedule, a, b, c, y, workspace);
      BlockOf<Element, T> block(p, kTileSet<T, Element>, b, c, schedule);
      WithWidenedA<Element, T>(p, schedule, a, workspace,
                               [&](int64_t m, int64_t rows, const auto* from, int64_t row_step, int64_t column_step)
                                   HWY_ATTR { block.MultiplyApart(from, row_step, column_step, m, rows, y); });
    }
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
