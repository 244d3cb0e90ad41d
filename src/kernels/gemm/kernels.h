// Room: kernels. What the plain code of the matrix product knows about the code compiled per instruction set.
//
// The product is cut as BLIS does it: blocks of K, blocks of rows whose packed A stays in L2, panels of nr columns of
// packed B that all these rows meet, and tiles of mr x nr whose sums stay in registers. plan.cc says when packing pays.
//
//   mr x nr  fills the vector registers: 24 sums of 32 (AVX-512, NEON), 12 of 16 elsewhere; two vectors wide, because
//            then two loads of B and mr broadcasts of A serve 2 * mr multiply-adds.
//   kc       512, where B is read in place or packed strip by strip, and twice as much where its panels are ready: sums
//            are loaded and stored once in so many multiply-adds. B read in place from beyond L2 has less
//            (b_in_place.cc). 512 rows of a panel of B are 64 KiB with AVX-512 and are read from L2 by each tile, 2
//            vectors in the time of 2 * mr multiply-adds, far below what L2 gives; with AVX2 they are 32 KiB and stay
//            in L1.
//
// Sizes and steps count elements. An "accumulator" is the type in which sums are kept: f32 for f16, bf16 and f32, f64
// for f64, the unsigned type of the same width for integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/aligned_buffer.h"
#include "base/target.h"
#include "binet/element_type.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"

namespace binet::kernels::gemm {

/// Element (row, n) is at row * row_step + n * column_step.
struct Output {
  std::byte* y = nullptr;
  std::int64_t y_row_step = 0, y_column_step = 1;
  const std::byte* c = nullptr;
  std::int64_t c_row_step = 0, c_column_step = 0;
};

/// Packing: element (lane, k) of an operand, lanes being rows of A or columns of B, goes to
/// to[(lane / width) * panel_step + k * width + lane % width] as an accumulator. The last panel is filled up. Kernels
/// with a k_group put rows of their own form in the place of so many rows.
struct Packing {
  const std::byte* from = nullptr;
  std::int64_t lane_step = 0, k_step = 0;  ///< one of them is 1
  std::int64_t lanes = 0, k = 0;
  std::byte* to = nullptr;
  std::int64_t panel_step = 0;
  std::int64_t panel_lanes = 0;  ///< lanes put into each panel, at most its width
};

/// Rows 0..m, columns 0..n and one range of k. A packed operand consists of accumulators in the layout above (but see
/// b_is_kept), another one of elements.
struct Block {
  std::int64_t m = 0, n = 0, k = 0;

  const std::byte* a = nullptr;
  bool a_is_packed = false;
  std::int64_t a_panel_rows = 0;  ///< rows of a tile: at most mr
  std::int64_t a_panel_step = 0;
  std::int64_t a_row_step = 0, a_column_step = 0;

  const std::byte* b = nullptr;
  bool b_is_packed = false;
  bool b_is_kept = false;  ///< packed, and numbers have kept_bytes
  std::int64_t b_panel_step = 0, b_row_step = 0;
  std::int64_t b_column_step = 1;       ///< of B that is not packed
  const std::byte* narrow_b = nullptr;  ///< for multiply_row_of_panels(): null, or a last panel as wide as a vector

  bool goes_by_rows = false;          ///< in any case; else what multiply() takes for better
  bool ends_in_halves = false;        ///< Schedule::ends_in_halves
  std::int64_t near_b = 0;            ///< near_b.h
  bool leaves_b_to_hardware = false;  ///< near_b.h
  bool turns_two_groups = false;      ///< turned_b.h
  bool staggers_groups = false;       ///< turned_b.h
  FarOperand fetched = FarOperand::none;
  std::int64_t ahead_bytes = 0;  ///< far_operands.h
  std::int64_t rows_of_b = 0;    ///< few_rows.h

  /// Sums of the ranges of k before (`first`: none) and, unless `last`, of this one too: those of the block begin here.
  /// They may lie in Y where elements are accumulators.
  std::byte* sums = nullptr;
  std::int64_t sums_row_step = 0;
  bool first = true, last = true;

