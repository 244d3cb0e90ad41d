// Benchmark: oneDNN. f32 by dnnl_sgemm; f32 and bf16 by the matmul and inner-product primitives, with B as it lies and
// with B in the layout that the primitive likes best, reordered beforehand.
#include <omp.h>

#include <dnnl.hpp>
#include <memory>
#include <optional>
#include <unordered_map>

#include "kernels/gemm/bench/peer.h"
#include "kernels/gemm/bench/place_c.h"

namespace binet::kernels::gemm::bench {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

struct Primitive {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
};

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}
dnnl::stream& stream() {
  static dnnl::stream stream(cpu());
  return stream;
}

memory::desc c_descriptor(const Case& c, memory::data_type type) {
  const bool has_rows = c.c == CForm::column || c.c == CForm::full;
  const bool has_columns = c.c == CForm::row || c.c == CForm::full;
  return {{has_rows ? c.m : 1, has_columns ? c.n : 1}, type, Tag::ab};
}

memory at(const memory::desc& descriptor, const std::byte* data) {
  return {descriptor, cpu(), const_cast<std::byte*>(data)};
}

/// Weights as the primitive wants them.
memory weights_of(const memory::desc& wanted, const memory::desc& given, const std::byte* b) {
  memory weights = at(given, b);
  if (wanted == given) return weights;
  memory own(wanted, cpu());
  dnnl::reorder(weights, own).execute(stream(), weights, own);
  stream().wait();
  return own;
}

/// The plain loops that oneDNN has for what it does not optimize: too slow to wait for.
bool is_reference(const char* implementation) { return std::string(implementation).find("ref") == 0; }

Way way_of(std::string name, bool b_is_constant, Primitive made) {
  const auto shared = std::make_shared<Primitive>(std::move(made));
  return {std::move(name), b_is_constant, [shared] {
            shared->primitive.execute(stream(), shared->arguments);
            stream().wait();
          }};
}

std::optional<Way> matmul(const Case& c, const Operands& o, memory::data_type type, bool any) {
  const memory::desc a({c.m, c.k}, type, c.trans_a ? Tag::ba : Tag::ab);
  const memory::desc b({c.k, c.n}, type, c.trans_b ? Tag::ba : Tag::ab);
  const memory::desc y({c.m, c.n}, type, Tag::ab);
  const memory::desc weights = any ? memory::desc({c.k, c.n}, type, Tag::any) : b;
  const memory::desc added = c_descriptor(c, type);
  dnnl::primitive_attr attributes;
  const bool is_bias = c.c == CForm::row;
  if (c.c != CForm::none && !is_bias) {
    dnnl::post_ops after;
    after.append_binary(dnnl::algorithm::binary_add, added);
    attributes.set_post_ops(after);
  }
  const dnnl::matmul::desc operation =
      is_bias ? dnnl::matmul::desc(a, weights, added, y) : dnnl::matmul::desc(a, weights, y);
  const dnnl::matmul::primitive_desc chosen(operation, attributes, cpu());
  if (is_reference(chosen.impl_info_str())) return std::nullopt;
  Primitive made{dnnl::matmul(chosen),
                 {{DNNL_ARG_SRC, at(a, o.a)},
                  {DNNL_ARG_WEIGHTS, weights_of(chosen.weights_desc(), b, o.b)},
                  {DNNL_ARG_DST, at(y, o.y)}}};
  if (is_bias) made.arguments.emplace(DNNL_ARG_BIAS, at(added, o.c));
  if (c.c != CForm::none && !is_bias) {
    made.arguments.emplace(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, at(added, o.c));
  }
  return way_of(any ? "matmul, any" : "matmul", any, std::move(made));
}

/// The fully connected layer: weights are (N,K), and C at most a row.
std::optional<Way> inner_product(const Case& c, const Operands& o, memory::data_type type) {
  if (c.trans_a || (c.c != CForm::none && c.c != CForm::row)) return std::nullopt;
  const memory::desc a({c.m, c.k}, type, Tag::ab);
  const memory::desc b({c.n, c.k}, type, c.trans_b ? Tag::ab : Tag::ba);
  const memory::desc y({c.m, c.n}, type, Tag::ab);
  const memory::desc any({c.n, c.k}, type, Tag::any);
  const memory::desc bias({c.n}, type, Tag::a);
  constexpr auto kForward = dnnl::prop_kind::forward_inference;
  using Layer = dnnl::inner_product_forward;
  const Layer::desc operation =
      c.c == CForm::row ? Layer::desc(kForward, a, any, bias, y) : Layer::desc(kForward, a, any, y);
  const Layer::primitive_desc chosen(operation, cpu());
  if (is_reference(chosen.impl_info_str())) return std::nullopt;
  Primitive made{Layer(chosen),
                 {{DNNL_ARG_SRC, at(a, o.a)},
                  {DNNL_ARG_WEIGHTS, weights_of(chosen.weights_desc(), b, o.b)},
                  {DNNL_ARG_DST, at(y, o.y)}}};
  if (c.c == CForm::row) made.arguments.emplace(DNNL_ARG_BIAS, at(bias, o.c));
  return way_of("inner product, any", true, std::move(made));
}

Way sgemm(const Case& c, const Operands& o) {
  return {"sgemm", false, [c, o] {
            auto* y = reinterpret_cast<float*>(o.y);
            place_c(c, reinterpret_cast<const float*>(o.c), y);
            dnnl_sgemm(c.trans_a ? 'T' : 'N', c.trans_b ? 'T' : 'N', c.m, c.n, c.k, 1,
                       reinterpret_cast<const float*>(o.a), c.trans_a ? c.m : c.k, reinterpret_cast<const float*>(o.b),
                       c.trans_b ? c.k : c.n, c.c == CForm::none ? 0 : 1, y, c.n);
          }};
}

std::vector<Way> ways(const Case& c, const Operands& operands) {
  if (c.type != ElementType::f32 && c.type != ElementType::bf16) return {};
  const auto type = c.type == ElementType::f32 ? memory::data_type::f32 : memory::data_type::bf16;
  ::omp_set_num_threads(c.threads);
  std::vector<Way> ways;
  const auto add = [&](const auto& make) {
    try {
      if (std::optional<Way> way = make()) ways.push_back(std::move(*way));
    } catch (const dnnl::error&) {
      // Not offered for this case.
    }
  };
  if (c.type == ElementType::f32) ways.push_back(sgemm(c, operands));
  add([&] { return matmul(c, operands, type, false); });
  add([&] { return matmul(c, operands, type, true); });
  add([&] { return inner_product(c, operands, type); });
  return ways;
}

}  // namespace
}  // namespace binet::kernels::gemm::bench

binet::kernels::gemm::bench::Peer binet_gemm_peer(const char*) {
  const dnnl_version_t* version = dnnl_version();
  return {"oneDNN",
          std::to_string(version->major) + "." + std::to_string(version->minor) + "." + std::to_string(version->patch),
          &binet::kernels::gemm::bench::ways};
}
