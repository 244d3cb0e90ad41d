// OpenVINO models from the XML to the result: every operator, 4-bit elements, what an exporter writes for a Gemm, and
// Multiply against ONNX's Mul, bit for bit, wherever both have the rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "binet/error.h"
#include "binet/session.h"
#include "formats/onnx/model_builder_testing.h"
#include "formats/openvino/ir_builder_testing.h"
#include "kernels/elementwise/test_values.h"
#include "tensor/shape.h"

namespace binet {
namespace {

using kernels::elementwise::testing::Random;
using kernels::elementwise::testing::random_elements;
using openvino::testing::IrBuilder;

Model load(const IrBuilder& model) { return load_openvino_model(model.xml(), model.weights(), "m.xml"); }

NamedTensors run(const IrBuilder& model, const NamedTensors& inputs) {
  return Session(load(model), {.threads = 2}).run(inputs);
}

std::string message_of(const auto& action) {
  try {
    action();
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

std::string text_of(const Shape& shape) {
  std::string text = to_string(shape);
  return text.substr(1, text.size() - 2);
}

/// x (op) w for two inputs.
IrBuilder binary(const std::string& type, const std::string& data, const Tensor& a, const Tensor& b) {
  IrBuilder model;
  model.parameter("a", std::string(to_string(a.type())), text_of(a.shape()))
      .parameter("b", std::string(to_string(b.type())), text_of(b.shape()))
      .layer("y", type, data, {"a", "b"})
      .result("y");
  return model;
}

Tensor run_binary(const std::string& type, const std::string& data, const Tensor& a, const Tensor& b) {
  return run(binary(type, data, a, b), {{"a", a}, {"b", b}})[0];
}

bool same_bits(const Tensor& x, const Tensor& y) {
  return x.type() == y.type() && x.shape() == y.shape() &&
         (x.size_bytes() == 0 || std::memcmp(x.bytes().data(), y.bytes().data(), x.size_bytes()) == 0);
}

// ---- Multiply and Mul

std::uint64_t seed() {
  const char* const given = std::getenv("BINET_TEST_SEED");
  const std::uint64_t value = given == nullptr ? 20260301 : std::strtoull(given, nullptr, 10);
  std::printf("BINET_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

Tensor random_tensor(ElementType type, const Shape& shape, Random& random) {
  Tensor tensor = Tensor::allocate(type, shape);
  const auto bytes = random_elements(type, tensor.element_count(), random);
  if (!bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), bytes.data(), bytes.size());
  return tensor;
}

Tensor run_mul(std::int64_t opset, const Tensor& a, const Tensor& b, const std::vector<std::string>& attributes) {
  onnx::testing::ModelBuilder model(opset, 3);
  model.input("a", a.type(), a.shape()).input("b", b.type(), b.shape());
  Shape open_shape;  // a symbol for each extent
  while (open_shape.size() < std::max(a.shape().size(), b.shape().size())) {
    open_shape.push_back(-1 - static_cast<std::int64_t>(open_shape.size()));
  }
  model.node("Mul", {"a", "b"}, {"y"}, attributes).output("y", a.type(), open_shape);
  return Session(load_model(onnx::testing::as_bytes(model.bytes()), "m.onnx")).run({{"a", a}, {"b", b}})[0];
}

Shape random_shape(Random& random, std::size_t most_rank) {
  Shape shape(random() % (most_rank + 1));
  for (std::int64_t& extent : shape) extent = static_cast<std::int64_t>(random() % 16 == 0 ? 0 : 1 + random() % 6);
  return shape;
}

const ElementType kTypes[] = {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64,
                              ElementType::i8,  ElementType::i16,  ElementType::i32, ElementType::i64,
                              ElementType::u8,  ElementType::u16,  ElementType::u32, ElementType::u64};

TEST(Multiply, IsMulWithNumpyBroadcasting) {
  Random random(seed());
  for (const ElementType type : kTypes) {
    for (int round = 0; round < 40; ++round) {
      Shape a = random_shape(random, 5);
      Shape b(a.end() - static_cast<std::ptrdiff_t>(random() % (a.size() + 1)), a.end());
      for (std::size_t i = 0; i < b.size(); ++i) {
        const std::uint64_t which = random() % 4;
        if (which == 0) b[i] = 1;
        if (which == 1) a[a.size() - b.size() + i] = 1;
      }
      if (round % 2 != 0) std::swap(a, b);
      SCOPED_TRACE(std::string(to_string(type)) + " " + to_string(a) + " " + to_string(b));
      const Tensor x = random_tensor(type, a, random);
      const Tensor y = random_tensor(type, b, random);
      const std::string data = round % 3 == 0 ? "" : R"(auto_broadcast="numpy")";
      EXPECT_TRUE(same_bits(run_binary("Multiply", data, x, y), run_mul(14, x, y, {})));
    }
  }
}

TEST(Multiply, IsMulWithoutBroadcasting) {
  Random random(seed());
  for (const ElementType type : kTypes) {
    for (int round = 0; round < 10; ++round) {
      const Shape shape = random_shape(random, 4);
      const Tensor x = random_tensor(type, shape, random);
      const Tensor y = random_tensor(type, shape, random);
      EXPECT_TRUE(same_bits(run_binary("Multiply", R"(auto_broadcast="none")", x, y), run_mul(14, x, y, {})))
          << to_string(type) << " " << to_string(shape);
    }
  }
}

/// Mul-6 with broadcast=1 places B at an axis as pdpd does.
TEST(Multiply, IsMul6WithPdpdBroadcasting) {
  Random random(seed());
  for (const ElementType type : kTypes) {
    if (!(kFloatTypes | kWideIntegerTypes).contains(type)) continue;
    for (int round = 0; round < 30; ++round) {
      const Shape a = random_shape(random, 5);
      const std::size_t rank = random() % (a.size() + 1);
      const std::size_t axis = random() % (a.size() - rank + 1);
      const Shape b(a.begin() + static_cast<std::ptrdiff_t>(axis),
                    a.begin() + static_cast<std::ptrdiff_t>(axis + rank));
      if (axis == a.size()) continue;  // Mul-6 wants an axis of A even for a scalar
      SCOPED_TRACE(std::string(to_string(type)) + " " + to_string(a) + " " + to_string(b));
      const Tensor x = random_tensor(type, a, random);
      const Tensor y = random_tensor(type, b, random);
      const bool at_end = axis + rank == a.size() && round % 2 == 0;
      const std::string data = R"(auto_broadcast="pdpd" auto_broadcast.auto_broadcast_axis=")" +
                               std::to_string(at_end ? -1 : static_cast<int>(axis)) + "\"";
      const std::vector<std::string> attributes = {
          onnx::testing::integer_attribute("broadcast", 1),
          onnx::testing::integer_attribute("axis", static_cast<std::int64_t>(axis))};
      EXPECT_TRUE(same_bits(run_binary("Multiply", data, x, y), run_mul(6, x, y, attributes)));
    }
  }
}

TEST(Multiply, StretchesBWithPdpd) {
  const Tensor a = Tensor::from<std::int32_t>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor b = Tensor::from<std::int32_t>({2, 1, 1}, {1, 10});
  const Tensor y = run_binary("Multiply", R"(auto_broadcast="pdpd" axis="0")", a, b);
  EXPECT_EQ(values_of<std::int32_t>(y), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 70, 80, 90, 100, 110, 120}));
}

TEST(Multiply, SaysWhatItDoesNotTake) {
  const Tensor a = Tensor::allocate(ElementType::f32, {2, 3});
  const Tensor b = Tensor::allocate(ElementType::f32, {3});
  const auto message = [&](const std::string& data, const Tensor& x, const Tensor& y) {
    return message_of([&] { static_cast<void>(run_binary("Multiply", data, x, y)); });
  };
  EXPECT_NE(message(R"(auto_broadcast="tensorflow")", a, b)
                .find("m.xml: node 'y' (Multiply-1): auto_broadcast is 'tensorflow'; it must be none, numpy or pdpd"),
            std::string::npos);
  EXPECT_NE(message(R"(auto_broadcast="none")", a, b).find("they must be equal"), std::string::npos);
  EXPECT_NE(message(R"(auto_broadcast="numpy" axis="0")", a, b).find("an axis is for pdpd"), std::string::npos);
  EXPECT_NE(message(R"(axis="x")", a, b).find("attribute axis is 'x'; it must be int"), std::string::npos);
  EXPECT_NE(message(R"(axis="0" auto_broadcast_axis="0")", a, b).find("attribute axis is given twice"),
            std::string::npos);
  EXPECT_NE(message(R"(auto_brodcast="none")", a, b).find("did you mean auto_broadcast?"), std::string::npos);
  const Tensor flags = Tensor::allocate(ElementType::boolean, {2});
  EXPECT_NE(message("", flags, flags).find("input A has type bool; Multiply-1 allows f16"), std::string::npos);
  EXPECT_NE(message("", a, Tensor::allocate(ElementType::f64, {3})).find("they must be the same"), std::string::npos);
}

// ---- 4-bit elements

Tensor four_bits(ElementType type, const Shape& shape, const std::vector<int>& values) {
  Tensor tensor = Tensor::allocate(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensor.mutable_bytes()[i / 2] |= static_cast<std::byte>((values[i] & 0xF) << (i % 2 == 0 ? 0 : 4));
  }
  return tensor;
}

TEST(FourBits, MultiplyAndAddWrapModulo16) {
  std::vector<int> all(256);
  std::vector<int> other(256);
  std::vector<int> products(256);
  std::vector<int> sums(256);
  for (int i = 0; i < 256; ++i) {
    const auto place = static_cast<std::size_t>(i);
    all[place] = i % 16;
    other[place] = i / 16;
    products[place] = all[place] * other[place];
    sums[place] = all[place] + other[place];
  }
  for (const ElementType type : {ElementType::i4, ElementType::u4}) {
    const Tensor a = four_bits(type, {256}, all);
    const Tensor b = four_bits(type, {256}, other);
    EXPECT_TRUE(same_bits(run_binary("Multiply", "", a, b), four_bits(type, {256}, products))) << to_string(type);
    EXPECT_TRUE(same_bits(run_binary("Add", "", a, b), four_bits(type, {256}, sums))) << to_string(type);
  }
}

TEST(FourBits, BroadcastOverOddExtents) {
  // (3,1) * (5): 15 elements in 8 bytes, of which the last half is 0.
  const Tensor a = four_bits(ElementType::i4, {3, 1}, {1, -2, 3});
  const Tensor b = four_bits(ElementType::i4, {5}, {1, 2, 3, -4, 5});
  std::vector<int> products;
  for (const int x : {1, -2, 3}) {
    for (const int y : {1, 2, 3, -4, 5}) products.push_back(x * y);
  }
  const Tensor y = run_binary("Multiply", "", a, b);
  EXPECT_EQ(y.size_bytes(), 8u);
  EXPECT_TRUE(same_bits(y, four_bits(ElementType::i4, {3, 5}, products)));
  const Tensor empty =
      run_binary("Multiply", "", four_bits(ElementType::u4, {0}, {}), four_bits(ElementType::u4, {1}, {3}));
  EXPECT_EQ(empty.size_bytes(), 0u);
  EXPECT_TRUE(
      same_bits(run_binary("Multiply", "", four_bits(ElementType::u4, {}, {5}), four_bits(ElementType::u4, {}, {5})),
                four_bits(ElementType::u4, {}, {9})));
}

/// Weights of four bits, widened and scaled: how compressed models store them.
TEST(FourBits, AreDecompressedByConvertAndMultiply) {
  IrBuilder model;
  model.parameter("x", "f32", "1,3")
      .constant("w", four_bits(ElementType::u4, {2, 3}, {1, 2, 3, 13, 14, 15}))
      .constant("scale", Tensor::from<float>({2, 1}, {1, 0.5f}))
      .layer("wide", "Convert", R"(destination_type="f32")", {"w"})
      .layer("scaled", "Multiply", "", {"wide", "scale"})
      .layer("y", "MatMul", R"(transpose_a="false" transpose_b="true")", {"x", "scaled"})
      .result("y");
  const NamedTensors inputs = {{"x", Tensor::from<float>({1, 3}, {1, 1, 2})}};
  EXPECT_EQ(values_of<float>(run(model, inputs)["y"]), (std::vector<float>{9, 28.5f}));
  EXPECT_EQ(Session(load(model)).bind(inputs).steps().size(), 1u)
      << "all but the MatMul is done when the session is made";
}

// ---- MatMul

Tensor run_gemm(const Tensor& a, const Tensor& b, bool trans_a, bool trans_b) {
  onnx::testing::ModelBuilder model(13);
  model.input("a", a.type(), a.shape()).input("b", b.type(), b.shape());
  model.node("Gemm", {"a", "b"}, {"y"},
             {onnx::testing::integer_attribute("transA", trans_a ? 1 : 0),
              onnx::testing::integer_attribute("transB", trans_b ? 1 : 0)});
  const std::int64_t m = a.shape()[trans_a ? 1 : 0];
  const std::int64_t n = b.shape()[trans_b ? 0 : 1];
  model.output("y", a.type(), {m, n});
  return Session(load_model(onnx::testing::as_bytes(model.bytes()), "m.onnx")).run({{"a", a}, {"b", b}})[0];
}

std::string transposes(bool a, bool b) {
  return fmt::format(R"(transpose_a="{}" transpose_b="{}")", a ? "true" : "false", b ? "true" : "false");
}

/// Small whole numbers, whose products and sums every type holds.
Tensor small_numbers(ElementType type, const Shape& shape, Random& random) {
  Tensor tensor = Tensor::allocate(type, shape);
  visit_numeric_type(type, [&]<class T>() {
    for (T& value : tensor.mutable_values<T>()) {
      const auto number = static_cast<int>(random() % 4);
      if constexpr (std::is_arithmetic_v<T>) {
        value = static_cast<T>(number);
      } else {
        value = T::from_double(number);
      }
    }
  });
  return tensor;
}

TEST(MatMul, IsGemmForMatrices) {
  Random random(seed());
  for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64,
                                 ElementType::i32, ElementType::i64, ElementType::u32, ElementType::u64}) {
    for (const auto& [m, n, k] : {std::array{3, 5, 7}, {1, 9, 4}, {8, 1, 3}, {17, 33, 70}, {2, 3, 0}, {0, 3, 2}}) {
      for (const bool trans_a : {false, true}) {
        for (const bool trans_b : {false, true}) {
          const Tensor a = random_tensor(type, trans_a ? Shape{k, m} : Shape{m, k}, random);
          const Tensor b = random_tensor(type, trans_b ? Shape{n, k} : Shape{k, n}, random);
          const Tensor y = run_binary("MatMul", transposes(trans_a, trans_b), a, b);
          const Tensor expected = run_gemm(a, b, trans_a, trans_b);
          EXPECT_EQ(y.shape(), expected.shape());
          EXPECT_FALSE(kernels::elementwise::testing::first_difference(type, y.bytes().data(), expected.bytes().data(),
                                                                       y.element_count()))
              << to_string(type) << " " << m << " " << n << " " << k << " " << trans_a << trans_b;
        }
      }
    }
  }
}

