// Addition: every type × target of this machine × pattern × count against the reference, and the reference against
// arithmetic that cannot be wrong. What all operations share is tested with the product (elementwise_test.cc).
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/test_values.h"

namespace binet::kernels::elementwise {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): binet::kernels::elementwise::testing

TEST(Add, EqualsTheReference) {
  Random random(7);
  for (const Target& target : supported_targets()) {
    for (const ElementType type : kTypes) {
      const RowsFunction kernel = find_kernel(Operation::add, type, target).rows;
      for (const std::int64_t b_step : {1, 0}) {
        for (const std::int64_t count : {1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 65, 127, 130, 4096}) {
          SCOPED_TRACE(std::string(to_string(type)) + " on " + std::string(target.name) + ", " + std::to_string(count) +
                       " elements");
          Rows rows;
          rows.elements = count;
          rows.b_step = b_step;
          const auto elements = static_cast<std::size_t>(count);
          const Bytes a = random_elements(type, elements, random);
          const Bytes b = random_elements(type, elements, random);
          Bytes expected(a.size());
          Bytes y(a.size());
          reference_kernel(Operation::add, type)(rows, a.data(), b.data(), expected.data());
          kernel(rows, a.data(), b.data(), y.data());
          EXPECT_FALSE(first_difference(type, y.data(), expected.data(), elements));
        }
      }
    }
  }
}

/// One sum by the reference, from and to a C++ type.
template <class T>
T reference_sum(T a, T b) {
  const auto bytes = [](T& value) { return reinterpret_cast<std::byte*>(&value); };
  T y{};
  Rows one;
  one.elements = 1;
  reference_kernel(Operation::add, element_type_of<T>)(one, bytes(a), bytes(b), bytes(y));
  return y;
}

TEST(Add, WrapsIntegersAndRoundsFloatsOnce) {
  EXPECT_EQ(reference_sum<std::int8_t>(127, 1), -128);
  EXPECT_EQ(reference_sum<std::uint16_t>(65535, 2), 1);
  EXPECT_EQ(reference_sum<std::int32_t>(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(reference_sum<std::int64_t>(INT64_MIN, -1), INT64_MAX);
  EXPECT_EQ(reference_sum(1.0f, 0x1p-24f), 1.0f);
  const auto f16 = [](double x) { return Float16::from_double(x); };
  EXPECT_EQ(reference_sum(f16(2048), f16(1)).bits, f16(2048).bits);  // a tie, to even
  EXPECT_EQ(reference_sum(f16(2048), f16(1.5)).bits, f16(2050).bits);
  EXPECT_EQ(reference_sum(f16(65504), f16(16)).bits, 0x7C00);
  EXPECT_EQ(reference_sum(f16(0x1p-24), f16(0x1p-24)).bits, 0x0002);
  const auto bf16 = [](double x) { return BFloat16::from_double(x); };
  EXPECT_EQ(reference_sum(bf16(0x1p-133), bf16(0x1p-133)).bits, 0x0002);
  EXPECT_EQ(reference_sum(bf16(256), bf16(1)).bits, bf16(256).bits);  // a tie, to even
}

}  // namespace
}  // namespace binet::kernels::elementwise
