// MatMul: ONNX's Gemm for two matrices, bit for bit; batches and vectors by definition.
#include <gtest/gtest.h>

#include <array>
#include <type_traits>

#include "base/element_types.h"
#include "formats/onnx/model_builder_testing.h"
#include "runtime/openvino_testing.h"

namespace binet::openvino::testing {
namespace {

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
  Random random(binet::testing::seed(20260301));
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
  Random random(binet::testing::seed(20260301));
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

}  // namespace
}  // namespace binet::openvino::testing
