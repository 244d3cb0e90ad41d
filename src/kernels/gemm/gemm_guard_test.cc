// Whole products touch nothing around A, B, C and Y: tiles read and write whole vectors where they can.
#include <gtest/gtest.h>

#include <random>
#include <sstream>
#include <string>

#include "base/guarded_memory_testing.h"
#include "base/testing.h"
#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

using binet::testing::GuardedMemory;
using binet::testing::GuardReport;
using binet::testing::Place;

class GemmGuards : public TypeOnTargetTest {
 protected:
  static constexpr std::int64_t kMostBytes = 64 * 1024 * sizeof(double);
  static constexpr std::int64_t kMostBytesOfA = 64 * kMostBytes;

  static void as_planned(Plan&) {}
  /// What is read of rows before they are used, which plans want of large operands only.
  static void read_rows_first(Plan& plan) {
    plan.schedule.reads_rows_first = plan.schedule.block_rows > 0;
    plan.schedule.reads_a_first = true;
  }

  /// What is computed in the workspace and streamed from there, which plans want of a large Y only: whole rows, or some
  /// lines of them. With any other plan nothing is changed.
  static void stream_rows(Plan& plan) {
    Schedule& s = plan.schedule;
    const std::int64_t bytes = plan.kernels->element_bytes, line = 64 / bytes;
    if (!is_at_once(plan.way) || plan.kernels->widens() || s.b_lane_step != 0) return;
    plan.way = Way::rows_at_once;
    s.streams_rows = true;
    s.block_rows = 2 * plan.kernels->mr;
    s.strip_columns = plan.problem.n % line == 0 ? 2 * line : plan.problem.n;
    s.slot_sums_bytes = static_cast<std::size_t>(round_up(s.block_rows * s.strip_columns * bytes, 64));
    plan.workspace_bytes = s.whole_b_bytes + static_cast<std::size_t>(s.workers) * s.slot_sums_bytes;
  }

  void check_guards(const Case& c, void (&change)(Plan&) = as_planned) {
    const Problem p = problem_of(type_, c);
    const Operands operands(p, 0, 1);
    const Bytes want = compute(p, operands, target_, one_thread_);
    for (const bool pack : {false, true}) {
      for (const Place place : {Place::before_a_guard, Place::behind_a_guard})
        check_at(place, c, operands, want, pack, change);
    }
  }

 private:
  void check_at(Place place, const Case& c, const Operands& operands, const Bytes& want, bool pack,
                void (&change)(Plan&)) {
    const Problem p = problem_of(type_, c);
    const auto guarded = [&](const GuardedMemory& memory, const Bytes& bytes) {
      return memory.copy(bytes.data(), bytes.size(), place);
    };
    const std::byte* const a = guarded(a_, operands.a);
    const std::byte* const b = guarded(b_, operands.b);
    const std::byte* added = nullptr;
    if (p.has_c) {
      // As large as its form is.
      const std::int64_t elements = 1 + (p.m - 1) * p.c_row_step + (p.n - 1) * p.c_column_step;
      added = c_.copy(operands.c.data(), Operands::bytes_of(p, elements), place);
    }
    std::byte* const y = y_.at(place, want.size());
    std::ostringstream running;
    running << to_string(type_) << " on " << target_.name << ": " << c << (pack ? ", packed, " : ", ")
            << binet::testing::to_string(place);
    GuardReport::runs(running.str());
    Plan plan = make_plan(p, target_, 1, pack);
    change(plan);
    const Bytes workspace(plan.workspace_bytes, 0);
    const Bytes packed(pack ? packed_b_bytes(p, target_) : 0, 0);
    if (pack) pack_b(p, target_, b, packed.data(), one_thread_);
    run(plan, a, pack ? packed.data() : b, added, y, workspace.data(), one_thread_);
    EXPECT_EQ(difference(type_, y, want.data(), p.m * p.n), "") << running.str();
  }

  GuardedMemory a_{kMostBytesOfA};
  GuardedMemory b_{kMostBytes};
  GuardedMemory c_{kMostBytes};
  GuardedMemory y_{kMostBytes};
  GuardReport report_;
};

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmGuards, ::testing::ValuesIn(types_on_targets()), name_of);

TEST_P(GemmGuards, AreNotTouchedByFewRows) {
  for (const std::int64_t m : {3, 5, 8, 11}) {
    for (const std::int64_t n : {31, 32, 33, 47, 63, 64, 79, 97}) {
      Case c{m, n, 301 - n};
      vary(c);
      check_guards(c);
    }
  }
}

/// Rows that are no whole vectors, in some tiles of columns side by side.
TEST_P(GemmGuards, AreNotTouchedByLastColumns) {
  const std::int64_t lanes = kernels_.lanes;
  for (const std::int64_t m : {2, 7, 13, 40}) {
    for (std::int64_t n = 3 * lanes + 1; n <= 8 * lanes; n += lanes / 2 + 1) {
      for (const std::int64_t k : {1, 3, 9, 40}) {
        Case c{m, n, k};
        vary(c);
        check_guards(c);
      }
    }
  }
}

/// A few vectors of columns, a short K, and a Y beyond any first-level cache: last vectors are stored whole or in part.
TEST_P(GemmGuards, AreNotTouchedByShortRowsOfALargeY) {
  constexpr std::int64_t kBytesOfY = 130 * 1024;
  const std::int64_t lanes = kernels_.lanes;
  for (const std::int64_t n : {lanes + 1, lanes + lanes / 2, 2 * lanes - 1, 3 * lanes + 1, 4 * lanes - 1}) {
    for (const std::int64_t k : {1, 2, 3, 6, 8}) {
      Case c{kBytesOfY / (n * kernels_.element_bytes), n, k};
      vary(c);
      check_guards(c);
    }
  }
}