  std::int64_t row = 0, column = 0;  ///< where the block begins in Y
  const Output* output = nullptr;
  const Scale* scale = nullptr;
};

/// Rows of a block whose B is turned.
inline constexpr std::int64_t kMostTurnedRows = 16;

struct TiledKernels;  // tiled/kernels.h

/// m x n sums become the elements of Y from (row, column) on.
using FinishFunction = void (*)(const std::byte* sums, std::int64_t sums_row_step, std::int64_t m, std::int64_t n,
                                const Output& output, std::int64_t row, std::int64_t column, const Scale& scale);

/// The functions of one element type and target.
struct Kernels {
  ElementType type = ElementType::f32;
  bool is_fused = false;  ///< a product and its addition are rounded once
  std::int64_t element_bytes = 0, accumulator_bytes = 0;
  /// Numbers become wider ones before they are multiplied, as 16-bit floats do.
  [[nodiscard]] bool widens() const noexcept { return element_bytes < accumulator_bytes; }
  std::int64_t lanes = 0;  ///< accumulators in a vector
  /// Vectors are as long as a line of the cache.
  [[nodiscard]] bool has_long_vectors() const noexcept { return lanes * accumulator_bytes == kLineBytes; }
  std::int64_t mr = 0, nr = 0, kc = 0;
  bool takes_any_columns = false;
  bool has_short_vectors = false;  ///< of half a cache line
  std::int64_t wide_rows = 0;      ///< 0, or of a tile of four vectors that is better than mr x nr while B is near
  std::int64_t a_width = 0;        ///< the width of a packed panel of A: mr, rounded up to whole 16 bytes
  std::string_view way;            ///< integers: how a product is formed and added

  /// Packing makes so many rows of A, and of B, from each k_group values of k, the last of which may be missing. A
  /// range of k that is not the last consists of whole groups.
  std::int64_t k_group = 1, group_rows_of_a = 1, group_rows_of_b = 1;
  /// Null: an operand may be read where it lies. Else multiply() takes packed ones alone, and these serve the others.
  const Kernels* in_place = nullptr;
  const TiledKernels* tiled = nullptr;  ///< null, or for products of operands in tiles

  bool packs_b = false;  ///< multiply() takes a packed B, of accumulators, alone

  std::int64_t kept_bytes = 0;  ///< of a number in B packed once and kept

