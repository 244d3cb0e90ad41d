// Room: kernels, per target. Which tiles there are, and one of them in its place: its edges and its last step.
#if defined(BINET_KERNELS_GEMM_LOOPS_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_TILES_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_TILES_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_TILES_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/finish-inl.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/short_tiles-inl.h"
#include "kernels/gemm/loops/u64_halves_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ---- which tiles there are

template <class T, class TB>
using TileFunction = void (*)(const TileOperands<BitsOf<T>, BitsOf<TB>>&, const TileEnds<BitsOf<T>>&);

/// The tiles of so many rows, from 1 to TileShape::kRows: of one vector, of a panel, and the widest. T and TB are
/// BitsOf the types of accumulators and of B.
template <class T, class TB>
struct TilesOfRows {
  TileFunction<T, TB> narrow, panel, wide;
  size_t wide_vectors;
  TileFunction<T, TB> three;              ///< null, or that of three vectors
  const TileFunction<T, TB>* of_vectors;  ///< null, or those of 1, 2, ... vectors up to the widest
};

/// One row or two: narrow tiles would have too few chains to hide the latency of the multiply-adds.
template <class T>
constexpr bool kHasTilesOfAllVectors = (TileShape<T>::kHas32Registers || HWY_TARGET == HWY_AVX2) && hwy::IsFloat<T>();

template <class T, class TB, size_t kRows, class Vectors = std::make_index_sequence<TileShape<T>::WideVectors(kRows)>>
struct TilesOfVectors;
template <class T, class TB, size_t kRows, size_t... kMore>
struct TilesOfVectors<T, TB, kRows, std::index_sequence<kMore...>> {
  static constexpr TileFunction<T, TB> kFunctions[] = {&MultiplyTile<kRows, kMore + 1, T, TB>...};
};

template <class T, class TB, size_t kRows>
constexpr const TileFunction<T, TB>* AllVectors() {
  if constexpr (kHasTilesOfAllVectors<T> && std::is_same_v<T, TB> && kRows <= 2)
    return TilesOfVectors<T, TB, kRows>::kFunctions;
  return nullptr;
}

/// They have as many sums as registers can hold; of more rows, any number can be divided into such tiles.
template <class T>
constexpr bool kHasTilesOfThreeVectors = (TileShape<T>::kHas32Registers || HWY_TARGET == HWY_AVX2) && hwy::IsFloat<T>();
constexpr size_t kMostRowsOfThreeVectors = TileShape<float>::kHas32Registers ? 8 : 4;
constexpr size_t kFewestRowsOfThreeVectors = TileShape<float>::kHas32Registers ? 3 : 2;

template <class T, class TB, size_t kRows>
constexpr TileFunction<T, TB> ThreeVectors() {
  constexpr bool kIsOffered = kHasTilesOfThreeVectors<T> && (TileShape<T>::kHas32Registers || std::is_same_v<T, TB>);
  if constexpr (kIsOffered && kRows >= kFewestRowsOfThreeVectors && kRows <= kMostRowsOfThreeVectors)
    return &MultiplyTile<kRows, 3, T, TB>;
  return nullptr;
}

template <class T, class TB, size_t... kRow>
constexpr std::array<TilesOfRows<BitsOf<T>, BitsOf<TB>>, sizeof...(kRow)> AllTiles(std::index_sequence<kRow...>) {
  using Shape = TileShape<T>;
  return {{{&MultiplyTile<kRow + 1, 1, T, TB>, &MultiplyTile<kRow + 1, Shape::kPanelVectors, T, TB>,
            &MultiplyTile<kRow + 1, Shape::WideVectors(kRow + 1), T, TB>, Shape::WideVectors(kRow + 1),
            ThreeVectors<T, TB, kRow + 1>(), AllVectors<T, TB, kRow + 1>()}...}};
}

