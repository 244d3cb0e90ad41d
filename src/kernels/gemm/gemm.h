// Room: kernels. The matrix-product family: Y = alpha * op(A) * op(B) + beta * C.
//
// In: one Problem (type, sizes, strides, scale factors), a Target and a number of threads make a Plan; with it,
// pointers to the elements, at any alignment. Out: Y, M rows of N contiguous elements.
//
// Numerics (docs/numerics.md):
//  - f32 and f64 compute in the type; f16 and bf16 accumulate in f32 and round once when Y is stored.
//  - An element of Y is one chain of fused multiply-adds over k = 0, 1, ... in order (on targets without the fused
//    instruction: multiply, then add), however M, N and K are blocked. Few columns, and the last one of some
//    widths, have several chains, cut by a rule of K, N and the layout of A (segments.h, dots.h, parts.h), and bf16 on
//    matrix registers has two for each 32 k, by a rule of K and N (tiled/amx_bf16-inl.h). So the bits depend on neither
//    M, the row, nor the threads.
//  - Then y = alpha * sum + beta * c in the accumulator type. beta == 0: C is not read. K == 0: the sum is 0.
//  - Integers: everything modulo 2^n where alpha and beta are whole numbers; else the wrapped sum, times alpha, plus
//    beta * c, in f64, cut towards zero.
//
// Promised: no allocation, no error. Y overlaps none of the operands, workspace or packed B.
//
// Not here: transposes, legacy broadcast, optional C: they have become strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/target.h"
#include "binet/element_type.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

/// Steps count elements. Element (i, k) of op(A) is at i * a_row_step + k * a_column_step; for B it is (k, n), for C
/// (m, n). One of the two steps of A, and of B, is 1; a step of C is 0 where C is repeated.
struct Problem {
  ElementType type = ElementType::f32;  ///< f32 f64 f16 bf16 i32 u32 i64 u64
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t a_row_step = 0, a_column_step = 1;
  std::int64_t b_row_step = 0, b_column_step = 1;
  bool b_has_whole_vectors = false;  ///< rows of B are filled up to whole vectors of numbers that may be read
  bool has_c = false;
  std::int64_t c_row_step = 0, c_column_step = 1;
  std::int64_t y_row_step = 0;  ///< n, or more where these are some columns of a wider Y
  float alpha = 1.0f, beta = 1.0f;
};

struct Kernels;  // the functions of one type and target: kernels.h

/// Where run() takes the operand B from.
enum class BSource : std::uint8_t {
  given,    ///< pack_b() has packed all of it before
  widened,  ///< so it has, and run() first turns all of it into accumulators, in the workspace
  whole,    ///< run() packs all of it into the workspace first
  strips,   ///< each item packs strips of columns and uses them at once
  direct,   ///< not packed, but for the last columns if they are no whole vector
};

/// What of an operand from afar is fetched ahead, as hardware would bring it too late (far_operands.h).
enum class FarOperand : std::uint8_t {
  none,
  lines_of_turned_b,  ///< one of each row of a B that is turned
  next_rows_of_b,     ///< by more rows of Y than are computed at a time, what all of them read next
  rows_of_b,          ///< by tiles, what they read themselves
  runs_of_b,          ///< by tiles of few rows, several panels of a packed one at a time
  rows_of_a           ///< short ones that touch, for dot products, and with rows of Y for tiles as wide as those
};

