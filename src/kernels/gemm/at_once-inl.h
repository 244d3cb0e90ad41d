// Room: kernels, per target. A product in one go: one thread, operands read where they lie, sums in registers from the
// first k to the last.
//
// Small products take little longer than a call. So nothing is packed or looked up here: there are strips of columns as
// wide as a tile, in each of them tiles of two heights at most, and one call for all tiles of a height.
#if defined(BINET_KERNELS_GEMM_AT_ONCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_AT_ONCE_INL_H_
#undef BINET_KERNELS_GEMM_AT_ONCE_INL_H_
#else
#define BINET_KERNELS_GEMM_AT_ONCE_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/gemm/block-inl.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/microkernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Three vectors wide, for columns that are an odd number of vectors; from 4 to 8 rows.
template <class T>
struct ThreeVectors {
  static constexpr size_t kFewest = 4, kMost = 8;

  static HWY_INLINE Tile<T, T> Of(int64_t rows) { return {Functions(Rows())[static_cast<size_t>(rows) - kFewest], 3}; }

 private:
  using Rows = std::make_index_sequence<kMost - kFewest + 1>;
  template <size_t... kMore>
  static HWY_INLINE const TileFunction<T, T>* Functions(std::index_sequence<kMore...>) {
    static constexpr TileFunction<T, T> kFunctions[] = {&MultiplyTile<kFewest + kMore, 3, T, T>...};
    return kFunctions;
  }
};

template <class T>
class ProductAtOnce {
 public:
  ProductAtOnce(const Problem& p, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y)
      : p_(p), a_(reinterpret_cast<const T*>(a)), y_(reinterpret_cast<T*>(y)) {
    operands_.a_row_step = p.a_row_step;
    operands_.a_column_step = p.a_column_step;
    operands_.b = reinterpret_cast<const T*>(b);
    operands_.b_panel_step = Shape::kPanel;
    operands_.b_row_step = p.b_row_step;
    operands_.k = p.k;
    ends_.to_row_step = p.n;
    const bool has_c = p.has_c && p.beta != 0.0f;
    if (has_c || p.alpha != 1.0f) SetLastStep(has_c ? reinterpret_cast<const T*>(c) : nullptr);
  }

  HWY_INLINE void Multiply() {
    for (int64_t n = 0;;) {
      operands_.a = a_;
      ends_.to = y_ + n;
      ends_.c = c_ + n * c_column_step_;
      c_of_row_ = c_column_;
      const int64_t columns = MultiplyStrip(p_.n - n);
      n += columns;
      if (n >= p_.n) return;
      operands_.b += columns;
    }
  }

 private:
  using Shape = TileShape<T>;
  static constexpr bool kHasTallTiles = hwy::IsFloat<T>() && Shape::kHas32Registers;

  /// Without C a zero is added that changes nothing, the negative one.
  HWY_NOINLINE void SetLastStep(const T* c) {
    ends_.last = Last::scaled_plus_c;
    if constexpr (hwy::IsFloat<T>()) {
      ends_.alpha = static_cast<T>(p_.alpha);
      ends_.beta = c == nullptr ? T{1} : static_cast<T>(p_.beta);
    }
    if (p_.alpha == 1.0f && ends_.beta == T{1}) ends_.last = Last::plus_c;
    if (c != nullptr && p_.c_column_step != 0) {
      c_ = c;
      c_column_step_ = 1;
      ends_.c_row_step = p_.c_row_step;
    } else if (c != nullptr && p_.c_row_step != 0) {
      c_column_ = c;
    } else {
      const T repeated = c == nullptr ? static_cast<T>(-0.0) : LoadOne(c);
      RepeatAlongRows(&repeated, 0, Shape::WideVectors(1) * Shape::kLanes, 1, repeated_);
      c_ = repeated_;
    }
  }

