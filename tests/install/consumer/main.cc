// A user's program: runs a model and both products, and checks the numbers. Usage: consumer MODEL
//
// MODEL is one Gemm with alpha 0.25, beta 0.35, transA and transB on A (4,3), B (5,4) and C (1,5), all f32.
#include <binet/binet.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

namespace {

int mistakes = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++mistakes;
}

binet::Tensor numbers(binet::Shape shape, float first) {
  std::size_t count = 1;
  for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(first + static_cast<float>(i));
  return binet::Tensor::from<float>(std::move(shape), std::span<const float>(values));
}

void check_mul() {
  const auto row = binet::Tensor::from<std::int8_t>({1, 3}, {1, 2, 100});
  const auto column = binet::Tensor::from<std::int8_t>({2, 1}, {2, -3});
  const auto product = binet::mul(row, column);
  expect(product.shape() == binet::Shape{2, 3}, "the shape of mul");
  const std::vector<std::int8_t> wanted = {2, 4, -56, -3, -6, -44};
  const auto got = product.values<std::int8_t>();
  expect(std::vector<std::int8_t>(got.begin(), got.end()) == wanted, "the values of mul");
}

void check_gemm_and_session(const char* path) {
  const auto a = numbers({4, 3}, -5);
  const auto b = numbers({5, 4}, 2);
  const auto c = numbers({1, 5}, 1);
  const auto direct = binet::gemm(a, b, c, {.alpha = 0.25f, .beta = 0.35f, .trans_a = true, .trans_b = true});
  expect(direct.shape() == binet::Shape{3, 5}, "the shape of gemm");
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t n = 0; n < 5; ++n) {
      float sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += a.values<float>()[k * 3 + m] * b.values<float>()[n * 4 + k];
      const float wanted = 0.25f * sum + 0.35f * c.values<float>()[n];
      expect(std::fabs(direct.values<float>()[m * 5 + n] - wanted) < 1e-4f, "a value of gemm");
    }
  }

  const auto model = binet::load_model(path);
  const auto session = binet::Session(model, {.threads = 2});
  const auto outputs = session.run({{"A", a}, {"B", b}, {"C", c}});
  expect(outputs.size() == 1, "the number of outputs");
  expect(outputs[0].shape() == direct.shape(), "the shape of the model's output");
  for (std::size_t i = 0; i < direct.element_count(); ++i) {
    expect(outputs[0].values<float>()[i] == direct.values<float>()[i], "a value of the model's output");
  }
}

void check_errors() {
  try {
    (void)binet::load_model("no such file.onnx");
    expect(false, "no error for a file that does not exist");
  } catch (const binet::Error& error) {
    expect(error.code() == binet::ErrorCode::io, "the code of the error");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  check_mul();
  check_gemm_and_session(argv[1]);
  check_errors();
  return mistakes == 0 ? 0 : 1;
}