/// The product by definition, operands widened to rank 5 with the batch in front.
std::vector<float> plain_product(const Tensor& a, const Tensor& b, bool trans_a, bool trans_b, const Shape& batch) {
  const bool a_is_vector = a.shape().size() == 1;
  const bool b_is_vector = b.shape().size() == 1;
  Shape a_shape = a.shape();
  Shape b_shape = b.shape();
  if (a_is_vector) a_shape.insert(a_shape.begin(), 1), trans_a = false;
  if (b_is_vector) b_shape.push_back(1), trans_b = false;
  const auto extent = [](const Shape& shape, bool transposed, std::size_t which) {
    return shape[shape.size() - 2 + (transposed ? 1 - which : which)];
  };
  const std::int64_t m = extent(a_shape, trans_a, 0);
  const std::int64_t k = extent(a_shape, trans_a, 1);
  const std::int64_t n = extent(b_shape, trans_b, 1);
  std::vector<float> y;
  std::vector<std::int64_t> index(batch.size(), 0);
  const auto matrix = [&](const Shape& shape) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d + 2 < shape.size(); ++d) {
      place = place * shape[d] + (shape[d] == 1 ? 0 : index[batch.size() - (shape.size() - 2) + d]);
    }
    return place;
  };
  for (std::int64_t i = 0; i < *element_count(batch); ++i) {
    const float* const pa = a.values<float>().data() + matrix(a_shape) * m * k;
    const float* const pb = b.values<float>().data() + matrix(b_shape) * k * n;
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t column = 0; column < n; ++column) {
        float sum = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          sum += pa[trans_a ? l * m + row : row * k + l] * pb[trans_b ? column * k + l : l * n + column];
        }
        y.push_back(sum);
      }
    }
    for (std::size_t d = batch.size(); d-- > 0 && ++index[d] == batch[d];) index[d] = 0;
  }
  return y;
}

