// The kernels: every type × target of this machine × pattern × count × misalignment against the reference, and the
// reference against arithmetic that cannot be wrong.
#include "kernels/elementwise/elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "kernels/elementwise/rows_testing.h"

namespace binet::kernels::elementwise {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): binet::kernels::elementwise::testing

TEST(Kernels, EqualTheReferenceForCountsAroundTheLaneCounts) {
  Random random(1);
  for_each_kernel([&](ElementType type, RowsFunction kernel, const Pattern& pattern) {
    std::vector<std::int64_t> counts(70);
    std::iota(counts.begin(), counts.end(), 0);
    for (const std::int64_t lanes : {64, 128, 256, 512}) {
      for (const std::int64_t count : {-1, 0, 1, 3}) counts.push_back(lanes + count);
    }
    for (const std::int64_t count : counts) check_rows(type, kernel, make_rows(pattern, 1, count), 0, 0, 0, random);
  });
}

TEST(Kernels, EqualTheReferenceAtAnyAlignment) {
  Random random(2);
  for_each_kernel([&](ElementType type, RowsFunction kernel, const Pattern& pattern) {
    for (const std::size_t shift : {1, 2, 3, 4, 7, 8, 15, 16, 31, 33, 63}) {
      check_rows(type, kernel, make_rows(pattern, 1, 131), shift, 0, 0, random);
      check_rows(type, kernel, make_rows(pattern, 1, 131), 0, shift, 1, random);
      check_rows(type, kernel, make_rows(pattern, 1, 131), 0, 0, shift, random);
      check_rows(type, kernel, make_rows(pattern, 1, 1024), shift, 0, shift, random);
      check_rows(type, kernel, make_rows(pattern, 3, 601), 0, 0, shift, random);
    }
  });
}

TEST(Kernels, EqualTheReferenceOverManyRows) {
  Random random(3);
  for_each_kernel([&](ElementType type, RowsFunction kernel, const Pattern& pattern) {
    for (const std::int64_t elements : {1, 3, 17, 64, 100, 130, 700, 1100}) {
      check_rows(type, kernel, make_rows(pattern, 7, elements), 0, 0, 0, random);
      Rows repeated = make_rows(pattern, 5, elements);
      repeated.a_row_step = 0;
      check_rows(type, kernel, repeated, 0, 0, 0, random);
      repeated = make_rows(pattern, 5, elements);
      repeated.b_row_step = 0;
      check_rows(type, kernel, repeated, 0, 0, 0, random);
    }
  });
}

TEST(Kernels, EqualTheReferenceWhenStreaming) {
  Random random(4);
  for_each_kernel([&](ElementType type, RowsFunction kernel, const Pattern& pattern) {
    for (const std::size_t shift : {0, 1, 2, 8, 16, 24, 60}) {
      for (const std::int64_t elements : {1, 3, 16, 31, 33, 63, 64, 65, 100, 1024, 1500, 4099}) {
        const Rows rows = make_rows(pattern, 5, elements);
        check_rows(type, kernel, rows, 0, 0, shift, random, Written::streamed);
      }
    }
  });
}

TEST(Kernels, MayOverwriteAnOperand) {
  Random random(5);
  for_each_kernel([&](ElementType type, RowsFunction kernel, const Pattern& pattern) {
    for (std::int64_t count = 1; count < 3000; count += 1 + count / 16) {
      const Rows rows = make_rows(pattern, 1, count);
      const auto elements = static_cast<std::size_t>(count);
      Bytes a = random_elements(type, elements, random);
      Bytes b = random_elements(type, elements, random);
      Bytes expected(a.size());
      reference_kernel(Operation::multiply, type)(rows, a.data(), b.data(), expected.data());
      std::byte* const y = a.data();
      kernel(rows, a.data(), b.data(), y);
      EXPECT_FALSE(first_difference(type, y, expected.data(), elements)) << count << " elements";
    }
  });
}