  /// As many of the columns that are left as a tile has; gives their number.
  HWY_INLINE int64_t MultiplyStrip(int64_t columns_left) {
    if (kHasTallTiles && columns_left <= int64_t{Shape::kLanes} && p_.m > int64_t{Shape::kRows}) {
      ends_.last_lanes = static_cast<size_t>(columns_left);
      MultiplyNarrowStrip();
      return Shape::kLanes;
    }
    const bool is_low = p_.m <= int64_t{Shape::kRows};
    if constexpr (kHasTallTiles) {
      using Three = ThreeVectors<T>;
      const size_t vectors = (static_cast<size_t>(columns_left) + Shape::kLanes - 1) / Shape::kLanes;
      if (vectors == 3 && p_.m >= int64_t{Three::kFewest}) {
        ends_.last_lanes = static_cast<size_t>(columns_left) - 2 * Shape::kLanes;
        MultiplyRows(p_.m, Three::kMost, [](int64_t rows) HWY_ATTR { return Three::Of(rows); });
        return columns_left;
      }
    }
    const auto tile = ChooseTile(TilesFor<T, T>(is_low ? p_.m : int64_t{Shape::kRows}), columns_left, is_low);
    const auto columns = static_cast<int64_t>(tile.vectors * Shape::kLanes);
    ends_.last_lanes = static_cast<size_t>(HWY_MIN(columns, columns_left) - columns) + Shape::kLanes;
    if (is_low) {
      Compute(tile, p_.m, 1);
    } else {
      MultiplyRows(p_.m, Shape::kRows, [&tile](int64_t rows) HWY_ATTR {
        const TilesOfRows<T, T>& all = TilesFor<T, T>(rows);
        return Tile<T, T>{tile.vectors == 1 ? all.narrow : all.panel, tile.vectors};
      });
    }
    return columns;
  }

  /// In tiles one vector wide each element of A serves one multiply-add: the load of B is shared by as many as can be.
  HWY_INLINE void MultiplyNarrowStrip() {
    if constexpr (kHasTallTiles) {
      constexpr size_t kTall = Shape::kRows * Shape::kPanelVectors, kHalf = 16;
      const auto tall = static_cast<int64_t>(static_cast<uint64_t>(p_.m) / kTall);
      const int64_t rest = p_.m - tall * int64_t{kTall};
      Compute({&MultiplyTile<kTall, 1, T, T>, 1}, kTall, tall);
      if (rest == int64_t{kHalf}) {
        Compute({&MultiplyTile<kHalf, 1, T, T>, 1}, kHalf, 1);
      } else if (rest > 0) {
        MultiplyRows(rest, Shape::kRows, [](int64_t rows) HWY_ATTR {
          return Tile<T, T>{TilesFor<T, T>(rows).narrow, 1};
        });
      }
    }
  }

  /// So many rows, divided evenly among tiles of no more than `most`.
  template <class TileOf>
  HWY_INLINE void MultiplyRows(int64_t m, size_t most, const TileOf& tile_of) {
    const int64_t tiles = (m + static_cast<int64_t>(most) - 1) / static_cast<int64_t>(most);
    const int64_t rows = tiles == 1 ? m : m / tiles;
    const int64_t higher = m - tiles * rows;  // tiles of one row more
    if (higher > 0) Compute(tile_of(rows + 1), rows + 1, higher);
    Compute(tile_of(rows), rows, tiles - higher);
  }

  /// The next tiles, one below the other.
  HWY_INLINE void Compute(const Tile<T, T>& tile, int64_t rows, int64_t tiles) {
    const size_t columns = tile.vectors * Shape::kLanes;
    for (; tiles > 0; --tiles) {
      if (c_column_ != nullptr) {
        RepeatAlongRows(c_of_row_, p_.c_row_step, columns, rows, repeated_);
        c_of_row_ += rows * p_.c_row_step;
        ends_.c = repeated_;
        ends_.c_row_step = static_cast<int64_t>(columns);
      }
      tile.function(operands_, ends_);
      operands_.a += rows * p_.a_row_step;
      ends_.to += rows * p_.n;
      ends_.c += rows * ends_.c_row_step;
    }
  }

  const Problem& p_;
  const T* const a_;
  T* const y_;
  const T* c_ = nullptr;
  int64_t c_column_step_ = 0;
  const T* c_column_ = nullptr;  ///< one element for each row, and that of the next row
  const T* c_of_row_ = nullptr;
  TileOperands<T, T> operands_;
  TileEnds<T> ends_;
  alignas(64) T repeated_[LargestTile<T>()];
};

template <class T>
void MultiplyAtOnce(const Problem& p, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y) {
  ProductAtOnce<T>(p, a, b, c, y).Multiply();
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