TEST(MatMul, BroadcastsBatchesAndTakesVectors) {
  Random random(seed());
  struct Case {
    Shape a, b;
    bool trans_a, trans_b;
    Shape batch, result;
  };
  const Case cases[] = {
      {{4}, {4}, false, false, {}, {}},
      {{4}, {4}, true, true, {}, {}},
      {{4}, {4, 3}, true, false, {}, {3}},
      {{4}, {3, 4}, false, true, {}, {3}},
      {{3, 4}, {4}, false, true, {}, {3}},
      {{4, 3}, {4}, true, false, {}, {3}},
      {{2, 3, 4}, {4}, false, false, {2}, {2, 3}},
      {{4}, {2, 4, 3}, false, false, {2}, {2, 3}},
      {{5, 2, 3}, {3, 4}, false, false, {5}, {5, 2, 4}},
      {{5, 3, 2}, {3, 4}, true, false, {5}, {5, 2, 4}},
      {{5, 2, 3}, {4, 3}, false, true, {5}, {5, 2, 4}},
      {{2, 3}, {5, 3, 4}, false, false, {5}, {5, 2, 4}},
      {{2, 1, 2, 3}, {4, 3, 5}, false, false, {2, 4}, {2, 4, 2, 5}},
      {{2, 4, 3, 2}, {4, 5, 3}, true, true, {2, 4}, {2, 4, 2, 5}},
      {{1, 1, 2, 3}, {1, 3, 5}, false, false, {1, 1}, {1, 1, 2, 5}},
      {{0, 2, 3}, {3, 4}, false, false, {0}, {0, 2, 4}},
      {{2, 2, 0}, {2, 0, 3}, false, false, {2}, {2, 2, 3}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(to_string(c.a) + " " + to_string(c.b));
    const Tensor a = small_numbers(ElementType::f32, c.a, random);
    const Tensor b = small_numbers(ElementType::f32, c.b, random);
    const Tensor y = run_binary("MatMul", transposes(c.trans_a, c.trans_b), a, b);
    EXPECT_EQ(y.shape(), c.result);
    EXPECT_EQ(values_of<float>(y), plain_product(a, b, c.trans_a, c.trans_b, c.batch));
    // The same with B in the file: it is packed when the session is made, if it is one matrix.
    IrBuilder constant;
    constant.parameter("a", "f32", text_of(c.a))
        .constant("b", b)
        .layer("y", "MatMul", transposes(c.trans_a, c.trans_b), {"a", "b"})
        .result("y");
    EXPECT_TRUE(same_bits(run(constant, {{"a", a}})[0], y));
  }
}

TEST(MatMul, SaysWhatDoesNotFit) {
  const auto message = [](const Shape& a, const Shape& b, ElementType type = ElementType::f32) {
    return message_of(
        [&] { static_cast<void>(run_binary("MatMul", "", Tensor::allocate(type, a), Tensor::allocate(type, b))); });
  };
  EXPECT_NE(message({2, 3}, {4, 5}).find("the inner extents differ: A (2, 3) gives 3, B (4, 5) gives 4"),
            std::string::npos);
  EXPECT_NE(message({}, {4, 5}).find("A is a scalar"), std::string::npos);
  EXPECT_NE(message({2, 2, 3}, {3, 3, 5}).find("before the last two"), std::string::npos);
  EXPECT_NE(message({2, 3}, {3, 5}, ElementType::i8).find("MatMul-1 allows"), std::string::npos);
}

// ---- Add and Convert

TEST(Add, BroadcastsAsMultiplyDoes) {
  const Tensor a = Tensor::from<std::uint8_t>({2, 2}, {250, 1, 2, 3});
  const Tensor b = Tensor::from<std::uint8_t>({2}, {10, 20});
  EXPECT_EQ(values_of<std::uint8_t>(run_binary("Add", "", a, b)), (std::vector<std::uint8_t>{4, 21, 12, 23}));
  EXPECT_EQ(values_of<std::uint8_t>(run_binary("Add", R"(auto_broadcast="pdpd" axis="0")", a, b)),
            (std::vector<std::uint8_t>{4, 11, 22, 23}));
}

IrBuilder conversion(const std::string& from, const std::string& data) {
  IrBuilder model;
  model.parameter("x", from, "?").layer("y", "Convert", data, {"x"}).result("y");
  return model;
}

TEST(Convert, MakesTheDestinationType) {
  const Tensor x = Tensor::from<float>({4}, {1.9f, -1.9f, 300, -300});
  const Tensor y = run(conversion("f32", R"(destination_type="i8")"), {{"x", x}})["y"];
  EXPECT_EQ(values_of<std::int8_t>(y), (std::vector<std::int8_t>{1, -1, 127, -128}));
}

TEST(Convert, SaysWhatItDoesNotTake) {
  const auto message = [](const std::string& from, const std::string& data) {
    return message_of([&] { static_cast<void>(load(conversion(from, data))); });
  };
  EXPECT_NE(message("f32", "").find("attribute destination_type is missing"), std::string::npos);
  EXPECT_NE(message("f32", R"(destination_type="f12")").find("destination_type is 'f12'; it must be one of f16"),
            std::string::npos);
  EXPECT_NE(message("f32", R"(destination_type="string")").find("it must be one of"), std::string::npos);
  EXPECT_NE(message("boolean", R"(destination_type="f32")").find("Convert-1 allows"), std::string::npos);
}

// ---- whole models

/// What an exporter writes for 0.5 * X * W' + 2 * C.
TEST(Models, RunAnExportedGemm) {
  IrBuilder model;
  model.parameter("input_layer", "f32", "?,3", "x")
      .constant("w", Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, 6}))
      .constant("alpha", Tensor::from<float>({1, 1}, {0.5f}))
      .constant("c", Tensor::from<float>({2}, {10, 20}))
      .constant("beta", Tensor::from<float>({}, {2}))
      .layer("product", "MatMul", transposes(false, true), {"input_layer", "w"})
      .layer("scaled", "Multiply", R"(auto_broadcast="numpy")", {"product", "alpha"})
      .layer("bias", "Multiply", R"(auto_broadcast="numpy")", {"c", "beta"})
      .layer("sum", "Add", R"(auto_broadcast="numpy")", {"scaled", "bias"}, "y")
      .result("sum");
  const Session session(load(model));
  for (std::int64_t batch = 1; batch < 4; ++batch) {
    const std::vector<float> x(static_cast<std::size_t>(batch) * 3, 2.0f);
    const NamedTensors outputs = session.run({{"x", Tensor::from({batch, 3}, std::span(x))}});
    EXPECT_EQ(outputs["y"].shape(), (Shape{batch, 2}));
    EXPECT_EQ(outputs["y"].values<float>()[0], 26);
    EXPECT_EQ(outputs["y"].values<float>()[1], 55);
  }
}

