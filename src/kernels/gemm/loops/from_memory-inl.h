// Room: kernels, per target. The instructions of a tile that multiplies from memory, with AVX-512.
//
// One instruction reads an element and multiplies a vector by it: fewer instructions for a tile, which counts where
// two threads share a core. GCC does so only for an element that is needed once; and left alone it computes sums in
// the registers of operands and copies them back, and keeps a register for each distance, more than there are. The
// latter goes for AVX2, too, in loops of several k, though nothing but whole vectors is multiplied from memory there.
#if defined(BINET_KERNELS_GEMM_LOOPS_FROM_MEMORY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_FROM_MEMORY_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_FROM_MEMORY_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_FROM_MEMORY_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
constexpr bool kMultipliesFromMemory = (HWY_TARGET == HWY_AVX3) && hwy::IsFloat<T>();

/// There are loops for columns that fill no more than half of a vector.
template <class T>
constexpr bool kHasHalfVectors = kMultipliesFromMemory<T>;

/// Loops of several k, which GCC leaves as few instructions only if it is told which registers to take.
template <class T>
constexpr bool kPinsRegisters = (HWY_TARGET == HWY_AVX3 && hwy::IsFloat<T>()) ||
                                (HWY_TARGET == HWY_AVX2 && (hwy::IsFloat<T>() || sizeof(T) == 4));

#if HWY_TARGET == HWY_AVX3

/// sum + *a * b.
template <class V, class T = hn::TFromV<V>>
HWY_INLINE V MultiplyAddFrom(const T* a, V b, V sum) {
  struct __attribute__((packed)) Unaligned {
    T value;
  };
  const auto& from = *reinterpret_cast<const Unaligned*>(a);
  if constexpr (sizeof(T) == 4) {
    asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum.raw) : "v"(b.raw), "m"(from));
  } else {
    asm("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(sum.raw) : "v"(b.raw), "m"(from));
  }
  return sum;
}

#endif
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2

/// sum + a * b.
template <class V, class T = hn::TFromV<V>>
HWY_INLINE V MultiplyAddInPlace(V a, V b, V sum) {
  if constexpr (!hwy::IsFloat<T>()) {
    asm("vpaddd %1, %0, %0" : "+v"(sum.raw) : "v"(hn::Mul(a, b).raw));
  } else if constexpr (sizeof(T) == 4) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum.raw) : "v"(b.raw), "v"(a.raw));
  } else {
    asm("vfmadd231pd %2, %1, %0" : "+v"(sum.raw) : "v"(b.raw), "v"(a.raw));
  }
  return sum;
}

/// a[step + kOffset] in all lanes.
template <int64_t kOffset, class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> Broadcast(D, const T* a, int64_t step) {
  hn::Vec<D> v;
  constexpr size_t kMuch = size_t{1} << 30;                           // Clang wants a number
  const auto& all = *reinterpret_cast<const std::byte(*)[kMuch]>(a);  // what is read is part of it
  constexpr int64_t kBytes = kOffset * int64_t{sizeof(T)};
  if constexpr (!hwy::IsFloat<T>()) {
    asm("vpbroadcastd %c3(%1,%2,4), %0" : "=v"(v.raw) : "r"(a), "r"(step), "i"(kBytes), "m"(all));
  } else if constexpr (sizeof(T) == 4) {
    asm("vbroadcastss %c3(%1,%2,4), %0" : "=v"(v.raw) : "r"(a), "r"(step), "i"(kBytes), "m"(all));
  } else {
    asm("vbroadcastsd %c3(%1,%2,8), %0" : "=v"(v.raw) : "r"(a), "r"(step), "i"(kBytes), "m"(all));
  }
  return v;
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
