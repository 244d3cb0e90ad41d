// Room: kernels. The types that are multiplied in tiles, on the matrix registers or on vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/tiled/tiled_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"
#include "kernels/gemm/tiled/kernels.h"

#if HWY_TARGET == HWY_AVX3 && defined(BINET_COMPILER_KNOWS_AMX)
#include "kernels/gemm/tiled/amx_bf16-inl.h"
#include "kernels/gemm/tiled/amx_few_rows-inl.h"
#include "kernels/gemm/tiled/amx_integers-inl.h"
#include "kernels/gemm/tiled/amx_registers-inl.h"
#include "kernels/gemm/tiled/bf16_numbers-inl.h"
#include "kernels/gemm/tiled/bf16_pairs-inl.h"
#include "kernels/gemm/tiled/integer_numbers-inl.h"
#include "kernels/gemm/tiled/pairs_in_place-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3 && defined(BINET_COMPILER_KNOWS_AMX)
/// What kernels have in common on the matrix registers.
template <class Numbers>
constexpr TiledKernels KernelsOf() {
  TiledKernels kernels;
  kernels.k_group = 16 * Numbers::kPerWord;
  kernels.planes = Numbers::kPlanes;
  kernels.pack_a = &PackLines<Numbers>;
  kernels.pack_b = &PackWords<Numbers>;
  kernels.begin = &BeginTiles;
  kernels.end = &EndTiles;
  // These CPUs have 48 KiB and 2 MiB.
  kernels.near_bytes = 40 * 1024;
  kernels.a_bytes = 768 * 1024;
  return kernels;
}

const TiledKernels* BF16OnVectors() {
  static constexpr TiledKernels kKernels = [] {
    TiledKernels kernels = KernelsOf<BF16Numbers>();
    kernels.way = "pair-dots";
    kernels.are_vectors = true;
    kernels.panel_tiles = 2;
    kernels.least_n = kernels.least_n_of_transposed_a = 8;
    kernels.least_k = 16;
    // Below these, tiles that widen what they read are faster (measured with gemm_bench on Zen 4).
    kernels.least_kept_b = 1536;
    kernels.least_a_to_pack_b.rows = 10;
    kernels.least_a_to_turn_b.rows = 8;
    kernels.least_products = 12'000;
    kernels.f32_rate = 2;
    kernels.least_rows_unpacked = 3;
    kernels.most_rows_unpacked = kMostRowsOfPairsInPlace;
    kernels.least_columns_unpacked = kColumnsOfPairs;
    kernels.least_products_unpacked = 20'000;
    kernels.multiply_unpacked = &MultiplyPairsInPlace;
    kernels.multiply = &MultiplyPairsOfBF16;
    kernels.begin = nullptr;  // nothing is set for a thread
    kernels.end = nullptr;
    // These CPUs have a second-level cache of 1 MiB.
    kernels.a_bytes = 384 * 1024;
    return kernels;
  }();
  return &kKernels;
}

const TiledKernels* BF16OnRegisters() {
  static constexpr TiledKernels kKernels = [] {
    TiledKernels kernels = KernelsOf<BF16Numbers>();
    kernels.way = "pair-dots (AMX)";
    kernels.panel_tiles = 2;
    kernels.least_n = kernels.least_n_of_transposed_a = 8;
    kernels.least_k = 16;
    kernels.f32_rate = 8;
    kernels.least_rows_unpacked = 1;
    kernels.most_rows_unpacked = 6;
    kernels.multiply_unpacked = &MultiplyFewRowsOfBF16;
    kernels.reads_a_in_place = true;
    kernels.multiply = &MultiplyBF16;
    return kernels;
  }();
  return &kKernels;
}

template <class Numbers>
constexpr TiledKernels KernelsOfIntegers() {
  TiledKernels kernels = KernelsOf<Numbers>();
  kernels.way = "products of bytes (AMX)";
  kernels.panel_tiles = 1;
  // As measured on Emerald Rapids. The other ways are vectors, which are slow at 64 bits, and collect a column of a
  // transposed B element by element; but of 64 bits 8 columns are a vector, and columns of a transposed A are vectors
  // as they lie, for so few columns of Y.
  constexpr bool kAreLong = Numbers::kPlanes == 8;
  kernels.least_n = kAreLong ? 9 : 8;
  kernels.least_n_of_transposed_a = 9;
  kernels.least_k = kAreLong ? 32 : 48;
  if (kAreLong) {
    kernels.least_a_to_pack_b = {.rows = 24, .long_k = 64, .rows_of_long_k = 12};
    kernels.least_a_to_turn_b = {.rows = 24, .long_k = 64, .rows_of_long_k = 10, .elements_of_long_k = 1024};
  } else {
    kernels.least_a_to_pack_b = {.rows = 28};
    kernels.least_a_to_turn_b = {.rows = 24, .long_k = 128, .rows_of_long_k = 8, .elements_of_long_k = 2048};
  }
  kernels.f32_rate = Numbers::kPlanes == 4 ? 2 : 1;
  kernels.multiply = &MultiplyIntegers<typename Numbers::Element>;
  return kernels;
}
const TiledKernels* U32() {
  static constexpr TiledKernels kKernels = KernelsOfIntegers<U32Numbers>();
  return &kKernels;
}
const TiledKernels* U64() {
  static constexpr TiledKernels kKernels = KernelsOfIntegers<U64Numbers>();
  return &kKernels;
}

const TiledKernels* KernelsOfTiles(ElementType type, bool on_vectors) {
  if (type == ElementType::bf16) return on_vectors ? BF16OnVectors() : BF16OnRegisters();
  if (on_vectors || !is_integer(type)) return nullptr;
  return byte_size(type) == 4 ? U32() : byte_size(type) == 8 ? U64() : nullptr;
}
#else
const TiledKernels* KernelsOfTiles(ElementType, bool) { return nullptr; }
#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm {

HWY_EXPORT(KernelsOfTiles);

const TiledKernels* find_tiled_kernels(ElementType type, const Target& target) {
  static const Target avx512{"avx512", HWY_AVX3};
  return BINET_DISPATCH(KernelsOfTiles, avx512)(type, !has_amx(target));
}

}  // namespace binet::kernels::gemm
#endif
