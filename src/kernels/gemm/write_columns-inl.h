// Room: kernels, per target. Columns of B, which lies row by row, are written one after another, for dots-inl.h.
// For few rows of A that would take most of the time if elements were moved one by one.
#if defined(BINET_KERNELS_GEMM_WRITE_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_WRITE_COLUMNS_INL_H_
#undef BINET_KERNELS_GEMM_WRITE_COLUMNS_INL_H_
#else
#define BINET_KERNELS_GEMM_WRITE_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if !BINET_IS_OLD_TARGET

/// Of k rows, `row_step` elements apart and at least as many as a vector has lanes, the first `columns`, at most four,
/// to column_step elements each.
template <class Bits>
void WriteColumns(const std::byte* b, int64_t row_step, int64_t columns, int64_t k, std::byte* to,
                  int64_t column_step) {
  const hn::ScalableTag<Bits> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto* from = reinterpret_cast<const Bits*>(b);
  auto* column = reinterpret_cast<Bits*>(to);
  const auto write = [&]<size_t kColumns>(std::integral_constant<size_t, kColumns>) HWY_ATTR {
    if constexpr (kColumns > 1) {
      // Rows that touch: the last vectors may repeat some of those before.
      for (int64_t i = 0; row_step == int64_t{kColumns} && i < k; i += kLanes) {
        const int64_t first = HWY_MIN(i, k - kLanes);
        const Bits* rows = from + first * int64_t{kColumns};
        hn::Vec<decltype(d)> v[kColumns];
        if constexpr (kColumns == 2) hn::LoadInterleaved2(d, rows, v[0], v[1]);
        if constexpr (kColumns == 3) hn::LoadInterleaved3(d, rows, v[0], v[1], v[2]);
        if constexpr (kColumns == 4) hn::LoadInterleaved4(d, rows, v[0], v[1], v[2], v[3]);
        Unrolled<kColumns>([&](auto j) HWY_ATTR BINET_INLINE_LAMBDA {
          hn::StoreU(v[j], d, column + static_cast<int64_t>(j) * column_step + first);
        });
      }
      if (row_step == int64_t{kColumns}) return;
    }
    HWY_UNROLL(4)
    for (int64_t i = 0; i < k; ++i) {
      Unrolled<kColumns>([&](auto j) HWY_ATTR BINET_INLINE_LAMBDA {
        const Bits bits = LoadOne(from + i * row_step + static_cast<int64_t>(j));
        std::memcpy(column + static_cast<int64_t>(j) * column_step + i, &bits, sizeof(bits));
      });
    }
  };
  if (columns == 1) return write(std::integral_constant<size_t, 1>());
  if (columns == 2) return write(std::integral_constant<size_t, 2>());
  if (columns == 3) return write(std::integral_constant<size_t, 3>());
  write(std::integral_constant<size_t, 4>());
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
