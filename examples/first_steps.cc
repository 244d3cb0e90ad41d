// Runs a model, then the two products by themselves.
#include <binet/binet.h>

#include <cstdio>

int main(int argc, char** argv) try {
  if (argc > 1) {
    const binet::Model model = binet::load_model(argv[1]);
    const binet::Session session(model, {.threads = 2});
    const binet::Tensor x = binet::Tensor::allocate(binet::ElementType::f32, {4, 10});
    const binet::NamedTensors outputs = session.run({{model.inputs().front().name, x}});
    for (const auto& [name, tensor] : outputs) {
      std::printf("%s has shape %s\n", name.c_str(), binet::to_string(tensor.shape()).c_str());
    }
  }

  const auto a = binet::Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto row = binet::Tensor::from<float>({3}, {10, 20, 30});
  const auto scaled = binet::mul(a, row);                                 // (2, 3)
  const auto gram = binet::gemm(a, a, {.alpha = 0.5f, .trans_b = true});  // (2, 2)
  std::printf("%g %g\n", scaled.values<float>()[5], gram.values<float>()[3]);
} catch (const binet::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