TEST(Models, KeepInputsWithinTheirBounds) {
  IrBuilder model;
  model.parameter("x", "f32", "2..4,?").result("x");
  EXPECT_EQ(to_string(load(model).inputs()[0].shape), "(2..4, ?)");
  const Session session(load(model));
  const auto message = [&](const Shape& shape) {
    return message_of([&] { static_cast<void>(session.run({{"x", Tensor::allocate(ElementType::f32, shape)}})); });
  };
  EXPECT_EQ(message({2, 9}), "accepted");
  EXPECT_EQ(message({4, 0}), "accepted");
  EXPECT_EQ(message({1, 9}), "m.xml: input 'x' has shape (1, 9); its extent 0 must be 2 to 4");
  EXPECT_EQ(message({5, 9}), "m.xml: input 'x' has shape (5, 9); its extent 0 must be 2 to 4");
}

TEST(Models, TakeInputsOfUnknownRank) {
  IrBuilder model;
  model.parameter("x", "f32", "...").layer("y", "Add", "", {"x", "x"}).result("y");
  EXPECT_EQ(run(model, {{"x", Tensor::from<float>({1, 2}, {1, 2})}})["y"].shape(), (Shape{1, 2}));
}

TEST(Models, CheckWhatPortsDeclare) {
  const IrBuilder model =
      binary("Multiply", "", Tensor::allocate(ElementType::f32, {2, 3}), Tensor::allocate(ElementType::f32, {3}));
  const auto message = [&](const std::string& port) {
    std::string xml = model.xml();
    const std::string plain = R"(<port id="2" names=""/>)";
    xml.replace(xml.find(plain), plain.size(), port);
    return message_of([&] { static_cast<void>(load_openvino_model(xml, {}, "m.xml")); });
  };
  EXPECT_EQ(message(R"(<port id="2" precision="FP32"><dim>2</dim><dim>-1</dim></port>)"), "accepted");
  EXPECT_EQ(message(R"(<port id="2" precision="FP16"/>)"),
            "m.xml: node 'y' (Multiply-1): output 'y' is declared as f16, but is f32");
  EXPECT_EQ(message(R"(<port id="2"><dim>2</dim><dim>4</dim></port>)"),
            "m.xml: node 'y' (Multiply-1): output 'y' is declared with shape (2, 4), but has (2, 3)");
}

TEST(Models, NameTheLayersThatAreKnown) {
  const Tensor a = Tensor::allocate(ElementType::f32, {2});
  const std::string message = message_of([&] { static_cast<void>(run_binary("Subtract", "", a, a)); });
  EXPECT_NE(
      message.find("m.xml: node 'y': operator 'Subtract' is not supported; supported are Multiply MatMul Add Convert"),
      std::string::npos)
      << message;
}

TEST(Models, ShareOneValueAmongResults) {
  IrBuilder model;
  model.parameter("x", "i64", "2").result("x").layer("y", "Multiply", "", {"x", "x"}).result("y").result("y");
  const NamedTensors outputs = run(model, {{"x", Tensor::from<std::int64_t>({2}, {3, -4})}});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(values_of<std::int64_t>(outputs[0]), (std::vector<std::int64_t>{3, -4}));
  EXPECT_EQ(values_of<std::int64_t>(outputs[1]), (std::vector<std::int64_t>{9, 16}));
  EXPECT_EQ(values_of<std::int64_t>(outputs[2]), (std::vector<std::int64_t>{9, 16}));
}

}  // namespace
}  // namespace binet
