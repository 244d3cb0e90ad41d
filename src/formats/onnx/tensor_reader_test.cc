#include "formats/onnx/tensor_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "binet/error.h"
#include "formats/onnx/model_builder_testing.h"

namespace binet::onnx {
namespace {

Tensor read(const std::string& bytes) {
  Source source{"t.pb", bytes};
  ExternalFiles external(std::nullopt);
  return read_tensor(Message(source, "TensorProto", bytes), "t.pb: tensor", external, nullptr).value;
}

std::string message_of(const std::string& bytes) {
  try {
    static_cast<void>(read(bytes));
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string head(ElementType type, const std::vector<std::int64_t>& dims) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_packed_int64(tensor::kDims, dims.begin(), dims.end());
  writer.add_int32(tensor::kDataType, onnx_number(type));
  return bytes;
}

TEST(TensorReader, ReadsRawDataOfEveryNumericType) {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(ElementType::u64); ++i) {
    visit_numeric_type(static_cast<ElementType>(i), [&]<class T>() {
      std::vector<T> values(6);
      for (std::size_t j = 0; j < values.size(); ++j)
        std::memset(static_cast<void*>(&values[j]), static_cast<int>(j * 17 + 1), sizeof(T));
      const std::string bytes = testing::raw_tensor("x", {2, 3}, values);
      const Tensor tensor = read(bytes);
      EXPECT_EQ(tensor.type(), element_type_of<T>);
      EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
      ASSERT_EQ(tensor.size_bytes(), sizeof(T) * 6);
      EXPECT_EQ(std::memcmp(tensor.bytes().data(), values.data(), tensor.size_bytes()), 0);
    });
  }
}

TEST(TensorReader, RawDataIsNotCopied) {
  const std::string bytes = testing::raw_tensor<float>("x", {2}, {1, 2});
  const Tensor tensor = read(bytes);
  EXPECT_GE(reinterpret_cast<const char*>(tensor.bytes().data()), bytes.data());
  EXPECT_LT(reinterpret_cast<const char*>(tensor.bytes().data()), bytes.data() + bytes.size());
}

struct TypedCase {
  ElementType type;
  std::uint32_t field;
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> bits;  ///< of the elements that must come out
};

TEST(TensorReader, ReadsIntegerFieldsPackedAndNot) {
  const std::vector<TypedCase> cases = {
      {ElementType::i8, tensor::kInt32Data, {-128, 127, -1}, {0x80, 0x7F, 0xFF}},
      {ElementType::u8, tensor::kInt32Data, {0, 255}, {0, 0xFF}},
      {ElementType::i16, tensor::kInt32Data, {-32768, 5}, {0x8000, 5}},
      {ElementType::u16, tensor::kInt32Data, {65535}, {0xFFFF}},
      {ElementType::f16, tensor::kInt32Data, {0x3C00, 0xFC00}, {0x3C00, 0xFC00}},
      {ElementType::bf16, tensor::kInt32Data, {0x3F80, 1}, {0x3F80, 1}},
      {ElementType::i32, tensor::kInt32Data, {-2147483648LL, 7}, {0x80000000, 7}},
      {ElementType::boolean, tensor::kInt32Data, {0, 1}, {0, 1}},
      {ElementType::i64, tensor::kInt64Data, {-1, 9}, {~0ULL, 9}},
      {ElementType::u32, tensor::kUint64Data, {4294967295LL}, {0xFFFFFFFF}},
      {ElementType::u64, tensor::kUint64Data, {-1}, {~0ULL}},
  };
  for (const TypedCase& c : cases) {
    for (const bool packed : {true, false}) {
      std::string bytes = head(c.type, {static_cast<std::int64_t>(c.values.size())});
      protozero::pbf_writer writer(bytes);
      if (packed) {
        writer.add_packed_int64(c.field, c.values.begin(), c.values.end());
      } else {
        for (const std::int64_t value : c.values) writer.add_int64(c.field, value);
      }
      const Tensor tensor = read(bytes);
      for (std::size_t i = 0; i < c.bits.size(); ++i) {
        std::uint64_t found = 0;
        std::memcpy(&found, tensor.bytes().data() + i * byte_size(c.type), byte_size(c.type));
        EXPECT_EQ(found, c.bits[i]) << to_string(c.type) << " element " << i << (packed ? " packed" : "");
      }
    }
  }
}

TEST(TensorReader, ReadsFloatAndDoubleFields) {
  std::string floats = head(ElementType::f32, {3});
  protozero::pbf_writer writer(floats);
  writer.add_float(tensor::kFloatData, 1.5f);
  const std::vector<float> rest = {-0.0f, std::numeric_limits<float>::denorm_min()};
  writer.add_packed_float(tensor::kFloatData, rest.begin(), rest.end());
  const Tensor tensor = read(floats);
  EXPECT_EQ(tensor.values<float>()[0], 1.5f);
  EXPECT_TRUE(std::signbit(tensor.values<float>()[1]));
  EXPECT_EQ(tensor.values<float>()[2], std::numeric_limits<float>::denorm_min());

  std::string doubles = head(ElementType::f64, {});
  protozero::pbf_writer(doubles).add_double(tensor::kDoubleData, 1e300);
  EXPECT_EQ(read(doubles).values<double>()[0], 1e300);
}

TEST(TensorReader, RefusesWhatBreaksARule) {
  struct Case {
    std::string bytes;
    std::string expected;  ///< a part of the message
  };
  std::vector<Case> cases;
  const auto add = [&](std::string bytes, const std::string& expected, auto&& write) {
    protozero::pbf_writer writer(bytes);
    write(writer);
    cases.push_back({bytes, expected});
  };
  const auto nothing = [](protozero::pbf_writer&) {};
  add(head(ElementType::f32, {2}), "no data; 2 elements", nothing);
  add(head(ElementType::f32, {-1}), "negative extent", nothing);
  add(head(ElementType::f32, {1LL << 40, 1LL << 40}), "does not fit", nothing);
  add(head(ElementType::i4, {2}), "i4 are not supported", nothing);
  add(head(ElementType::string, {1}), "string are not supported", nothing);
  add(head(ElementType::f32, {2}), "raw_data has 3 bytes", [](auto& w) { w.add_bytes(tensor::kRawData, "abc"); });
  add(head(ElementType::f32, {1}), "more than one data field", [](auto& w) {
    w.add_bytes(tensor::kRawData, "abcd");
    w.add_float(tensor::kFloatData, 1);
  });
  add(head(ElementType::u32, {1}), "belong in uint64_data", [](auto& w) { w.add_int32(tensor::kInt32Data, 1); });
  add(head(ElementType::u8, {1}), "int32_data[0] is 256", [](auto& w) { w.add_int32(tensor::kInt32Data, 256); });
  add(head(ElementType::i8, {1}), "is -128 to 127", [](auto& w) { w.add_int32(tensor::kInt32Data, 128); });
  add(head(ElementType::boolean, {1}), "is 0 to 1", [](auto& w) { w.add_int32(tensor::kInt32Data, 2); });
  add(head(ElementType::f32, {1LL << 40}), "float_data has 1 values",
      [](auto& w) { w.add_float(tensor::kFloatData, 1); });
  add(head(ElementType::f32, {1}), "segments", [](auto& w) { w.add_message(tensor::kSegment, std::string()); });
  add(head(ElementType::f32, {1}), "data_location is 7", [](auto& w) { w.add_int32(tensor::kDataLocation, 7); });
  add(head(ElementType::f32, {1}), "no location is given", [](auto& w) { w.add_int32(tensor::kDataLocation, 1); });
  add("", "no element type", nothing);
  add("", "element type 99 is unknown", [](auto& w) { w.add_int32(tensor::kDataType, 99); });
  add("", "field 1 is 4 bytes", [](auto& w) { w.add_float(tensor::kDims, 1); });
  for (const Case& c : cases) EXPECT_NE(message_of(c.bytes).find(c.expected), std::string::npos) << message_of(c.bytes);
}

TEST(TensorReader, EmptyTensorsNeedNoDataField) {
  EXPECT_EQ(read(head(ElementType::f32, {0, 3})).element_count(), 0u);
  std::string with_empty_raw = head(ElementType::i64, {0});
  protozero::pbf_writer(with_empty_raw).add_bytes(tensor::kRawData, "");
  EXPECT_EQ(read(with_empty_raw).element_count(), 0u);
}

TEST(TensorReader, EveryTruncationIsRefusedOrReadWithinBounds) {
  const std::string whole = testing::raw_tensor<float>("x", {2, 3}, {1, 2, 3, 4, 5, 6});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A copy of exactly that size, so that a sanitizer sees a read past its end.
    const std::string cut(whole.data(), size);
    EXPECT_NE(message_of(cut), "accepted") << size;
  }
}

}  // namespace
}  // namespace binet::onnx
