// Room: kernels, per target. One k of a tile of four rows to six and two vectors with AVX2: up to twelve sums, two
// vectors of B, and two elements of A by turns. Rows are assembly for the reason that three_by_four-inl.h has, three or
// two at a time, as there may be no more operands.
#if defined(BINET_KERNELS_GEMM_LOOPS_ROWS_BY_TWO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_ROWS_BY_TWO_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_ROWS_BY_TWO_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_ROWS_BY_TWO_INL_H_
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

// The element of A at an address times both vectors of B. kType: s or d.
#define BINET_ADD_FLOATS(kType, at, sum0, sum1)              \
  "vbroadcasts" kType " " at ", %%ymm14\n\t"                 \
  "vfmadd231p" kType " %%ymm12, %%ymm14, %[" sum0 "]\n\t"    \
  "vfmadd231p" kType " %%ymm13, %%ymm14, %[" sum1 "]\n\t"

// The same of 32-bit integers.
#define BINET_ADD_INTEGERS(kType, at, sum0, sum1)            \
  "vpbroadcast" kType " " at ", %%ymm14\n\t"                 \
  "vpmulld %%ymm12, %%ymm14, %%ymm15\n\t"                    \
  "vpaddd %%ymm15, %[" sum0 "], %[" sum0 "]\n\t"             \
  "vpmulld %%ymm13, %%ymm14, %%ymm14\n\t"                    \
  "vpaddd %%ymm14, %[" sum1 "], %[" sum1 "]\n\t"

// So many rows, of elements that are `at` bytes on.
#define BINET_ROWS_5(kAdd, kType, at)                        \
  kAdd(kType, at "(%[a])", "sum00", "sum01")                 \
  kAdd(kType, at "(%[a],%[step])", "sum10", "sum11")         \
  kAdd(kType, at "(%[a],%[step],2)", "sum20", "sum21")       \
  kAdd(kType, at "(%[a3])", "sum30", "sum31")                \
  kAdd(kType, at "(%[a3],%[step])", "sum40", "sum41")
#define BINET_ROWS_6(kAdd, kType, at)                        \
  BINET_ROWS_5(kAdd, kType, at)                              \
  kAdd(kType, at "(%[a3],%[step],2)", "sum50", "sum51")

#define BINET_SUMS_5                                                                                              \
  [sum00] "+x"(sum[0][0].raw), [sum01] "+x"(sum[0][1].raw), [sum10] "+x"(sum[1][0].raw),                          \
  [sum11] "+x"(sum[1][1].raw), [sum20] "+x"(sum[2][0].raw), [sum21] "+x"(sum[2][1].raw),                          \
  [sum30] "+x"(sum[3][0].raw), [sum31] "+x"(sum[3][1].raw), [sum40] "+x"(sum[4][0].raw),                          \
  [sum41] "+x"(sum[4][1].raw)
#define BINET_SUMS_6 BINET_SUMS_5, [sum50] "+x"(sum[5][0].raw), [sum51] "+x"(sum[5][1].raw)

#define BINET_ADD_ONE_K(kAdd, kType, at, kRowCount)                                                               \
  if constexpr (kRows == kRowCount) {                                                                             \
    asm("vmovups (%[b]), %%ymm12\n\t"                                                                             \
        "vmovups (%[b],%[last_bytes]), %%ymm13\n\t"                                                               \
        BINET_ROWS_##kRowCount(kAdd, kType, at)                                                                   \
        : BINET_SUMS_##kRowCount                                                                                  \
        : [a] "r"(a), [a3] "r"(a3), [step] "r"(a_row_bytes), [b] "r"(b), [last_bytes] "r"(last_bytes)             \
        : "ymm12", "ymm13", "ymm14", "ymm15", "memory");                                                          \
  }
#define BINET_ADD_ANY_ROWS(kAdd, kType, at)  \
  BINET_ADD_ONE_K(kAdd, kType, at, 5)        \
  BINET_ADD_ONE_K(kAdd, kType, at, 6)

// Of column kColumn, which is so many bytes on.
#define BINET_ADD_COLUMN(kAdd, kType, at0, at1, at2, at3)           \
  if constexpr (kColumn == 0) { BINET_ADD_ANY_ROWS(kAdd, kType, at0) } \
  if constexpr (kColumn == 1) { BINET_ADD_ANY_ROWS(kAdd, kType, at1) } \
  if constexpr (kColumn == 2) { BINET_ADD_ANY_ROWS(kAdd, kType, at2) } \
  if constexpr (kColumn == 3) { BINET_ADD_ANY_ROWS(kAdd, kType, at3) }
// clang-format on

/// Adds the products of column `kColumn` of A, up to 3, from `a` on, and the row of B at `b`, which it advances. The
/// last vector is `last_bytes` on.
template <int kColumn, class T, class V, size_t kRows>
HWY_INLINE void AddOneK(const T* a, int64_t a_row_bytes, const T*& b, int64_t b_row_bytes, int64_t last_bytes,
                        V (&sum)[kRows][2]) {
  static_assert(kColumn < 4 && (kRows == 5 || kRows == 6));
  const std::byte* const a3 = reinterpret_cast<const std::byte*>(a) + 3 * a_row_bytes;
  if constexpr (sizeof(T) == 8) {
    BINET_ADD_COLUMN(BINET_ADD_FLOATS, "d", "0", "8", "16", "24")
  } else if constexpr (hwy::IsFloat<T>()) {
    BINET_ADD_COLUMN(BINET_ADD_FLOATS, "s", "0", "4", "8", "12")
  } else {
    BINET_ADD_COLUMN(BINET_ADD_INTEGERS, "d", "0", "4", "8", "12")
  }
  b = reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(b) + b_row_bytes);
}

#undef BINET_ADD_COLUMN
#undef BINET_ADD_ANY_ROWS
#undef BINET_ADD_ONE_K
#undef BINET_SUMS_6
#undef BINET_SUMS_5
#undef BINET_ROWS_6
#undef BINET_ROWS_5
#undef BINET_ADD_INTEGERS
#undef BINET_ADD_FLOATS

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
