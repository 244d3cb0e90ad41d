#include "kernels/elementwise/tiles.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace binet::kernels::elementwise {
namespace {

/// Two tiles, a block of y and what the caller needs stay in 32 KiB; and a tile has so many stores that the first of
/// them have reached the cache when the kernel reads the tile back.
constexpr std::int64_t kTileBytes = 4096;
/// Rows are laid out 16 bytes at a time, the last time beyond their end: the next row overwrites that.
constexpr std::int64_t kChunk = 16;
constexpr std::int64_t kLineBytes = 64;
/// From here on a row has vectors enough for the kernel. Repeating a row is worth it for longer ones than spreading
/// scalars, as the tile with the repeated row is laid out but once.
constexpr std::int64_t kLongRowBytes = 128;
constexpr std::int64_t kLongSpreadBytes = 64;

/// A vector, because compilers move an array of 16 bytes in two halves.
using Chunk = std::uint64_t __attribute__((vector_size(16)));
static_assert(sizeof(Chunk) == kChunk);

/// A chunk full of the element.
template <class T>
Chunk splat(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  // 1 in each element's place: ...010101 for bytes.
  constexpr std::uint64_t kOnes = ~std::uint64_t{0} / std::numeric_limits<T>::max();
  const std::uint64_t copies = value * kOnes;
  return Chunk{copies, copies};
}

/// How an operand is laid out: in bytes, the step from row to row in the operand and in the tile.
struct Layout {
  std::int64_t row_step;
  std::int64_t row_bytes;
};

// The number of chunks in a row is a template parameter of what follows, so that no loop stands around a store or two.

/// Each element of the operand becomes a row.
template <class T, std::int64_t kChunks>
void spread(const Layout& x, const std::byte* from, std::int64_t rows, std::byte* to) {
  const std::int64_t from_step = x.row_step;
  const std::int64_t to_step = x.row_bytes;
  for (std::int64_t r = 0; r < rows; ++r) {
    const Chunk chunk = splat<T>(from);
    for (std::int64_t i = 0; i < kChunks; ++i) std::memcpy(to + i * kChunk, &chunk, kChunk);
    from += from_step;
    to += to_step;
  }
}

/// One row of the operand, kParts parts, becomes every row. The last part ends where the row ends and may overlap the
/// one before it, so nothing beyond the operand is read.
template <class Part, std::int64_t kParts>
void repeat(const Layout& x, const std::byte* from, std::int64_t rows, std::byte* to) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(Part));
  const std::int64_t to_step = x.row_bytes;
  const std::int64_t last = to_step - kSize;
  std::array<Part, kParts> parts;
  for (std::int64_t i = 0; i + 1 < kParts; ++i) std::memcpy(&parts[i], from + i * kSize, kSize);
  std::memcpy(&parts[kParts - 1], from + last, kSize);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i + 1 < kParts; ++i) std::memcpy(to + i * kSize, &parts[i], kSize);
    std::memcpy(to + last, &parts[kParts - 1], kSize);
    to += to_step;
  }
}

/// The rows lie one after the other already.
void copy(const Layout& x, const std::byte* from, std::int64_t rows, std::byte* to) {
  std::memcpy(to, from, static_cast<std::size_t>(rows * x.row_bytes));
}

using LayOut = void (*)(const Layout& x, const std::byte* from, std::int64_t rows, std::byte* to);

template <class T, std::int64_t... kIndex>
LayOut choose_spread(std::int64_t chunks, std::integer_sequence<std::int64_t, kIndex...>) {
  constexpr LayOut kSpread[] = {&spread<T, kIndex + 1>...};
  return kSpread[chunks - 1];
}

template <std::int64_t... kIndex>
LayOut choose_repeat(std::int64_t row_bytes, std::integer_sequence<std::int64_t, kIndex...>) {
  constexpr LayOut kRepeat[] = {&repeat<Chunk, kIndex + 1>...};
  if (row_bytes >= kChunk) return kRepeat[(row_bytes - 1) / kChunk];
  if (row_bytes >= 8) return &repeat<std::uint64_t, 2>;
  return row_bytes >= 4 ? &repeat<std::uint32_t, 2> : &repeat<std::uint16_t, 2>;
}

LayOut choose_lay_out(const Layout& x, bool moves, std::int64_t size) {
  constexpr auto kCounts = std::make_integer_sequence<std::int64_t, kLongRowBytes / kChunk>();
  const std::int64_t chunks = (x.row_bytes + kChunk - 1) / kChunk;
  if (moves) return x.row_step == 0 ? choose_repeat(x.row_bytes, kCounts) : &copy;
  switch (size) {
    case 1:
      return choose_spread<std::uint8_t>(chunks, kCounts);
    case 2:
      return choose_spread<std::uint16_t>(chunks, kCounts);
    case 4:
      return choose_spread<std::uint32_t>(chunks, kCounts);
    default:
      return choose_spread<std::uint64_t>(chunks, kCounts);
  }
}

/// One operand of a call, and its tile.
class Operand {
 public:
  Operand(const Call& call, const std::byte* data, std::int64_t BroadcastLoop::*step, std::int64_t row_step, bool moves)
      : data_(data),
        size_(call.size),
        layout_{row_step * call.size, call.inner.elements * call.size},
        lay_out_(choose_lay_out(layout_, moves, call.size)),
        repeats_(moves && row_step == 0),
        continuous_in_block_(moves && row_step != 0),
        continuous_(continuous_in_block_ &&
                    std::all_of(call.outer.begin(), call.outer.end(),
                                [step](const BroadcastLoop& loop) { return loop.*step != 0; })) {}

