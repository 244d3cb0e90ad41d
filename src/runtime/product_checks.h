// Room: runtime. What binet::mul and binet::gemm have in common: the threads, and what they refuse.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "base/fail.h"
#include "base/out_of_memory.h"
#include "binet/products.h"
#include "operators/registry.h"
#include "tensor/shape.h"
#include "threads/thread_pool.h"

namespace binet {

/// Made at the first call, for all callers.
inline const ThreadPool& shared_pool() {
  static const ThreadPool pool;
  return pool;
}

inline const OperatorVersion& newest(std::string_view name) { return find_operator("ai.onnx", name).back(); }

/// Runs `rule`, whose messages do not say which product they are about, and which may run out of memory.
template <class Rule>
decltype(auto) named(std::string_view product, Rule&& rule) {
  try {
    return guard_memory(std::forward<Rule>(rule));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::out_of_memory) throw;  // there may be none for a better message
    fail(ErrorCode::invalid_argument, "{}: {}", versioned_name(newest(product)), error.what());
  }
}

inline void check_types(const OperatorVersion& version, const Tensor& first, const Tensor* other) {
  if (!version.types.contains(first.type())) {
    fail(ErrorCode::invalid_argument, "element type {} is not allowed; allowed are {}", to_string(first.type()),
         version.types.names());
  }
  if (other != nullptr && other->type() != first.type()) {
    fail(ErrorCode::invalid_argument, "element types {} and {} meet; they must be the same", to_string(first.type()),
         to_string(other->type()));
  }
}

// What is refused is told apart from the checks, which are felt in a product of a few elements.

[[noreturn, gnu::noinline]] inline void fail_output(const Tensor& output, ElementType type, const Shape& shape) {
  fail(ErrorCode::invalid_argument, "the output is {} {}; it must be {} {}", to_string(output.type()),
       to_string(output.shape()), to_string(type), to_string(shape));
}

inline void check_output(const Tensor& output, ElementType type, const Shape& shape) {
  if (output.type() != type || !is_same(output.shape(), shape)) fail_output(output, type, shape);
}

[[noreturn, gnu::noinline]] inline void fail_overlap(std::string_view name) {
  fail(ErrorCode::invalid_argument, "the output overlaps {}", name);
}

inline bool overlaps(const Tensor& a, const Tensor& b) {
  // std::less orders pointers into different objects too.
  const std::less<const std::byte*> before;
  const auto of_a = a.bytes();
  const auto of_b = b.bytes();
  return !of_a.empty() && !of_b.empty() && before(of_a.data(), of_b.data() + of_b.size()) &&
         before(of_b.data(), of_a.data() + of_a.size());
}

inline void check_apart(std::string_view name, const Tensor& operand, const Tensor& output, bool may_be_same) {
  if (!overlaps(operand, output)) return;
  if (may_be_same && operand.bytes().data() == output.bytes().data() && operand.shape() == output.shape()) return;
  fail_overlap(name);
}

}  // namespace binet
