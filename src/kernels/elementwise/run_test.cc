// Whole calls: plans of every kind on one thread and several against a walk by indices that shares no code with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <tuple>

#include "base/aligned_buffer.h"
#include "base/cache_size.h"
#include "base/target.h"
#include "base/testing.h"
#include "kernels/elementwise/plan.h"
#include "kernels/elementwise/tiles.h"
#include "kernels/elementwise/walk_testing.h"

namespace binet::kernels::elementwise {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): binet::kernels::elementwise::testing

const ThreadPool& pool_of(int threads) {
  static const ThreadPool pools[] = {ThreadPool(1), ThreadPool(2), ThreadPool(3)};
  return pools[threads - 1];
}

void check_run(ElementType type, const Target& target, const Shapes& shapes, Random& random) {
  SCOPED_TRACE(std::string(to_string(type)) + " on " + std::string(target.name) + ": " + to_string(shapes.a) + " x " +
               to_string(shapes.b));
  const BroadcastPlan plan = plan_broadcast(shapes.a, shapes.b);
  const Bytes a = random_elements(type, static_cast<std::size_t>(count_elements(shapes.a)), random);
  const Bytes b = random_elements(type, static_cast<std::size_t>(count_elements(shapes.b)), random);
  const Bytes expected = expected_result(type, shapes, a, b);
  const auto count = static_cast<std::size_t>(plan.elements);
  ASSERT_EQ(expected.size(), count * byte_size(type));
  const Plan whole = make_plan(Operation::multiply, type, plan, target);
  const Plan streaming = streaming_plan(type, plan, target);
  const Plan storing = storing_plan(type, plan, target);
  for (const auto& [used, name, threads] : {std::tuple{&whole, "", 1},
                                            {&whole, "", 2},
                                            {&whole, "", 3},
                                            {&streaming, ", streaming", 1},
                                            {&streaming, ", streaming", 3},
                                            {&storing, ", storing", 1},
                                            {&storing, ", storing", 3}}) {
    constexpr std::byte kCanary{0xA5};
    constexpr std::size_t kCanaries = 80;
    Bytes bytes(64 + expected.size() + 2 * kCanaries, kCanary);
    const std::span y = std::span(bytes).subspan(random() % 64, expected.size() + 2 * kCanaries);
    run(*used, a.data(), b.data(), y.data() + kCanaries, pool_of(threads));
    EXPECT_FALSE(first_difference(type, y.data() + kCanaries, expected.data(), count)) << threads << " threads" << name;
    const auto untouched = [](std::byte c) { return c == kCanary; };
    EXPECT_TRUE(std::all_of(y.begin(), y.begin() + kCanaries, untouched)) << "wrote before y";
    EXPECT_TRUE(std::all_of(y.end() - kCanaries, y.end(), untouched)) << "wrote behind y";
  }
}

