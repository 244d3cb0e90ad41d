// Every type on every target of this machine, against plain loops: the ways in which a Y that leaves the near caches,
// or for each element of which there is little to compute, is written.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

using GemmLargeY = TypeOnTargetTest;

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmLargeY, testing::ValuesIn(types_on_targets()), name_of);

/// Y leaves the second-level cache, B stays there.
TEST_P(GemmLargeY, ByRows) {
  for (const int transposes : {0, 1, 2, 3}) {
    Case c{390, 371, 261, (transposes & 1) != 0, (transposes & 2) != 0};
    vary(c);
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    if (second_level_cache_bytes() >= 1 << 20 && kernels_.accumulator_bytes == 4 && plan.way != Way::tiled) {
      EXPECT_TRUE(plan.schedule.goes_by_rows);
    }
    check(c);
  }
}

/// Y leaves the first-level cache, or the second-level one, and there is little to compute for each element: a few rows
/// at a time, or tiles side by side. Columns are whole vectors, or end within one.
TEST_P(GemmLargeY, ShortK) {
  for (const Case& sizes :
       {Case{61, 301, 3}, Case{133, 1031, 20}, Case{391, 1403, 2}, Case{391, 1408, 7}, Case{1030, 535, 5, true},
        Case{515, 1060, 9, false, true}, Case{1, 140001, 3}, Case{3, 50000, 5}, Case{5, 30001, 7}, Case{8, 20003, 3},
        Case{12, 12007, 23}, Case{13, 11003, 9}, Case{118, 1849, 17}}) {
    Case c = sizes;
    vary(c);
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    const bool is_far = c.m * c.n * kernels_.element_bytes > second_level_cache_bytes();
    const bool is_far_from_tiles = is_far && !plan.schedule.keeps_b_in_registers;
    if (is_far_from_tiles && kernels_.element_bytes == kernels_.accumulator_bytes) {
      EXPECT_FALSE(is_at_once(plan.way) && plan.schedule.block_rows == 0);
    }
    check(c, byte_size(type_) + 1);
  }
}

/// Rows of Y, and of B, that lie a multiple of a page apart, or nearly, go by few at a time: one block, several, with a
/// last one that is lower, and those of two threads; B is packed by tiles for many rows of a longer k.
TEST_P(GemmLargeY, RowsThatMeet) {
  const std::int64_t page = 4096 / kernels_.element_bytes;
  for (const std::int64_t m : {5, 13, 40, 199}) {
    for (const std::int64_t n : {page, page + 1, 2 * page}) {
      for (const std::int64_t k : {2, 7, 9, 20, 45}) {
        Case c{m, n, k, (m + k) % 5 == 0};
        vary(c);
        const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
        const Schedule& s = plan.schedule;
        if (is_at_once(plan.way) && !s.keeps_b_in_registers && !kernels_.widens() && leaves_b_to_hardware(kernels_)) {
          // Integers that are not packed have tiles of their own.
          EXPECT_LE(s.block_rows > 0 ? s.block_rows : s.item_rows, plan.kernels->mr) << c;
        }
        check(c, n == page ? 0 : byte_size(type_) + 1);
      }
    }
  }
  check(Case{150, page, 90});
}

/// A small B, with vectors of half a line or, for a short k, on AMD's CPUs: A and Y pass by in blocks of rows.
TEST_P(GemmLargeY, BlocksOfRows) {
  const std::int64_t lanes = kernels_.lanes, nr = kernels_.nr;
  for (const std::int64_t m : {192, 193, 389, 1003}) {
    // The last: a block of rows as low as a tile, if there is a full C.
    for (const std::int64_t n : {nr, nr + 1, nr + lanes, 2 * nr - 1, 5 * nr + 3, 8 * nr, 90 * nr + 1}) {
      Case c{m, n, 13, n % 2 == 1};
      vary(c);
      const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
      // With AVX-512 a wider B is packed for so many rows.
      const bool may_gain = kernels_.has_short_vectors || (leaves_b_to_hardware(kernels_) && n <= 8 * nr);
      const bool may_be_cut = may_gain && m > 192 && n > nr;
      if (may_be_cut && is_float(type_) && byte_size(type_) >= 4) {
        EXPECT_GT(schedule.block_rows, 0) << c;
      }
      check(c, m == 389 ? byte_size(type_) + 1 : 0);
    }
  }
}

