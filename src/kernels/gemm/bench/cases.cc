#include "kernels/gemm/bench/cases.h"

#include <cmath>
#include <random>

namespace binet::kernels::gemm::bench {
namespace {

using Shapes = std::vector<Shape>;

const Shapes kShapes = {{16, 16, 16},
                        {32, 32, 32},
                        {64, 64, 64},
                        {128, 128, 128},
                        {256, 256, 256},
                        {512, 512, 512},
                        {1024, 1024, 1024},
                        {2048, 2048, 2048},
                        // Layers of networks: weights at a small batch.
                        {1, 1024, 1024},
                        {1, 4096, 4096},
                        {8, 1024, 1024},
                        {16, 4096, 1024},
                        {32, 512, 256},
                        {64, 3072, 768},
                        {128, 768, 3072},
                        {128, 10, 512},
                        {256, 1, 64},
                        // Whole multiples of nothing.
                        {3, 5, 7},
                        {37, 53, 71},
                        {127, 129, 131},
                        {1000, 1000, 1000},
                        {1023, 1025, 511},
                        // Tall and skinny.
                        {100000, 16, 16},
                        {16, 16, 100000},
                        {4096, 64, 64}};

const Shapes kFormShapes = {{1, 1024, 1024}, {8, 1024, 1024}, {37, 53, 71},  {64, 64, 64},
                            {64, 3072, 768}, {512, 512, 512}, {4096, 64, 64}};

const Shapes kTypeShapes = {{16, 16, 16},    {64, 64, 64},       {128, 128, 128},  {256, 256, 256},
                            {512, 512, 512}, {1024, 1024, 1024}, {1, 1024, 1024},  {1, 4096, 4096},
                            {8, 1024, 1024}, {16, 4096, 1024},   {64, 3072, 768},  {128, 768, 3072},
                            {127, 129, 131}, {100000, 16, 16},   {16, 16, 100000}, {4096, 64, 64}};

constexpr int kMostThreads = 2;

Case make_case(ElementType type, const Shape& shape, int threads = 1) {
  Case c;
  c.type = type;
  c.m = shape.m;
  c.n = shape.n;
  c.k = shape.k;
  c.threads = threads;
  return c;
}

}  // namespace

Shapes random_shapes(int count, std::uint64_t seed) {
  constexpr double kMost = 4096, kLeastWork = 32.0 * 32 * 32, kMostWork = 4e9, kMostElements = 3e7;
  std::mt19937_64 random(seed);
  // Standard distributions differ from library to library.
  const auto extent = [&] {
    return std::round(std::exp2(static_cast<double>(random() >> 11) * 0x1p-53 * std::log2(kMost)));
  };
  Shapes shapes;
  while (shapes.size() < static_cast<std::size_t>(count)) {
    const double m = extent(), n = extent(), k = extent();
    if (m * n * k < kLeastWork || m * n * k > kMostWork || m * k + k * n + m * n > kMostElements) continue;
    shapes.push_back({static_cast<std::int64_t>(m), static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)});
  }
  return shapes;
}

std::vector<Case> shape_cases(const Shapes& shapes) {
  std::vector<Case> cases;
  for (const ElementType type : {ElementType::f32, ElementType::f64}) {
    for (int threads = 1; threads <= kMostThreads; ++threads) {
      for (const Shape& shape : shapes.empty() ? kShapes : shapes) cases.push_back(make_case(type, shape, threads));
    }
  }
  return cases;
}

std::vector<Case> form_cases(const Shapes& shapes) {
  std::vector<Case> cases;
  for (const Shape& shape : shapes.empty() ? kFormShapes : shapes) {
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
      for (const int transposed : {1, 2, 3}) {
        Case c = make_case(type, shape);
        c.trans_a = (transposed & 1) != 0;
        c.trans_b = (transposed & 2) != 0;
        cases.push_back(c);
      }
      for (const CForm form : {CForm::scalar, CForm::row, CForm::column, CForm::full}) {
        Case c = make_case(type, shape);
        c.c = form;
        cases.push_back(c);
      }
    }
  }
  return cases;
}

std::vector<Case> type_cases(const Shapes& shapes) {
  std::vector<Case> cases;
  for (const ElementType type :
       {ElementType::f16, ElementType::bf16, ElementType::i32, ElementType::u32, ElementType::i64, ElementType::u64}) {
    for (const Shape& shape : shapes.empty() ? kTypeShapes : shapes) cases.push_back(make_case(type, shape));
  }
  return cases;
}

}  // namespace binet::kernels::gemm::bench
