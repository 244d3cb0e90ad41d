// Room: kernels, per target. Rows of a product in one go: strips of columns as wide as a tile, in each of them tiles of
// two heights at most, and one call for all tiles of a height. Compiled once for all types whose tiles have the same
// shapes, as loops over tiles are (BitsOf).
#if defined(BINET_KERNELS_GEMM_LOOPS_BLOCK_AT_ONCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_BLOCK_AT_ONCE_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_BLOCK_AT_ONCE_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_BLOCK_AT_ONCE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A type of accumulators that has tiles of the same shapes as T has.
template <class T>
using SameTiles = std::conditional_t<kByHalves<T>, T, hwy::FloatFromSize<sizeof(T)>>;

/// A block of rows, all columns, and all k, of BitsOf elements; of all that T, accumulators, can be it only says how
/// large tiles are. A consists of accumulators.
template <class Element, class T>
class BlockAtOnce {
  using Bits = BitsOf<T>;

 public:
  using Tiles = TileSet<Bits, Element>;

  /// `strip_of_b`: null, or room for a strip, four vectors wide, of a B whose rows are whole lines.
  BlockAtOnce(const Problem& p, const Tiles& tiles, const std::byte* b, const std::byte* c, const Schedule& schedule,
              std::byte* strip_of_b = nullptr)
      : p_(p),
        tiles_(tiles),
        b_(reinterpret_cast<const Element*>(b)),
        strip_of_b_(reinterpret_cast<Element*>(strip_of_b)),
        fetches_y_(schedule.fetches_y),
        fetches_c_(schedule.fetches_c),
        ends_in_halves_(schedule.ends_in_halves && tiles.are_floats) {
    operands_.b_panel_step = Shape::kPanel;
    operands_.b_row_step = p.b_row_step;
    operands_.k = p.k;
    operands_.fetches = false;  // most of it is near
    if (IsBFar(p)) FetchBelow(operands_, int64_t{4 * Shape::kLanes});
    ends_.to_row_step = p.y_row_step;
    if (kRounds) ends_.last = Last::rounded;
    const bool has_c = p.has_c && p.beta != 0.0f;
    if (has_c || p.alpha != 1.0f) SetLastStep(has_c ? reinterpret_cast<const Element*>(c) : nullptr);
  }

  HWY_INLINE void Multiply(const Bits* a, int64_t a_row_step, int64_t a_column_step, int64_t row, int64_t rows,
                           std::byte* y) {
    operands_.a_row_step = a_row_step;
    operands_.a_column_step = a_column_step;
    rows_ = rows;
    int64_t apart = ColumnsBeforeLast(), n = apart, end = p_.n;
    for (goes_first_ = true;; goes_first_ = false) {
      if constexpr (kMayHaveShortTiles) {
        // Rather with columns before them, which are stored twice, than in tiles that are no quicker for being
        // narrower.
        if (IsWideLast(end - n)) n = end - int64_t{4 * Shape::kLanes};
      }
      operands_.a = a;
      operands_.b = b_ + n;
      y_ = reinterpret_cast<Element*>(y) + row * p_.y_row_step + n;
      c_of_tile_ = c_ + row * c_row_step_ + n * c_column_step_;
      int64_t columns = end - n;
      if constexpr (kMayHaveShortTiles) {
        if (HWY_UNLIKELY(strip_of_b_ != nullptr)) columns = PackStrip(columns);
      }
      n += MultiplyStrip(columns);
      if (n < end) continue;
      if (apart == 0) return;
      n = 0;
      end = apart;
      apart = 0;
    }
  }

  /// The same, a function of its own, which all types of a size share. (It takes three nanoseconds.)
  HWY_NOINLINE void MultiplyApart(const Bits* a, int64_t a_row_step, int64_t a_column_step, int64_t row, int64_t rows,
                                  std::byte* y) {
    Multiply(a, a_row_step, a_column_step, row, rows, y);
  }