/// The same for a longer k, where units are as wide as vectors; up to which one.
TEST_P(GemmLargeY, BlocksOfRowsOfLongerK) {
  const std::int64_t nr = kernels_.nr;
  for (const std::int64_t k : {16, 40, 128, 129}) {
    for (const std::int64_t n : {nr + 1, 2 * nr - 1, 2 * nr + 3, 12 * nr + 5}) {
      if (n > 3 * nr && k != 40) continue;
      Case c{331, n, k, n % 2 == 1};
      vary(c);
      const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
      const bool may_gain = leaves_b_to_hardware(kernels_) && !has_units_of_half_vectors(target_) && k <= 128;
      const bool is_packed = c.k * kernels_.element_bytes > 512 && c.n * c.k * kernels_.element_bytes > 32 * 1024;
      const bool is_swapped = c.trans_a && schedule.is_swapped;
      if (may_gain && !is_packed && !is_swapped && is_float(type_) && byte_size(type_) >= 4) {
        EXPECT_GT(schedule.block_rows, 0) << c;
      }
      if (!kernels_.has_short_vectors && k > 128) {
        EXPECT_EQ(schedule.block_rows, 0) << c;
      }
      check(c, n == nr + 1 ? byte_size(type_) + 1 : 0);
    }
  }
}

/// Floats, on Zen 5: high blocks, and of a larger B, but where rows meet, C is full, or there is none for each thread;
/// the last one is lower.
TEST_P(GemmLargeY, HighBlocks) {
  const bool is_known = follows_one_run_best(kernels_) && is_float(type_) && byte_size(type_) >= 4;
  const std::int64_t line = 64 / kernels_.element_bytes;
  for (const CForm form : {CForm::none, CForm::row, CForm::column, CForm::full}) {
    const Case c{800, 41 * line + 3, 25, false, false, form};
    if (is_known) {
      const auto block_rows = [&](const Case& of, int threads = 1) {
        return make_plan(problem_of(type_, of), target_, threads, false).schedule.block_rows;
      };
      EXPECT_EQ(block_rows(c, 2) == 384, form != CForm::full) << c;
      EXPECT_LT(block_rows({767, c.n, c.k, false, false, form}, 2), 384) << c;
      EXPECT_EQ(block_rows(c) == 384, form != CForm::full) << c;
      Case meeting = c, larger = c;
      meeting.n = 64 * line;
      larger.n = 180 * line;
      larger.k = 80;
      EXPECT_LE(block_rows(meeting), kernels_.mr) << meeting;
      EXPECT_EQ(block_rows(larger) == 384, form != CForm::full) << larger;
    }
    check(c, byte_size(type_) + 1);
  }
}

/// Few rows for several workers: low blocks, in which no tile is far below the one before. GemmBitsTest has one, too.
TEST_P(GemmLargeY, LowBlocksOfSharedRows) {
  const bool is_known =
      leaves_b_to_hardware(kernels_) && !has_units_of_half_vectors(target_) && is_float(type_) && byte_size(type_) >= 4;
  for (const std::int64_t m : {100, 192, 193}) {
    const Problem p = problem_of(type_, {m, 100, 60});
    const Plan two = make_plan(p, target_, 2, false);
    if (is_known) {
      EXPECT_EQ(two.schedule.workers, 2);
      EXPECT_EQ(two.schedule.block_rows == 2 * kernels_.mr, m <= 192) << m;
      EXPECT_GE(make_plan(p, target_, 1, false).schedule.item_rows, m);
    }
  }
}

/// What a worker would take at once if its rows were all, several take at once: B need not be packed for each.
TEST_P(GemmLargeY, RowsOfWorkersAtOnce) {
  const bool is_known = kernels_.has_long_vectors() && is_float(type_) && byte_size(type_) >= 4;
  for (const Case& c : {Case{24, 200, 300}, Case{26, 200, 300}, Case{100, 192, 300}}) {
    const Problem p = problem_of(type_, c);
    const Plan two = make_plan(p, target_, 2, false);
    if (is_known) {
      const Problem part = problem_of(type_, {c.m / 2, c.n, c.k});
      const bool is_part_at_once = is_at_once(make_plan(part, target_, 1, false).way);
      const bool may_pack = is_intel_with_avx512() && byte_size(type_) == 8;  // f64, for so many rows, on Intel's
      EXPECT_TRUE(is_part_at_once || byte_size(type_) == 8) << c;
      EXPECT_EQ(two.way == Way::rows_at_once, c.m != 26 && (is_part_at_once || !may_pack)) << c;
      EXPECT_EQ(two.schedule.workers, 2) << c;
      EXPECT_GE(two.schedule.items * two.schedule.item_rows, c.m) << c;
    }
  }
}

