// Room: kernels. i32 and u32: the same bits, modulo 2^32.
//
// There are three ways. One instruction multiplies, one adds: half of the rate of f32 multiply-adds, and nearly all of
// it where additions have ports of their own, as on AMD. Intel's CPUs multiply 32-bit numbers in two steps, which
// leaves a third. With VNNI, three instructions of full rate form two products from 16-bit halves (pair_dots-inl.h):
// two thirds. The 52-bit multiply-add (IFMA) does one product in each 64-bit lane: half. integer_rates_bench measures
// all of them; base/target.h says which CPU takes which way by default.
//
// Matrix registers form them from bytes, much faster than all of these (tiled/amx_integers-inl.h).
//
// The halves must be packed. Where CPUs have them, operands that are better read where they lie are multiplied by IFMA
// (multiply_low_52-inl.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/loops/u32_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/make_kernels-inl.h"
#include "kernels/gemm/loops/multiply_low_52-inl.h"
#include "kernels/gemm/loops/packed_block-inl.h"
#include "kernels/gemm/loops/pair_dots-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

template <ElementType kType>
constexpr Kernels kMultiplyAndAdd = MakeKernels<uint32_t, uint32_t>(kType);

#if HWY_TARGET == HWY_AVX3
/// For both types: nothing depends on which it is.
constexpr Kernels kLowOf52 = MakeLowOf52Kernels(kMultiplyAndAdd<ElementType::u32>);

constexpr Kernels MakePairDotKernels(ElementType type) {
  using Tiles = TwoSumsTiles<PairDots>;
  Kernels kernels = MakePackedKernels<Tiles>(kLowOf52);
  kernels.type = type;
  kernels.way = "16-bit halves in pairs (VNNI)";
  kernels.k_group = PairDots::kGroup;
  kernels.group_rows_of_a = kernels.group_rows_of_b = 2;
  kernels.pack_a = &PackPairDots<Tiles::kAWidth>;
  kernels.pack_b = &PackPairDots<Tiles::kPanel>;
  kernels.pack_kept_b = kernels.pack_b;
  kernels.pack_narrow_b = &PackPairDots<Tiles::kLanes>;
  kernels.pack_kept_narrow_b = kernels.pack_narrow_b;
  return kernels;
}
template <ElementType kType>
constexpr Kernels kPairDots = MakePairDotKernels(kType);
#endif

template <ElementType kType>
const Kernels* ChooseKernels(const Target& target) {
#if HWY_TARGET == HWY_AVX3
  if (target.highway <= HWY_AVX3_DL) return &kPairDots<kType>;
#endif
  (void)target;
  return &kMultiplyAndAdd<kType>;
}

const Kernels* I32Kernels(const Target& target) { return ChooseKernels<ElementType::i32>(target); }
const Kernels* U32Kernels(const Target& target) { return ChooseKernels<ElementType::u32>(target); }

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm {

HWY_EXPORT(I32Kernels);
HWY_EXPORT(U32Kernels);

const Kernels* find_u32_kernels(ElementType type, const Target& target) {
  switch (type) {
    case ElementType::i32:
      return BINET_DISPATCH(I32Kernels, target)(target);
    case ElementType::u32:
      return BINET_DISPATCH(U32Kernels, target)(target);
    default:
      return nullptr;
  }
}

}  // namespace binet::kernels::gemm
#endif
