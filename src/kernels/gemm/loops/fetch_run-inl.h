// Room: kernels, per target. Fetching a run of memory that is read in pieces.
#if defined(BINET_KERNELS_GEMM_LOOPS_FETCH_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_FETCH_RUN_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_FETCH_RUN_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_FETCH_RUN_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// Of tiles, which take longer for what they read.
constexpr int64_t kBytesAheadOfTiles = 6144;

/// Fetches what lies so far behind so many elements, which are about to be read. For short rows that touch: their ends
/// are read under masks, and what is read so Zen 5 does not prefetch (far_operands.h).
template <int64_t kBytesAhead = 1024, class Element>
HWY_INLINE void FetchBehind(const Element* from, int64_t count) {
  constexpr int64_t kLine = 64;
  const auto* ahead = reinterpret_cast<const std::byte*>(from) + kBytesAhead;
  HWY_UNROLL(1)
  for (int64_t i = 0; i < count * int64_t{sizeof(Element)}; i += kLine) hwy::Prefetch(ahead + i);
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
