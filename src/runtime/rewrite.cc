#include "runtime/rewrite.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "base/element_types.h"
#include "operators/registry.h"
#include "tensor/shape.h"

namespace binet {
namespace {

enum GemmInput : std::size_t { kA, kB, kC };

bool is_operator(const BoundNode& node, std::string_view name) {
  return node.version->name == name && node.version->domain == "ai.onnx";
}

AttributeSetting& attribute(BoundNode& node, std::string_view name) {
  std::size_t place = 0;
  while (node.version->attributes[place].name != name) ++place;
  return node.attributes[place];
}

/// The constant's first element as a number; nothing if it is not one that f64 holds for sure.
std::optional<double> first_element(const Tensor& tensor) {
  const std::byte* bytes = tensor.bytes().data();
  const auto load = [&]<class T>(T value) {
    std::memcpy(&value, bytes, sizeof(T));
    return static_cast<double>(value);
  };
  switch (tensor.type()) {
    case ElementType::f16:
      return load(Float16{});
    case ElementType::bf16:
      return load(BFloat16{});
    case ElementType::f32:
      return load(float{});
    case ElementType::f64:
      return load(double{});
    case ElementType::i32:
      return load(std::int32_t{});
    case ElementType::u32:
      return load(std::uint32_t{});
    case ElementType::i64:
      return load(std::int64_t{});
    case ElementType::u64:
      return load(std::uint64_t{});
    default:
      return std::nullopt;
  }
}

/// The product, if it is a whole number that f32 holds exactly; up to 2^24 every whole number is.
std::optional<float> whole_product(float a, double b) {
  constexpr double kMost = 1 << 24;
  const double product = static_cast<double>(a) * b;
  if (std::abs(b) > kMost || std::abs(product) > kMost || std::trunc(product) != product) return std::nullopt;
  return static_cast<float>(product);
}

class Rewriter {
 public:
  explicit Rewriter(const BoundGraph& graph) : graph_(graph), uses_(graph.values.size(), 0) {
    maker_.resize(graph.values.size(), kNoNode);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      maker_[graph.nodes[i].output] = i;
      for (const ValueIndex input : graph.nodes[i].inputs) {
        if (input != kLeftOut) ++uses_[input];
      }
    }
    for (const ValueIndex output : graph.outputs) ++uses_[output];
  }

  std::optional<BoundGraph> rewrite() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (is_operator(graph_.nodes[i], "Mul")) try_to_join(i);
    }
    if (!result_) return std::nullopt;
    put_nodes_in_order();
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

  /// The Mul's constant, and the Gemm before it.
  struct Pair {
    std::size_t mul;
    std::size_t gemm;
    ValueIndex factor;
    bool is_scalar;
  };

  void try_to_join(std::size_t mul) {
    for (std::size_t side = 0; side < 2; ++side) {
      const auto pair = match(mul, side);
      if (!pair) continue;
      const bool is_done =
          is_integer(graph_.values[pair->factor].type.type) ? join_integers(*pair) : join_floats(*pair);
      if (is_done) return;
    }
  }

  /// The Gemm's output on one side of the Mul, on the other a constant that meets its columns.
  [[nodiscard]] std::optional<Pair> match(std::size_t mul, std::size_t side) const {
    const BoundNode& node = graph_.nodes[mul];
    const ValueIndex product = node.inputs[side];
    const ValueIndex factor = node.inputs[1 - side];
    const std::size_t gemm = maker_[product];
    if (gemm == kNoNode || !is_operator(graph_.nodes[gemm], "Gemm")) return std::nullopt;
    if (joined_.contains(gemm) || uses_[product] != 1 || !is_fixed(factor)) return std::nullopt;
    const PartialShape& shape = graph_.values[product].type.shape;
    // The same as far as anybody knows, declarations among it: no check is lost with the value.
    if (!shape || shape != graph_.values[node.output].type.shape) return std::nullopt;
    const Shape& of_factor = graph_.values[factor].constant->shape();
    if (of_factor.size() > shape->size()) return std::nullopt;
    const bool is_scalar = element_count(of_factor) == 1;
    const bool is_row = !of_factor.empty() && of_factor.back() == shape->back() &&
                        element_count(of_factor) == shape->back() && node.version->since_version >= 7;
    if (!is_scalar && !is_row) return std::nullopt;
    return Pair{mul, gemm, factor, is_scalar};
  }

  /// A constant that no input can replace.
  [[nodiscard]] bool is_fixed(ValueIndex value) const {
    return value != kLeftOut && graph_.values[value].constant && !graph_.values[value].is_input;
  }

  bool join_floats(const Pair& pair) {
    if (!pair.is_scalar) return false;
    const auto factor = first_element(*graph_.values[pair.factor].constant);
    const bool has_c = graph_.nodes[pair.gemm].inputs[kC] != kLeftOut;
    if (factor != 1.0 && !(factor == -1.0 && !has_c)) return false;
    BoundNode& gemm = take_over(pair);
    if (factor == -1.0) attribute(gemm, "alpha") = -std::get<float>(attribute(gemm, "alpha"));
    return true;
  }