TEST(Run, WalksTheBroadcastPatterns) {
  Random random(7);
  for (const Target& target : supported_targets()) {
    for (const ElementType type :
         {ElementType::u8, ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
      for (const Shapes& shapes : kShapes) check_run(type, target, shapes, random);
    }
  }
}

TEST(Run, EqualsAWalkByIndicesForRandomShapes) {
  const std::uint64_t start = binet::testing::seed(20260101);
  RecordProperty("seed", std::to_string(start));
  Random random(start);
  constexpr int kPairs = 80;  // for each type and target: some thousands
  for (const Target& target : supported_targets()) {
    for (const ElementType type : kTypes) {
      for (int i = 0; i < kPairs && !HasFailure(); ++i) check_run(type, target, random_shapes(random), random);
    }
  }
}

/// Rows of some vectors, which the kernel is handed block by block, or several blocks at once, or joins to lines.
TEST(Run, EqualsAWalkByIndicesForBlocksOfRows) {
  const std::uint64_t start = binet::testing::seed(20261125);
  RecordProperty("seed", std::to_string(start));
  Random random(start);
  const auto shapes_of = [&random](std::initializer_list<std::int64_t> extents) {
    Shapes shapes;
    for (const std::int64_t extent : extents) {
      const std::uint64_t kind = random() % 5;
      shapes.a.push_back(kind == 0 ? 1 : extent);
      shapes.b.push_back(kind == 1 || kind == 2 ? 1 : extent);
    }
    return shapes;
  };
  const auto up_to = [&random](std::uint64_t most) { return static_cast<std::int64_t>(1 + random() % most); };
  constexpr int kPairs = 16;
  for (const Target& target : supported_targets()) {
    for (const ElementType type : kTypes) {
      for (int i = 0; i < kPairs && !HasFailure(); ++i) {
        const std::int64_t n = 16 + up_to(i % 2 == 0 ? 60 : 400);
        const std::int64_t rows = up_to(i % 4 == 0 ? 60 : 9);
        const std::int64_t blocks = up_to(20);
        check_run(type, target, shapes_of({1 + 60000 / (n * rows * blocks), blocks, rows, n}), random);
      }
    }
  }
}

/// The products are the kernels' own, but the way to them is another one: operands that are laid out meanwhile.
TEST(Run, MultipliesAll16BitFloatsByAwkwardOnesInTiles) {
  constexpr std::size_t kAll = 65536;
  constexpr std::size_t kRow = 5;
  Bytes a(kAll * 2);
  for (std::size_t i = 0; i < kAll; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    std::memcpy(a.data() + i * 2, &bits, 2);
  }
  const Shapes shapes{{kAll, 1}, {1, kRow}};
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    std::vector<std::uint16_t> awkward = awkward_16_bit_floats(type);
    while (awkward.size() % kRow != 0) awkward.push_back(awkward.front());
    for (std::size_t i = 0; i < awkward.size(); i += kRow) {
      Bytes b(kRow * 2);
      std::memcpy(b.data(), &awkward[i], kRow * 2);
      const Bytes expected = expected_result(type, shapes, a, b);
      for (const Target& target : supported_targets()) {
        const Plan plan = make_plan(Operation::multiply, type, plan_broadcast(shapes.a, shapes.b), target);
        ASSERT_TRUE(plan.tiling.has_value());
        Bytes y(kAll * kRow * 2);
        run(plan, a.data(), b.data(), y.data(), pool_of(1));
        const auto difference = first_difference(type, y.data(), expected.data(), kAll * kRow);
        EXPECT_FALSE(difference) << to_string(type) << " on " << target.name << std::hex << ": " << *difference / kRow
                                 << " x " << awkward[i + *difference % kRow];
      }
    }
  }
}

TEST(Run, StreamsByWhatItTouchesAndByWhatHappensToTheResult) {
  const auto plan_of = [](const Shape& a, const Shape& b) {
    Plan plan = make_plan(Operation::multiply, ElementType::f32, plan_broadcast(a, b), default_target());
    return plan;
  };
  constexpr std::int64_t kMi = 1024 * 1024;
  const Plan small = plan_of({kMi / 16}, {kMi / 16});
  const Plan beyond_a_core = plan_of({kMi}, {kMi});
  const Plan beyond_all = plan_of({64 * kMi}, {64 * kMi});
  const Plan row = plan_of({1024, kMi / 1024}, {1, kMi / 1024});
  const Plan outer = plan_of({1024, 1}, {1, kMi / 1024});
  for (const int threads : {1, 2}) {
    EXPECT_FALSE(streams(small, threads, Result::used_later)) << threads;
    EXPECT_FALSE(streams(small, threads, Result::read_next)) << threads;
    EXPECT_TRUE(streams(beyond_all, threads, Result::used_later)) << threads;
    EXPECT_TRUE(streams(beyond_all, threads, Result::read_next)) << threads;
  }
  EXPECT_TRUE(streams(beyond_a_core, 1, Result::used_later));
  const bool is_left_early = last_level_cache_is_left_early();
  const bool is_fast = memory_takes_streams_fast();
  EXPECT_EQ(streams(beyond_a_core, 2, Result::used_later),
            is_fast || beyond_a_core.touched_bytes * 16 >= beyond_a_core.cache_bytes * (is_left_early ? 10 : 16));
  const std::int64_t part_of_row = is_left_early ? 6 : is_fast ? 9 : 11;
  EXPECT_LE(streams(row, 1, Result::used_later),
            last_level_cache_is_slow() || row.touched_bytes * 16 >= row.cache_bytes * part_of_row);
  const Plan scalar = plan_of({64 * kMi}, {1});
  EXPECT_TRUE(streams(scalar, 2, Result::used_later));
  const std::int64_t beyond_two_cores = 2 * (second_level_cache_bytes() / 4 * 5);
  EXPECT_LE(streams(row, 2, Result::used_later),
            last_level_cache_is_slow() ? row.touched_bytes >= beyond_two_cores
                                       : row.touched_bytes * 16 >= row.cache_bytes * (is_left_early ? 10 : 16));
  EXPECT_LE(streams(outer, 2, Result::used_later), streams(row, 2, Result::used_later));
  const std::int64_t part_of_outer = is_left_early ? 7 : is_fast ? 13 : 16;
  EXPECT_LE(streams(outer, 1, Result::used_later), outer.touched_bytes * 16 >= outer.cache_bytes * part_of_outer);
  // One thread streams what is half as much again as the cache, anywhere.
  const Plan large_row = plan_of({row.cache_bytes * 3 / 4 / 4096, 1024}, {1, 1024});
  EXPECT_TRUE(streams(large_row, 1, Result::used_later));
  // On a machine whose last cache is smaller than the result, it is out of the cache anyway.
  if (beyond_a_core.cache_bytes > 4 * kMi) {
    EXPECT_FALSE(streams(beyond_a_core, 1, Result::read_next));
  }
}

