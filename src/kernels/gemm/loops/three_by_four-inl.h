// Room: kernels, per target. One k of a tile of three rows and four vectors with AVX2, whose twelve sums, three
// elements of A and one vector of B are all the registers that there are. It is assembly, as GCC would keep a sum in
// memory or move sums in each round.
#if defined(BINET_KERNELS_GEMM_LOOPS_THREE_BY_FOUR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_THREE_BY_FOUR_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_THREE_BY_FOUR_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_THREE_BY_FOUR_INL_H_
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

// One vector of B, `at` an address, times the three elements of A.
#define BINET_ADD_VECTOR(kType, at, sum0, sum1, sum2)      \
  "vmovups " at ", %%ymm15\n\t"                            \
  "vfmadd231p" kType " %%ymm15, %%ymm12, %[" sum0 "]\n\t"  \
  "vfmadd231p" kType " %%ymm15, %%ymm13, %[" sum1 "]\n\t"  \
  "vfmadd231p" kType " %%ymm15, %%ymm14, %[" sum2 "]\n\t"

// The products of one k, of elements of A that are `at_a` bytes on; `b` goes to the next one. kType: s or d. (As an
// operand of its own `at_a` would be one more than there may be.)
#define BINET_ADD_ONE_K(kType, at_a)                                                                        \
  asm("vbroadcasts" kType " " at_a "(%[a]), %%ymm12\n\t"                                                    \
      "vbroadcasts" kType " " at_a "(%[a],%[a_row_bytes]), %%ymm13\n\t"                                     \
      "vbroadcasts" kType " " at_a "(%[a],%[a_row_bytes],2), %%ymm14\n\t"                                   \
      BINET_ADD_VECTOR(kType, "(%[b])", "sum00", "sum10", "sum20")                                          \
      BINET_ADD_VECTOR(kType, "32(%[b])", "sum01", "sum11", "sum21")                                        \
      BINET_ADD_VECTOR(kType, "64(%[b])", "sum02", "sum12", "sum22")                                        \
      BINET_ADD_VECTOR(kType, "(%[b],%[last_bytes])", "sum03", "sum13", "sum23")                            \
      "add %[b_row_bytes], %[b]"                                                                            \
      : [b] "+r"(b), [sum00] "+x"(sum[0][0].raw), [sum01] "+x"(sum[0][1].raw), [sum02] "+x"(sum[0][2].raw), \
        [sum03] "+x"(sum[0][3].raw), [sum10] "+x"(sum[1][0].raw), [sum11] "+x"(sum[1][1].raw),              \
        [sum12] "+x"(sum[1][2].raw), [sum13] "+x"(sum[1][3].raw), [sum20] "+x"(sum[2][0].raw),              \
        [sum21] "+x"(sum[2][1].raw), [sum22] "+x"(sum[2][2].raw), [sum23] "+x"(sum[2][3].raw)               \
      : [a] "r"(a), [a_row_bytes] "r"(a_row_bytes), [b_row_bytes] "r"(b_row_bytes),                         \
        [last_bytes] "r"(last_bytes)                                                                        \
      : "ymm12", "ymm13", "ymm14", "ymm15", "memory", "cc")
// clang-format on

/// Adds the products of column `kColumn` of A, up to 3, from `a` on, and the row of B at `b`, which it advances. The
/// last vector is `last_bytes` on.
template <int kColumn, class T, class V>
HWY_INLINE void AddOneK(const T* a, int64_t a_row_bytes, const T*& b, int64_t b_row_bytes, int64_t last_bytes,
                        V (&sum)[3][4]) {
  constexpr int kOffset = kColumn * static_cast<int>(sizeof(T));
  static_assert(kColumn < 4);
  if constexpr (sizeof(T) == 4) {
    if constexpr (kOffset == 0) BINET_ADD_ONE_K("s", "0");
    if constexpr (kOffset == 4) BINET_ADD_ONE_K("s", "4");
    if constexpr (kOffset == 8) BINET_ADD_ONE_K("s", "8");
    if constexpr (kOffset == 12) BINET_ADD_ONE_K("s", "12");
  } else {
    if constexpr (kOffset == 0) BINET_ADD_ONE_K("d", "0");
    if constexpr (kOffset == 8) BINET_ADD_ONE_K("d", "8");
    if constexpr (kOffset == 16) BINET_ADD_ONE_K("d", "16");
    if constexpr (kOffset == 24) BINET_ADD_ONE_K("d", "24");
  }
}

#undef BINET_ADD_ONE_K
#undef BINET_ADD_VECTOR

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
