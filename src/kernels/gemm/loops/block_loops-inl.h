// Room: kernels, per target. The two inner loops: a block of Y in tiles, panel by panel or rows by rows (block-inl.h
// chooses). Types are BitsOf those that tiles compute with.
#if defined(BINET_KERNELS_GEMM_LOOPS_BLOCK_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_BLOCK_LOOPS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_BLOCK_LOOPS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_BLOCK_LOOPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// What the tile in so many columns from n on reads of B.
template <class T, class TB>
HWY_INLINE void MoveToColumn(const Block& block, int64_t n, int64_t tile_columns, TileOperands<T, TB>& operands) {
  constexpr int64_t kPanel = TileShape<T>::kPanel;
  operands.b = reinterpret_cast<const TB*>(block.b) + n / kPanel * block.b_panel_step + n % kPanel;
  operands.b_is_whole = block.b_is_packed || n + tile_columns <= block.n;
  const int64_t rows_ahead = block.leaves_b_to_hardware ? 0
                             : tile_columns > kPanel    ? kPrefetchRowsOfWide
                                                        : kPrefetchRows;
  const int64_t ahead = HWY_MAX(rows_ahead * block.b_row_step, block.ahead_bytes / int64_t{sizeof(TB)});
  operands.near = block.b_is_packed ? ahead : tile_columns + block.near_b;
  operands.below = 0;
  if (!block.b_is_packed) FetchBelow(operands, tile_columns);
}

/// What the tiles of the rows from m on read, but for MoveToColumn().
template <class T, class TB>
HWY_INLINE TileOperands<T, TB> OperandsOfRows(const Block& block, int64_t m) {
  const auto* a = reinterpret_cast<const T*>(block.a);
  a += block.a_is_packed ? m / block.a_panel_rows * block.a_panel_step : m * block.a_row_step;
  TileOperands<T, TB> operands;
  operands.a = a;
  operands.a_row_step = block.a_row_step;
  operands.a_column_step = block.a_column_step;
  operands.b_panel_step = block.b_panel_step;
  operands.b_row_step = block.b_row_step;
  operands.k = block.k;
  operands.far = {block.b, 0};  // to fetch from a page that is not there would take a walk through the page table
  return operands;
}

/// What the tile from (m, n) on, with so many columns, reads.
template <class T, class TB>
HWY_INLINE TileOperands<T, TB> OperandsAt(const Block& block, int64_t m, int64_t n, int64_t tile_columns) {
  auto operands = OperandsOfRows<T, TB>(block, m);
  MoveToColumn(block, n, tile_columns, operands);
  return operands;
}

template <class Element, class T, class TB>
class BlockLoops {
 public:
  BlockLoops(const Block& block, const TileSet<T, TB>& tiles, FinishFunction finish, bool goes_by_panels)
      : block_(block),
        tiles_(tiles),
        finish_(finish),
        goes_by_panels_(goes_by_panels),
        takes_three_vectors_(TakesThreeVectors(block, tiles)),
        b_is_near_(IsBNear(block)),
        b_is_fetched_(IsBFetched(block)),
        y_is_near_(IsYNear(block)) {}

  /// Whether tiles fetch next_runs().
  static bool FetchesRuns(const Block& block) {
    return HWY_TARGET == HWY_AVX2 && block.fetched == FarOperand::runs_of_b;
  }

  /// B is such that tiles find only so much of it in the first-level cache as they fetch themselves. From memory others
  /// are better, which fetch what they will read much later, too.
  static bool TakesThreeVectors(const Block& block, const TileSet<T, TB>& tiles) {
    if (block.fetched == FarOperand::rows_of_b || !tiles.has_three_vectors) return false;
    if (!AreForThreeVectors(block.m) || block.a_panel_rows > int64_t{kMostRowsOfThreeVectors}) return false;
    constexpr auto kColumns = static_cast<int64_t>(3 * Shape::kLanes);
    return block.n > kColumns - int64_t{Shape::kLanes} && !block.b_is_packed && LeavesL1<TB>(block.k, kColumns);
  }

  /// Every panel of B meets all rows while it is in the first-level cache.
  void PanelByPanel() const {
    for (int64_t n = 0; n < block_.n; n += Shape::kPanel) {
      const auto tile = ChooseTile(tiles_.Of(block_.a_panel_rows), block_.n - n, false);
      for (int64_t m = TilesInPlace(tile, n); m < block_.m; m += block_.a_panel_rows) {
        const int64_t rows = HWY_MIN(block_.a_panel_rows, block_.m - m);
        PrefetchBelow(m, n);
        Compute(ChooseTile(tiles_.Of(rows), block_.n - n, false), m, rows, n, (m == 0 && b_is_fetched_) || !b_is_near_);
      }
    }
  }