TEST_P(GemmGuards, AreNotTouchedByNarrowProductsOfALongK) {
  const std::int64_t lanes = kernels_.lanes;
  for (const std::int64_t m : {1, 2, 5, 8, 12, 16, 17, 33}) {
    for (const std::int64_t n : {std::int64_t{1}, lanes / 2 + 1, lanes - 1, lanes, lanes + 1}) {
      for (const std::int64_t k : {40, 131, 1000}) {
        if (n == 0) continue;
        Case c{m, n, k};
        vary(c);
        check_guards(c);
      }
    }
  }
}

/// Few rows of a transposed B, and few columns of a transposed A, which may be computed as Y^T.
TEST_P(GemmGuards, AreNotTouchedByTransposedOperandsOfALongK) {
  for (const std::int64_t few : {1, 2, 3, 4, 6, 9, 13}) {
    for (const std::int64_t many : {34, 61}) {
      for (const std::int64_t k : {26, 541}) {
        Case of_b{few, many, k, k == 26, true};
        vary(of_b);
        check_guards(of_b);
        Case of_a{many, few, k, true, k == 26};
        vary(of_a);
        check_guards(of_a);
      }
    }
  }
}

/// Blocks of rows, tiles as wide as Y, and pairs of k, whose rows are read first. A block may begin anywhere in a line.
TEST_P(GemmGuards, AreNotTouchedByRowsThatAreReadFirst) {
  if (!has_short_floats(kernels_)) return;
  for (const std::int64_t n : {std::int64_t{6}, kernels_.nr - 1, kernels_.nr, 4 * kernels_.nr, 7 * kernels_.nr + 3}) {
    for (const std::int64_t k : {17, 101}) {
      for (const CForm form : {CForm::none, CForm::full, CForm::row, CForm::column}) {
        check_guards({251, n, k, false, false, form}, read_rows_first);
        check_guards({251, n, k, true, n % 2 == 0, form}, read_rows_first);
      }
    }
  }
}

/// Lines in which a run of rows begins or ends, and other ones, are written in different ways.
TEST_P(GemmGuards, AreNotTouchedByRowsThatAreStreamed) {
  const std::int64_t line = 64 / kernels_.element_bytes;
  for (const std::int64_t m : {5, 31, 250}) {
    for (const std::int64_t n : {std::int64_t{3}, line, 3 * line - 1, 3 * line, 5 * line + 3}) {
      for (const std::int64_t k : {2, 13}) {
        Case c{m, n, k, k == 2 && n % 2 == 0};
        vary(c);
        check_guards(c, stream_rows);
      }
    }
  }
}

/// Rows of tiles that take one call, over a packed B, and what is left of rows and columns.
TEST_P(GemmGuards, AreNotTouchedByRowsOfTiles) {
  const std::int64_t page = 4096 / kernels_.element_bytes;
  for (const CForm form : {CForm::none, CForm::row, CForm::column, CForm::full}) {
    for (const std::int64_t n : {page, page - 1, page + kernels_.nr + 3}) {
      check_guards({37, n, 13, form == CForm::row, false, form});
    }
  }
}

/// The last item of rows has fewer of them than a tile, as a column of C has then. Only so large an A leaves so few;
/// the code is the same on all targets.
TEST_P(GemmGuards, AreNotTouchedByTheLastRowsBesideAColumnOfC) {
  if (!has_short_floats(kernels_)) return;
  constexpr std::int64_t kInner = 2500;  // in ranges, or it would be done at once
  const std::int64_t most_rows = kMostBytesOfA / kInner / kernels_.element_bytes;
  std::int64_t last_rows = 0;
  for (std::int64_t m = 150; m < most_rows && last_rows == 0; ++m) {
    const Case c{m, kernels_.nr, kInner, false, false, CForm::column};
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    ASSERT_EQ(plan.way, Way::items);
    if (m % plan.schedule.item_rows >= plan.schedule.tile_rows) continue;
    last_rows = m % plan.schedule.item_rows;
    if (last_rows != 0) check_guards(c);
  }
  EXPECT_GT(last_rows, 0);
}

/// Which may be applied to sums that lie in Y, up to its last element.
TEST_P(GemmGuards, AreNotTouchedByFactors) {
  const std::int64_t lanes = kernels_.lanes;
  for (const CForm form : {CForm::none, CForm::scalar, CForm::row, CForm::column, CForm::full}) {
    for (const std::int64_t m : {1, 3, 9, 150}) {
      for (const std::int64_t n : {std::int64_t{2}, lanes / 2 + 1, lanes + 1, 2 * lanes, 8 * lanes + 3}) {
        check_guards({m, n, 7, false, false, form, 0.5f, -2.0f});
        check_guards({m, n, 2, false, false, form, 3.0f, 1.0f});
      }
    }
  }
}

TEST_P(GemmGuards, AreNotTouchedForRandomProducts) {
  constexpr int kProducts = 300;
  std::mt19937_64 random(binet::testing::seed(20261125));
  // Many short extents, a few long ones.
  const auto extent = [&random](std::int64_t most) {
    const std::int64_t bound = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound));
  };
  for (int i = 0; i < kProducts && !HasFailure(); ++i) {
    Case c{extent(60), extent(200), extent(300), random() % 3 == 0, random() % 3 == 0};
    vary(c);
    check_guards(c);
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