  /// Begins a block, at the element `position` of the operand, of which at most `rows` rows at a time are wanted.
  void begin_block(std::int64_t position, std::int64_t rows) {
    block_ = data_ + position * size_;
    if (repeats_) lay_out_(layout_, block_, rows, tile_.data());
  }

  /// Rows of the block, at most as many as announced.
  const std::byte* rows(std::int64_t row, std::int64_t count) {
    const std::byte* const from = block_ + row * layout_.row_step;
    if (continuous_in_block_) return from;
    if (!repeats_) lay_out_(layout_, from, count, tile_.data());
    return tile_.data();
  }

  /// Puts a whole block, which begins at the element `position`, at a place of the tile.
  void add_block(std::int64_t position, std::int64_t rows, std::int64_t place) {
    if (!continuous_) lay_out_(layout_, data_ + position * size_, rows, tile_.data() + place);
  }

  /// The blocks added; the first of them begins `offset` bytes into y.
  [[nodiscard]] const std::byte* blocks(std::int64_t offset) const {
    return continuous_ ? data_ + offset : tile_.data();
  }

 private:
  const std::byte* data_;
  std::int64_t size_;
  Layout layout_;
  LayOut lay_out_;
  bool repeats_;              // every row of a block is the same
  bool continuous_in_block_;  // runs through memory as y does: within a block,
  bool continuous_;           // over all loops
  const std::byte* block_ = nullptr;
  alignas(kLineBytes) std::array<std::byte, kTileBytes + kChunk> tile_;
};

class Tiling {
 public:
  explicit Tiling(const Call& call)
      : call_(call),
        row_bytes_(call.inner.elements * call.size),
        a_(call, call.a, &BroadcastLoop::a_step, call.inner.a_row_step, call.inner.a_step != 0),
        b_(call, call.b, &BroadcastLoop::b_step, call.inner.b_row_step, call.inner.b_step != 0) {}

  /// The rows [row, end), a tile of them at a time, none of which spans two blocks.
  void rows_of_blocks(std::int64_t row, std::int64_t end) {
    const std::int64_t most = rows_per_tile();
    BlockPosition position(call_.outer, row / call_.inner.rows);
    std::int64_t in_block = row % call_.inner.rows;
    for (; row < end; in_block = 0, position.next()) {
      const std::int64_t block_end = std::min(call_.inner.rows, in_block + end - row);
      a_.begin_block(position.a(), std::min(most, block_end - in_block));
      b_.begin_block(position.b(), std::min(most, block_end - in_block));
      while (in_block < block_end) {
        const std::int64_t rows = std::min(most, block_end - in_block);
        compute(a_.rows(in_block, rows), b_.rows(in_block, rows), row * row_bytes_, rows);
        in_block += rows;
        row += rows;
      }
    }
  }

  /// The blocks [block, end), as many at a time as fill a tile.
  void whole_blocks(std::int64_t block, std::int64_t end) {
    const std::int64_t block_rows = call_.inner.rows;
    const std::int64_t block_bytes = block_rows * row_bytes_;
    BlockPosition position(call_.outer, block);
    while (block < end) {
      const std::int64_t blocks = std::min(kTileBytes / block_bytes, end - block);
      for (std::int64_t i = 0; i < blocks; ++i, position.next()) {
        a_.add_block(position.a(), block_rows, i * block_bytes);
        b_.add_block(position.b(), block_rows, i * block_bytes);
      }
      const std::int64_t offset = block * block_bytes;
      compute(a_.blocks(offset), b_.blocks(offset), offset, blocks * block_rows);
      block += blocks;
    }
  }

 private:
  /// So many that each tile of y begins at the same place of a cache line, where that is possible.
  [[nodiscard]] std::int64_t rows_per_tile() const {
    const std::int64_t most = kTileBytes / row_bytes_;
    const std::int64_t lines = kLineBytes / call_.size;
    return most > lines ? most / lines * lines : most;
  }

  void compute(const std::byte* a, const std::byte* b, std::int64_t offset, std::int64_t rows) const {
    Rows all;
    all.elements = rows * call_.inner.elements;
    all.stream = call_.inner.stream;
    call_.kernel(all, a, b, call_.y + offset);
  }

  const Call& call_;
  std::int64_t row_bytes_;
  Operand a_;
  Operand b_;
};

bool blocks_are_small(const Call& call) { return call.block_elements() * call.size * 2 <= kTileBytes; }

}  // namespace

bool want_tiles(const Call& call, std::int64_t elements) {
  // Laying out has a fixed cost: it needs some rows to pay.
  constexpr std::int64_t kFewestBytes = 512;
  const bool spread = call.inner.a_step == 0 || call.inner.b_step == 0;
  return call.inner.elements * call.size < (spread ? kLongSpreadBytes : kLongRowBytes) && call.inner.rows > 1 &&
         elements * call.size >= kFewestBytes;
}

std::int64_t tile_unit(const Call& call) {
  return blocks_are_small(call) ? call.block_elements() : call.inner.elements * (kLineBytes / call.size);
}

void run_tiles(const Call& call, std::int64_t begin, std::int64_t end) {
  Tiling tiling(call);
  if (blocks_are_small(call)) {
    tiling.whole_blocks(begin / call.block_elements(), end / call.block_elements());
  } else {
    tiling.rows_of_blocks(begin / call.inner.elements, end / call.inner.elements);
  }
}

}  // namespace binet::kernels::elementwise