  /// The sums alone of at most so many columns of B, from `b` on: how many they are.
  HWY_NOINLINE int64_t MultiplyStripTo(Bits* sums, int64_t sums_row_step, const Bits* a, int64_t a_row_step,
                                       int64_t a_column_step, int64_t rows, const Element* b, int64_t columns) {
    operands_.a = a;
    operands_.a_row_step = a_row_step;
    operands_.a_column_step = a_column_step;
    operands_.b = b;
    rows_ = rows;
    ends_.to_row_step = sums_row_step;
    y_ = reinterpret_cast<Element*>(sums);
    const int64_t done = MultiplyStrip(columns);  // HWY_MIN would do it twice
    return HWY_MIN(done, columns);
  }

 private:
  using Shape = TileShape<T>;
  using OneTile = Tile<Bits, Element>;
  static constexpr bool kRounds = sizeof(Element) < sizeof(T);
  static constexpr bool kMayHaveShortTiles = HWY_TARGET == HWY_AVX2 && hwy::IsFloat<T>() && !kRounds;

  /// B leaves the first-level cache, and each of its vectors lies in two lines.
  static bool IsBFar(const Problem& p) {
    constexpr int64_t kBytes = 64 * 1024, kLineBytes = 64;
    return p.b_row_step * int64_t{sizeof(Element)} % kLineBytes != 0 && p.n * p.k * int64_t{sizeof(Element)} > kBytes;
  }

  /// Without C a zero is added that changes nothing, the negative one.
  HWY_NOINLINE void SetLastStep(const Element* c) {
    ends_.last = Last::scaled_plus_c;
    ends_.alpha = p_.alpha;
    ends_.beta = c == nullptr ? 1.0f : p_.beta;
    if (p_.alpha == 1.0f && ends_.beta == 1.0f && !kRounds) ends_.last = Last::plus_c;
    c_ = c;
    if (c != nullptr && p_.c_column_step != 0) {
      c_row_step_ = p_.c_row_step;
      c_column_step_ = 1;
    } else if (c != nullptr && p_.c_row_step != 0) {
      c_row_step_ = p_.c_row_step;
      repeats_c_ = true;
    } else {
      const Element zero = tiles_.are_floats ? Element{1} << (8 * sizeof(Element) - 1) : Element{0};
      RepeatAlongRows(c == nullptr ? &zero : c, 0, Shape::WideVectors(1) * Shape::kLanes, 1, repeated_);
      c_ = repeated_;
    }
  }

  /// Those in front of the last strip, if it goes before the others: what its rows store beyond their end, as whole
  /// vectors, is then stored later. (C cannot suffer: Y overlaps none of the operands.)
  HWY_INLINE int64_t ColumnsBeforeLast() const {
    constexpr auto kLanes = static_cast<int64_t>(Shape::kLanes);
    if (!kEndsPartsApart<Element> || p_.n % kLanes == 0 || p_.n < 4 * kLanes) return 0;
    if (rows_ <= int64_t{Shape::kRows} || ends_.to_row_step != p_.n) return 0;
    const int64_t vectors = (p_.n + kLanes - 1) / kLanes;
    int64_t last = vectors % 2 == 0 ? 2 : 3;
    if constexpr (kMayHaveShortTiles) {
      if (IsWideLast(p_.n % (4 * kLanes))) return 0;
      if (TakesThreeByFour(p_.n)) last = vectors % 4 == 0 ? 2 : vectors % 4;
    }
    return (vectors - last) * kLanes;
  }

  /// Of so many last columns: more than three vectors or, if a tile of three would do little else than be placed, two;
  /// less than four.
  HWY_INLINE bool IsWideLast(int64_t columns) const {
    constexpr int64_t kLanes = Shape::kLanes, kVeryShortK = 4;
    return columns > (operands_.k <= kVeryShortK ? 2 : 3) * kLanes && columns < 4 * kLanes && p_.n >= 4 * kLanes &&
           operands_.k <= kShortKOfThreeByFour && TakesThreeByFour(4 * kLanes);
  }

  /// Of all columns: they are more than three vectors, and less than four. Then the last vector begins in the one
  /// before.
  HWY_INLINE bool IsWideAlone(int64_t columns) const {
    constexpr int64_t kLanes = Shape::kLanes;
    return columns > 3 * kLanes && columns < 4 * kLanes && p_.n == columns && operands_.k <= kShortKOfThreeByFour &&
           TakesThreeByFour(4 * kLanes);
  }