  /// One vector of columns: tiles so high that many rows share its load, and that their chains hide the latency.
  void TallTiles() const {
    if (!kHasTallTiles<hwy::FloatFromSize<sizeof(T)>, TB>) return;
    for (int64_t m = 0; m < block_.m;) {
      const int64_t left = block_.m - m;
      constexpr int64_t kTall = kTallRows;
      const int64_t rows = TallTilesOf(left) > 0 ? kTall : left > tiles_.most_rows ? (left + 1) / 2 : left;
      Compute({rows == kTall ? tiles_.tall : tiles_.Of(rows).narrow, 1}, m, rows, 0, false);
      m += rows;
    }
  }

  /// Few rows, or a small B: each tile of rows takes the widest tiles it can.
  void RowsByRows() const {
    for (int64_t m = TilesOfOneStrip(); m < block_.m; m += block_.a_panel_rows) {
      const int64_t rows = HWY_MIN(block_.a_panel_rows, block_.m - m);
      const auto& tiles = tiles_.Of(rows);
      for (int64_t n = TilesAcross(tiles, m); n < block_.n;) {
        const auto tile = Widest(tiles, block_.n - n);
        const auto columns = static_cast<int64_t>(tile.vectors * Shape::kLanes);
        if (!y_is_near_) PrefetchSums<sizeof(Element), T>(block_, m, n + columns);
        Compute(tile, m, rows, n, m == 0 && b_is_fetched_);
        n += columns;
      }
    }
  }

 private:
  using Shape = TileShape<T>;
  // Of L1 the rest is for A and Y; of L2 for A. What is near already must not be fetched again by every tile: the loop
  // over k would take up to 3 % longer.
  static constexpr int64_t kPanelBytesInL1 = 32 * 1024;
  static constexpr int64_t kBytesInL2 = 512 * 1024;
  /// A single panel of columns is fetched as far ahead as the plan says, or not at all; elsewhere as any panel is.
  static constexpr bool kPlansOnlyPanel = HWY_TARGET == HWY_AVX2;

  /// Whether the first tile of each panel fetches enough for those below it: they find the panel in the first-level
  /// cache, and packed panels that all stay in the second-level one.
  static bool IsBNear(const Block& block) {
    if (kPlansOnlyPanel && IsOnePanel(block)) return true;
    if (FetchesRuns(block)) return false;
    if (block.k * int64_t{Shape::kPanel * sizeof(TB)} > kPanelBytesInL1) return false;
    return !block.b_is_packed || block.k * block.n * int64_t{sizeof(TB)} <= kBytesInL2;
  }
  /// Whether the first tile fetches anything.
  static bool IsBFetched(const Block& block) {
    return !kPlansOnlyPanel || !IsOnePanel(block) || sizeof(Element) < sizeof(T) || block.ahead_bytes != 0;
  }
  static bool IsYNear(const Block& block) {
    return !block.goes_by_rows && block.m * block.n * int64_t{sizeof(T)} <= kBytesInL2;
  }

  HWY_INLINE void PrefetchBelow(int64_t m, int64_t n) const {
    if (!y_is_near_) PrefetchSums<sizeof(Element), T>(block_, m + block_.a_panel_rows, n);
  }

  /// How the tiles from (m, n) on begin and end, if they need no buffer for that. With one, of LargestTile() elements,
  /// C may be a column: of so many `rows` it is repeated there, for tiles of any width.
  HWY_NOINLINE bool EndsInPlace(int64_t m, int64_t n, int64_t tile_columns, TileEnds<T>& ends, T* buffer = nullptr,
                                int64_t rows = 0) const {
    const int64_t columns = HWY_MIN(tile_columns, block_.n - n);
    if (!kTakesAnyColumns<TB> && columns < tile_columns) return false;
    ends.last_lanes = static_cast<size_t>(columns - (tile_columns - int64_t{Shape::kLanes}));
    T* sums = block_.sums == nullptr ? nullptr : reinterpret_cast<T*>(block_.sums) + m * block_.sums_row_step + n;
    if (!block_.first) {
      ends.from = sums;
      ends.from_row_step = block_.sums_row_step;
    }
    if (!block_.last) {
      ends.to = sums;
      ends.to_row_step = block_.sums_row_step;
      return true;
    }
    if constexpr (std::is_same_v<Element, T>) {
      const int64_t c_column_step = block_.output->c_column_step;
      if (block_.scale->has_c && c_column_step != 1 && (c_column_step != 0 || buffer == nullptr)) return false;
      const size_t vectors = buffer == nullptr ? 0 : LargestTile<T>() / Shape::kLanes / static_cast<size_t>(rows);
      return EndInPlace<Element>(block_, {m, n, rows, columns}, tiles_.are_floats, vectors * Shape::kLanes, buffer,
                                 ends);
    }
    return false;
  }