TEST(Run, StoresRowsWhereTilesToStreamCostMore) {
  const auto plan_of = [](const Target& target, const Shape& a, const Shape& b) {
    return make_plan(Operation::multiply, ElementType::f32, plan_broadcast(a, b), target);
  };
  constexpr std::int64_t kBlocks = 200000;
  for (const Target& target : supported_targets()) {
    const Plan both_move = plan_of(target, {kBlocks, 3, 1}, {kBlocks, 1, 20});
    const Plan one_moves = plan_of(target, {kBlocks * 3, 1}, {kBlocks * 3, 20});
    // No last-level cache counts as so large (cache_size.h) that they would fit into it.
    for (const int threads : {1, 2, 3}) EXPECT_TRUE(streams(one_moves, threads, Result::used_later)) << target.name;
    if (target.name != "avx2" && target.name != "sse4") continue;
    for (const int threads : {1, 2, 3}) EXPECT_FALSE(streams(both_move, threads, Result::used_later)) << target.name;
    ASSERT_TRUE(one_moves.tiling.has_value() && both_move.tiling.has_value()) << target.name;
    EXPECT_TRUE(one_moves.tiling->is_to_stream && !one_moves.tiling->is_better_stored) << target.name;
    EXPECT_TRUE(both_move.tiling->is_to_stream) << target.name;
  }
}

/// Vectors shorter than a line: times are compared, which differ by factors here.
TEST(Run, TakesRowsOrTilesByWhatTheyCost) {
  const auto goes_through_tiles = [](const Target& target, ElementType type, const Shape& a, const Shape& b) {
    return make_plan(Operation::multiply, type, plan_broadcast(a, b), target).tiling.has_value();
  };
  for (const Target& target : supported_targets()) {
    if (target.name != "avx2" && target.name != "sse4") continue;
    for (const ElementType type : {ElementType::f32, ElementType::i32}) {
      SCOPED_TRACE(std::string(to_string(type)) + " on " + std::string(target.name));
      EXPECT_TRUE(goes_through_tiles(target, type, {1000, 3}, {1000, 1}));
      EXPECT_TRUE(goes_through_tiles(target, type, {1000, 3}, {1, 3}));
      EXPECT_FALSE(goes_through_tiles(target, type, {1000, 40}, {1000, 1}));
      EXPECT_FALSE(goes_through_tiles(target, type, {1000, 200}, {1, 200}));
      // A row that few or many rows of a block share: tiles lay it out anew for each block.
      EXPECT_FALSE(goes_through_tiles(target, type, {200, 4, 20}, {200, 1, 20}));
      EXPECT_TRUE(goes_through_tiles(target, type, {20, 200, 9}, {20, 1, 9}));
    }
  }
}

/// b stays for `repeats` tiles.
Shapes shapes_that_stay(std::int64_t repeats, std::int64_t times) {
  return {{40, repeats, 300, times}, {40, 1, 300, 1}};
}