/// Lines of a Y or a C beyond the caches are fetched where units are as wide as vectors; not those of narrow rows.
TEST_P(GemmLargeY, FetchesWhatIsFar) {
  const bool may_fetch = leaves_b_to_hardware(kernels_) && !has_units_of_half_vectors(target_);
  const std::int64_t n = 2048, rows_of_cache = last_level_cache_bytes() / (n * kernels_.element_bytes);
  const auto schedule = [&](const Case& c) { return make_plan(problem_of(type_, c), target_, 1, false).schedule; };
  for (const std::int64_t k : {2, 30}) {
    const Case far{rows_of_cache, n, k};
    Case far_c = far, narrow = far;
    far_c.c = CForm::full;
    narrow.m = far.m * 64;
    narrow.n = n / 64;
    const bool is_near_b = n * k * kernels_.element_bytes <= second_level_cache_bytes() / 2;
    if (may_fetch && is_near_b && is_float(type_) && byte_size(type_) >= 4) {
      EXPECT_TRUE(schedule(far).fetches_y && !schedule(far).fetches_c) << far;
      EXPECT_TRUE(schedule(far_c).fetches_c && !schedule(far_c).fetches_y) << far_c;
    }
    if (!may_fetch) {
      EXPECT_FALSE(schedule(far_c).fetches_c);
    } else {
      EXPECT_FALSE(schedule(narrow).fetches_y);
    }
  }
  if (may_fetch && is_float(type_) && byte_size(type_) >= 4) {
    // From where on, in 32nds of the cache.
    const auto fetches = [&](std::int64_t part, std::int64_t k, CForm form, int threads) {
      const Case c{rows_of_cache * part / 32, n, k, false, false, form};
      const Schedule s = make_plan(problem_of(type_, c), target_, threads, false).schedule;
      return s.fetches_y || s.fetches_c;
    };
    EXPECT_TRUE(fetches(18, 6, CForm::none, 1) && !fetches(16, 6, CForm::none, 1));
    EXPECT_TRUE(fetches(21, 7, CForm::row, 1) && !fetches(19, 7, CForm::row, 1));
    EXPECT_TRUE(fetches(25, 2, CForm::none, 2) && !fetches(23, 2, CForm::none, 2));
    EXPECT_TRUE(fetches(9, 7, CForm::full, 1) && !fetches(8, 7, CForm::full, 1));
    EXPECT_TRUE(fetches(11, 2, CForm::full, 2) && !fetches(9, 2, CForm::full, 2));
  }
  check(Case{150, 2053, 3, false, false, CForm::full});
}

/// With vectors of half a line, blocks of a Y, and of a full C, from afar are read before they are computed, unless
/// rows are whole lines without a C, or long, or short: on one thread and two, and what is nearer is not.
TEST_P(GemmLargeY, ReadsFarRowsFirst) {
  if (!has_short_floats(kernels_)) return;
  const ThreadPool two_threads(2);
  const std::int64_t line = 64 / kernels_.element_bytes, bytes = last_level_cache_bytes();
  const auto reads = [&](const Case& c) {
    return make_plan(problem_of(type_, c), target_, 1, false).schedule.reads_rows_first;
  };
  for (const std::int64_t n : {6 * line, 6 * line + 2, 12 * line + 3}) {
    for (const CForm form : {CForm::none, CForm::full}) {
      const bool is_full = form == CForm::full;
      Case c{bytes / 4 / (n * kernels_.element_bytes * (is_full ? 2 : 1)) + 7, n, 13, false, false, form};
      Case near = c, narrow = c, wide = c, without_c = c;
      near.m /= 2;
      narrow.n = 3 * line + 1;
      wide.n = 48 * line + 1;
      without_c.beta = 0;
      EXPECT_EQ(reads(c), is_full || n % line != 0) << c;
      EXPECT_FALSE(reads(near) || reads(narrow) || reads(wide)) << c;
      near.k = 35;  // what takes longer is read from a nearer place
      EXPECT_TRUE(reads(near) || !reads(c)) << near;
      near.m /= 2;
      EXPECT_FALSE(reads(near)) << near;
      EXPECT_FALSE(is_full && reads(without_c)) << without_c;
      if (!reads(c)) continue;
      const Problem p = problem_of(type_, c);
      const Operands operands(p, 0, 1);
      check(c, operands, {false});
      const Bytes want = compute(p, operands, target_, one_thread_), got = compute(p, operands, target_, two_threads);
      EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c;
    }
  }
}

