// Room: kernels, AVX-512 with IFMA. 32-bit products of operands that are read where they lie, by vpmadd52luq, which
// adds the lower 52 bits of a product of 52-bit numbers to a sum of 64 bits.
//
// The lower 32 bits of such a sum depend on those of its factors alone, whatever lies above them. So a vector of B
// serves as it is for the columns of its even lanes, and shifted once for those of the odd ones, and an element of A is
// broadcast like any other: two instructions of full rate for what takes a multiplication of two steps and an addition,
// 0.75 of their time on Emerald Rapids. Sums take twice as many registers: a tile of 12 rows has one vector, and
// one of six has two.
#if defined(BINET_KERNELS_GEMM_LOOPS_MULTIPLY_LOW_52_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_MULTIPLY_LOW_52_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_MULTIPLY_LOW_52_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_MULTIPLY_LOW_52_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/at_once-inl.h"
#include "kernels/gemm/loops/block-inl.h"
#include "kernels/gemm/loops/tiles-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3

/// Tiles of 32-bit integers.
class LowOf52Tiles {
  using T = uint32_t;
  using Shape = TileShape<T>;
  using Operands = TileOperands<T, T>;
  using Ends = TileEnds<T>;
  static constexpr size_t kLanes = Shape::kLanes;
  /// Lower tiles mostly wait for B, and have too few sums to hide the latency of instructions, as those of one vector.
  static constexpr size_t kFewestRows = 4, kMostRowsOfTwo = 6;

  template <class V>
  static HWY_INLINE V Add(V sum, V a, V b) {
    asm("vpmadd52luq %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));  // as in multiply_add_52-inl.h
    return sum;
  }

  /// In the places of the even ones.
  template <class V>
  static HWY_INLINE V OddLanes(V v) {
    const hn::DFromV<V> d;
    const hn::Repartition<uint64_t, decltype(d)> d64;
    return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(d64, v)));
  }

  /// In the places of the odd ones.
  template <class V>
  static HWY_INLINE V EvenLanes(V v) {
    const hn::DFromV<V> d;
    const hn::Repartition<uint64_t, decltype(d)> d64;
    return hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(d64, v)));
  }

  template <size_t kRows, size_t kVectors, class Row, class V>
  static HWY_INLINE void AddAll(const Operands& operands, const T* b, const Row& vectors, V (&even)[kRows][kVectors],
                                V (&odd)[kRows][kVectors]) {
    const hn::DFromV<V> d;
    constexpr size_t kRowsOfPointer = 3, kPointers = (kRows + kRowsOfPointer - 1) / kRowsOfPointer;
    const int64_t a_row_step = operands.a_row_step, a_column_step = operands.a_column_step;
    const T* a[kPointers] = {operands.a};
    Unrolled<kPointers - 1>(
        [&](auto p) HWY_ATTR BINET_INLINE_LAMBDA { a[p + 1] = a[p] + int64_t{kRowsOfPointer} * a_row_step; });
    const int64_t fetched = operands.below != 0 ? operands.below : operands.near;
    for (int64_t k = operands.k; k > 0; --k, b += operands.b_row_step) {
      V even_b[kVectors], odd_b[kVectors];
      HWY_UNROLL(2)
      for (size_t j = 0; j < kVectors; ++j) {
        even_b[j] = vectors.Load(b + j * kLanes, j + 1 == kVectors);
        odd_b[j] = OddLanes(even_b[j]);
        hwy::Prefetch(b + j * kLanes + fetched);
      }
      Unrolled<kRows>([&](auto i) HWY_ATTR BINET_INLINE_LAMBDA {
        const V of_row = hn::Set(d, LoadOne(a[i / kRowsOfPointer] + int64_t{i % kRowsOfPointer} * a_row_step));
        HWY_UNROLL(2)
        for (size_t j = 0; j < kVectors; ++j) {
          even[i][j] = Add(even[i][j], of_row, even_b[j]);
          odd[i][j] = Add(odd[i][j], of_row, odd_b[j]);
        }
      });
      Unrolled<kPointers>([&](auto p) HWY_ATTR BINET_INLINE_LAMBDA { a[p] += a_column_step; });
    }
  }

  /// EndTile() for CPUs that do not mind masks.
  template <size_t kRows, size_t kVectors, class Row, class V>
  static HWY_INLINE void End(const Row& vectors, const Ends& ends, const V (&sum)[kRows][kVectors]) {
    if (ends.last == Last::sums) {
      StoreTile<T>(vectors, ends, sum, true, [](V v, const T*, bool) HWY_ATTR { return v; });
    } else {
      StoreTile<T>(vectors, ends, sum, true,
                   [&](V v, const T* c, bool is_last) HWY_ATTR { return hn::Add(v, vectors.Load(c, is_last)); });
    }
  }

  /// Tiles side by side, of as many vectors as have their sums in registers.
  template <size_t kRows>
  static HWY_NOINLINE void MultiplyPanels(const Operands& operands, const Ends& all, size_t count) {
    constexpr size_t kVectors = kRows <= kMostRowsOfTwo ? 2 : 1, kColumns = kVectors * kLanes;
    const hn::ScalableTag<T> d;
    Ends ends = all;
    const T* b = operands.b;
    for (size_t done = kVectors; done <= count; done += kVectors) {
      const RowOfVectors<decltype(d)> vectors(d, done == count ? all.last_lanes : kLanes);
      hn::Vec<decltype(d)> even[kRows][kVectors], odd[kRows][kVectors];
      BeginTile(vectors, ends, even);
      const auto for_all = [&](auto change) HWY_ATTR {
        HWY_UNROLL(12)
        for (size_t i = 0; i < kRows; ++i) {
          HWY_UNROLL(2)
          for (size_t j = 0; j < kVectors; ++j) change(even[i][j], odd[i][j]);
        }
      };
      for_all([](auto& of_even, auto& of_odd) HWY_ATTR { of_odd = OddLanes(of_even); });
      AddAll(operands, b, vectors, even, odd);
      KeepInRegisters(even);
      KeepInRegisters(odd);
      for_all([](auto& of_even, auto& of_odd) HWY_ATTR { of_even = hn::OddEven(EvenLanes(of_odd), of_even); });
      End(vectors, ends, even);
      b += done % Shape::kPanelVectors == 0 ? operands.b_panel_step - int64_t{Shape::kPanel - kColumns}
                                            : int64_t{kColumns};
      ends.to += kColumns;
      if (ends.from != nullptr) ends.from += kColumns;
      if (ends.c != nullptr) ends.c += kColumns;
    }
  }

  template <size_t kRows, size_t kVectors>
  static void Multiply(const Operands& operands, const Ends& ends) {
    MultiplyPanels<kRows>(operands, ends, kVectors);
  }

 public:
  template <size_t kRows, size_t kVectors>
  static constexpr TileFunction<T, T> TileOf() {
    if constexpr (kRows < kFewestRows || (kVectors == 1 && kRows <= kMostRowsOfTwo)) {
      return &MultiplyTile<kRows, kVectors, T, T>;
    } else {
      return &Multiply<kRows, kVectors>;
    }
  }

  template <size_t... kRow>
  static constexpr auto OfAllRows(std::index_sequence<kRow...>) {
    return std::array<TilesOfRows<T, T>, sizeof...(kRow)>{
        {{TileOf<kRow + 1, 1>(), TileOf<kRow + 1, Shape::kPanelVectors>(),
          TileOf<kRow + 1, Shape::WideVectors(kRow + 1)>(), Shape::WideVectors(kRow + 1), nullptr, nullptr}...}};
  }

  template <size_t kVectors>
  static HWY_NOINLINE void MultiplyTiles(Operands operands, Ends ends, int64_t tiles, bool fetches_rows) {
    MultiplyAllTiles(operands, ends, tiles, fetches_rows, kVectors);
  }

 private:
  /// Of the most rows.
  static HWY_NOINLINE void MultiplyAllTiles(Operands& operands, Ends& ends, int64_t tiles, bool fetches_rows,
                                            size_t vectors) {
    ForTilesBelow<Shape::kRows>(operands, ends, tiles, fetches_rows,
                                [&]() HWY_ATTR { MultiplyPanels<Shape::kRows>(operands, ends, vectors); });
  }
};