/// Vectors shorter than a line: what stays for a few tiles is laid out once; elements that would be converted half by
/// half are so for two of them.
TEST(Run, LaysOutOnceWhatStaysForSomeTiles) {
  const auto shuffles_on_the_way = [](const Target& target, ElementType type, std::int64_t repeats) {
    const Shapes shapes = shapes_that_stay(repeats, 20 / static_cast<std::int64_t>(byte_size(type)));
    const Plan plan = make_plan(Operation::multiply, type, plan_broadcast(shapes.a, shapes.b), target);
    EXPECT_TRUE(plan.tiling && plan.tiling->a.continuous && plan.tiling->tiles == 1);
    return plan.tiling && plan.tiling->b.fused;
  };
  Random random(11);
  for (const Target& target : supported_targets()) {
    if (target.name != "avx2") continue;
    EXPECT_TRUE(shuffles_on_the_way(target, ElementType::f32, 2));
    EXPECT_FALSE(shuffles_on_the_way(target, ElementType::f32, 3));
    EXPECT_TRUE(shuffles_on_the_way(target, ElementType::bf16, 2));
    EXPECT_FALSE(shuffles_on_the_way(target, ElementType::bf16, 3));
    EXPECT_FALSE(shuffles_on_the_way(target, ElementType::f16, 2));
    for (const ElementType type : {ElementType::f32, ElementType::f16, ElementType::bf16, ElementType::u8}) {
      for (const std::int64_t repeats : {2, 3, 4}) check_run(type, target, shapes_that_stay(repeats, 5), random);
    }
  }
}

/// Vectors as long as a line: rows of no whole lines over which an operand stays, while the other one moves.
TEST(Run, TakesTilesForLongerRowsOnIntel) {
  const auto goes_through_tiles = [](const Target& target, const Shape& a, const Shape& b) {
    return make_plan(Operation::multiply, ElementType::f32, plan_broadcast(a, b), target).tiling.has_value();
  };
  for (const Target& target : supported_targets()) {
    if (!target.name.starts_with("avx512") && target.name != "amx") continue;
    EXPECT_EQ(goes_through_tiles(target, {2, 1, 64, 1}, {1, 16, 1, 40}), is_intel_with_avx512()) << target.name;
    EXPECT_EQ(goes_through_tiles(target, {16, 1, 64, 1}, {1, 32, 1, 45}), is_intel_with_avx512()) << target.name;
    EXPECT_FALSE(goes_through_tiles(target, {2, 1, 64, 1}, {1, 16, 1, 60})) << target.name;
    EXPECT_FALSE(goes_through_tiles(target, {16, 1, 64, 1}, {1, 32, 1, 110})) << target.name;
  }
}

/// A few short rows do not repay tiles, nor do rows of bfloat16 that nearly fill their vectors: where times are
/// compared, the former in more cases than elsewhere, as are the latter on Intel's CPUs.
TEST(Run, TakesRowsThatTilesWouldNotRepay) {
  const auto goes_through_tiles = [](const Target& target, ElementType type, const Shape& a, const Shape& b) {
    return make_plan(Operation::multiply, type, plan_broadcast(a, b), target).tiling.has_value();
  };
  for (const Target& target : supported_targets()) {
    if (!target.name.starts_with("avx512") && target.name != "amx") continue;
    SCOPED_TRACE(target.name);
    EXPECT_FALSE(goes_through_tiles(target, ElementType::f32, {24, 1}, {1, 18}));
    EXPECT_TRUE(goes_through_tiles(target, ElementType::f32, {200, 1}, {1, 10}));
    EXPECT_TRUE(goes_through_tiles(target, ElementType::f32, {12, 2, 13}, {12, 1, 13}));
    const bool compares_times = is_intel_with_avx512() || !has_units_of_half_vectors();
    EXPECT_NE(goes_through_tiles(target, ElementType::f32, {12, 18}, {12, 1}), compares_times);
    EXPECT_FALSE(goes_through_tiles(target, ElementType::u8, {100, 1}, {1, 104}));
    EXPECT_TRUE(goes_through_tiles(target, ElementType::u8, {1000, 1}, {1, 104}));
    EXPECT_TRUE(goes_through_tiles(target, ElementType::bf16, {30000, 1}, {1, 66}));
    EXPECT_NE(goes_through_tiles(target, ElementType::bf16, {30000, 1}, {1, 79}), is_intel_with_avx512());
  }
}

TEST(Run, StreamsLargeResults) {
  Random random(8);
  const Target& target = default_target();
  const Shapes large[] = {{{4 * 1024 * 1024 + 5}, {4 * 1024 * 1024 + 5}},
                          {{1200000, 1}, {1, 5}},
                          {{2100, 1}, {1, 2100}},
                          {{1200000, 5}, {1, 5}}};
  for (const Shapes& shapes : large) check_run(ElementType::f32, target, shapes, random);
}

