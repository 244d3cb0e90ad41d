// Room: kernels, per target. Five to eight columns of f32: two neighbouring k at a time.
//
// Lanes are columns, as in tiles, of which so few fill half of a vector of 64 bytes at most. So such a vector has two
// rows of B, element by element in turn, and is multiplied by two neighbouring elements of A, repeated: half as many
// loads and multiply-adds. Narrower vectors do as much as before, and add in the same order: the products of even k are
// one chain, those of odd k another.
#if defined(BINET_KERNELS_GEMM_LOOPS_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_PAIRS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_PAIRS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/gemm/dots.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/fetch_run-inl.h"
#include "kernels/gemm/loops/tile_ends-inl.h"
#include "kernels/gemm/loops/transpose-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"
#include "kernels/gemm/portions.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct PairShape {
  using D = hn::CappedTag<float, 2 * kColumnsOfPairs>;
  static constexpr size_t kLanes = hn::MaxLanes(D());
  static constexpr size_t kVectors = 2 * kColumnsOfPairs / kLanes;
  /// A power of two; sums, B and one vector of A fit into the registers.
  static constexpr size_t kRows = kLanes == 16 ? 16 : HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_NEON ? 4 : 1;
};

/// The elements a[0] and a[1], or a[0] and a zero, again and again; of the second half of vectors of a single lane
/// a[1].
template <size_t kVector, bool kIsWhole>
HWY_INLINE hn::Vec<PairShape::D> RepeatedPair(const float* a) {
  const PairShape::D d;
  if constexpr (PairShape::kLanes == 1) {
    if constexpr (kVector % 2 == 0) return hn::Set(d, LoadOne(a));
    return hn::Set(d, kIsWhole ? LoadOne(a + 1) : -0.0f);
  } else {
    const hn::Repartition<uint64_t, decltype(d)> d64;
    uint64_t pair = 0;
    if constexpr (kIsWhole) {
      std::memcpy(&pair, a, sizeof(pair));
    } else {
      const float both[2] = {LoadOne(a), -0.0f};  // times zero this is a zero that changes no sum
      std::memcpy(&pair, both, sizeof(pair));
    }
    return hn::BitCast(d, hn::Set(d64, pair));
  }
}

/// Adds the chains of even and odd k, neighbouring lanes, of the vectors of one row.
template <size_t kVectors>
HWY_INLINE void AddChains(const hn::Vec<PairShape::D> (&chains)[kVectors], float* sums) {
  const PairShape::D d;
#if HWY_TARGET == HWY_SCALAR
  for (size_t j = 0; j < kVectors; j += 2, ++sums) hn::Store(hn::Add(chains[j], chains[j + 1]), d, sums);
#else
  for (size_t j = 0; j < kVectors; j += 2, sums += PairShape::kLanes) {
    const auto low = chains[j], high = chains[kVectors == 1 ? j : j + 1];
    const auto total = hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
    if constexpr (kVectors == 1) {
      const hn::Half<PairShape::D> half;
      hn::StoreU(hn::LowerHalf(half, total), half, sums);
    } else {
      hn::StoreU(total, d, sums);
    }
  }
#endif
}

/// The sums of kRows rows of A and all columns, side by side, kColumnsOfPairs to a row.
template <size_t kRows>
HWY_NOINLINE void MultiplyPairs(const Block& block, int64_t m, float* sums) {
  using Shape = PairShape;
  const Shape::D d;
  using V = hn::Vec<Shape::D>;
  constexpr size_t kPointers = (kRows + 2) / 3;  // each serves three rows, whose distances an address can have
  const int64_t step = block.a_row_step;
  const float* a[kPointers] = {reinterpret_cast<const float*>(block.a) + m * step};
  Unrolled<kPointers - 1>([&](auto p) HWY_ATTR BINET_INLINE_LAMBDA { a[p + 1] = a[p] + 3 * step; });
  const auto* b = reinterpret_cast<const float*>(block.b);
  V sum[kRows][Shape::kVectors];
  Unrolled<kRows>([&](auto i) HWY_ATTR BINET_INLINE_LAMBDA {
    Unrolled<Shape::kVectors>([&](auto j) HWY_ATTR BINET_INLINE_LAMBDA { sum[i][j] = hn::Zero(d); });
  });
  const auto add = [&]<bool kIsWhole>() HWY_ATTR BINET_INLINE_LAMBDA {
    Unrolled<kRows>([&](auto i) HWY_ATTR BINET_INLINE_LAMBDA {
      const float* row = a[i / 3] + static_cast<int64_t>(i % 3) * step;
      Unrolled<Shape::kVectors>([&](auto j) HWY_ATTR BINET_INLINE_LAMBDA {
        const V vb = hn::Load(d, b + j * Shape::kLanes);
        sum[i][j] = MultiplyAdd(RepeatedPair<j, kIsWhole>(row), vb, sum[i][j]);
      });
    });
    b += 2 * kColumnsOfPairs;
  };
  int64_t k = block.k;
  for (; k >= 2; k -= 2) {
    add.template operator()<true>();
    Unrolled<kPointers>([&](auto p) HWY_ATTR BINET_INLINE_LAMBDA {
      const float* next = a[p] + 2;
      asm("" : "+r"(next));  // else one index is counted, and each address has two parts
      a[p] = next;
    });
  }
  if (k > 0) add.template operator()<false>();
  KeepInRegisters(sum);
  for (size_t i = 0; i < kRows; ++i, sums += kColumnsOfPairs) AddChains(sum[i], sums);
}

