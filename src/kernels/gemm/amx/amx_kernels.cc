// Room: kernels. The types that are multiplied on the matrix registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/amx/amx_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"
#include "kernels/gemm/amx/kernels.h"

#if HWY_TARGET == HWY_AVX3 && defined(BINET_COMPILER_KNOWS_AMX)
#include "kernels/gemm/amx/bf16-inl.h"
#include "kernels/gemm/amx/bf16_numbers-inl.h"
#include "kernels/gemm/amx/few_rows-inl.h"
#include "kernels/gemm/amx/integer_numbers-inl.h"
#include "kernels/gemm/amx/integers-inl.h"
#include "kernels/gemm/amx/registers-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3 && defined(BINET_COMPILER_KNOWS_AMX)
template <class Numbers>
constexpr AmxKernels KernelsOf() {
  AmxKernels kernels;
  kernels.k_group = 16 * Numbers::kPerWord;
  kernels.planes = Numbers::kPlanes;
  kernels.pack_a = &PackLines<Numbers>;
  kernels.pack_b = &PackWords<Numbers>;
  kernels.begin = &BeginTiles;
  kernels.end = &EndTiles;
  return kernels;
}

const AmxKernels* BF16() {
  static constexpr AmxKernels kKernels = [] {
    AmxKernels kernels = KernelsOf<BF16Numbers>();
    kernels.way = "pair-dots (AMX)";
    kernels.panel_tiles = 2;
    kernels.least_n = 8;
    kernels.least_k = 16;
    kernels.f32_rate = 8;
    kernels.most_rows_unpacked = 6;
    kernels.multiply_unpacked = &MultiplyFewRowsOfBF16;
    kernels.reads_a_in_place = true;
    kernels.multiply = &MultiplyBF16;
    return kernels;
  }();
  return &kKernels;
}

template <class Numbers>
constexpr AmxKernels KernelsOfIntegers() {
  AmxKernels kernels = KernelsOf<Numbers>();
  kernels.way = "products of bytes (AMX)";
  kernels.panel_tiles = 1;
  kernels.least_n = 8;
  kernels.least_k = Numbers::kPlanes == 4 ? 48 : 32;
  kernels.least_m_to_pack_b = 24;
  kernels.f32_rate = Numbers::kPlanes == 4 ? 2 : 1;
  kernels.multiply = &MultiplyIntegers<typename Numbers::Element>;
  return kernels;
}
const AmxKernels* U32() {
  static constexpr AmxKernels kKernels = KernelsOfIntegers<U32Numbers>();
  return &kKernels;
}
const AmxKernels* U64() {
  static constexpr AmxKernels kKernels = KernelsOfIntegers<U64Numbers>();
  return &kKernels;
}
#else
const AmxKernels* BF16() { return nullptr; }
const AmxKernels* U32() { return nullptr; }
const AmxKernels* U64() { return nullptr; }
#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm {

HWY_EXPORT(BF16);
HWY_EXPORT(U32);
HWY_EXPORT(U64);

const AmxKernels* find_amx_kernels(ElementType type) {
  static const Target amx{"amx", HWY_AVX3};
  switch (type) {
    case ElementType::bf16:
      return BINET_DISPATCH(BF16, amx)();
    case ElementType::i32:
    case ElementType::u32:
      return BINET_DISPATCH(U32, amx)();
    case ElementType::i64:
    case ElementType::u64:
      return BINET_DISPATCH(U64, amx)();
    default:
      return nullptr;
  }
}

}  // namespace binet::kernels::gemm
#endif