template <class T, class TB>
constexpr auto kTilesOfRows = AllTiles<T, TB>(std::make_index_sequence<TileShape<T>::kRows>());

template <class T, class TB>
HWY_INLINE const TilesOfRows<BitsOf<T>, BitsOf<TB>>& TilesFor(int64_t rows) {
  return kTilesOfRows<T, TB>[static_cast<size_t>(rows) - 1];
}

/// Seven rows or eight, or twice as many: in tiles of three vectors they have fewer loads than in those of two.
HWY_INLINE bool AreForThreeVectors(int64_t rows) {
  constexpr int64_t kMost = kMostRowsOfThreeVectors, kRows = TileShape<float>::kRows;
  if (!TileShape<float>::kHas32Registers) return false;
  return (rows >= kMost - 1 && rows <= kMost) || (rows > kRows && rows <= 2 * kMost);
}

/// Of one vector there are tiles of more rows, where A is not packed. TB: or a type of that size.
template <class T, class TB>
constexpr bool kHasTallTiles = HWY_TARGET == HWY_AVX2
                                   ? hwy::IsFloat<T>() && sizeof(T) == sizeof(TB)
                                   : TileShape<T>::kHas32Registers && (hwy::IsFloat<T>() || HWY_TARGET == HWY_AVX3);
constexpr size_t kTallRows = HWY_TARGET == HWY_AVX2 ? 12 : 16;

/// How many of so many rows go by tall tiles. A few rows more would wait for their own sums in a tile of their own:
/// they share those of the last tall one.
HWY_INLINE int64_t TallTilesOf(int64_t rows) {
  constexpr int64_t kTall = kTallRows, kTooFewRows = HWY_TARGET == HWY_AVX2 ? 0 : 6;
  const int64_t tiles = rows / kTall, over = rows % kTall;
  return over > 0 && over <= kTooFewRows && tiles > 0 ? tiles - 1 : tiles;
}

/// The whole vectors of columns, if behind them is up to half of another and there are loops for that; else 0.
template <class T>
HWY_INLINE int64_t VectorsBeforeHalf(int64_t columns) {
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  return kHasHalfVectors<T> && (columns - 1) % kLanes < kLanes / 2 ? (columns - 1) / kLanes : 0;
}

/// Of five rows or six and two vectors there is MultiplyShortTiles; of floats other forms, too.
template <class T, class TB>
constexpr bool kHasTilesByTwo = HWY_TARGET == HWY_AVX2 &&
                                (hwy::IsFloat<T>() || sizeof(T) == 4) && std::is_same_v<T, TB>;
constexpr int64_t kMostKOfNarrowTiles = 64;  // of two vectors or three: with more, other tiles take as long
constexpr int64_t kMostKOfShortTiles = 512;  // the same of whole panels

/// Of so many rows, those that go by tiles of five where the others are whole tiles of six: no more than there are,
/// from kAnyRowsByTwo on.
constexpr int64_t kAnyRowsByTwo = 20;
constexpr int64_t RowsByFive(int64_t rows) { return (6 - rows % 6) % 6 * 5; }

/// MultiplyShortTiles of BitsOf the types of accumulators and of B.
template <class T, class TB>
struct ShortTileSet {
  using Function = void (*)(const TileOperands<T, TB>&, const ShortTiles<T>&);
  Function three_by_four, four_by_three;  ///< rows and vectors: of floats
  Function five_by_two, six_by_two;
};

template <class T>
constexpr ShortTileSet<BitsOf<T>, BitsOf<T>> MakeShortTileSet() {
  ShortTileSet<BitsOf<T>, BitsOf<T>> set{};
#if HWY_TARGET == HWY_AVX2
  if constexpr (hwy::IsFloat<T>()) {
    set.three_by_four = &MultiplyShortTiles<3, 4, T>;
    set.four_by_three = &MultiplyShortTiles<4, 3, T>;
  }
  set.five_by_two = &MultiplyShortTiles<5, 2, T>;
  set.six_by_two = &MultiplyShortTiles<6, 2, T>;
#endif
  return set;
}
template <class T>
constexpr auto kShortTileSet = MakeShortTileSet<T>();