  HWY_INLINE void SetLastLanes(size_t last_lanes) {
    ends_.last_lanes = last_lanes;
    operands_.b_is_whole = last_lanes == Shape::kLanes || p_.b_has_whole_vectors;
  }

  /// As many of the columns that are left as a tile has; gives their number.
  HWY_INLINE int64_t MultiplyStrip(int64_t columns_left) {
    constexpr auto kLanes = static_cast<int64_t>(Shape::kLanes);
    const bool are_many_rows = rows_ > int64_t{Shape::kRows};
    // The vectors in front of half a vector, which is computed apart.
    const int64_t whole = !kRounds && ends_in_halves_ && are_many_rows ? VectorsBeforeHalf<T>(columns_left) : 0;
    if (tiles_.tall != nullptr && are_many_rows && (columns_left <= kLanes || whole == 1)) {
      SetLastLanes(HWY_MIN(static_cast<size_t>(columns_left), Shape::kLanes));
      MultiplyNarrowStrip();
      return Shape::kLanes;
    }
    if (whole == 3) return MultiplyThreeVectors(3 * kLanes);
    if (kPrefersWideTiles<Element, T> && tiles_.are_floats && are_many_rows && columns_left > 3 * kLanes) {
      return MultiplyFourVectors(columns_left);
    }
    if constexpr (kMayHaveShortTiles) {
      if (TakesThreeByFour(columns_left)) return MultiplyRowsOfThree();
      if (IsWideAlone(columns_left)) return MultiplyFewerColumns(columns_left);
      if (TakesRowsByTwo(columns_left)) return MultiplyRowsByTwo(HWY_MIN(columns_left, int64_t{Shape::kPanel}));
      if (TakesFourByThree(columns_left)) {
        ComputeShortTiles(tiles_.short_tiles->four_by_three, rows_, columns_left - int64_t{Shape::kLanes});
        return columns_left;
      }
    }
    if constexpr (kHasTilesOfThreeVectors<T>) {
      constexpr auto kColumns = static_cast<int64_t>(3 * Shape::kLanes);
      const auto vectors = (columns_left + int64_t{Shape::kLanes} - 1) / int64_t{Shape::kLanes};
      const bool are_three = vectors == 3 && whole != 2 && rows_ >= int64_t{kFewestRowsOfThreeVectors};
      const bool are_worth_three = are_three || (vectors > 4 && operands_.below != 0 && AreForThreeVectors(rows_));
      if (tiles_.are_floats && are_worth_three) {
        return MultiplyThreeVectors(HWY_MIN(kColumns, columns_left));
      }
    }
    const auto tile =
        ChooseTile(tiles_.Of(are_many_rows ? int64_t{Shape::kRows} : rows_), columns_left, !are_many_rows);
    const auto columns = static_cast<int64_t>(tile.vectors * Shape::kLanes);
    SetLastLanes(static_cast<size_t>(HWY_MIN(columns, columns_left) - columns) + Shape::kLanes);
    if (!are_many_rows) {
      Compute(tile, rows_, 1);
    } else {
      MultiplyRows(rows_, Shape::kRows, [this, &tile](int64_t rows) HWY_ATTR {
        const auto& all = tiles_.Of(rows);
        return OneTile{tile.vectors == 1 ? all.narrow : all.panel, tile.vectors};
      });
    }
    return columns;
  }

  static constexpr int64_t kShortKOfThreeByFour = 32;

