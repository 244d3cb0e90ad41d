// Laying out repeated operands: for every target, type and kind of loops, against the places by definition; and
// computing from what is laid out.
#include "kernels/elementwise/expansion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/test_values.h"

namespace binet::kernels::elementwise {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): binet::kernels::elementwise::testing

constexpr std::byte kCanary{0xA5};

/// The operand's elements in the order of the loops.
Bytes by_definition(const std::vector<BroadcastLoop>& loops, const Bytes& operand, std::size_t size) {
  std::vector<std::int64_t> places = {0};
  for (const BroadcastLoop& loop : loops) {
    std::vector<std::int64_t> inner;
    for (const std::int64_t place : places) {
      for (std::int64_t i = 0; i < loop.extent; ++i) inner.push_back(place + i * loop.a_step);
    }
    places = std::move(inner);
  }
  Bytes laid_out;
  for (const std::int64_t place : places) {
    const auto from = operand.begin() + place * static_cast<std::ptrdiff_t>(size);
    laid_out.insert(laid_out.end(), from, from + static_cast<std::ptrdiff_t>(size));
  }
  return laid_out;
}

/// What an expansion reads: the operand, its row again and again, or the copy that it asks for; exactly as far as it
/// says that it reads.
Bytes readable(const Expansion& x, const Bytes& operand) {
  if (x.copy != nullptr) {
    const AlignedBuffer copy(x.copy->chunks.size() * static_cast<std::size_t>(x.copy->chunk_bytes));
    const Bytes from = readable(*x.copy, operand);
    x.copy->functions.expand(*x.copy, from.data(), static_cast<std::int64_t>(x.copy->chunks.size()), copy.data());
    Bytes bytes(copy.data(), copy.data() + copy.size());
    bytes.resize(static_cast<std::size_t>(x.source_bytes));
    bytes.shrink_to_fit();
    return bytes;
  }
  const auto row = x.repeated_bytes == 0 ? operand.size() : static_cast<std::size_t>(x.repeated_bytes);
  Bytes bytes(std::max(operand.size(), static_cast<std::size_t>(x.source_bytes)));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = operand[i % row];
  bytes.shrink_to_fit();
  return bytes;
}

Bytes converted(const Kernel& kernel, const Bytes& elements, std::size_t size) {
  const std::size_t bytes = elements.size() / size * static_cast<std::size_t>(kernel.widening.size);
  const AlignedBuffer converted(bytes + kLineBytes);
  kernel.widening.widen(elements.data(), static_cast<std::int64_t>(elements.size() / size), converted.data());
  return {converted.data(), converted.data() + bytes};
}

/// The elements as the kernel lays them out.
Bytes as_laid_out(const Kernel& kernel, const Bytes& elements, std::size_t size) {
  return kernel.lays_out_converted ? converted(kernel, elements, size) : elements;
}