  /// Whether, with a short k, tiles as wide as a panel take one call: side by side, or all `rows` of them one below the
  /// other, of an A that is not packed.
  HWY_INLINE bool AreTogether(const TileEnds<T>& ends, int64_t m, int64_t rows, bool are_below) const {
    // With a longer one, tiles side by side do not fetch enough of what they will need.
    constexpr int64_t kMostKSideBySide = 160;
    if (HWY_TARGET != HWY_AVX2 || !std::is_same_v<TB, T> || tiles_.short_tiles == nullptr) return false;
    if (!block_.first || !block_.last || ends.last > Last::plus_c) return false;
    if (!block_.b_is_packed && (are_below || m == 0)) return false;  // the first tiles fetch rows of B for the others
    if (!are_below) return rows == tiles_.most_rows && block_.k <= kMostKSideBySide;
    return rows >= kAnyRowsByTwo && block_.k <= kMostKOfShortTiles && !block_.a_is_packed && y_is_near_;
  }

  /// So many panels side by side from row m on, of as many rows as the highest tiles have; or so many rows of one
  /// panel.
  HWY_NOINLINE void ComputeTogether(const TileOperands<T, TB>& operands, int64_t m, const TileEnds<T>& ends,
                                    bool repeats_c, int64_t panels, int64_t rows) const {
    if constexpr (std::is_same_v<TB, T> && HWY_TARGET == HWY_AVX2) {
      const Output& output = *block_.output;
      const auto* column_of_c = reinterpret_cast<const T*>(output.c) + (block_.row + m) * output.c_row_step;
      const int64_t of_five = RowsByFive(rows), of_six = rows - of_five;
      ShortTiles<T> tiles = {.rows = of_six * panels,
                             .y = ends.to,
                             .y_row_step = ends.to_row_step,
                             .c = repeats_c ? column_of_c : ends.c,
                             .c_row_step = output.c_row_step,
                             .c_is_column = repeats_c,
                             .last_vector = Shape::kLanes,
                             .fetches_rows = false,
                             .columns_apart = panels == 1 ? 0 : int64_t{Shape::kPanel}};
      tiles_.short_tiles->six_by_two(operands, tiles);
      if (of_five == 0) return;
      TileOperands<T, TB> others = operands;
      others.a += of_six * operands.a_row_step;
      tiles.y += of_six * tiles.y_row_step;
      if (tiles.c != nullptr) tiles.c += of_six * tiles.c_row_step;
      tiles.rows = of_five;
      tiles_.short_tiles->five_by_two(others, tiles);
    }
  }

  HWY_INLINE Tile<T, TB> Widest(const TilesOfRows<T, TB>& tiles, int64_t columns_left) const {
    constexpr auto kLanes = static_cast<int64_t>(Shape::kLanes);
    // By a tile of two vectors and another of one, low rows would wait for their own sums in both.
    const bool are_three = columns_left > 2 * kLanes && columns_left <= 3 * kLanes;
    const bool is_worth_three =
        takes_three_vectors_ ? are_three || columns_left > 4 * kLanes : are_three && tiles.wide_vectors > 3;
    if (is_worth_three && tiles.three != nullptr) return {tiles.three, 3};
    return ChooseTile(tiles, columns_left, true);
  }

  /// The tiles of full height from (0, n) down, without the work of placing each of them, which a short k would notice:
  /// the rows done.
  HWY_NOINLINE int64_t TilesInPlace(const Tile<T, TB>& tile, int64_t n) const {
    const int64_t rows = block_.a_panel_rows;
    if (block_.m < rows) return 0;  // an item's last rows may be fewer, and so is a column of C
    const auto tile_columns = static_cast<int64_t>(tile.vectors * Shape::kLanes);
    alignas(64) T repeated_c[LargestTile<T>()];
    TileEnds<T> ends;
    if (!EndsInPlace(0, n, tile_columns, ends, repeated_c, rows)) return 0;
    const bool repeats_c = ends.c == repeated_c;
    TileOperands<T, TB> operands = OperandsAt<T, TB>(block_, 0, n, tile_columns);
    operands.far = NextPanel(0, n);
    operands.fetches = b_is_fetched_;
    const bool is_whole_panel = tile.vectors == Shape::kPanelVectors && ends.last_lanes == Shape::kLanes;
    if (is_whole_panel && AreTogether(ends, 0, block_.m, true)) {
      ComputeTogether(operands, 0, ends, repeats_c, 1, block_.m);
      return block_.m;
    }
    const int64_t a_step = block_.a_is_packed ? block_.a_panel_step : rows * block_.a_row_step;
    int64_t m = 0;
    for (; m + rows <= block_.m; m += rows) {
      PrefetchBelow(m, n);
      if (repeats_c && m > 0) RepeatColumnOfC(m, rows, static_cast<size_t>(ends.c_row_step), repeated_c);
      tile.function(operands, ends);
      operands.fetches = !b_is_near_;
      operands.a += a_step;
      operands.far.from += operands.far.step * block_.k;
      ends.from += rows * ends.from_row_step;
      ends.to += rows * ends.to_row_step;
      if (!repeats_c) ends.c += rows * ends.c_row_step;
    }
    return m;
  }

