// Room: kernels. For tests of the kernels by themselves: rows at any place, against the reference.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/open_line.h"
#include "kernels/elementwise/test_values.h"

namespace binet::kernels::elementwise::testing {

struct Pattern {
  const char* name;
  std::int64_t b_step;
};
inline constexpr Pattern kPatterns[] = {{"vector x vector", 1}, {"vector x scalar", 0}};

inline std::string label(ElementType type, const Target& target, const Pattern& pattern) {
  return std::string(to_string(type)) + " on " + std::string(target.name) + ", " + pattern.name;
}

/// Rows with the steps of a plan: a row moves an operand on by what it has read.
inline Rows make_rows(const Pattern& pattern, std::int64_t rows, std::int64_t elements) {
  Rows result;
  result.rows = rows;
  result.elements = elements;
  result.b_step = pattern.b_step;
  result.a_row_step = elements;
  result.b_row_step = pattern.b_step != 0 ? elements : 1;
  return result;
}

inline constexpr std::byte kCanary{0xA5};
inline constexpr std::size_t kCanaries = 80;

/// How y is written: in two calls that stream, or to where the first operand is.
enum class Written { stored, streamed, streamed_from_far, in_place_from_far };

/// Runs `kernel` with a, b and y at these distances from where a cache line begins or might, canaries around y;
/// compares with the reference.
inline void check_rows(ElementType type, RowsFunction kernel, const Rows& rows, std::size_t a_shift,
                       std::size_t b_shift, std::size_t y_shift, Random& random, Written written = Written::stored) {
  const std::size_t size = byte_size(type);
  const auto count = static_cast<std::size_t>(rows.rows * rows.elements);
  const auto operand = [&](std::size_t shift) {
    Bytes bytes = random_elements(type, count + 1, random);
    bytes.insert(bytes.begin(), shift, std::byte{0});
    // To the element: a read beyond the last one is then the sanitizer's to see.
    bytes.resize(shift + std::max<std::size_t>(count, 1) * size);
    bytes.shrink_to_fit();
    return bytes;
  };
  const Bytes a = operand(a_shift);
  const Bytes b = operand(b_shift);
  Bytes expected(count * size);
  reference_kernel(Operation::multiply, type)(rows, a.data() + a_shift, b.data() + b_shift, expected.data());

  Bytes y(kCanaries + kLineBytes + y_shift + count * size + kCanaries, kCanary);
  std::byte* const behind_canaries = y.data() + kCanaries;
  std::byte* const start = behind_canaries + (kLineBytes - bytes_in_line(behind_canaries)) % kLineBytes + y_shift;
  if (written == Written::streamed || written == Written::streamed_from_far) {
    // In two calls: the second one goes on with the line that the first one left.
    OpenLine line(start);
    Rows first = rows;
    first.stream = &line;
    first.is_far = written == Written::streamed_from_far;
    first.rows /= 2;
    Rows second = first;
    second.rows = rows.rows - first.rows;
    const auto moved = [&](std::int64_t step) { return static_cast<std::size_t>(first.rows * step) * size; };
    kernel(first, a.data() + a_shift, b.data() + b_shift, start);
    kernel(second, a.data() + a_shift + moved(rows.a_row_step), b.data() + b_shift + moved(rows.b_row_step),
           start + moved(rows.elements));
    line.close();
  } else if (written == Written::in_place_from_far) {
    Rows far = rows;
    far.is_far = true;
    std::copy_n(a.data() + a_shift, count * size, start);
    kernel(far, start, b.data() + b_shift, start);
  } else {
    kernel(rows, a.data() + a_shift, b.data() + b_shift, start);
  }
  if (const auto i = first_difference(type, start, expected.data(), count)) {
    ADD_FAILURE() << "element " << *i << " of " << count << " differs; shifts " << a_shift << ' ' << b_shift << ' '
                  << y_shift << ", written " << static_cast<int>(written);
  }
  EXPECT_TRUE(std::all_of(y.data(), start, [](std::byte c) { return c == kCanary; })) << "wrote before y";
  EXPECT_TRUE(std::all_of(start + count * size, y.data() + y.size(), [](std::byte c) { return c == kCanary; }))
      << "wrote behind y, " << count << " elements";
}

template <class Check>
void for_each_kernel(const Check& check) {
  for (const Target& target : supported_targets()) {
    for (const ElementType type : kTypes) {
      for (const Pattern& pattern : kPatterns) {
        SCOPED_TRACE(label(type, target, pattern));
        check(type, find_kernel(Operation::multiply, type, target).rows, pattern);
      }
    }
  }
}

}  // namespace binet::kernels::elementwise::testing