  /// Where sums are the results, or those plus C, B's strip stays in the first-level cache, and its vectors lie each in
  /// one line, or are few beside those of Y.
  HWY_INLINE bool TakesThreeByFour(int64_t columns_left) const {
    const auto b = reinterpret_cast<uintptr_t>(operands_.b);
    const auto b_row_bytes = static_cast<uintptr_t>(operands_.b_row_step) * sizeof(Element);
    return MayTakeThreeByFour(columns_left) &&
           (operands_.k <= kShortKOfThreeByFour || (b | b_row_bytes) % (Shape::kLanes * sizeof(Element)) == 0);
  }
  HWY_INLINE bool MayTakeThreeByFour(int64_t columns_left) const {
    constexpr int64_t kMostK = 96;
    return tiles_.short_tiles != nullptr && tiles_.are_floats && rows_ >= int64_t{Shape::kRows} &&
           columns_left >= int64_t{4 * Shape::kLanes} && operands_.k <= kMostK && ends_.last <= Last::plus_c &&
           operands_.below == 0;
  }

  /// Puts the next columns of B side by side, where they begin lines, as many as tiles will have: how many they are.
  HWY_NOINLINE int64_t PackStrip(int64_t columns_left) {
    constexpr int64_t kPanel = Shape::kPanel;
    const hn::ScalableTag<Element> d;
    const int64_t columns = MayTakeThreeByFour(columns_left) ? 2 * kPanel : kPanel;
    const Element* from = operands_.b;
    Element* to = strip_of_b_;
    for (int64_t k = 0; k < p_.k; ++k, from += p_.b_row_step) {
      for (int64_t n = 0; n < columns; n += kPanel, to += kPanel) {
        hn::Store(hn::LoadU(d, from + n), d, to);
        hn::Store(hn::LoadU(d, from + n + Shape::kLanes), d, to + Shape::kLanes);
      }
    }
    operands_.b = strip_of_b_;
    operands_.b_row_step = columns;
    return columns;
  }

  /// What makes no whole tile: one row goes with three others, which else would be computed three times; two rows go by
  /// themselves, or with a short K in a tile that begins with a row of the one above it.
  HWY_NOINLINE int64_t MultiplyRowsOfThree() {
    constexpr int64_t kRows = 3, kLeastKOfTwoRows = 12, kLast = 3 * Shape::kLanes;
    const int64_t left = rows_ % kRows;
    const int64_t apart = left == 1 ? kRows + 1 : left == 2 && operands_.k >= kLeastKOfTwoRows ? left : 0;
    ComputeShortTiles(tiles_.short_tiles->three_by_four, rows_ - apart, kLast);
    if (apart > 0) {
      SkipTo(rows_ - apart);
      if (left == 1) {
        MultiplyFourRows();
      } else {
        SetLastLanes(Shape::kLanes);
        Compute({tiles_.Of(left).wide, Shape::WideVectors(2)}, left, 1);
      }
    }
    return int64_t{4 * Shape::kLanes};
  }

  /// The same where the last vector is no whole one. Rows that make no whole tile are few beside the others.
  HWY_NOINLINE int64_t MultiplyFewerColumns(int64_t columns) {
    ComputeShortTiles(tiles_.short_tiles->three_by_four, rows_, columns - int64_t{Shape::kLanes});
    return columns;
  }

  /// Where sums are the results, or those plus C.
  HWY_INLINE bool MayTakeShortTiles(int64_t most_k) const {
    return tiles_.short_tiles != nullptr && operands_.k <= most_k && ends_.last <= Last::plus_c && operands_.below == 0;
  }

  /// Of so many vectors, of which the last need not be whole.
  HWY_INLINE bool TakesShortTiles(int64_t vectors, int64_t columns_left) const {
    constexpr int64_t kLanes = Shape::kLanes;
    return columns_left > (vectors - 1) * kLanes && columns_left <= vectors * kLanes &&
           MayTakeShortTiles(kMostKOfNarrowTiles);
  }

  /// How many rows of a tile of so many would be computed once more, as they make no whole tile.
  HWY_INLINE int64_t RowsAgain(int64_t rows_of_tile) const {
    return (rows_of_tile - rows_ % rows_of_tile) % rows_of_tile;
  }

  /// For eight rows or less, and thirteen, tiles of five are too high. With a longer k whole panels are such, as well.
  HWY_INLINE bool TakesRowsByTwo(int64_t columns_left) const {
    if (rows_ <= 8 || rows_ == 13) return false;
    const bool is_panel = columns_left >= int64_t{Shape::kPanel} && operands_.k > kMostKOfNarrowTiles;
    return is_panel ? MayTakeShortTiles(kMostKOfShortTiles) : TakesShortTiles(2, columns_left);
  }