  /// As EndInPlace() does for a first tile.
  HWY_INLINE void RepeatColumnOfC(int64_t m, int64_t rows, size_t columns, T* to) const {
    const Output& output = *block_.output;
    const auto* c = reinterpret_cast<const Element*>(output.c) + (block_.row + m) * output.c_row_step;
    RepeatAlongRows(c, output.c_row_step, columns, rows, reinterpret_cast<Element*>(to));
  }

  /// The tiles of the rows from m on, placed once: the columns done. Each fetches the place of the next one, if Y is
  /// far.
  int64_t TilesAcross(const TilesOfRows<T, TB>& tiles, int64_t m) const {
    constexpr auto kLanes = static_cast<int64_t>(Shape::kLanes);
    if constexpr (!std::is_same_v<Element, T> || BINET_IS_OLD_TARGET) return 0;
    alignas(64) T repeated_c[LargestTile<T>()];
    TileEnds<T> ends;
    const int64_t rows = HWY_MIN(block_.a_panel_rows, block_.m - m);
    if (block_.n < kLanes || !EndsInPlace(m, 0, kLanes, ends, repeated_c, rows)) return 0;
    const bool c_moves = ends.c != nullptr && ends.c != repeated_c;
    auto operands = OperandsOfRows<T, TB>(block_, m);
    operands.fetches = m == 0;
    int64_t n = 0, columns = 0;
    const int64_t panels = block_.n / int64_t{Shape::kPanel};
    if (panels > 0 && AreTogether(ends, m, rows, false)) {
      MoveToColumn(block_, 0, Shape::kPanel, operands);
      ComputeTogether(operands, m, ends, ends.c == repeated_c, panels, rows);
      n = panels * int64_t{Shape::kPanel};
      if (c_moves) ends.c += n;
      ends.to += n;
    }
    for (; n < block_.n; n += columns) {
      const auto tile = Widest(tiles, block_.n - n);
      columns = static_cast<int64_t>(tile.vectors) * kLanes;
      if (n + columns > block_.n) {
        if (!kTakesAnyColumns<TB>) return n;
        ends.last_lanes = static_cast<size_t>(block_.n - n - columns + kLanes);
      }
      if (!y_is_near_) PrefetchSums<sizeof(Element), T>(block_, m, n + columns);
      MoveToColumn(block_, n, columns, operands);
      tile.function(operands, ends);
      if (ends.from != nullptr) ends.from += columns;
      if (c_moves) ends.c += columns;
      ends.to += columns;
    }
    return n;
  }

  /// All columns are one panel, packed or as it lies: then only the first tile fetches, what follows in B.
  static bool IsOnePanel(const Block& block) {
    return block.n <= int64_t{Shape::kPanel} && block.b_row_step == int64_t{Shape::kPanel};
  }

  /// While its tiles keep the multipliers busy, each packed panel of B sees the next one come nearer, the last one the
  /// first one's next range of k: every tile fetches its share.
  HWY_INLINE Ahead NextPanel(int64_t m, int64_t n) const {
    constexpr auto kPanel = int64_t{Shape::kPanel};
    constexpr int64_t kRowBytes = kPanel * int64_t{sizeof(TB)};
    if (IsOnePanel(block_)) {
      // Elsewhere tiles fetch these lines as they fetch rows further down of any packed panel.
      if (!kPlansOnlyPanel || block_.ahead_bytes == 0) return {block_.b, 0};
      return {block_.b + block_.ahead_bytes, kRowBytes, 0, true};
    }
    if (!block_.b_is_packed) return {block_.b, 0};
    if (FetchesRuns(block_)) {
      const Panels panels = {kPanel, kRowBytes, Shape::kRows, block_.b_panel_step * int64_t{sizeof(TB)}};
      return next_runs(block_, panels, m, n / kPanel);
    }
    const int64_t step = kRowBytes * block_.a_panel_rows / block_.m;
    const bool is_last = n + kPanel >= block_.n;
    const TB* next =
        reinterpret_cast<const TB*>(block_.b) + (is_last ? block_.k * kPanel : (n / kPanel + 1) * block_.b_panel_step);
    return {reinterpret_cast<const std::byte*>(next) + m / block_.a_panel_rows * step * block_.k, step};
  }