TEST(Kernels, MultiplyAllPairsOfBytes) {
  constexpr std::size_t kPairs = 256 * 256;
  Bytes a(kPairs);
  Bytes b(kPairs);
  Bytes expected(kPairs);
  for (std::size_t i = 0; i < kPairs; ++i) {
    a[i] = static_cast<std::byte>(i % 256);
    b[i] = static_cast<std::byte>(i / 256);
    expected[i] = static_cast<std::byte>((i % 256) * (i / 256) % 256);
  }
  for (const Target& target : supported_targets()) {
    for (const ElementType type : {ElementType::i8, ElementType::u8}) {
      Bytes y(kPairs);
      find_kernel(Operation::multiply, type, target)
          .rows(make_rows(kPatterns[0], 1, kPairs), a.data(), b.data(), y.data());
      EXPECT_EQ(y, expected) << label(type, target, kPatterns[0]);
    }
  }
}

TEST(Kernels, MultiplyAll16BitFloatsByAwkwardOnes) {
  constexpr std::size_t kAll = 65536;
  std::vector<std::uint16_t> all(kAll);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const auto* const a = reinterpret_cast<const std::byte*>(all.data());
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    for (const std::uint16_t awkward : awkward_16_bit_floats(type)) {
      const auto* const b = reinterpret_cast<const std::byte*>(&awkward);
      const std::vector<std::uint16_t> repeated(kAll, awkward);
      Bytes expected(kAll * 2);
      Bytes y(kAll * 2);
      reference_kernel(Operation::multiply, type)(make_rows(kPatterns[1], 1, kAll), a, b, expected.data());
      for (const Target& target : supported_targets()) {
        const RowsFunction kernel = find_kernel(Operation::multiply, type, target).rows;
        kernel(make_rows(kPatterns[0], 1, kAll), a, reinterpret_cast<const std::byte*>(repeated.data()), y.data());
        const auto vector_difference = first_difference(type, y.data(), expected.data(), kAll);
        EXPECT_FALSE(vector_difference) << label(type, target, kPatterns[0]) << std::hex << ": " << awkward << " x "
                                        << *vector_difference;
        kernel(make_rows(kPatterns[1], 1, kAll), a, b, y.data());
        const auto scalar_difference = first_difference(type, y.data(), expected.data(), kAll);
        EXPECT_FALSE(scalar_difference) << label(type, target, kPatterns[1]) << std::hex << ": " << awkward << " x "
                                        << *scalar_difference;
      }
    }
  }
}

TEST(Kernels, MultiplyAllF16ByManyMore) {
  constexpr std::size_t kAll = 65536;
  constexpr std::size_t kStride = 251;
  std::vector<std::uint16_t> all(kAll);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const auto* const a = reinterpret_cast<const std::byte*>(all.data());
  const Rows rows = make_rows(kPatterns[1], 1, kAll);
  Bytes expected(kAll * 2);
  Bytes y(kAll * 2);
  for (std::size_t i = 0; i < kAll; i += kStride) {
    const auto* const b = reinterpret_cast<const std::byte*>(&all[i]);
    reference_kernel(Operation::multiply, ElementType::f16)(rows, a, b, expected.data());
    for (const Target& target : supported_targets()) {
      find_kernel(Operation::multiply, ElementType::f16, target).rows(rows, a, b, y.data());
      EXPECT_FALSE(first_difference(ElementType::f16, y.data(), expected.data(), kAll)) << target.name << ", " << i;
    }
  }
}

TEST(Kernels, MultiplyAllBFloat16SignificandsAroundTheSmallestNumbers) {
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
  // Exponents of the products from 2^-140, under all of bf16, to 2^-120, the first with no subnormal near.
  for (int exponent = -140; exponent <= -120; ++exponent) {
    for (unsigned i = 0; i < 128 * 128; ++i) {
      a.push_back(static_cast<std::uint16_t>(((127u - 60u) << 7) + i / 128));
      b.push_back(static_cast<std::uint16_t>((static_cast<unsigned>(127 + 60 + exponent) << 7) + i % 128));
    }
  }
  const auto bytes = [](const std::vector<std::uint16_t>& v) { return reinterpret_cast<const std::byte*>(v.data()); };
  const Rows rows = make_rows(kPatterns[0], 1, static_cast<std::int64_t>(a.size()));
  Bytes expected(a.size() * 2);
  reference_kernel(Operation::multiply, ElementType::bf16)(rows, bytes(a), bytes(b), expected.data());
  for (const Target& target : supported_targets()) {
    Bytes y(a.size() * 2);
    find_kernel(Operation::multiply, ElementType::bf16, target).rows(rows, bytes(a), bytes(b), y.data());
    EXPECT_FALSE(first_difference(ElementType::bf16, y.data(), expected.data(), a.size())) << target.name;
  }
}

