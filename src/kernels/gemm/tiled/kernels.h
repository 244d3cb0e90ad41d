// Room: kernels. What the plain code knows about products whose operands are packed into tiles of words: on the matrix
// registers of Intel's CPUs (AMX), and of bfloat16 by the pair-dots of AMD's (bf16_pairs-inl.h).
//
// A matrix register is a tile of 16 rows of 64 bytes. One instruction adds to 16 x 16 sums of 32 bits the products of a
// tile of A, a row of Y in each of its rows and a group of k in its 64 bytes, and of a tile of B, in whose rows each
// 32 bits hold neighbouring k of a column. Both operands are packed into such tiles. What does not fit 8 or 16 bits
// takes several tiles for the same lanes and group, the planes. For pair-dots a row of a tile of B is a vector, and
// words of A's tiles are read one by one.
//
// Sizes count elements, and steps with "bytes" in their name count bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "binet/element_type.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"

namespace binet::kernels::gemm {

inline constexpr std::int64_t kTileLanes = 16;
inline constexpr std::int64_t kTileRowBytes = 64;
inline constexpr std::int64_t kTileBytes = kTileLanes * kTileRowBytes;

/// On vectors tiles of A have so many lines, the most if Y is no wider than a vector.
inline constexpr std::int64_t kHeightsOfVectorTiles[] = {16, 12, 10, 8, 4, 2, 1};
inline constexpr std::int64_t kHighestWideVectorTile = 12;
/// The lowest of them that has so many.
[[nodiscard]] constexpr std::int64_t height_of_vector_tile(std::int64_t lines) noexcept {
  std::int64_t lowest = kHeightsOfVectorTiles[0];
  for (const std::int64_t height : kHeightsOfVectorTiles) {
    if (height >= lines) lowest = height;
  }
  return lowest;
}
/// There, so few rows meet two panels of B at once, as they would have too few sums to hide the latency, and too few
/// streams to get the most out of memory.
inline constexpr std::int64_t kMostRowsOfTwoPanels = 4;

/// There, up to so many rows have B as it lies multiplied (pairs_in_place-inl.h).
inline constexpr std::int64_t kMostRowsOfPairsInPlace = 12;

/// Greater than the bits of any.
inline constexpr std::uint32_t kNoMagnitude = ~std::uint32_t{0};

/// Element (lane, k) is at lane * lane_step + k * k_step; one of the steps is 1. Tiles of `tile_lanes` lanes; a panel
/// has `tiles` of them side by side, for each group of k and plane. What is beyond the last lane or k becomes zero.
struct TilePacking {
  const std::byte* from = nullptr;
  std::int64_t lane_step = 0, k_step = 0;
  std::int64_t lanes = 0, k = 0;
  std::byte* to = nullptr;
  std::int64_t panel_bytes = 0;
  std::int64_t tile_lanes = kTileLanes, tiles = 1;
  bool swaps_pairs = false;  ///< of k, in each word of two
};

/// A panel of A, neighbouring panels of B that stay near, one range of k.
struct TileBlock {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t groups = 0;  ///< of k
  std::int64_t tile_rows = 0;
  const std::byte* a = nullptr;
  std::int64_t a_row_bytes = 0, a_tile_bytes = 0, a_group_bytes = 0;  ///< from a row, tile, group to the next
  const std::byte* b = nullptr;
  std::int64_t b_panel_bytes = 0;
  std::uint32_t* least_a = nullptr;        ///< smallest magnitude, of the ranges before, too
  bool scans_a = false;                    ///< least_a is to be found out, of rows in whole groups and tiles
  bool a_passes = false;                   ///< rows of other panels are used before these are again
  const std::uint32_t* least_b = nullptr;  ///< of each panel
  std::int64_t ahead_bytes = 0;            ///< 0, or: what lies so far behind is fetched to be used soon
  const std::byte* next = nullptr;         ///< what is used later is fetched into the second-level cache:
  std::int64_t next_bytes = 0;             ///< so much of it for each group of the first panel

  /// Sums of the ranges before (`first`: none), in whole tiles: they wait here for the next range.
  std::byte* waiting = nullptr;
  std::int64_t waiting_row_step = 0;
  bool first = true, last = true;