  /// The rows of the tiles of full height, where one is as wide as Y.
  int64_t TilesOfOneStrip() const {
    if (const int64_t rows = ColumnOfTiles(); rows > 0) return rows;
    const auto tile = ChooseTile(tiles_.Of(block_.a_panel_rows), block_.n, true);
    return block_.n <= static_cast<int64_t>(tile.vectors * Shape::kLanes) ? TilesInPlace(tile, 0) : 0;
  }

  /// As many of the highest tiles as there are, where one is as wide as Y, in one call: their rows.
  int64_t ColumnOfTiles() const {
    if constexpr (std::is_same_v<Element, T> && std::is_same_v<TB, T> && !BINET_IS_OLD_TARGET) {
      const Output& output = *block_.output;
      const int64_t vectors = (block_.n + int64_t{Shape::kLanes} - 1) / int64_t{Shape::kLanes};
      const bool is_whole = kTakesAnyColumns<TB> || block_.n == vectors * int64_t{Shape::kLanes};
      const bool c_fits = !block_.scale->has_c || output.c_column_step == 1;
      if (tiles_.narrow_tiles == nullptr || block_.a_is_packed || block_.a_panel_rows != tiles_.most_rows) return 0;
      if (!is_whole || !c_fits) return 0;
      if (!block_.first || !block_.last || vectors > int64_t{Shape::kPanelVectors}) return 0;
      TileEnds<T> ends;
      ends.last_lanes = static_cast<size_t>(block_.n - (vectors - 1) * int64_t{Shape::kLanes});
      T* const no_buffer = nullptr;
      if (!EndInPlace<Element>(block_, {0, 0, 0, block_.n}, tiles_.are_floats, 0, no_buffer, ends)) return 0;
      ends.reach = ReachOfRows<Element>(block_.n, vectors * int64_t{Shape::kLanes} - block_.n, 0, ends);
      const int64_t tiles = block_.m / tiles_.most_rows;
      TileOperands<T, TB> operands = OperandsAt<T, TB>(block_, 0, 0, vectors * int64_t{Shape::kLanes});
      operands.fetches = false;  // all of B is near
      if (tiles_.short_tiles != nullptr && vectors == 2) {
        if (ends.last > Last::plus_c || block_.k > kMostKOfNarrowTiles) return 0;
        const T* const c = ends.last == Last::plus_c ? ends.c : nullptr;
        tiles_.short_tiles->six_by_two(operands, {.rows = tiles * tiles_.most_rows,
                                                  .y = ends.to,
                                                  .y_row_step = ends.to_row_step,
                                                  .c = c,
                                                  .c_row_step = ends.c_row_step,
                                                  .c_is_column = false,
                                                  .last_vector = block_.n - int64_t{Shape::kLanes},
                                                  .fetches_rows = block_.fetched == FarOperand::rows_of_a});
        return tiles * tiles_.most_rows;
      }
      const auto multiply = vectors == 1 ? tiles_.narrow_tiles : tiles_.panel_tiles;
      multiply(operands, ends, tiles, block_.fetched == FarOperand::rows_of_a);
      return tiles * tiles_.most_rows;
    }
    return 0;
  }

  HWY_NOINLINE void Compute(const Tile<T, TB>& tile, int64_t m, int64_t rows, int64_t n, bool fetches) const {
    const auto tile_columns = static_cast<int64_t>(tile.vectors * Shape::kLanes);
    TileOperands<T, TB> operands = OperandsAt<T, TB>(block_, m, n, tile_columns);
    if (goes_by_panels_) operands.far = NextPanel(m, n);
    operands.fetches = fetches;
    const int64_t columns = HWY_MIN(tile_columns, block_.n - n);
    ComputeTile<Element>(block_, tile, operands, {m, n, rows, columns}, tiles_.are_floats, finish_);
  }

  const Block& block_;
  const TileSet<T, TB>& tiles_;
  const FinishFunction finish_;
  const bool goes_by_panels_, takes_three_vectors_, b_is_near_, b_is_fetched_, y_is_near_;
};

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