/// A large product whose y begins at several places of a line.
void check_places_of_y(const Plan& plan, const Shapes& shapes, Random& random) {
  constexpr ElementType kType = ElementType::f32;
  const Bytes a = random_elements(kType, static_cast<std::size_t>(count_elements(shapes.a)), random);
  const Bytes b = random_elements(kType, static_cast<std::size_t>(count_elements(shapes.b)), random);
  const Bytes expected = expected_result(kType, shapes, a, b);
  AlignedBuffer bytes(expected.size() + 2 * kLineBytes);
  for (const std::int64_t begin : {0, 4, 16, 48}) {
    for (const int threads : {1, 3}) {
      std::memset(bytes.data(), 0xA5, bytes.size());
      std::byte* const y = bytes.data() + begin;
      run(plan, a.data(), b.data(), y, pool_of(threads));
      EXPECT_FALSE(first_difference(kType, y, expected.data(), static_cast<std::size_t>(plan.loops.elements)))
          << begin << ", " << threads << " threads";
      EXPECT_TRUE(begin == 0 || y[-1] == std::byte{0xA5}) << begin;
      EXPECT_EQ(y[expected.size()], std::byte{0xA5}) << begin;
    }
  }
}

/// Rows of whole lines, which a y that begins no line breaks: then tiles are streamed, or rows stored. Results that
/// hardly anything is read for are larger than 32 MiB, as some CPUs store smaller ones.
TEST(Run, StreamsWholeLinesWhereverYBegins) {
  const Shapes whole_lines[] = {
      {{54000, 64}, {54000, 1}}, {{90000, 3, 1}, {90000, 1, 32}}, {{4400, 1, 64}, {1, 30, 64}}};
  Random random(12);
  for (const Shapes& shapes : whole_lines) {
    for (const Target& target : supported_targets()) {
      SCOPED_TRACE(std::string(target.name) + ": " + to_string(shapes.a) + " x " + to_string(shapes.b));
      const Plan plan = make_plan(Operation::multiply, ElementType::f32, plan_broadcast(shapes.a, shapes.b), target);
      // AVX2 joins the first of these to lines.
      const bool goes_by_rows = target.name != "sse4" && (target.name != "avx2" || &shapes == whole_lines);
      EXPECT_EQ(plan.tiling && plan.tiling->is_for_broken_lines, !goes_by_rows);
      check_places_of_y(plan, shapes, random);
    }
  }
}

TEST(Run, JoinsStreamedRowsOverWhichAnOperandStays) {
  for (const Target& target : supported_targets()) {
    if (target.name != "avx2") continue;
    const auto goes_by_rows = [&](ElementType type, const Shape& a, const Shape& b) {
      return !make_plan(Operation::multiply, type, plan_broadcast(a, b), target).tiling;
    };
    EXPECT_TRUE(goes_by_rows(ElementType::f32, {54000, 64}, {54000, 1}));
    EXPECT_TRUE(goes_by_rows(ElementType::f32, {140000, 24}, {140000, 1}));
    EXPECT_TRUE(goes_by_rows(ElementType::f32, {4000, 16, 64}, {1, 16, 1}));
    EXPECT_TRUE(goes_by_rows(ElementType::f16, {100000, 96}, {100000, 1}));
    EXPECT_FALSE(goes_by_rows(ElementType::f16, {140000, 64}, {140000, 1})) << "conversions";
    EXPECT_FALSE(goes_by_rows(ElementType::f32, {210000, 16}, {210000, 1})) << "short rows";
    EXPECT_FALSE(goes_by_rows(ElementType::f32, {170000, 20}, {170000, 1})) << "tiles begin lines";
    EXPECT_FALSE(goes_by_rows(ElementType::f32, {6400, 10, 64}, {1, 10, 1})) << "small blocks";
    EXPECT_FALSE(goes_by_rows(ElementType::f32, {132000, 1}, {1, 64})) << "the other one repeats";
  }
}

/// Tiles begin lines of y where turns of the loop do.
TEST(Run, CutsTilesWhereLinesOfYBegin) {
  const Shapes short_rows[] = {
      {{310001, 5}, {310001, 1}}, {{12, 100000, 3}, {1, 100000, 1}}, {{2, 1, 160000, 1}, {1, 3, 160000, 3}}};
  Random random(13);
  for (const Shapes& shapes : short_rows) {
    for (const Target& target : supported_targets()) {
      SCOPED_TRACE(std::string(target.name) + ": " + to_string(shapes.a) + " x " + to_string(shapes.b));
      const Plan plan = make_plan(Operation::multiply, ElementType::f32, plan_broadcast(shapes.a, shapes.b), target);
      if (plan.tiling && plan.tiling->begins_lines && plan.tiling->tiles > 1) {
        const auto* const somewhere = reinterpret_cast<const std::byte*>(std::uintptr_t{16});
        const TileCut cut = cut_tiles(plan, somewhere, true);
        EXPECT_GT(cut.missing, 0);
        const std::int64_t size = plan.size;
        for (const std::int64_t tile : {std::int64_t{1}, cut.tiles - 1}) {
          EXPECT_EQ(bytes_in_line(somewhere + cut.begin_of(plan, tile) * size), 0);
        }
        EXPECT_EQ(cut_tiles(plan, somewhere, false).missing, 0);
      }
      check_places_of_y(plan, shapes, random);
    }
  }
}

