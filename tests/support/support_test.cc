// The tests' own tools: a comparison that lets everything pass would make every other test green.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "support/child_process.h"
#include "support/protobuf.h"
#include "support/temporary_directory.h"
#include "support/tensor_file.h"

namespace binet::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
TensorFile tensor(const std::string& type, std::vector<std::int64_t> shape, const std::vector<T>& values) {
  TensorFile result{type, std::move(shape), std::string(values.size() * sizeof(T), '\0')};
  if (!values.empty()) std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

TensorFile f64(const std::vector<double>& values) {
  return tensor("f64", {static_cast<std::int64_t>(values.size())}, values);
}

TEST(Difference, ComparesBits) {
  EXPECT_EQ(difference(f64({1, kInf, -0.0}), f64({1, kInf, -0.0})), "");
  EXPECT_EQ(difference(f64({kNan}), f64({-kNan})), "");
  EXPECT_EQ(difference(f64({1, 2, 0.0}), f64({1, 2, -0.0})),
            "1 of 3 elements differ, first at (2): -0, 0 wanted, bit for bit");
  EXPECT_NE(difference(f64({1}), f64({std::nextafter(1.0, 2.0)})), "");
  EXPECT_NE(difference(f64({1}), f64({kNan})), "");
  EXPECT_EQ(difference(tensor<std::uint16_t>("f16", {1}, {0x7E00}), tensor<std::uint16_t>("f16", {1}, {0xFC01})), "");
  EXPECT_NE(difference(tensor<std::uint16_t>("f16", {1}, {0x7E00}), tensor<std::uint16_t>("f16", {1}, {0x7C00})), "");
  EXPECT_EQ(difference(tensor<std::uint16_t>("bf16", {1}, {0x7FC0}), tensor<std::uint16_t>("bf16", {1}, {0xFF81})), "");
  EXPECT_NE(difference(tensor<std::uint16_t>("u16", {1}, {0x7E00}), tensor<std::uint16_t>("u16", {1}, {0xFC01})), "");
}

TEST(Difference, ComparesTypesAndShapes) {
  EXPECT_EQ(difference(tensor<int>("i32", {1}, {1}), tensor<int>("u32", {1}, {1})), "type u32, i32 wanted");
  EXPECT_EQ(difference(tensor<int>("i32", {}, {1}), tensor<int>("i32", {1}, {1})), "shape (1), () wanted");
  EXPECT_EQ(difference(tensor<int>("i32", {0, 2}, {}), tensor<int>("i32", {0, 2}, {})), "");
  EXPECT_NE(difference(tensor<int>("i32", {0, 2}, {}), tensor<int>("i32", {0, 3}, {})), "");
}

TEST(Difference, AllowsATolerance) {
  const TensorFile quarter = f64({0.25});
  EXPECT_EQ(difference(f64({1}), f64({1.25}), &quarter), "");
  EXPECT_NE(difference(f64({1}), f64({1.26}), &quarter), "");
  EXPECT_EQ(difference(f64({kNan}), f64({kNan}), &quarter), "");
  EXPECT_EQ(difference(f64({kInf}), f64({kInf}), &quarter), "");
  EXPECT_NE(difference(f64({kInf}), f64({-kInf}), &quarter), "");
  EXPECT_NE(difference(f64({1}), f64({kNan}), &quarter), "");
  EXPECT_NE(difference(f64({1e308}), f64({kInf}), &quarter), "");
  const TensorFile none = f64({0});
  EXPECT_EQ(difference(f64({0.0}), f64({-0.0}), &none), "");
  EXPECT_NE(difference(f64({1}), f64({std::nextafter(1.0, 2.0)}), &none), "");
  EXPECT_NE(difference(f64({1, 2}), f64({1, 2}), &none), "") << "a tolerance of another shape";
  const auto two_and_a_half = tensor<std::uint16_t>("f16", {1}, {0x4100});
  const auto two_and_three_quarters = tensor<std::uint16_t>("f16", {1}, {0x4180});
  EXPECT_EQ(difference(two_and_a_half, two_and_three_quarters, &quarter), "");
  EXPECT_NE(difference(two_and_a_half, two_and_three_quarters, &none), "");
}

TEST(TensorProto, ReadsRawAndTypedData) {
  using std::string_literals::operator""s;
  const TensorFile raw = parse_tensor_proto("\x0A\x01\x02\x10\x03\x4A\x02\x01\xFF"s);  // packed dims 2, i8, raw 1 -1
  EXPECT_EQ(difference(raw, tensor<std::int8_t>("i8", {2}, {1, -1})), "");
  const TensorFile typed =
      parse_tensor_proto("\x08\x01\x08\x02\x10\x05\x2A\x0B\x07\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s);
  EXPECT_EQ(difference(typed, tensor<std::int16_t>("i16", {1, 2}, {7, -1})), "");
  const TensorFile empty = parse_tensor_proto("\x08\x00\x10\x01"s);
  EXPECT_EQ(difference(empty, tensor<float>("f32", {0}, {})), "");
  EXPECT_THROW(parse_tensor_proto("\x0A\x01\x02\x10\x03\x4A\x01\x01"s), std::runtime_error) << "too little data";
  EXPECT_THROW(parse_tensor_proto("\x10\x03\x4A\x05\x01"s), std::runtime_error) << "cut short";
  EXPECT_THROW(parse_tensor_proto("\x10\x63"s), std::runtime_error) << "type 99";
  EXPECT_THROW(parse_tensor_proto("\x0B"s), std::runtime_error) << "wire type 3";
}

TEST(Npy, ReadsAHeaderOfEveryVersion) {
  const std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 2), }\n";
  const std::string data("\x05\0\0\0\xFF\xFF\xFF\xFF", 8);
  const auto length = static_cast<char>(header.size());
  const std::string version1 = "\x93NUMPY\x01" + std::string(1, '\0') + length + std::string(1, '\0') + header + data;
  const std::string version2 = "\x93NUMPY\x02" + std::string(1, '\0') + length + std::string(3, '\0') + header + data;
  const TensorFile wanted = tensor<int>("i32", {1, 2}, {5, -1});
  EXPECT_EQ(difference(wanted, parse_npy(version1)), "");
  EXPECT_EQ(difference(wanted, parse_npy(version2)), "");
  EXPECT_THROW(parse_npy(version1.substr(0, version1.size() - 1)), std::runtime_error);
  EXPECT_THROW(parse_npy(version1.substr(0, 20)), std::runtime_error);
  EXPECT_THROW(parse_npy("PK"), std::runtime_error);
}

