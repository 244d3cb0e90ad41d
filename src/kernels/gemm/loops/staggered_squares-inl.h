// Room: kernels, per target. Few rows of Y and a transposed B whose rows meet in the sets of a cache: two groups of
// columns at different k.
//
// Where rows are a multiple of kAliasBytes apart, lines of the same k meet in one set of the first-level cache, which
// has room for those of one group. The chains of one group are too few to hide their latency. So two groups take turns
// at k that lie half of kAliasBytes apart: when one has met all its k, the next one takes its place, while the other is
// in the middle (0.6 to 0.8 of the time of one group after another on Zen 3).
#if defined(BINET_KERNELS_GEMM_LOOPS_STAGGERED_SQUARES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_STAGGERED_SQUARES_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_STAGGERED_SQUARES_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_STAGGERED_SQUARES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/loops/turned_squares-inl.h"
#include "kernels/gemm/loops/waiting_sums-inl.h"
#include "kernels/gemm/portions.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has no squares

/// `count` k of a block whose A has its k side by side, from `from` on.
template <class Element, class T>
HWY_INLINE Block PartOfK(const Block& block, int64_t from, int64_t count) {
  Block part = block;
  part.a += from * int64_t{sizeof(T)};
  part.b += from * int64_t{sizeof(Element)};
  part.k = count;
  return part;
}

/// How far ahead one group is of the next, which then is ahead of the one after it by what is left of `end`. Neither is
/// near a multiple of `alias`.
constexpr int64_t StaggeredAhead(int64_t end, int64_t alias) {
  const int64_t half = end / 2 % alias;
  return half < alias / 4 || half > alias / 4 * 3 ? (half + alias / 2) % alias : half;
}

/// All whole squares of k for all groups of whole vectors among the columns, whose number is returned: none if they are
/// too few. One group begins alone, and one ends so.
template <class Element, class T>
HWY_NOINLINE int64_t AddStaggeredSquares(const Block& block, const WaitingColumns& columns, T* sums) {
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  constexpr int64_t kAlias = kAliasBytes / int64_t{sizeof(Element)};
  const int64_t end = block.k / kLanes * kLanes, count = columns.count / kLanes * kLanes;
  if (block.m > int64_t{kMostStaggeredRows<Element, T>} || block.a_column_step != 1) return 0;
  if (count < 2 * kLanes || end <= kAlias / 2) return 0;
  const auto add_one = [&](int64_t n, int64_t k, int64_t of_k) HWY_ATTR {
    AddSquaresOfRows<1, true, Element>(PartOfK<Element, T>(block, k, of_k), columns.first + n, kLanes, sums + n,
                                       columns.row_step);
  };
  int64_t ahead = StaggeredAhead(end, kAlias) / kLanes * kLanes;
  add_one(0, 0, ahead);
  for (int64_t n = 0; n + kLanes < count; n += kLanes, ahead = end - ahead) {
    const Block part = PartOfK<Element, T>(block, 0, end - ahead);
    const auto add_two = [&]<size_t kRows>() HWY_ATTR {
      AddSquares<2, kRows, true, Element, true>(part, columns.first + n, kLanes, sums + n, columns.row_step, ahead);
    };
    if constexpr (std::is_same_v<Element, T>) {
      if (block.m == 2) add_two.template operator()<2>();
      if (block.m == 3) add_two.template operator()<3>();
      if (block.m == 4) add_two.template operator()<4>();
    }
    if (block.m == 1) add_two.template operator()<1>();
  }
  add_one(count - kLanes, ahead, end - ahead);
  return count;
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
