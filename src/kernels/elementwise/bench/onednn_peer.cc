// oneDNN's binary primitive. Its first operand must have the shape of the result, and of the types that Binet shares
// with it, its bytes saturate: f32 and bf16 are left.
#include <omp.h>

#include <algorithm>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/elementwise/bench/peers.h"

namespace binet::kernels::elementwise::bench {
namespace {

bool is_whole(const BroadcastPlan& plan, std::int64_t BroadcastLoop::*step) {
  return std::none_of(plan.loops.begin(), plan.loops.end(), [step](const BroadcastLoop& l) { return l.*step == 0; });
}

struct Primitive {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::binary binary;
  std::unordered_map<int, dnnl::memory> arguments;
};

std::function<void()> make(const Operands& p, int threads, bool swapped) {
  const auto type = p.type == ElementType::f32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
  const auto describe = [&](std::int64_t BroadcastLoop::*step) {
    dnnl::memory::dims extents, strides;
    for (const BroadcastLoop& loop : p.plan.loops) extents.push_back(loop.*step == 0 ? 1 : loop.extent);
    strides.resize(extents.size());
    std::int64_t stride = 1;
    for (std::size_t k = extents.size(); k-- > 0; stride *= extents[k]) strides[k] = stride;
    return dnnl::memory::desc(extents, type, strides);
  };
  const auto first = describe(swapped ? &BroadcastLoop::b_step : &BroadcastLoop::a_step);
  const auto second = describe(swapped ? &BroadcastLoop::a_step : &BroadcastLoop::b_step);
  omp_set_num_threads(threads);
  const auto primitive = std::make_shared<Primitive>();
  const dnnl::binary::desc description(dnnl::algorithm::binary_mul, first, second, first);
  primitive->binary = dnnl::binary(dnnl::binary::primitive_desc(description, primitive->engine));
  const auto memory = [&](const dnnl::memory::desc& desc, const AlignedBuffer& buffer) {
    return dnnl::memory(desc, primitive->engine, buffer.data());
  };
  primitive->arguments = {{DNNL_ARG_SRC_0, memory(first, swapped ? p.b : p.a)},
                          {DNNL_ARG_SRC_1, memory(second, swapped ? p.a : p.b)},
                          {DNNL_ARG_DST, memory(first, p.y)}};
  return [primitive, threads] {
    omp_set_num_threads(threads);
    primitive->binary.execute(primitive->stream, primitive->arguments);
    primitive->stream.wait();
  };
}

}  // namespace

std::function<void()> onednn_product(const Operands& p, int threads) {
  if (p.plan.loops.empty() || (p.type != ElementType::f32 && p.type != ElementType::bf16)) return {};
  const bool a_is_whole = is_whole(p.plan, &BroadcastLoop::a_step);
  if (!a_is_whole && !is_whole(p.plan, &BroadcastLoop::b_step)) return {};
  try {
    return make(p, threads, !a_is_whole);
  } catch (const dnnl::error&) {
    return {};  // not on this CPU
  }
}

}  // namespace binet::kernels::elementwise::bench