TEST(ChildProcess, SaysHowItEnded) {
  const TemporaryDirectory folder;
  const auto shell = [&](const std::string& script, std::chrono::milliseconds limit = std::chrono::seconds(10)) {
    return run({"/bin/sh", "-c", script}, folder.path(), limit);
  };
  const Finished both = shell("echo one; echo two >&2; cat; exit 3");
  EXPECT_EQ(both.exit_status, 3);
  EXPECT_EQ(both.signal, 0);
  EXPECT_EQ(both.out, "one\n");
  EXPECT_EQ(both.err, "two\n");
  EXPECT_EQ(lines_of(shell("pwd").out), std::vector<std::string>{folder.path().string()});
  EXPECT_EQ(shell("kill -SEGV $$").signal, SIGSEGV);
  EXPECT_TRUE(shell("exec sleep 600", std::chrono::milliseconds(50)).timed_out);
  EXPECT_EQ(shell("head -c 3000000 /dev/zero; exit 1").exit_status, 1) << "more than a pipe and the limit hold";
  EXPECT_THROW((void)run({"/no/such/program"}, folder.path()), std::system_error);
}

TEST(ChildProcess, LinesLeaveOutBlankOnes) {
  EXPECT_EQ(lines_of("one\n\n  \ntwo"), (std::vector<std::string>{"one", "two"}));
}

}  // namespace
}  // namespace binet::test