/// All tiles, and what loops over them have to know that does not follow from the sizes of numbers.
template <class T, class TB>
struct TileSet {
  const TilesOfRows<T, TB>* of_rows;
  int64_t most_rows;
  bool has_three_vectors;    ///< AreForThreeVectors() holds
  TileFunction<T, TB> tall;  ///< null, or the tile of kTallRows rows and one vector
  /// Null, or MultiplyTiles of the most rows, and one vector or two.
  void (*narrow_tiles)(TileOperands<T, TB>, TileEnds<T>, int64_t, bool);
  void (*panel_tiles)(TileOperands<T, TB>, TileEnds<T>, int64_t, bool);
  const ShortTileSet<T, TB>* short_tiles;  ///< or null: in the place of panel_tiles, among others
  bool are_floats;

  [[nodiscard]] HWY_INLINE const TilesOfRows<T, TB>& Of(int64_t rows) const { return of_rows[rows - 1]; }
};

template <class T, class TB>
constexpr TileSet<BitsOf<T>, BitsOf<TB>> MakeTileSet() {
  using Shape = TileShape<T>;
  TileSet<BitsOf<T>, BitsOf<TB>> set{};
  set.of_rows = kTilesOfRows<T, TB>.data();
  set.most_rows = Shape::kRows;
  set.has_three_vectors = kHasTilesOfThreeVectors<T> && Shape::kHas32Registers;
  if constexpr (kHasTallTiles<T, TB>) set.tall = &MultiplyTile<kTallRows, 1, T, TB>;
  if constexpr (std::is_same_v<T, TB> && !kByHalves<T> && !BINET_IS_OLD_TARGET) {
    set.narrow_tiles = &MultiplyTiles<Shape::kRows, 1, T, TB>;
    if constexpr (!kHasTilesByTwo<T, TB>) set.panel_tiles = &MultiplyTiles<Shape::kRows, Shape::kPanelVectors, T, TB>;
  }
  if constexpr (kHasTilesByTwo<T, TB>) set.short_tiles = &kShortTileSet<T>;
  set.are_floats = hwy::IsFloat<T>();
  return set;
}
template <class T, class TB>
constexpr auto kTileSet = MakeTileSet<T, TB>();

/// A tile's function and the vectors in each of its rows.
template <class T, class TB>
struct Tile {
  TileFunction<T, TB> function;
  size_t vectors;
};

template <class T, class TB>
HWY_INLINE Tile<T, TB> ChooseTile(const TilesOfRows<T, TB>& tiles, int64_t columns_left, bool wide) {
  using Shape = TileShape<T>;
  const size_t vectors = (static_cast<size_t>(columns_left) + Shape::kLanes - 1) / Shape::kLanes;
  if (wide && vectors >= tiles.wide_vectors) return {tiles.wide, tiles.wide_vectors};
  if (wide && tiles.of_vectors != nullptr) return {tiles.of_vectors[vectors - 1], vectors};
  if (vectors >= Shape::kPanelVectors) return {tiles.panel, Shape::kPanelVectors};
  return {tiles.narrow, 1};
}

/// Whether so much of B, where it lies, is read in so many columns that what tiles fetch for the next columns is driven
/// out of the first-level cache before its turn. Low tiles, which do little else than load, wait for that.
template <class TB>
HWY_INLINE bool LeavesL1(int64_t k, int64_t columns) {
  constexpr int64_t kBytesInL1 = 32 * 1024, kLineBytes = 64;
  return k * (columns * int64_t{sizeof(TB)} + kLineBytes) > kBytesInL1;
}

