// Room: kernels. i64 and u64: the same bits, modulo 2^64.
//
// AVX-512 multiplies and adds 64-bit numbers, on AMD with nearly the rate of f64 multiply-adds. Intel's CPUs multiply
// in three steps and add in a fourth, where 52-bit multiply-adds (IFMA) need three and a third (multiply_add_52-inl.h).
// These want A packed in two parts; where that does not pay, and where operands are better read where they lie, it is
// the other way. integer_rates_bench measures both; base/target.h says which CPU takes which way by default.
//
// Matrix registers form products from bytes (tiled/amx_integers-inl.h).
//
// AVX2, SSE4.2 and NEON have no 64-bit multiplication: u64_halves_tile-inl.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/loops/u64_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/make_kernels-inl.h"
#include "kernels/gemm/loops/multiply_add_52-inl.h"
#include "kernels/gemm/loops/packed_block-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

template <ElementType kType>
constexpr Kernels kMultiplyAndAdd = MakeKernels<uint64_t, uint64_t>(kType);

#if HWY_TARGET == HWY_AVX3
constexpr Kernels MakeMultiplyAdd52Kernels(const Kernels& in_place) {
  using Tiles = TwoSumsTiles<MultiplyAdd52>;
  Kernels kernels = MakePackedKernels<Tiles>(in_place);
  kernels.way = "52-bit multiply-adds (IFMA)";
  kernels.kc = in_place.kc / 2;  // two rows of A for each k
  kernels.group_rows_of_a = 2;
  kernels.pack_a = &PackWithEnds<Tiles::kAWidth>;
  return kernels;
}
template <ElementType kType>
constexpr Kernels kMultiplyAdd52 = MakeMultiplyAdd52Kernels(kMultiplyAndAdd<kType>);
#endif

template <ElementType kType>
const Kernels* ChooseKernels(const Target& target) {
#if HWY_TARGET == HWY_AVX3
  if (target.highway <= HWY_AVX3_DL) return &kMultiplyAdd52<kType>;
#endif
  (void)target;
  return &kMultiplyAndAdd<kType>;
}

const Kernels* I64Kernels(const Target& target) { return ChooseKernels<ElementType::i64>(target); }
const Kernels* U64Kernels(const Target& target) { return ChooseKernels<ElementType::u64>(target); }

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm {

HWY_EXPORT(I64Kernels);
HWY_EXPORT(U64Kernels);

const Kernels* find_u64_kernels(ElementType type, const Target& target) {
  switch (type) {
    case ElementType::i64:
      return BINET_DISPATCH(I64Kernels, target)(target);
    case ElementType::u64:
      return BINET_DISPATCH(U64Kernels, target)(target);
    default:
      return nullptr;
  }
}

}  // namespace binet::kernels::gemm
#endif