TEST(Kernels, MultiplyRandom16BitFloats) {
  Random random(6);
  constexpr std::size_t kCount = 1 << 18;
  for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
    const Bytes a = random_elements(type, kCount, random);
    const Bytes b = random_elements(type, kCount, random);
    const Rows rows = make_rows(kPatterns[0], 1, kCount);
    Bytes expected(kCount * 2);
    reference_kernel(Operation::multiply, type)(rows, a.data(), b.data(), expected.data());
    for (const Target& target : supported_targets()) {
      Bytes y(kCount * 2);
      find_kernel(Operation::multiply, type, target).rows(rows, a.data(), b.data(), y.data());
      EXPECT_FALSE(first_difference(type, y.data(), expected.data(), kCount)) << label(type, target, kPatterns[0]);
    }
  }
}

/// One product by the reference, from and to a C++ type.
template <class T>
T reference_product(T a, T b) {
  const auto bytes = [](T& value) { return reinterpret_cast<std::byte*>(&value); };
  T y{};
  reference_kernel(Operation::multiply, element_type_of<T>)(make_rows(kPatterns[0], 1, 1), bytes(a), bytes(b),
                                                            bytes(y));
  return y;
}

TEST(Reference, WrapsIntegers) {
  EXPECT_EQ(reference_product<std::int8_t>(-128, -1), -128);
  EXPECT_EQ(reference_product<std::int8_t>(100, 3), 44);
  EXPECT_EQ(reference_product<std::uint8_t>(255, 255), 1);
  EXPECT_EQ(reference_product<std::int16_t>(-32768, -1), -32768);
  EXPECT_EQ(reference_product<std::uint16_t>(65535, 65535), 1);
  EXPECT_EQ(reference_product<std::int32_t>(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(reference_product<std::uint32_t>(0xFFFFFFFF, 0xFFFFFFFF), 1u);
  EXPECT_EQ(reference_product<std::int64_t>(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(reference_product<std::int64_t>(0x100000001, 0x100000001), 0x200000001);
  EXPECT_EQ(reference_product<std::uint64_t>(UINT64_MAX, UINT64_MAX), 1u);
}

TEST(Reference, RoundsFloatsOnceAndKeepsSubnormals) {
  EXPECT_EQ(reference_product(0x1p-126f, 0x1p-23f), 0x1p-149f);
  EXPECT_EQ(reference_product(0x1p-1022, 0x1p-52), 0x1p-1074);
  const auto f16 = [](double x) { return Float16::from_double(x); };
  EXPECT_EQ(reference_product(f16(0x1p-14), f16(0x1p-10)).bits, 0x0001);
  EXPECT_EQ(reference_product(f16(0x1p-14), f16(0x1p-11)).bits, 0x0000);    // half of the smallest: a tie, to even
  EXPECT_EQ(reference_product(f16(0x1.8p-14), f16(0x1p-10)).bits, 0x0002);  // 1.5 units: a tie, to even
  EXPECT_EQ(reference_product(f16(255.875), f16(256)).bits, 0x7BFF);        // 65504
  EXPECT_EQ(reference_product(f16(256), f16(256)).bits, 0x7C00);
  const auto bf16 = [](double x) { return BFloat16::from_double(x); };
  EXPECT_EQ(reference_product(bf16(0x1p-126), bf16(0x1p-7)).bits, 0x0001);
  EXPECT_EQ(reference_product(bf16(0x1.02p-120), bf16(0x1.02p-14)).bits, 0x0001);  // just above half of the smallest
  EXPECT_EQ(reference_product(bf16(0x1p-120), bf16(0x1p-14)).bits, 0x0000);        // half: a tie, to even
}

}  // namespace
}  // namespace binet::kernels::elementwise