/// How a product is cut. Items are blocks of Y that workers, each with a slot of the workspace, take one after another.
struct Schedule {
  bool is_swapped = false;    ///< few columns: Y^T = op(B)^T * op(A)^T is computed, and stored transposed
  bool a_is_direct = false;   ///< A is read where it lies
  bool a_is_widened = false;  ///< its rows are turned into accumulators, as they lie
  bool widens_b = false;      ///< B is turned into accumulators: packed and kept, strip by strip; at once, all of it
  bool tiles_pack_b = false;  ///< strips of it, while they read it for the first time
  bool has_few_rows = false;  ///< B, read where it lies, is read once and in the order of memory
  bool turns_b = false;       ///< B, read where it lies, is transposed: its squares are turned in registers
  bool turns_two_groups = false;  ///< of columns: turned_b.h
  bool staggers_groups = false;   ///< turned_b.h
  FarOperand fetched = FarOperand::none;
  bool b_is_far = false;      ///< B, read where it lies, comes from beyond L2: a few of its rows meet all columns
  bool goes_by_rows = false;  ///< a tile of rows meets all panels of B before the next one, else a panel all rows
  bool repeats_c = false;     ///< a C of one element, in the end of the workspace: tiles add a row as it lies
  bool sums_in_slot = false;  ///< sums wait for the next range of k in the workspace, else in Y
  BSource b_source = BSource::strips;
  std::int64_t workers = 1;
  bool is_short = false;  ///< not worth waking workers that sleep
  std::int64_t items = 0, row_items = 0, item_rows = 0;
  std::int64_t item_columns = 0;             ///< rows at once: 0 for all
  std::int64_t segments = 1, segment_k = 0;  ///< of k: segments.h
  std::int64_t sums_row_step = 0;
  std::int64_t block_rows = 0;    ///< not 0: so many rows of an item at once, one such block after the other
  std::int64_t a_line_step = 0;   ///< of widened A
  std::int64_t b_line_step = 0;   ///< and of widened B
  std::int64_t widened_rows = 0;  ///< of an item that is computed at once, so many at a time
  std::int64_t tile_rows = 0, strip_columns = 0, kc = 0;
  bool ends_in_halves = false;           ///< half a vector of last columns is computed apart: it takes half of the time
  bool keeps_b_in_registers = false;     ///< at once: short_k.h
  bool ends_by_masks = false;            ///< there, rows of several vectors of columns
  bool sums_keep_longer_b = false;       ///< at once, of widened operands: short_k.h
  bool keeps_sums_in_registers = false;  ///< at once: one_row.h
  bool packs_b_off_lines = false;        ///< at once: strips of a B that turns out to begin no line
  bool ends_apart = false;               ///< at once: factors are applied to sums that lie in Y
  bool fetches_y = false;                ///< at once: lines that a tile will write, or those of rows with a short K
  bool fetches_c = false;         ///< at once: what the tile to the right, or the next rows with a short K, will add
  bool reads_a_first = false;     ///< some rows of it, before they are multiplied: far_operands.h
  bool reads_rows_first = false;  ///< in blocks: those of Y, and of a full C, from one end to the other: far_y.h
  bool streams_rows = false;      ///< in blocks, which are computed in the workspace: far_y.h
  std::int64_t near_b = 0;        ///< near_b.h
  bool leaves_b_to_hardware = false;  ///< near_b.h
  std::int64_t rows_of_b = 0;         ///< of few rows: side by side, few_rows.h
  std::int64_t near_columns = 0;      ///< of a strip, which meet all rows while they are near: tiled/tiled_plan.cc
  std::int64_t panel_tiles = 0;       ///< of A, which are multiplied at a time
  /// So far ahead of its use B is fetched, packed or a single panel as it lies: far_operands.h, tiled/tiled_plan.cc.
  std::int64_t ahead_bytes = 0;
  std::int64_t b_lane_step = 0;     ///< not 0: of a transposed B, which is turned before it is used: turned_rows.h
  std::int64_t b_given_step = 0;    ///< not 0: of rows of a B that is copied before it is used: spread_rows.h
  bool copies_b_off_lines = false;  ///< only if it turns out to begin no line
  std::size_t whole_b_bytes = 0, segment_sums_bytes = 0, slot_a_bytes = 0, slot_b_bytes = 0, slot_sums_bytes = 0;
  std::size_t slot_least_bytes = 0;  ///< smallest magnitudes of panels: tiled/kernels.h
};

/// How run() computes Y.
enum class Way : std::uint8_t {
  nothing,       ///< Y has no elements
  without_k,     ///< there are no products to add up
  dots,          ///< few columns: dots.h
  parts,         ///< the last columns are computed apart: parts.h
  tiled,         ///< operands packed into tiles, for matrix registers or pair-dots: tiled/tiled.h
  at_once,       ///< small: one call, nothing is packed or cut
  rows_at_once,  ///< the same for some rows at a time, or with a B that is turned, or copied, first
  items,         ///< everything else, item by item
};

[[nodiscard]] constexpr bool is_at_once(Way way) noexcept { return way == Way::at_once || way == Way::rows_at_once; }

/// Everything that is decided before the first element is read.
struct Plan {
  Problem problem;
  Way way = Way::items;
  const Kernels* kernels = nullptr;
  bool b_is_packed = false;
  std::size_t workspace_bytes = 0;  ///< to be given to run(), aligned to a cache line; not kept between runs
  Schedule schedule;
  /// All columns but the last ones, and the last ones, of so many rows; then of the rows that are left.
  std::vector<Plan> parts;
  std::size_t last_columns_of_b = 0;  ///< where they are in a packed B
};

/// `b_is_packed`: run() will be given what pack_b() wrote, instead of B.
[[nodiscard]] Plan make_plan(const Problem& problem, const Target& target, int threads, bool b_is_packed);

/// Whether a B that never changes is better packed, once, for as many rows; else run() is as fast, or faster, with B as
/// it lies.
[[nodiscard]] bool repays_packing(const Problem& problem, const Target& target);

/// Bytes of the packed form of B, which depends on all of a problem but its M, so one packed B serves every M.
[[nodiscard]] std::size_t packed_b_bytes(const Problem& problem, const Target& target);

/// Writes the packed form of B (element (k, n) at k * b_row_step + n * b_column_step), aligned to a cache line.
void pack_b(const Problem& problem, const Target& target, const std::byte* b, std::byte* packed,
            const ThreadPool& pool);

/// Computes Y. `b` is B or its packed form, as the plan says; `c` may be null where the problem has no C.
void run(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
         std::byte* workspace, const ThreadPool& pool);

}  // namespace binet::kernels::gemm