/// With vectors of half a line, a Y from afar with a short k is streamed: whole rows, which begin anywhere in a line,
/// or some lines of long ones; on one thread and two. What is nearer is not, nor what has a longer k or narrow rows.
TEST_P(GemmLargeY, StreamsFarRows) {
  if (!kernels_.has_short_vectors || kernels_.widens()) return;
  const ThreadPool two_threads(2);
  const std::int64_t bytes = kernels_.element_bytes, line = 64 / bytes;
  const bool is_known = is_float(type_);  // with factors, or of 64 bits, integers may go by items
  const auto rows_of = [&](std::int64_t n, int sixteenths) {
    return last_level_cache_bytes() / 16 * sixteenths / (n * bytes) + 1;
  };
  const auto schedule = [&](const Case& c, int threads) {
    return make_plan(problem_of(type_, c), target_, threads, false).schedule;
  };
  for (const std::int64_t n : {3 * line, 6 * line + 2, 17 * line + 3, 85 * line}) {
    for (const std::int64_t k : {2, 13}) {
      Case c{rows_of(n, 5), n, k, n == 17 * line + 3};
      vary(c);
      Case near = c, long_k = c;
      near.m -= 2;
      long_k.k = 33;
      if (is_known) {
        EXPECT_TRUE(schedule(c, 1).streams_rows) << c;
        EXPECT_EQ(schedule(c, 1).strip_columns < n, n == 85 * line) << c;
      }
      EXPECT_FALSE(schedule(c, 2).streams_rows || schedule(near, 1).streams_rows) << c;
      EXPECT_TRUE(n % (16 * line) == 0 || !schedule(long_k, 1).streams_rows) << c;
      check(c, k == 2 ? 0 : byte_size(type_) + 1);
    }
    const Case wide{rows_of(n, 10), n, 5};
    EXPECT_TRUE(schedule(wide, 2).streams_rows || !is_known) << wide;
    const Problem p = problem_of(type_, wide);
    const Operands operands(p, 0, 1);
    const Bytes want = compute(p, operands, target_, one_thread_), got = compute(p, operands, target_, two_threads);
    EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << wide;
  }
  EXPECT_FALSE(schedule({rows_of(2 * line, 5), 2 * line, 5}, 1).streams_rows);
}

