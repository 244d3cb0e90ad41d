// Room: kernels, per target. Tiles of three rows and four vectors with AVX2, whose twelve sums, three elements of A and
// one vector of B are all the registers that there are.
//
// Where two threads share a core, a product in the first-level cache costs its number of instructions, whatever they
// are. Twelve multiply-adds are 21 of them here, and 23 in a tile of six rows and two vectors; what stands around a
// tile is half as much. The loop is assembly, as GCC would keep a sum in memory or move sums in each round.
#if defined(BINET_KERNELS_GEMM_THREE_BY_FOUR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_THREE_BY_FOUR_INL_H_
#undef BINET_KERNELS_GEMM_THREE_BY_FOUR_INL_H_
#else
#define BINET_KERNELS_GEMM_THREE_BY_FOUR_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/tile_operands-inl.h"

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

/// `tiles` tiles of three rows and four vectors, one below the other, in one call: operands as those of one tile, the
/// vectors of a row of B side by side and all their lanes to be read; sums, plus C if there is one, to `y`. C may have
/// one element for each row. The last vector begins `last` columns behind the first, in the one before if there are no
/// four whole ones.
template <class T>
HWY_NOINLINE void MultiplyThreeByFour(const TileOperands<BitsOf<T>, BitsOf<T>>& bits, int64_t tiles, BitsOf<T>* y_bits,
                                      int64_t y_row_step, const BitsOf<T>* c_bits, int64_t c_row_step, bool c_is_column,
                                      int64_t last) {
  const auto operands = OperandsOf<T, T>(bits);
  auto* y = reinterpret_cast<T*>(y_bits);
  const auto* c = reinterpret_cast<const T*>(c_bits);
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t kRows = 3, kVectors = 4;
  const int64_t a_row_bytes = operands.a_row_step * int64_t{sizeof(T)};
  const int64_t b_row_bytes = operands.b_row_step * int64_t{sizeof(T)};
  const int64_t last_bytes = last * int64_t{sizeof(T)};
  const auto place = [last, d](size_t j)
                         HWY_ATTR { return j + 1 < kVectors ? static_cast<int64_t>(j * hn::Lanes(d)) : last; };
  const T* a_of_tile = operands.a;
  for (; tiles > 0; --tiles, a_of_tile += int64_t{kRows} * operands.a_row_step) {
    V sum[kRows][kVectors];
    HWY_UNROLL(3)
    for (size_t i = 0; i < kRows; ++i) {
      HWY_UNROLL(4)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
    }
    const T* a = a_of_tile;
    const T* b = operands.b;
    int64_t k = operands.k;
    if (operands.a_column_step == 1) {
      for (; k >= 4; k -= 4, a += 4) {
        AddOneK<0>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
        AddOneK<1>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
        AddOneK<2>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
        AddOneK<3>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
      }
    }
    for (; k > 0; --k, a += operands.a_column_step) AddOneK<0>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
    if (c_is_column) {
      HWY_UNROLL(3)
      for (size_t i = 0; i < kRows; ++i, c += c_row_step) {
        const V same = hn::Set(d, LoadOne(c));
        HWY_UNROLL(4)
        for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Add(sum[i][j], same);
      }
    } else if (c != nullptr) {
      HWY_UNROLL(3)
      for (size_t i = 0; i < kRows; ++i, c += c_row_step) {
        HWY_UNROLL(4)
        for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Add(sum[i][j], hn::LoadU(d, c + place(j)));
      }
    }
    HWY_UNROLL(3)
    for (size_t i = 0; i < kRows; ++i, y += y_row_step) {
      HWY_UNROLL(4)
      for (size_t j = 0; j < kVectors; ++j) hn::StoreU(sum[i][j], d, y + place(j));
    }
  }
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
