// Room: kernels, per target. One row of Y with all its sums in registers, while B passes by in the order of memory.
//
// Tiles side by side would each pass over a piece of every row of B, whose next piece the hardware's prefetchers take
// for another run. Here they see a single one. Rows of B take turns at two sets of loads: with one, B comes up to a
// quarter slower from the second-level cache of Zen 4.
#if defined(BINET_KERNELS_GEMM_LOOPS_ONE_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_ONE_ROW_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_ONE_ROW_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_ONE_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/finish-inl.h"
#include "kernels/gemm/loops/tile_ends-inl.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of sums: as many as compilers keep in 32 registers. More than there are columns for would be idle, so there
/// are functions for each kVectorsApart.
constexpr size_t kMostVectorsOfRow = 20, kVectorsApart = 4;

template <class Element, class T>
constexpr bool kKeepsRowOfSums = (HWY_TARGET == HWY_AVX3) && hwy::IsFloat<T>() && std::is_same_v<Element, T>;

/// The sums of kVectors vectors of columns or up to kVectorsApart less: the last vectors may repeat columns of those
/// before. So many rows of B have loads of their own, and take turns.
template <size_t kVectors, int64_t kRowsOfB, class T>
HWY_NOINLINE void SumRow(const Problem& p, int64_t columns, const T* a, const T* b, T* sums) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  constexpr size_t kFirstVectors = kVectors - kVectorsApart;
  int64_t last[kVectorsApart];
  for (size_t j = 0; j < kVectorsApart; ++j) last[j] = HWY_MIN(int64_t(kFirstVectors + j) * kLanes, columns - kLanes);
  const auto place = [&](size_t j) HWY_ATTR {
    return j < kFirstVectors ? static_cast<int64_t>(j) * kLanes : last[j - kFirstVectors];
  };
  V sum[kVectors];
  HWY_UNROLL(20)
  for (auto& s : sum) s = hn::Zero(d);
  const auto add_row = [&](const T* of_a, const T* of_b) HWY_ATTR {
    const V factor = hn::Set(d, LoadOne(of_a));
    HWY_UNROLL(20)
    for (size_t j = 0; j < kVectors; ++j) sum[j] = MultiplyAdd(factor, hn::LoadU(d, of_b + place(j)), sum[j]);
  };
  const int64_t a_step = p.a_column_step, b_step = p.b_row_step;
  int64_t k = p.k;
  for (; k >= kRowsOfB; k -= kRowsOfB, a += kRowsOfB * a_step, b += kRowsOfB * b_step) {
    HWY_UNROLL(2)
    for (int64_t i = 0; i < kRowsOfB; ++i) add_row(a + i * a_step, b + i * b_step);
  }
  if (k > 0) add_row(a, b);
  HWY_UNROLL(20)
  for (size_t j = 0; j < kVectors; ++j) hn::StoreU(sum[j], d, sums + place(j));
}

/// Y of one row, where keeps_sums_in_registers() (one_row.h) says so. More columns than registers have place for are
/// strips of about equal width.
template <class T>
HWY_NOINLINE void MultiplyOneRow(const Problem& p, int64_t rows_of_b, const std::byte* a, const std::byte* b,
                                 const std::byte* c, std::byte* y) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<T>()));
  constexpr int64_t kStep = int64_t{kVectorsApart} * kLanes, kMost = int64_t{kMostVectorsOfRow} * kLanes;
  using Function = void (*)(const Problem&, int64_t, const T*, const T*, T*);
  static constexpr Function kFunctions[][4] = {
      {&SumRow<8, 1, T>, &SumRow<12, 1, T>, &SumRow<16, 1, T>, &SumRow<20, 1, T>},
      {&SumRow<8, 2, T>, &SumRow<12, 2, T>, &SumRow<16, 2, T>, &SumRow<20, 2, T>}};
  const Output output = {y, p.y_row_step, 1, c, p.c_row_step, p.c_column_step};
  const Scale scale = make_scale(p);
  alignas(64) T sums[kMost];
  for (int64_t n = 0, columns = 0; n < p.n; n += columns) {
    // Of what is left, so that the last one is not much shorter, however many there are.
    columns = HWY_MIN(equal_part(p.n - n, kMost, kLanes), p.n - n);
    const Function function = kFunctions[rows_of_b - 1][(columns - 1) / kStep - 1];
    function(p, columns, reinterpret_cast<const T*>(a), reinterpret_cast<const T*>(b) + n, sums);
    FinishTile<T>(static_cast<const T*>(sums), columns, 1, columns, output, 0, n, scale);
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