TEST(Run, MayOverwriteAnOperandThatNoLoopRepeats) {
  Random random(9);
  const Shapes cases[] = {{{300001}, {300001}},        {{300001}, {1}},          {{60000, 5}, {1, 5}},
                          {{60000, 5}, {60000, 1}},    {{601, 1024}, {1, 1024}}, {{601, 1024}, {601, 1}},
                          {{4, 300, 301}, {1, 300, 1}}};
  for (const Shapes& shapes : cases) {
    for (const auto& [threads, is_far] : {std::pair{1, false}, {3, false}, {1, true}, {3, true}}) {
      const auto plan_of = [&](const Shape& a, const Shape& b) {
        Plan plan = make_plan(Operation::multiply, ElementType::f32, plan_broadcast(a, b), default_target());
        if (is_far) plan.cache_bytes = 0;
        return plan;
      };
      const Plan plan = plan_of(shapes.a, shapes.b);
      Bytes a = random_elements(ElementType::f32, static_cast<std::size_t>(plan.loops.elements), random);
      const Bytes b = random_elements(ElementType::f32, static_cast<std::size_t>(count_elements(shapes.b)), random);
      const Bytes expected = expected_result(ElementType::f32, shapes, a, b);
      Bytes y = a;
      run(plan, y.data(), b.data(), y.data(), pool_of(threads));
      EXPECT_FALSE(
          first_difference(ElementType::f32, y.data(), expected.data(), static_cast<std::size_t>(plan.loops.elements)))
          << "y is a: " << to_string(shapes.a) << " x " << to_string(shapes.b);
      y = a;
      run(plan_of(shapes.b, shapes.a), b.data(), y.data(), y.data(), pool_of(threads));
      EXPECT_FALSE(
          first_difference(ElementType::f32, y.data(), expected.data(), static_cast<std::size_t>(plan.loops.elements)))
          << "y is b: " << to_string(shapes.a) << " x " << to_string(shapes.b);
    }
  }
}

TEST(Run, TellsKernelsOfOperandsThatComeFromMemory) {
  constexpr std::int64_t kElements = 300000, kOperands = 2 * kElements * 4;
  static int far_calls = 0, calls = 0;
  const auto calls_that_are_far = [](std::int64_t cache_bytes, bool streams, bool in_place) {
    Plan plan = make_plan(Operation::multiply, ElementType::f32, plan_broadcast(Shape{kElements}, Shape{kElements}),
                          default_target());
    plan.cache_bytes = cache_bytes;
    plan.streamed_from = {};
    if (!streams) plan.streamed_from = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    plan.tasks = 2;
    plan.kernel.rows = [](const Rows& rows, const std::byte*, const std::byte*, std::byte*) {
      far_calls += rows.is_far ? 1 : 0;
      ++calls;
    };
    far_calls = calls = 0;
    Bytes y(1), b(1);
    run(plan, in_place ? y.data() : b.data(), b.data() + 1, y.data(), pool_of(1));
    EXPECT_EQ(calls, 1);
    return far_calls;
  };
  for (const auto& [streams, in_place] : {std::pair{true, false}, {true, true}, {false, true}}) {
    EXPECT_EQ(calls_that_are_far(2 * kOperands, streams, in_place), 1) << streams << in_place;
    EXPECT_EQ(calls_that_are_far(2 * kOperands + 2, streams, in_place), 0) << streams << in_place;
  }
  EXPECT_EQ(calls_that_are_far(0, false, false), 0) << "stored elsewhere";
}

TEST(Run, HasNothingToDoForZeroElements) {
  const Shapes shapes{{3, 0, 5}, {1, 1, 5}};
  run(make_plan(Operation::multiply, ElementType::f32, plan_broadcast(shapes.a, shapes.b), default_target()), nullptr,
      nullptr, nullptr, pool_of(2));
}

}  // namespace
}  // namespace binet::kernels::elementwise