void check(const Target& target, ElementType type, const std::vector<BroadcastLoop>& loops, Random& random) {
  std::string label = std::string(to_string(type)) + " on " + std::string(target.name) + ":";
  std::int64_t elements = 1;
  for (const BroadcastLoop& loop : loops) {
    label += " (" + std::to_string(loop.extent) + "," + std::to_string(loop.a_step) + ")";
    elements *= loop.a_step == 0 ? 1 : loop.extent;
  }
  SCOPED_TRACE(label);
  const std::size_t size = byte_size(type);
  const Kernel kernel = find_kernel(Operation::multiply, type, target);
  const Bytes operand = random_elements(type, static_cast<std::size_t>(elements), random);
  const std::int64_t laid_out_size = kernel.laid_out_size(static_cast<std::int64_t>(size));
  const Bytes expected = by_definition(loops, operand, size);
  const Bytes laid_out = as_laid_out(kernel, expected, size);
  const Expansion x = make_expansion(loops, &BroadcastLoop::a_step, laid_out_size, kernel.lookups);
  // Element by element is a last resort, which no loops need where there are shuffles.
  if (kernel.lookups.size() > 1) {
    EXPECT_GT(x.chunk_bytes, laid_out_size);
  }
  const Bytes from = readable(x, as_laid_out(kernel, operand, size));

  const auto chunk = static_cast<std::size_t>(x.chunk_bytes);
  const std::size_t chunks = (laid_out.size() + chunk - 1) / chunk;
  const AlignedBuffer tile(chunks * chunk);
  x.functions.expand(x, from.data(), static_cast<std::int64_t>(chunks), tile.data());
  EXPECT_TRUE(std::equal(laid_out.begin(), laid_out.end(), tile.data()));

  if (x.functions.compute == nullptr) return;
  const std::size_t count = expected.size() / size;
  const Bytes other = random_elements(type, count, random);
  Rows all;
  all.elements = static_cast<std::int64_t>(count);
  Bytes product(expected.size());
  kernel.rows(all, other.data(), expected.data(), product.data());
  const auto bytes = static_cast<std::int64_t>(expected.size());
  std::vector<InOrder> others = {{other.data(), false}};
  const Bytes other_laid_out = as_laid_out(kernel, other, size);
  if (kernel.lays_out_converted) others.push_back({other_laid_out.data(), true});
  if (kernel.widening.size != 0) {
    const Bytes wide = converted(kernel, expected, size);
    const Bytes other_wide = converted(kernel, other, size);
    Bytes y(expected.size());
    kernel.widening.one(all, other.data(), wide.data(), y.data());
    EXPECT_FALSE(first_difference(type, y.data(), product.data(), count)) << "one converted";
    kernel.widening.both(all, other_wide.data(), wide.data(), y.data());
    EXPECT_FALSE(first_difference(type, y.data(), product.data(), count)) << "both converted";
  }
  for (const InOrder in_order : others) {
    for (const bool fetch : {false, true}) {
      Bytes y(expected.size() + 1, kCanary);
      x.functions.compute(x, from.data(), in_order, bytes, y.data(), nullptr, fetch);
      EXPECT_FALSE(first_difference(type, y.data(), product.data(), count))
          << "fetching " << fetch << ", the other converted " << in_order.is_converted;
      EXPECT_EQ(y.back(), kCanary);
    }
  }
  for (const std::size_t begun : {std::size_t{0}, size, 24 / size * size, 64 - size}) {
    if (begun != 0 && !x.functions.streams_anywhere) continue;
    if (!x.functions.streams_anywhere && bytes % kLineBytes != 0) continue;
    // Twice, one behind the other: the second goes on with the line that the first one left.
    const AlignedBuffer y(begun + 2 * expected.size() + 1);
    std::memset(y.data(), std::to_integer<int>(kCanary), y.size());
    OpenLine line(y.data() + begun);
    for (const std::size_t at : {begun, begun + expected.size()}) {
      x.functions.compute(x, from.data(), others.back(), bytes, y.data() + at, &line, false);
    }
    line.close();
    EXPECT_TRUE(std::all_of(y.data(), y.data() + begun, [](std::byte c) { return c == kCanary; })) << begun;
    for (const std::size_t at : {begun, begun + expected.size()}) {
      EXPECT_FALSE(first_difference(type, y.data() + at, product.data(), count)) << "streaming from " << at;
    }
    EXPECT_EQ(y.data()[y.size() - 1], kCanary) << "streaming from " << begun;
  }
  Bytes in_place = other;
  x.functions.compute(x, from.data(), {in_place.data(), false}, bytes, in_place.data(), nullptr, false);
  EXPECT_FALSE(first_difference(type, in_place.data(), product.data(), count)) << "in place";
}

/// Loops of dense operands: each either moves on by what the loops inside it read, or repeats.
std::vector<BroadcastLoop> random_loops(Random& random) {
  std::vector<BroadcastLoop> loops(1 + random() % 4);
  std::int64_t step = 1;
  std::int64_t room = 1000;
  for (std::size_t k = loops.size(); k-- > 0;) {
    constexpr std::int64_t kExtents[] = {2, 3, 4, 5, 7, 8, 15, 16, 17, 20, 33, 64, 100};
    std::int64_t extent = kExtents[random() % std::size(kExtents)];
    if (extent > room) extent = 1;
    room /= extent;
    const bool moves = random() % 2 == 0;
    loops[k] = {extent, moves ? step : 0, 0};
    if (moves) step *= extent;
  }
  return loops;
}

TEST(Expansion, LaysOutTheUsualKinds) {
  Random random(11);
  const std::vector<BroadcastLoop> kinds[] = {
      {{100, 1, 0}, {3, 0, 0}},                        // each element three times
      {{100, 0, 0}, {3, 1, 0}},                        // a row of three
      {{50, 0, 0}, {20, 1, 0}},                        // a row longer than a window
      {{7, 0, 0}, {6, 1, 0}, {5, 0, 0}},               // spread, and all of it again
      {{10, 3, 0}, {8, 0, 0}, {3, 1, 0}},              // rows, each eight times
      {{5, 30, 0}, {4, 0, 0}, {30, 1, 0}},             // of which a chunk meets more than one
      {{4, 130, 0}, {5, 0, 0}, {130, 1, 0}},           // of which a chunk meets two at most
      {{9, 0, 0}, {3, 40, 0}, {40, 1, 0}, {2, 0, 0}},  // each element twice, and all of it again
      {{28, 0, 0}, {42, 1, 0}, {3, 0, 0}},             // all of it more often than a copy needs
      {{4, 37, 0}, {26, 0, 0}, {37, 1, 0}},            // and each row
      {{500, 0, 0}},                                   // one element
      {{500, 1, 0}},                                   // nothing repeated
  };
  for (const Target& target : supported_targets()) {
    for (const ElementType type : kTypes) {
      for (const std::vector<BroadcastLoop>& loops : kinds) check(target, type, loops, random);
    }
  }
}

TEST(Expansion, LaysOutRandomLoops) {
  Random random(12);
  for (const Target& target : supported_targets()) {
    for (const ElementType type : kTypes) {
      for (int i = 0; i < 150 && !HasFailure(); ++i) check(target, type, random_loops(random), random);
    }
  }
}

}  // namespace
}  // namespace binet::kernels::elementwise