/// Has low tiles of so many columns fetch rows of such a B; shorter ones are followed by hardware prefetchers.
template <class T, class TB>
HWY_INLINE void FetchBelow(TileOperands<T, TB>& operands, int64_t columns) {
  constexpr int64_t kRowsBelow = 6, kLeastRowBytes = 384;
  if (operands.b_row_step * int64_t{sizeof(TB)} < kLeastRowBytes || !LeavesL1<TB>(operands.k, columns)) return;
  operands.below = kRowsBelow * operands.b_row_step;
}

// ---- one tile

/// Where a tile lies in its block: `rows` from m on, `columns` from n on.
struct Place {
  int64_t m, n, rows, columns;
};

template <class T>
void CopyRows(const T* from, int64_t from_row_step, T* to, int64_t to_row_step, const Place& place) {
  for (int64_t i = 0; i < place.rows; ++i, from += from_row_step, to += to_row_step) {
    std::memcpy(to, from, static_cast<size_t>(place.columns) * sizeof(T));
  }
}

/// Each row's one element of C, as often as a row of the tile is long.
template <class Element>
void RepeatAlongRows(const Element* c, int64_t c_row_step, size_t columns, int64_t rows, Element* to) {
  using Bits = hwy::UnsignedFromSize<sizeof(Element)>;
  const hn::CappedTag<Bits, TileShape<std::conditional_t<sizeof(Element) == 2, float, Element>>::kLanes> d;
  auto* bits = reinterpret_cast<Bits*>(to);
  for (int64_t i = 0; i < rows; ++i, c += c_row_step) {
    const auto v = hn::Set(d, LoadOne(reinterpret_cast<const Bits*>(c)));
    for (size_t j = 0; j < columns; j += hn::Lanes(d), bits += hn::Lanes(d)) StoreAny(v, d, bits);
  }
}

/// Room for the sums of any tile, of any type of the size: floats have the largest.
template <class Bits>
constexpr size_t LargestTile() {
  using T = hwy::FloatFromSize<sizeof(Bits)>;
  size_t largest = TileShape<T>::kRows * TileShape<T>::kPanelVectors;
  for (size_t rows = 1; rows <= TileShape<T>::kRows; ++rows) {
    largest = HWY_MAX(largest, rows * TileShape<T>::WideVectors(rows));
  }
  return largest * TileShape<T>::kLanes;
}

/// Lets the tile itself do the last step, where Y and C lie so that it can. False: it cannot.
template <class Element, class T>
HWY_NOINLINE bool EndInPlace(const Block& block, const Place& place, bool are_floats, size_t tile_columns, T* buffer,
                             TileEnds<T>& ends) {
  constexpr bool kRounds = sizeof(Element) < sizeof(T);
  const Output& output = *block.output;
  const Scale& scale = *block.scale;
  if (output.y_column_step != 1 || !scale.is_whole) return false;
  ends.to_row_step = output.y_row_step;
  const int64_t to = (block.row + place.m) * output.y_row_step + block.column + place.n;
  ends.to = reinterpret_cast<T*>(reinterpret_cast<Element*>(output.y) + to);
  if (kRounds) ends.last = Last::rounded;
  if (scale.keeps_sums()) return true;

  if (!scale.has_c) return false;
  ends.last = scale.alpha == 1.0f && scale.beta == 1.0f && !kRounds ? Last::plus_c : Last::scaled_plus_c;
  if (!are_floats && ends.last != Last::plus_c) return false;
  ends.alpha = scale.alpha;
  ends.beta = scale.beta;
  const auto* c = reinterpret_cast<const Element*>(output.c) + (block.row + place.m) * output.c_row_step +
                  (block.column + place.n) * output.c_column_step;
  ends.c = reinterpret_cast<const T*>(c);
  ends.c_row_step = output.c_row_step;
  if (output.c_column_step == 0) {
    RepeatAlongRows(c, ends.c_row_step, tile_columns, place.rows, reinterpret_cast<Element*>(buffer));
    ends.c = buffer;
    ends.c_row_step = static_cast<int64_t>(tile_columns);
  }
  return output.c_column_step <= 1;
}

