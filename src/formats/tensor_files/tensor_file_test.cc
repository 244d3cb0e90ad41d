#include "binet/tensor_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/element_types.h"
#include "binet/error.h"
#include "formats/tensor_files/npy.h"

namespace binet {
namespace {

namespace fs = std::filesystem;

class TensorFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "binet-tensors-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(TensorFiles, RoundTripOfEveryTypeAndRank) {
  for (const Shape& shape : std::vector<Shape>{{}, {1}, {5}, {2, 3}, {0}, {2, 0, 3}, {1, 2, 3, 4, 5}}) {
    for (std::size_t t = 0; t <= static_cast<std::size_t>(ElementType::boolean); ++t) {
      Tensor tensor = Tensor::allocate(static_cast<ElementType>(t), shape);
      for (std::size_t i = 0; i < tensor.size_bytes(); ++i) tensor.mutable_bytes()[i] = static_cast<std::byte>(i % 2);
      for (const char* ending : {".pb", ".npy"}) {
        const fs::path path = folder_ / (std::string("x") + ending);
        write_tensor_file(path, "name", tensor);
        TensorFile file = read_tensor_file(path);
        EXPECT_EQ(file.name, std::string(ending) == ".pb" ? "name" : "");
        if (tensor.type() == ElementType::bf16 && std::string(ending) == ".npy") {
          EXPECT_EQ(file.value.type(), ElementType::u16);
          file.value = bits_as(file.value, ElementType::bf16);
        }
        EXPECT_EQ(file.value.type(), tensor.type());
        EXPECT_EQ(file.value.shape(), tensor.shape());
        ASSERT_EQ(file.value.size_bytes(), tensor.size_bytes());
        if (tensor.size_bytes() != 0) {
          EXPECT_EQ(std::memcmp(file.value.bytes().data(), tensor.bytes().data(), tensor.size_bytes()), 0);
        }
      }
    }
  }
}

TEST_F(TensorFiles, WritesWholeFilesOrNone) {
  EXPECT_THROW(write_tensor_file(folder_ / "no" / "x.pb", "x", Tensor::from<float>({1}, {1})), Error);
  EXPECT_THROW(write_tensor_file(folder_ / "x.txt", "x", Tensor::from<float>({1}, {1})), Error);
  fs::create_directory(folder_ / "x.npy");
  EXPECT_THROW(write_tensor_file(folder_ / "x.npy", "x", Tensor::from<float>({1}, {1})), Error);
  std::size_t left = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) ++left;
  EXPECT_EQ(left, 1u);
}

/// A .npy file of version 1.0 with this header text.
std::string npy(const std::string& header, const std::string& data) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

Tensor read_npy(const std::string& file) { return npy::read("x.npy", std::as_bytes(std::span(file)), nullptr); }

TEST(Npy, ReadsColumnMajorAndBigEndian) {
  const Tensor columns = read_npy(
      npy("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", std::string("\1\0\4\0\2\0\5\0\3\0\6\0", 12)));
  const std::vector<std::int16_t> expected = {1, 2, 3, 4, 5, 6};
  EXPECT_TRUE(std::ranges::equal(columns.values<std::int16_t>(), expected));
  const Tensor big =
      read_npy(npy("{'shape': (2,), 'fortran_order': False, 'descr': '>i2'}\n", std::string("\1\0\0\2", 4)));
  EXPECT_EQ(big.values<std::int16_t>()[0], 256);
  EXPECT_EQ(big.values<std::int16_t>()[1], 2);
}

TEST(Npy, RefusesWhatIsNotWellFormed) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  EXPECT_EQ(read_npy(npy(good, "abcd")).element_count(), 1u);
  const std::vector<std::string> bad = {
      "",
      "\x93NUMPY",
      npy(good, "abc"),
      npy(good, "abcde"),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1", "abcd"),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "abcd"),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "abcd"),
      npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "abcd"),
      npy("{'descr': '<f4', 'fortran_order': False}", "abcd"),
      npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "abcd"),
      npy("{'descr': 'O', 'fortran_order': False, 'shape': (1,)}", "abcd"),
      npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"),
      npy(good + "x", "abcd"),
      npy("{'extra': '<f4', 'fortran_order': False, 'shape': (1,)}", "abcd"),
  };
  for (const std::string& file : bad) EXPECT_THROW(static_cast<void>(read_npy(file)), Error) << file;
  const std::string whole = npy(good, "abcd");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut(whole.data(), size);
    EXPECT_THROW(static_cast<void>(read_npy(cut)), Error) << size;
  }
}

TEST(BitsAs, NeedsTheSameSize) {
  EXPECT_THROW(static_cast<void>(bits_as(Tensor::from<float>({1}, {1}), ElementType::f16)), Error);
  EXPECT_EQ(bits_as(Tensor::from<float>({1}, {1}), ElementType::i32).values<std::int32_t>()[0], 0x3F800000);
}

}  // namespace
}  // namespace binet