  /// Tiles of six rows and of five, which 20 rows and more are in any case, or of five: then one row is computed twice.
  HWY_NOINLINE int64_t MultiplyRowsByTwo(int64_t columns) {
    const int64_t last = columns - int64_t{Shape::kLanes};
    const auto& tiles = *tiles_.short_tiles;
    const int64_t of_five = rows_ < kAnyRowsByTwo && rows_ % 5 == 4 ? rows_ : RowsByFive(rows_);
    if (of_five < rows_) {
      ComputeShortTiles(tiles.six_by_two, rows_ - of_five, last);
      SkipTo(rows_ - of_five);
    }
    if (of_five > 0) ComputeShortTiles(tiles.five_by_two, of_five, last);
    return columns;
  }

  /// Many rows, or if no more than one is computed twice.
  HWY_INLINE bool TakesFourByThree(int64_t columns_left) const {
    constexpr int64_t kManyRows = 48;
    return tiles_.are_floats && rows_ >= 4 && (RowsAgain(4) <= 1 || rows_ >= kManyRows) &&
           TakesShortTiles(3, columns_left);
  }

  HWY_NOINLINE void ComputeShortTiles(ShortTileSet<Bits, Element>::Function multiply, int64_t rows,
                                      int64_t last) const {
    multiply(operands_, {.rows = rows,
                         .y = y_,
                         .y_row_step = ends_.to_row_step,
                         .c = c_of_tile_,
                         .c_row_step = c_row_step_,
                         .c_is_column = repeats_c_,
                         .last_vector = last,
                         .fetches_rows = false});
  }

  HWY_INLINE void SkipTo(int64_t row) {
    operands_.a += row * operands_.a_row_step;
    y_ += row * ends_.to_row_step;
    c_of_tile_ += row * c_row_step_;
  }

  /// And four vectors: two tiles.
  HWY_NOINLINE void MultiplyFourRows() {
    SetLastLanes(Shape::kLanes);
    ends_.to = reinterpret_cast<Bits*>(y_);
    const int64_t step = PlaceC(4, Shape::kPanel);
    auto operands = operands_;
    const auto tile = tiles_.Of(4).panel;
    tile(operands, ends_);
    operands.b += Shape::kPanel;
    ends_.to += Shape::kPanel;
    ends_.c += step;
    tile(operands, ends_);
  }

  HWY_INLINE int64_t MultiplyThreeVectors(int64_t columns) {
    constexpr auto kColumns = static_cast<int64_t>(3 * Shape::kLanes);
    SetLastLanes(static_cast<size_t>(columns - kColumns) + Shape::kLanes);
    MultiplyRowsOf(3, rows_, kMostRowsOfThreeVectors);
    return columns;
  }

  HWY_INLINE int64_t MultiplyFourVectors(int64_t columns_left) {
    constexpr auto kColumns = static_cast<int64_t>(4 * Shape::kLanes);
    SetLastLanes(static_cast<size_t>(HWY_MIN(kColumns, columns_left) - kColumns) + Shape::kLanes);
    MultiplyRowsOf(4, rows_, kWideRows);
    return kColumns;
  }

  /// In tiles one vector wide each element of A serves one multiply-add: the load of B is shared by as many as can be.
  HWY_NOINLINE void MultiplyNarrowStrip() {
    if constexpr (kHasTallTiles<T, Element>) {
      const int64_t tall = TallTilesOf(rows_);
      const int64_t rest = rows_ - tall * int64_t{kTallRows};
      if (tall > 0) Compute({tiles_.tall, 1}, kTallRows, tall);
      if (rest > 0) MultiplyRowsOf(1, rest, Shape::kRows);
    }
  }

  /// Tiles of one vector, three, or four.
  HWY_NOINLINE void MultiplyRowsOf(size_t vectors, int64_t m, size_t most) {
    MultiplyRows(m, most, [this, vectors](int64_t rows) HWY_ATTR {
      const auto& all = tiles_.Of(rows);
      return OneTile{vectors == 1 ? all.narrow : vectors == 3 ? all.three : all.wide, vectors};
    });
  }