  bool join_integers(const Pair& pair) {
    BoundNode gemm = graph_.nodes[pair.gemm];
    const float alpha = std::get<float>(attribute(gemm, "alpha"));
    const float beta = std::get<float>(attribute(gemm, "beta"));
    if (std::trunc(alpha) != alpha || std::trunc(beta) != beta) return false;
    const bool has_c = gemm.inputs[kC] != kLeftOut && beta != 0;
    if (pair.is_scalar) {
      const auto factor = first_element(*graph_.values[pair.factor].constant);
      const auto new_alpha = factor ? whole_product(alpha, *factor) : std::nullopt;
      const auto new_beta = factor ? whole_product(has_c ? beta : 0, *factor) : std::nullopt;
      if (new_alpha && new_beta) {
        BoundNode& joined = take_over(pair);
        attribute(joined, "alpha") = *new_alpha;
        attribute(joined, "beta") = *new_beta;
        return true;
      }
    }
    if (!is_fixed(gemm.inputs[kB]) || (has_c && !(is_fixed(gemm.inputs[kC]) && stays_small(pair)))) return false;
    const bool is_transposed = std::get<std::int64_t>(attribute(gemm, "transB")) != 0;
    BoundNode& joined = take_over(pair);
    joined.inputs[kB] = multiply(pair, joined.inputs[kB], is_transposed);
    if (has_c) joined.inputs[kC] = multiply(pair, joined.inputs[kC], false);
    return true;
  }

  /// C times the row has no more elements than C, or than the row.
  [[nodiscard]] bool stays_small(const Pair& pair) const {
    const Tensor& c = *graph_.values[graph_.nodes[pair.gemm].inputs[kC]].constant;
    const Tensor& factor = *graph_.values[pair.factor].constant;
    return pair.is_scalar || c.element_count() == 1 ||
           (!c.shape().empty() && c.shape().back() == factor.shape().back());
  }

  /// The copy of the Gemm that makes what the Mul made.
  BoundNode& take_over(const Pair& pair) {
    if (!result_) result_ = graph_;
    removed_.insert(pair.mul);
    joined_.insert(pair.gemm);
    BoundNode& gemm = result_->nodes[pair.gemm];
    gemm.output = graph_.nodes[pair.mul].output;
    return gemm;
  }

  /// A new value: a constant times the factor, which is turned into a column for a B that is transposed.
  ValueIndex multiply(const Pair& pair, ValueIndex constant, bool as_column) {
    ValueIndex factor = pair.factor;
    if (as_column && !pair.is_scalar) factor = add_column(*graph_.values[pair.factor].constant);
    BoundNode mul;
    mul.label = graph_.nodes[pair.mul].label;
    mul.name = graph_.nodes[pair.mul].name;
    mul.version = &find_operator("ai.onnx", "Mul").back();
    mul.inputs = {constant, factor};
    mul.output = result_->values.size();
    const std::vector<ValueType> types = {type_of(constant), type_of(factor)};
    const std::vector<const ValueType*> pointers = {&types[0], &types[1]};
    result_->values.push_back({mul.label, mul.version->infer({*mul.version, {}, pointers}), std::nullopt});
    before_[pair.gemm].push_back(std::move(mul));
    return result_->values.size() - 1;
  }

  [[nodiscard]] ValueType type_of(ValueIndex value) const { return result_->values[value].type; }

  ValueIndex add_column(const Tensor& row) {
    Tensor column = Tensor::uninitialized(row.type(), {static_cast<std::int64_t>(row.element_count()), 1});
    if (row.size_bytes() != 0) std::memcpy(column.mutable_bytes().data(), row.bytes().data(), row.size_bytes());
    result_->values.push_back({"", {column.type(), column.shape()}, column});
    return result_->values.size() - 1;
  }

  void put_nodes_in_order() {
    std::vector<BoundNode> nodes;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (removed_.contains(i)) continue;
      if (const auto found = before_.find(i); found != before_.end()) {
        for (BoundNode& node : found->second) nodes.push_back(std::move(node));
      }
      nodes.push_back(std::move(result_->nodes[i]));
    }
    result_->nodes = std::move(nodes);
  }

  const BoundGraph& graph_;
  std::vector<std::size_t> uses_;   ///< by value
  std::vector<std::size_t> maker_;  ///< by value: its node
  std::set<std::size_t> removed_;   ///< Mul nodes
  std::set<std::size_t> joined_;    ///< Gemm nodes, each with one Mul at most
  std::map<std::size_t, std::vector<BoundNode>> before_;
  std::optional<BoundGraph> result_;
};

}  // namespace

std::optional<BoundGraph> rewrite(const BoundGraph& graph) { return Rewriter(graph).rewrite(); }

}  // namespace binet