  /// The last range: sums become Y or, if `output` is null, are copied: m rows of whole vectors.
  std::byte* sums = nullptr;
  std::int64_t sums_row_step = 0;
  std::int64_t row = 0, column = 0;  ///< where the block begins in Y
  const Output* output = nullptr;
  const Scale* scale = nullptr;
};

/// All rows, few columns or many, one segment of k; operands as they lie, with neighbouring columns of B side by side.
struct UnpackedBlock {
  std::int64_t m = 0, n = 0, k = 0;
  const std::byte* a = nullptr;
  std::int64_t a_row_step = 0, a_column_step = 0;
  const std::byte* b = nullptr;
  std::int64_t b_row_step = 0;
  std::byte* sums = nullptr;  ///< if `output` is null
  std::int64_t sums_row_step = 0;
  std::int64_t column = 0;
  const Output* output = nullptr;
  const Scale* scale = nullptr;
};

/// From which A on it repays to pack a B that nobody packed: so many rows, or fewer if K is long, and no more than a
/// quarter of the groups that it fills is empty. (Numbers of 32 bits: each table has two of these.)
struct LeastA {
  std::int32_t rows = 0;
  std::int32_t long_k = std::numeric_limits<std::int32_t>::max();
  std::int32_t rows_of_long_k = 0, elements_of_long_k = 0;

  [[nodiscard]] bool is_met(std::int64_t m, std::int64_t k, std::int64_t k_group) const noexcept {
    if (m >= rows) return true;
    return k >= long_k && m >= rows_of_long_k && m * k >= elements_of_long_k && round_up(k, k_group) * 3 <= k * 4;
  }
};

/// The functions of one element type.
struct TiledKernels {
  std::string_view way;  ///< how a product is formed and added
  std::int64_t k_group = 0, planes = 0;
  std::int64_t panel_tiles = 0;  ///< of A and of B: what is multiplied at a time
  bool are_vectors = false;      ///< no matrix registers; products are added in the order of k
  std::int64_t a_bytes = 0;      ///< A of an item, with all of its k, stays in the second-level cache
  /// Of B stay in the first-level cache for a range of k while panels of A pass by. Vectors: see tiled_plan.cc.
  std::int64_t near_bytes = 0;
  std::int64_t least_n = 0, least_k = 0;
  std::int64_t least_n_of_transposed_a = 0;     ///< the least N beside a transposed A
  std::int64_t least_kept_b = 0;                ///< elements of a B that is packed once and kept
  LeastA least_a_to_pack_b, least_a_to_turn_b;  ///< of B row by row, and transposed
  std::int64_t least_products = 0;              ///< of all that repay it to pack a B
  std::int64_t f32_rate = 0;                    ///< products in the time of an f32 multiply-add of the same core

  /// For so many rows, and at least so many columns: without the matrix registers, or with B as it lies.
  std::int64_t least_rows_unpacked = 0, most_rows_unpacked = 0, least_columns_unpacked = 0;
  std::int64_t least_products_unpacked = 0;
  void (*multiply_unpacked)(const UnpackedBlock&) = nullptr;

  /// Both return the smallest magnitude packed, if multiply() wants to know.
  std::uint32_t (*pack_a)(const TilePacking&) = nullptr;
  std::uint32_t (*pack_b)(const TilePacking&) = nullptr;
  bool reads_a_in_place = false;  ///< in whole groups and tiles
  /// Between begin() and end(), if there are such, of the calling thread, for tiles of so many rows.
  void (*multiply)(const TileBlock&) = nullptr;
  void (*begin)(std::int64_t tile_rows) = nullptr;
  void (*end)() = nullptr;
};

/// Packed bytes of a row of A, or a column of B.
[[nodiscard]] inline std::int64_t bytes_per_lane(const TiledKernels& tiled, std::int64_t k) noexcept {
  return ceil_div(k, tiled.k_group) * tiled.planes * kTileRowBytes;
}

/// Columns of a panel of B, and most rows of a panel of A.
[[nodiscard]] inline std::int64_t panel_lanes(const TiledKernels& tiled) noexcept {
  return tiled.panel_tiles * kTileLanes;
}

/// Null where the type has none. To be called for targets with AMX, and for bf16 on those with fast pair-dots.
[[nodiscard]] const TiledKernels* find_tiled_kernels(ElementType type, const Target& target);

}  // namespace binet::kernels::gemm