constexpr auto kLowOf52TilesOfRows = LowOf52Tiles::OfAllRows(std::make_index_sequence<TileShape<uint32_t>::kRows>());

constexpr auto kLowOf52TileSet = [] {
  using Shape = TileShape<uint32_t>;
  TileSet<uint32_t, uint32_t> set{};
  set.of_rows = kLowOf52TilesOfRows.data();
  set.most_rows = Shape::kRows;
  set.narrow_tiles = &LowOf52Tiles::MultiplyTiles<1>;
  set.panel_tiles = &LowOf52Tiles::MultiplyTiles<Shape::kPanelVectors>;
  return set;
}();

/// With a shorter k it is felt that there are twice as many sums to begin and to end, and tiles that are less wide.
HWY_INLINE const TileSet<uint32_t, uint32_t>& LowOf52TilesFor(int64_t n, int64_t k) {
  constexpr int64_t kLeastKOfOneVector = 6, kLeastK = 8;
  const bool is_one_vector = n <= int64_t{TileShape<uint32_t>::kLanes};
  if (k < (is_one_vector ? kLeastKOfOneVector : kLeastK)) return kTileSet<uint32_t, uint32_t>;
  return kLowOf52TileSet;
}

inline void MultiplyBlockLowOf52(const Block& block) {
  MultiplyBlockWith<uint32_t>(block, LowOf52TilesFor(block.n, block.k), &Finish<uint32_t, uint32_t>);
}

inline void MultiplyAtOnceLowOf52(const Problem& p, const Schedule& schedule, const std::byte* a, const std::byte* b,
                                  const std::byte* c, std::byte* y, std::byte*) {
  BlockOf<uint32_t, uint32_t> block(p, LowOf52TilesFor(p.n, p.k), b, c, schedule);
  block.MultiplyApart(reinterpret_cast<const uint32_t*>(a), p.a_row_step, p.a_column_step, 0, p.m, y);
}

/// The entry of the same type for operands that are multiplied and added, by these tiles.
constexpr Kernels MakeLowOf52Kernels(Kernels kernels) {
  kernels.way = "52-bit multiply-add";
  kernels.multiply = &MultiplyBlockLowOf52;
  kernels.multiply_at_once = &MultiplyAtOnceLowOf52;
  return kernels;
}

#endif  // HWY_TARGET == HWY_AVX3

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