  void (*pack_a)(const Packing&) = nullptr;
  void (*pack_b)(const Packing&) = nullptr;
  void (*pack_kept_b)(const Packing&) = nullptr;  ///< to numbers of kept_bytes
  /// Panels as wide as one vector.
  void (*pack_narrow_b)(const Packing&) = nullptr;
  void (*pack_kept_narrow_b)(const Packing&) = nullptr;
  /// For more rows B is widened before tiles read it, rather than by each of them. (Zen 5: b_source.cc.)
  std::int64_t most_rows_to_widen_in_tiles = 0;
  /// Kept numbers to accumulators; null where they are the same.
  void (*widen)(const std::byte* from, std::int64_t count, std::byte* to) = nullptr;
  /// B that is not packed must have neighbouring columns side by side and, unless `takes_any_columns`, n a multiple of
  /// `lanes`. A that is not packed must consist of accumulators.
  void (*multiply)(const Block&) = nullptr;
  /// Null, or pack_b() and multiply() in one, where B's columns lie side by side.
  void (*pack_and_multiply)(const Block&, const Packing&) = nullptr;
  /// For so many columns of B it is worth while to pack an A that `widen_lines` could serve.
  std::int64_t least_columns_to_transpose_for = 0;
  /// Elements in `lines`, so many accumulators apart; null where they are the same.
  void (*widen_lines)(const std::byte* from, std::int64_t from_step, std::int64_t lines, std::int64_t count,
                      std::byte* to, std::int64_t to_step) = nullptr;
  /// multiply_at_once() turns both operands into accumulators, so that any columns will do; else schedules say whether.
  bool widens_all_at_once = false;
  /// Null, or a small product in one go: one thread, B read where it lies, no C whose column step is above 1, integers
  /// without factors; n is limited as for multiply(). A is read where it lies or widened, so many rows
  /// at a time as the schedule says.
  void (*multiply_at_once)(const Problem&, const Schedule&, const std::byte* a, const std::byte* b, const std::byte* c,
                           std::byte* y, std::byte* workspace) = nullptr;
  std::int64_t most_columns_of_row = 0;  ///< whose sums multiply_at_once() can keep in registers: one_row.h
  /// As multiply(), for one row of Y and panels of a packed B side by side: wide ones; or the last ones,
  /// most_last_panels wide ones or less, and a narrow one. Null: there is no such kernel.
  void (*multiply_row_of_panels)(const Block&) = nullptr;
  std::int64_t most_last_panels = 0;
  std::int64_t most_short_k = 0;            ///< for which multiply_at_once() can keep B in registers: short_k.h
  std::int64_t most_short_k_of_vector = 0;  ///< the same of a single vector of columns
  /// The same for most_few_rows of Y, or less, where B is not packed: reads it once, in the order of memory. Null:
  /// there is no such kernel.
  void (*multiply_few_rows)(const Block&) = nullptr;
  std::int64_t most_few_rows = 0;
  /// The same for few rows of Y, where B is not packed and transposed: neighbouring k lie side by side, columns
  /// b_column_step apart. Null: there is no such kernel.
  void (*multiply_turned)(const Block&) = nullptr;  // up to kMostTurnedRows
  /// Null, or a transposed B to rows of whole vectors, panel_step apart (turned_rows-inl.h).
  void (*turn_rows)(const Packing&) = nullptr;
  /// Sums of dot products: row m of A and column n of B, whose k lie side by side, from sums on; steps are a_row_step,
  /// b_panel_step and sums_row_step.
  void (*dots)(const Block&) = nullptr;
  /// Null, or what writes `columns` neighbouring columns of B for that, column_step elements apart. They are a line of
  /// the cache long at least.
  void (*write_columns)(const std::byte* b, std::int64_t row_step, std::int64_t columns, std::int64_t k, std::byte* to,
                        std::int64_t column_step) = nullptr;
  /// Null, or the same of pairs of k (pairs-inl.h), with B as write_pairs() has written it, kColumnsOfPairs sums a row.
  void (*pairs)(const Block&) = nullptr;
  void (*write_pairs)(const std::byte* b, std::int64_t row_step, std::int64_t column_step, std::int64_t n,
                      std::int64_t k, std::byte* pairs) = nullptr;
  /// The last step alone, as multiply() does it with each tile: m x n sums become Y. The last vector of a row of sums
  /// may be read beyond it.
  FinishFunction finish = nullptr;
};

/// The kernels that serve a type of Gemm on a target; null for other types.
[[nodiscard]] const Kernels* find_kernels(ElementType type, const Target& target);

/// f32 or f64 in vectors of half a line.
[[nodiscard]] inline bool has_short_floats(const Kernels& kernels) noexcept {
  return kernels.has_short_vectors && is_float(kernels.type) && kernels.element_bytes == kernels.accumulator_bytes;
}

/// Of Schedule::repeats_c.
[[nodiscard]] inline std::size_t bytes_of_repeated_c(const Problem& p, const Kernels& kernels) noexcept {
  return round_up_to_cache_line(static_cast<std::size_t>(p.n * kernels.element_bytes));
}

/// Rows of a panel in which `k` values of k are packed.
[[nodiscard]] inline std::int64_t packed_rows_of_a(const Kernels& kernels, std::int64_t k) noexcept {
  return (k + kernels.k_group - 1) / kernels.k_group * kernels.group_rows_of_a;
}
[[nodiscard]] inline std::int64_t packed_rows_of_b(const Kernels& kernels, std::int64_t k) noexcept {
  return (k + kernels.k_group - 1) / kernels.k_group * kernels.group_rows_of_b;
}

/// What `binet kernels` prints: "12x32 f32 fma", the tile, the type of the sums, and how they are formed.
[[nodiscard]] std::string describe(const Kernels& kernels);

/// The same product with the roles of rows and columns, and of A and B, exchanged.
[[nodiscard]] Problem swapped(const Problem& problem) noexcept;

}  // namespace binet::kernels::gemm