/// The rows from m on, as many as there are whole tiles of kRows; then of half as many. More than half of a tile go
/// with some of the rows above them: their chains take no longer than those of half a tile, which would be followed by
/// others.
template <size_t kRows>
HWY_NOINLINE void PairTiles(const Block& block, int64_t m) {
  auto* sums = reinterpret_cast<float*>(block.sums);
  for (; m + int64_t{kRows} <= block.m; m += kRows) {
    if (block.fetched == FarOperand::rows_of_a) {
      FetchBehind<kBytesAheadOfTiles>(reinterpret_cast<const float*>(block.a) + m * block.a_row_step,
                                      int64_t{kRows} * block.a_row_step);
    }
    MultiplyPairs<kRows>(block, m, sums + m * block.sums_row_step);
  }
  if constexpr (kRows > 1) {
    const int64_t last = block.m - int64_t{kRows};
    if (block.m - m <= int64_t{kRows / 2} || last < 0) return PairTiles<kRows / 2>(block, m);
    MultiplyPairs<kRows>(block, last, sums + last * block.sums_row_step);
  }
}

inline void PairBlock(const Block& block) {
  constexpr size_t kRows = PairShape::kRows;
  if constexpr (kRows > kLinesOfSet) {
    if (many_rows_meet(block.a_row_step * int64_t{sizeof(float)})) return PairTiles<kLinesOfSet>(block, 0);
  }
  PairTiles<kRows>(block, 0);
}

#if HWY_TARGET != HWY_SCALAR
/// The first n elements of two rows in turn, five to eight of each; zeros follow.
HWY_INLINE void WritePair(const float* even, const float* odd, size_t n, float* pair) {
#if HWY_TARGET == HWY_AVX3
  const hn::FixedTag<float, 8> d;
  const hn::ScalableTag<float> both;
  alignas(64) static constexpr int32_t kInTurn[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  const auto rows = hn::Combine(both, LoadFirst(d, odd, n), LoadFirst(d, even, n));
  hn::Store(hn::TableLookupLanes(rows, hn::SetTableIndices(both, kInTurn)), both, pair);
#else
  const hn::FixedTag<float, 4> d;
  const auto write = [&](hn::Vec<decltype(d)> of_even, hn::Vec<decltype(d)> of_odd, float* to) HWY_ATTR {
    hn::Store(hn::InterleaveLower(d, of_even, of_odd), d, to);
    hn::Store(hn::InterleaveUpper(d, of_even, of_odd), d, to + 4);
  };
  write(hn::LoadU(d, even), hn::LoadU(d, odd), pair);
  if (n == 8) return write(hn::LoadU(d, even + 4), hn::LoadU(d, odd + 4), pair + 8);
  write(LoadFirst(d, even + 4, n - 4), LoadFirst(d, odd + 4, n - 4), pair + 8);
#endif
}
#endif

#if !BINET_IS_OLD_TARGET
/// The same of columns whose k lie side by side: a pair is 64 bits, and squares of those are turned. What follows the
/// last column repeats it. Gives the number of k written.
HWY_INLINE int64_t WriteTurnedPairs(const float* b, int64_t column_step, int64_t n, int64_t k, float* pairs) {
  const hn::ScalableTag<double> d;
  constexpr int64_t kLanes = TileShape<double>::kLanes;
  int64_t done = 0;
  for (; done + 2 * kLanes <= k; done += 2 * kLanes, pairs += 2 * kLanes * kColumnsOfPairs) {
    for (int64_t j = 0; j < kColumnsOfPairs; j += kLanes) {
      SquareOfFewLanes<double, double> square;
      for (int64_t i = 0; i < kLanes; ++i) {
        square.lane[i] = reinterpret_cast<const double*>(b + HWY_MIN(j + i, n - 1) * column_step + done);
      }
      TurnSquare(d, square, [&](size_t i, hn::Vec<decltype(d)> row) HWY_ATTR {
        hn::Store(row, d, reinterpret_cast<double*>(pairs + 2 * (static_cast<int64_t>(i) * kColumnsOfPairs + j)));
      });
    }
  }
  return done;
}
#endif

/// Rows k and k + 1 of B in turn, element by element, a zero behind the last row.
inline void WritePairs(const std::byte* from, int64_t row_step, int64_t column_step, int64_t n, int64_t k,
                       std::byte* to) {
  const auto* b = reinterpret_cast<const float*>(from);
  auto* pairs = reinterpret_cast<float*>(to);
#if HWY_TARGET != HWY_SCALAR
  for (; k >= 2 && column_step == 1; k -= 2, b += 2 * row_step, pairs += 2 * kColumnsOfPairs) {
    WritePair(b, b + row_step, static_cast<size_t>(n), pairs);
  }
#endif
#if !BINET_IS_OLD_TARGET
  if (row_step == 1) {
    const int64_t done = WriteTurnedPairs(b, column_step, n, k, pairs);
    k -= done;
    b += done;
    pairs += done * kColumnsOfPairs;
  }
#endif
  for (; k > 0; k -= 2, b += 2 * row_step, pairs += 2 * kColumnsOfPairs) {
    std::memset(pairs, 0, 2 * kColumnsOfPairs * sizeof(float));
    for (int64_t j = 0; j < n; ++j) {
      std::memcpy(pairs + 2 * j, b + j * column_step, sizeof(float));
      if (k > 1) std::memcpy(pairs + 2 * j + 1, b + row_step + j * column_step, sizeof(float));
    }
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