/// Unless the tile itself does the last step, `finish` does.
template <class Element, class T, class TB>
HWY_INLINE void ComputeTile(const Block& block, const Tile<T, TB>& tile, const TileOperands<T, TB>& operands,
                            const Place& place, bool are_floats, FinishFunction finish) {
  alignas(64) T buffer[LargestTile<T>()];
  const size_t tile_columns = tile.vectors * TileShape<T>::kLanes;
  const auto columns = static_cast<size_t>(place.columns);
  const bool is_whole = columns == tile_columns || kTakesAnyColumns<TB>;
  const auto buffer_step = static_cast<int64_t>(tile_columns);
  const int64_t step = block.sums_row_step;
  T* sums = block.sums == nullptr ? nullptr : reinterpret_cast<T*>(block.sums) + place.m * step + place.n;

  TileEnds<T> ends;
  ends.last_lanes = columns - (tile.vectors - 1) * TileShape<T>::kLanes;
  if (!block.first) {
    ends.from = sums;
    ends.from_row_step = step;
    if (!is_whole) {
      CopyRows(sums, step, buffer, buffer_step, place);
      ends.from = buffer;
      ends.from_row_step = buffer_step;
    }
  }
  if (is_whole) {
    if (!block.last) {
      ends.to = sums;
      ends.to_row_step = step;
      return tile.function(operands, ends);
    }
    if constexpr (std::is_same_v<Element, T> || (std::is_same_v<Element, TB> && kRoundsInTile<Element>)) {
      if (EndInPlace<Element>(block, place, are_floats, tile_columns, buffer, ends))
        return tile.function(operands, ends);
      ends.last = Last::sums;
    }
  }
  ends.to = buffer;
  ends.to_row_step = buffer_step;
  tile.function(operands, ends);
  if (!block.last) return CopyRows(buffer, buffer_step, sums, step, place);
  finish(reinterpret_cast<const std::byte*>(buffer), buffer_step, place.rows, place.columns, *block.output,
         block.row + place.m, block.column + place.n, *block.scale);
}

/// Fetches so many bytes of each row.
HWY_INLINE void FetchRows(const std::byte* row, int64_t row_bytes_apart, int64_t rows, int64_t bytes) {
  asm volatile("");  // GCC drops the call of a function that does nothing but fetch
  for (; rows > 0; --rows, row += row_bytes_apart) {
    for (int64_t i = 0; i < bytes; i += 64) hwy::Prefetch(row + i);
  }
}

/// The rows of Y, or of sums, under a tile, and those of a full C, lie on pages of their own, where no hardware
/// prefetcher follows.
template <size_t kElementBytes, class T>
HWY_NOINLINE void PrefetchSums(const Block& block, int64_t m, int64_t n) {
  const Output& output = *block.output;
  const bool is_y = block.sums == nullptr;
  const int64_t size = is_y ? kElementBytes : sizeof(T);
  const int64_t step = (is_y ? output.y_row_step : block.sums_row_step) * size;
  const std::byte* row =
      is_y ? output.y + (block.row + m) * step + (block.column + n) * size : block.sums + m * step + n * size;
  const int64_t rows = HWY_MIN(block.a_panel_rows, block.m - m);
  FetchRows(row, step, rows, int64_t{TileShape<T>::kPanel} * size);
#if HWY_TARGET == HWY_AVX2
  if (block.last && block.scale->has_c && output.c_column_step == 1 && output.c_row_step != 0) {
    const int64_t c_step = output.c_row_step * int64_t{kElementBytes};
    FetchRows(output.c + (block.row + m) * c_step + (block.column + n) * int64_t{kElementBytes}, c_step, rows,
              int64_t{TileShape<T>::kPanel} * int64_t{kElementBytes});
  }
#endif
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