/// Each k that has a kernel of its own, and one more; columns around vectors, halves of them and panels; rows around a
/// block of them; an A and a B of either layout, all forms of C.
TEST_P(GemmLargeY, BInRegisters) {
  const std::int64_t lanes = kernels_.lanes;
  const auto keeps_b = [this](const Case& c) {
    return make_plan(problem_of(type_, c), target_, 1, false).schedule.keeps_b_in_registers;
  };
  const std::int64_t most = kernels_.most_short_k;
  if (most > 0 && kernels_.has_short_vectors) {
    EXPECT_TRUE(keeps_b({8, lanes, 1}) && keeps_b({3, 2 * lanes + 1, 2}) && keeps_b({3000, 30 * lanes + 3, most}));
    EXPECT_FALSE(keeps_b({8, lanes - 1, 1}) || keeps_b({2, 2 * lanes, 2}) || keeps_b({41, 2 * lanes, most + 1}));
    EXPECT_FALSE(keeps_b({41, 4096 / kernels_.element_bytes, 2}));  // rows meet
    EXPECT_TRUE(keeps_b({20, 1601, 2, false, false, CForm::full}) && keeps_b({600, 1601, 2}));
    EXPECT_FALSE(keeps_b({900, 1601, 2, false, false, CForm::full}) || keeps_b({600, 9001, 2}));  // long rows
    EXPECT_TRUE(keeps_b({41, 2 * lanes, 2, false, false, CForm::scalar, 2, -3}));
  } else if (most > 0) {
    EXPECT_TRUE(keeps_b({8, 4 * lanes, 6}) && keeps_b({41, 2, 1}) && keeps_b({41, lanes, 8}));
    EXPECT_TRUE(keeps_b({41, lanes / 2, most}) && keeps_b({3000, 4 * lanes, most}) && keeps_b({41, 3 * lanes, 7}));
    // Where only a few instructions may wait for others.
    const bool is_short = is_intel_with_avx512();
    EXPECT_EQ(keeps_b({41, lanes, kernels_.most_short_k_of_vector}), !is_short);
    EXPECT_EQ(keeps_b({8, 4 * lanes, most}), most <= 8 || !is_short);
    EXPECT_EQ(keeps_b({41, lanes, most}), most <= 8 || !is_short);
    // Panels side by side: where Y does not stay near, rows are whole lines, or there is something to compute.
    EXPECT_TRUE(keeps_b({41, 7 * lanes + 1, 1}) && keeps_b({1000, 7 * lanes, 2}));
    EXPECT_EQ(keeps_b({1000, 7 * lanes + 1, 1}), !is_short);
    EXPECT_EQ(keeps_b({41, 3 * lanes, 2}), !is_short);  // a tile is as wide
    EXPECT_FALSE(keeps_b({41, lanes, kernels_.most_short_k_of_vector + 1}) || keeps_b({41, lanes + 1, most + 1}));
    EXPECT_FALSE(keeps_b({41, 4 * lanes, most + 1}) || keeps_b({41, lanes, 2, false, false, CForm::row, 2}));
    // Few rows of f32 and a longer k go through tiles.
    if (!is_short) {
      const bool goes_through_tiles = follows_one_run_best(kernels_) && type_ == ElementType::f32;
      EXPECT_TRUE(keeps_b({7, 4 * lanes, most}) && keeps_b({6, 4 * lanes, 8}));
      EXPECT_EQ(keeps_b({6, 4 * lanes, most}), !goes_through_tiles);
      EXPECT_EQ(keeps_b({3, 4 * lanes, 9}), !goes_through_tiles && most >= 9);
    }
    // Factors are applied in a passage over Y, if it is near and one run, and not too small.
    for (const CForm form : {CForm::none, CForm::scalar, CForm::full}) {
      EXPECT_TRUE(keeps_b({41, lanes, 2, false, false, form, 2, -3}));
      EXPECT_FALSE(keeps_b({3000, lanes, 2, false, false, form, 2, -3}));
      EXPECT_FALSE(keeps_b({7, 4 * lanes, 2, false, false, form, 2, -3}));
      EXPECT_FALSE(keeps_b({32, 4, 2, false, false, form, 2, -3}));
      const std::int64_t few_rows = 3200 / (7 * kernels_.element_bytes);
      EXPECT_FALSE(keeps_b({few_rows, 7, 2, false, false, form, 2, -3}));
      EXPECT_TRUE(keeps_b({few_rows + 1, 7, 2, false, false, form, 2, -3}));
    }
  }
  for (const Case& sizes : {Case{41, 7, 3}, Case{9, lanes + 1, 2}, Case{3, 5, 6}, Case{30, 2 * lanes, 4, true}}) {
    for (const CForm form : {CForm::none, CForm::scalar, CForm::full}) {
      Case c = sizes;
      c.c = form;
      c.alpha = -0.7f;
      c.beta = form == CForm::full ? 1.0f : 2.5f;
      check(c, byte_size(type_) + 1);
    }
  }
  std::size_t products = 0;
  for (std::int64_t k = 1; k <= 17; ++k) {
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{2}, lanes / 2, lanes / 2 + 1, lanes, lanes + 3,
                                 2 * lanes - 1, 3 * lanes, 3 * lanes + 1, 4 * lanes, 4 * lanes + 1, 11 * lanes - 2}) {
      for (const std::int64_t m : {3, 8, 41}) {
        Case c{m, std::max<std::int64_t>(n, 1), k, (products / 2) % 3 == 2, products % 5 == 0};
        vary(c);
        check(c, products % 3 == 0 ? 0 : byte_size(type_) + (products % 2 == 0 ? 1 : 0));
        ++products;
      }
    }
  }
}

/// Blocks of a few rows: long rows, an item for each thread.
TEST_P(GemmLargeY, LongRowsAndBInRegisters) {
  const ThreadPool pools[] = {ThreadPool(2), ThreadPool(7)};
  for (const Case& sizes :
       {Case{301, 517, 3}, Case{301, 517, 7}, Case{25, 4001, 5, true, false, CForm::full}, Case{11, 30003, 8},
        Case{3000, 30, 4, false, true, CForm::column}, Case{900, 7, 2, false, false, CForm::row}}) {
    const Problem p = problem_of(type_, sizes);
    const Operands operands(p, 0, 1);
    check(sizes, operands);
    // BInRegisters asks for it elsewhere.
    if (!kernels_.has_short_vectors && (sizes.k != 3 || !is_intel_with_avx512())) {
      EXPECT_EQ(make_plan(p, target_, 1, true).schedule.keeps_b_in_registers, kernels_.most_short_k > 0);
    }
    const Bytes want = compute(p, operands, target_, one_thread_);
    for (const ThreadPool& pool : pools) {
      const Bytes got = compute(p, operands, target_, pool);
      EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << sizes;
    }
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
