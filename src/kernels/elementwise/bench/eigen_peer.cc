// Eigen's arrays where both operands are one long row, its tensors with broadcast() for anything else.
#include <algorithm>
#include <array>
#include <unsupported/Eigen/CXX11/Tensor>

#include "kernels/elementwise/bench/peers.h"

namespace binet::kernels::elementwise::bench {
namespace {

template <class T>
struct Pointers {
  const T* a;
  const T* b;
  T* y;
};

template <class T>
void one_loop(const BroadcastLoop& loop, std::int64_t n, const Pointers<T>& p) {
  using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
  const Eigen::Map<const Array> a(p.a, n);
  const Eigen::Map<const Array> b(p.b, n);
  Eigen::Map<Array> y(p.y, n);
  if (loop.a_step == 0) {
    y = *p.a * b;
  } else if (loop.b_step == 0) {
    y = a * *p.b;
  } else {
    y = a * b;
  }
}

template <class T, int kRank>
void tensors(const std::vector<BroadcastLoop>& loops, std::int64_t outer, const Pointers<T>& p) {
  std::array<Eigen::Index, kRank> a_shape, b_shape, y_shape, a_copies, b_copies;
  for (std::size_t k = 0; k < kRank; ++k) {
    y_shape[k] = k == 0 ? outer : loops[k].extent;
    a_shape[k] = loops[k].a_step == 0 ? 1 : y_shape[k];
    b_shape[k] = loops[k].b_step == 0 ? 1 : y_shape[k];
    a_copies[k] = y_shape[k] / a_shape[k];
    b_copies[k] = y_shape[k] / b_shape[k];
  }
  using Tensor = Eigen::Tensor<T, kRank, Eigen::RowMajor>;
  const auto is_one = [](Eigen::Index copies) { return copies == 1; };
  const Eigen::TensorMap<const Tensor> a(p.a, a_shape);
  const Eigen::TensorMap<const Tensor> b(p.b, b_shape);
  Eigen::TensorMap<Tensor> y(p.y, y_shape);
  if (std::all_of(a_copies.begin(), a_copies.end(), is_one)) {
    y = a * b.broadcast(b_copies);
  } else if (std::all_of(b_copies.begin(), b_copies.end(), is_one)) {
    y = a.broadcast(a_copies) * b;
  } else {
    y = a.broadcast(a_copies) * b.broadcast(b_copies);
  }
}

template <class T>
void part(const BroadcastPlan& plan, std::int64_t outer, const Pointers<T>& p) {
  switch (plan.loops.size()) {
    case 1:
      return one_loop(plan.loops[0], outer, p);
    case 2:
      return tensors<T, 2>(plan.loops, outer, p);
    case 3:
      return tensors<T, 3>(plan.loops, outer, p);
    default:
      return tensors<T, 4>(plan.loops, outer, p);
  }
}

template <class T>
std::function<void()> product(const Operands& operands, const ThreadPool& pool) {
  return [&operands, &pool] {
    const BroadcastLoop& outer = operands.plan.loops.front();
    const std::int64_t inner = operands.plan.elements / outer.extent;
    in_parallel(pool, outer.extent, [&](std::int64_t begin, std::int64_t count) {
      part<T>(operands.plan, count,
              {reinterpret_cast<const T*>(operands.a.data()) + begin * outer.a_step,
               reinterpret_cast<const T*>(operands.b.data()) + begin * outer.b_step,
               reinterpret_cast<T*>(operands.y.data()) + begin * inner});
    });
  };
}

}  // namespace

std::function<void()> eigen_product(const Operands& operands, const ThreadPool& pool) {
  if (operands.plan.loops.empty() || operands.plan.loops.size() > 4) return {};
  switch (operands.type) {
    case ElementType::f32:
      return product<float>(operands, pool);
    case ElementType::f64:
      return product<double>(operands, pool);
    case ElementType::i32:
      return product<std::int32_t>(operands, pool);
    case ElementType::i64:
      return product<std::int64_t>(operands, pool);
    case ElementType::f16:
      return product<Eigen::half>(operands, pool);
    case ElementType::bf16:
      return product<Eigen::bfloat16>(operands, pool);
    case ElementType::u8:
      return product<std::uint8_t>(operands, pool);
    case ElementType::u16:
      return product<std::uint16_t>(operands, pool);
    default:
      return {};
  }
}

}  // namespace binet::kernels::elementwise::bench