  /// So many rows, divided evenly among tiles of no more than `most`.
  template <class Chosen>
  HWY_INLINE void MultiplyRows(int64_t m, size_t most, const Chosen& tile_of) {
    const int64_t tiles = (m + static_cast<int64_t>(most) - 1) / static_cast<int64_t>(most);
    const int64_t rows = tiles == 1 ? m : m / tiles;
    const int64_t higher = m - tiles * rows;  // tiles of one row more
    if (higher > 0) Compute(tile_of(rows + 1), rows + 1, higher, true);
    Compute(tile_of(rows), rows, tiles - higher);
  }

  /// C of the next tile: a column is repeated for it. Gives how far C moves with the tile to the right.
  HWY_INLINE int64_t PlaceC(int64_t rows, size_t columns) {
    const auto step = static_cast<int64_t>(columns);
    if (repeats_c_) {
      RepeatAlongRows(c_of_tile_, c_row_step_, columns, rows, repeated_);
      ends_.c = reinterpret_cast<const Bits*>(repeated_);
      ends_.c_row_step = step;
      return 0;
    }
    ends_.c = reinterpret_cast<const Bits*>(c_of_tile_);
    ends_.c_row_step = c_row_step_;
    return step;
  }

  /// The next tiles, one below the other; more may follow.
  HWY_INLINE void Compute(const OneTile& tile, int64_t rows, int64_t tiles, bool is_followed = false) {
    const size_t columns = tile.vectors * Shape::kLanes;
    for (; tiles > 0; --tiles) {
      PlaceC(rows, columns);
      ends_.to = reinterpret_cast<Bits*>(y_);
      if (kEndsPartsApart<Element> && ends_.last_lanes < Shape::kLanes) {
        const int64_t rows_behind = tiles > 1 ? (tiles - 1) * rows : is_followed ? rows - 1 : 0;
        const auto beyond = static_cast<int64_t>(Shape::kLanes - ends_.last_lanes);
        ends_.reach = goes_first_ ? ReachOfRows<Element>(p_.n, beyond, rows_behind, ends_) : Reach::none;
      }
      if (fetches_y_) {
        constexpr int64_t kBytes = sizeof(Element), kLine = 64;
        FetchRows(reinterpret_cast<const std::byte*>(y_ + rows * p_.y_row_step), p_.y_row_step * kBytes, rows,
                  static_cast<int64_t>(columns) * kBytes + kLine);
      }
      if constexpr (HWY_TARGET == HWY_AVX3 && !kRounds) {
        if (HWY_UNLIKELY(fetches_c_)) FetchCToTheRight(rows, static_cast<int64_t>(columns));
      }
      tile.function(operands_, ends_);
      operands_.a += rows * operands_.a_row_step;
      y_ += rows * ends_.to_row_step;
      c_of_tile_ += rows * c_row_step_;
    }
  }

  HWY_NOINLINE void FetchCToTheRight(int64_t rows, int64_t columns) const {
    constexpr int64_t kBytes = sizeof(Element), kLine = 64;
    FetchRows(reinterpret_cast<const std::byte*>(c_of_tile_ + columns), c_row_step_ * kBytes, rows,
              columns * kBytes + kLine);
  }

  const Problem& p_;
  const Tiles& tiles_;
  const Element* const b_;
  Element* const strip_of_b_;
  const bool fetches_y_, fetches_c_, ends_in_halves_;  ///< Schedule's
  const Element* c_ = nullptr;
  int64_t c_row_step_ = 0, c_column_step_ = 0;
  bool repeats_c_ = false;  ///< C has one element for each row

  int64_t rows_ = 0;
  bool goes_first_ = false;  ///< the strip, before all others
  Element* y_ = nullptr;     ///< of the next tile, as is this C
  const Element* c_of_tile_ = nullptr;
  TileOperands<Bits, Element> operands_;
  TileEnds<Bits> ends_;
  alignas(64) Element repeated_[LargestTile<T>()];
};

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
