// Room: kernels, per target. One k of a tile of four rows and three vectors with AVX2: twelve sums, three vectors of B,
// and an element of A. It is assembly for the reason that three_by_four-inl.h has.
#if defined(BINET_KERNELS_GEMM_LOOPS_FOUR_BY_THREE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_FOUR_BY_THREE_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_FOUR_BY_THREE_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_FOUR_BY_THREE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/tile_operands-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2

// An instruction a line.
// clang-format off

// The element of A at an address times the three vectors of B. kType: s or d.
#define BINET_ADD_ROW(kType, at, sum0, sum1, sum2)           \
  "vbroadcasts" kType " " at ", %%ymm15\n\t"                 \
  "vfmadd231p" kType " %%ymm12, %%ymm15, %[" sum0 "]\n\t"    \
  "vfmadd231p" kType " %%ymm13, %%ymm15, %[" sum1 "]\n\t"    \
  "vfmadd231p" kType " %%ymm14, %%ymm15, %[" sum2 "]\n\t"

// The products of one k, of elements of A that are `at` bytes on.
#define BINET_ADD_ONE_K(kType, at)                                                                          \
  asm("vmovups (%[b]), %%ymm12\n\t"                                                                         \
      "vmovups 32(%[b]), %%ymm13\n\t"                                                                       \
      "vmovups (%[b],%[last_bytes]), %%ymm14\n\t"                                                           \
      BINET_ADD_ROW(kType, at "(%[a])", "sum00", "sum01", "sum02")                                          \
      BINET_ADD_ROW(kType, at "(%[a],%[step])", "sum10", "sum11", "sum12")                                  \
      BINET_ADD_ROW(kType, at "(%[a],%[step],2)", "sum20", "sum21", "sum22")                                \
      BINET_ADD_ROW(kType, at "(%[a3])", "sum30", "sum31", "sum32")                                         \
      : [sum00] "+x"(sum[0][0].raw), [sum01] "+x"(sum[0][1].raw), [sum02] "+x"(sum[0][2].raw),              \
        [sum10] "+x"(sum[1][0].raw), [sum11] "+x"(sum[1][1].raw), [sum12] "+x"(sum[1][2].raw),              \
        [sum20] "+x"(sum[2][0].raw), [sum21] "+x"(sum[2][1].raw), [sum22] "+x"(sum[2][2].raw),              \
        [sum30] "+x"(sum[3][0].raw), [sum31] "+x"(sum[3][1].raw), [sum32] "+x"(sum[3][2].raw)               \
      : [a] "r"(a), [a3] "r"(a3), [step] "r"(a_row_bytes), [b] "r"(b), [last_bytes] "r"(last_bytes)         \
      : "ymm12", "ymm13", "ymm14", "ymm15", "memory")
// clang-format on

/// Adds the products of column `kColumn` of A, up to 3, from `a` on, and the row of B at `b`, which it advances. The
/// last vector is `last_bytes` on.
template <int kColumn, class T, class V>
HWY_INLINE void AddOneK(const T* a, int64_t a_row_bytes, const T*& b, int64_t b_row_bytes, int64_t last_bytes,
                        V (&sum)[4][3]) {
  static_assert(kColumn < 4);
  const std::byte* const a3 = reinterpret_cast<const std::byte*>(a) + 3 * a_row_bytes;
  if constexpr (sizeof(T) == 4) {
    if constexpr (kColumn == 0) BINET_ADD_ONE_K("s", "0");
    if constexpr (kColumn == 1) BINET_ADD_ONE_K("s", "4");
    if constexpr (kColumn == 2) BINET_ADD_ONE_K("s", "8");
    if constexpr (kColumn == 3) BINET_ADD_ONE_K("s", "12");
  } else {
    if constexpr (kColumn == 0) BINET_ADD_ONE_K("d", "0");
    if constexpr (kColumn == 1) BINET_ADD_ONE_K("d", "8");
    if constexpr (kColumn == 2) BINET_ADD_ONE_K("d", "16");
    if constexpr (kColumn == 3) BINET_ADD_ONE_K("d", "24");
  }
  b = reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(b) + b_row_bytes);
}

#undef BINET_ADD_ONE_K
#undef BINET_ADD_ROW

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
