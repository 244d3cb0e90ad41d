// Rows from far away: which become two runs, and that every kernel computes them as it does others.
#include "kernels/elementwise/side_by_side.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/elementwise/rows_testing.h"

namespace binet::kernels::elementwise {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): binet::kernels::elementwise::testing

/// Loops that write no more than which of them was there: 1 for rows one by one, 2 and 3 for the first and second run.
class Traces {
 public:
  /// The elements of y, bytes, that begin `shift` behind a line.
  Traces(std::int64_t shift, const Rows& rows) : y_(static_cast<std::size_t>(rows.rows * rows.elements + 128)) {
    std::byte* const y = y_.data() + (kLineBytes - bytes_in_line(y_.data())) % kLineBytes + shift;
    calls_ = 0;
    Rows far = rows;
    far.is_far = true;
    take_far_rows({&one_by_one, &side_by_side, 1, 1, 1}, far, y, y, y);
    begin_ = y;
  }

  [[nodiscard]] int calls() const { return calls_; }
  /// What has written these elements; 0 where it is not one alone.
  [[nodiscard]] int of(std::int64_t from, std::int64_t count) const {
    const bool are_one =
        std::all_of(begin_ + from, begin_ + from + count, [&](std::byte c) { return c == begin_[from]; });
    return are_one ? static_cast<int>(begin_[from]) : 0;
  }

 private:
  static void mark(const std::byte* a, const std::byte* b, std::byte* y, std::int64_t count, int with) {
    EXPECT_EQ(a, y);
    EXPECT_EQ(b, y);
    for (std::int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(y[i], std::byte{0}) << "twice";
      y[i] = static_cast<std::byte>(with);
    }
  }
  static void one_by_one(const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
    EXPECT_FALSE(rows.is_far);
    mark(a, b, y, rows.rows * rows.elements, 1);
  }
  static void side_by_side(const Runs& runs, std::size_t elements) {
    ++calls_;
    int with = 2;
    for (const Places& run : runs) {
      EXPECT_EQ(bytes_in_line(run.y), 0);
      EXPECT_EQ(elements % kLineBytes, 0u);
      mark(run.a, run.b, run.y, static_cast<std::int64_t>(elements), with++);
    }
  }

  inline static int calls_ = 0;
  std::vector<std::byte> y_;
  std::byte* begin_ = nullptr;
};

TEST(SideBySide, HalvesALongRow) {
  const Rows row = make_rows(kPatterns[0], 1, 40000);
  const Traces at_line(0, row);
  EXPECT_EQ(at_line.calls(), 1);
  EXPECT_EQ(at_line.of(0, 19968), 2);
  EXPECT_EQ(at_line.of(19968, 19968), 3);
  EXPECT_EQ(at_line.of(39936, 64), 1);
  const Traces behind_line(10, row);
  EXPECT_EQ(behind_line.of(0, 54), 1);
  EXPECT_EQ(behind_line.of(54, 19968), 2);
  EXPECT_EQ(behind_line.of(54 + 19968, 19968), 3);
  EXPECT_EQ(behind_line.of(54 + 39936, 10), 1);
}

TEST(SideBySide, HalvesEachOfSomeLongRows) {
  const Traces rows(0, make_rows(kPatterns[0], 3, 32768));
  EXPECT_EQ(rows.calls(), 3);
  for (const std::int64_t row : {0, 1, 2}) {
    EXPECT_EQ(rows.of(row * 32768, 16384), 2);
    EXPECT_EQ(rows.of(row * 32768 + 16384, 16384), 3);
  }
}

TEST(SideBySide, PairsRowsOfWholeLines) {
  const Traces rows(0, make_rows(kPatterns[0], 65, 512));
  EXPECT_EQ(rows.calls(), 32);
  EXPECT_EQ(rows.of(0, 32 * 512), 2);
  EXPECT_EQ(rows.of(32 * 512, 32 * 512), 3);
  EXPECT_EQ(rows.of(64 * 512, 512), 1);
}

TEST(SideBySide, LeavesOthersAsTheyAre) {
  struct Case {
    const char* why;
    std::int64_t shift, rows, elements;
  };
  for (const Case& c : {Case{"runs that are too short", 0, 62, 512}, Case{"rows that are", 0, 512, 192},
                        Case{"y begins no line", 1, 65, 512}, Case{"rows are no whole lines", 0, 65, 520},
                        Case{"a single row", 0, 1, 32704}}) {
    const Traces rows(c.shift, make_rows(kPatterns[0], c.rows, c.elements));
    EXPECT_EQ(rows.calls(), 0) << c.why;
    EXPECT_EQ(rows.of(0, c.rows * c.elements), 1) << c.why;
  }
}

TEST(SideBySide, EqualsTheReferenceInLongRows) {
  Random random(6);
  for_each_kernel([&](ElementType type, RowsFunction kernel, const Pattern& pattern) {
    const auto size = static_cast<std::int64_t>(byte_size(type));
    for (const std::int64_t bytes : {32 * 1024, 33 * 1024 + 72, 40000}) {
      for (const std::size_t shift : {0, 8, 56}) {
        const Rows rows = make_rows(pattern, 2, bytes / size);
        check_rows(type, kernel, rows, 0, 8, shift, random, Written::streamed_from_far);
        check_rows(type, kernel, make_rows(pattern, 1, bytes / size), 0, 8, shift, random, Written::in_place_from_far);
      }
    }
    check_rows(type, kernel, make_rows(pattern, 1, 40000 / size), 0, 0, 1, random, Written::in_place_from_far);
  });
}

TEST(SideBySide, EqualsTheReferenceInPairsOfRows) {
  Random random(7);
  for_each_kernel([&](ElementType type, RowsFunction kernel, const Pattern& pattern) {
    const auto size = static_cast<std::int64_t>(byte_size(type));
    for (const std::int64_t bytes : {256, 320, 1024 + 64}) {
      const std::int64_t in_a_call = 2 * (16 * 1024 / bytes + 1) + 1;
      Rows rows = make_rows(pattern, 2 * in_a_call, bytes / size);
      check_rows(type, kernel, rows, 0, 8, 0, random, Written::streamed_from_far);
      rows.b_row_step = 0;
      check_rows(type, kernel, rows, 8, 0, 0, random, Written::streamed_from_far);
    }
  });
}

}  // namespace
}  // namespace binet::kernels::elementwise
