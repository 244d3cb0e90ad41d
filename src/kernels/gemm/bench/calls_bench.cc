#include "kernels/gemm/bench/calls_bench.h"

#include <fmt/format.h>

#include "binet/products.h"
#include "kernels/gemm/bench/operands.h"

namespace binet::kernels::gemm::bench {
namespace {

Tensor tensor_of(const Case& c, std::int64_t rows, std::int64_t columns, const std::byte* elements) {
  Tensor tensor = Tensor::uninitialized(c.type, {rows, columns});
  std::copy_n(elements, tensor.bytes().size(), tensor.mutable_bytes().data());
  return tensor;
}

void compare_call(const Case& c, std::span<const Peer> peers, const Effort& effort) {
  const Matrices matrices(c);
  const Operands operands = matrices.operands();
  const Tensor a = tensor_of(c, c.m, c.k, operands.a);
  const Tensor b = tensor_of(c, c.k, c.n, operands.b);
  Tensor y = Tensor::uninitialized(c.type, {c.m, c.n});
  Contestant binet = {[&] { gemm_into(a, b, nullptr, y); }};
  binet.seconds = estimate(binet.run, 1);

  std::vector<Contestant> ways;
  std::vector<std::string> names;
  for (const Peer& peer : peers) {
    for (const Way& way : peer.ways(c, operands)) {
      ways.push_back({way.run, estimate(way.run, 1)});
      names.push_back(peer.name + " " + way.name);
    }
  }
  std::vector<Contestant*> contestants = {&binet};
  for (Contestant& way : ways) contestants.push_back(&way);
  measure(contestants, 1, effort);
  fmt::print("{}x{}x{} {}: binet::gemm_into {:.0f} ns", c.m, c.n, c.k, to_string(c.type), binet.seconds * 1e9);
  for (std::size_t i = 0; i < ways.size(); ++i) fmt::print(", {} {:.0f}", names[i], ways[i].seconds * 1e9);
  fmt::print("\n");
}

}  // namespace

void compare_calls(std::span<const Peer> peers, const Effort& effort) {
  fmt::print("\nFrom call to return on one thread, into a given result:\n");
  for (const ElementType type : {ElementType::f32, ElementType::f64}) {
    compare_call({type, 3, 5, 7}, peers, effort);
    compare_call({type, 16, 16, 16}, peers, effort);
  }
}

}  // namespace binet::kernels::gemm::bench
