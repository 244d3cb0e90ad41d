// The two products by themselves, for every element type of their newest version, without a model.
//
// Numerics: docs/numerics.md. Each has a form that returns a new tensor, and one that writes into a given tensor, which
// must have the result's type and shape and must not overlap an operand; for operands of the types and shapes of a
// recent call it allocates nothing. For that a thread keeps what Gemm needs beside its operands, at most a copy of A
// and B in packed form, until it ends.
#pragma once

#include "binet/export.h"
#include "binet/tensor.h"

namespace binet {

/// The elementwise product of A and B with multidirectional (numpy) broadcasting: ONNX Mul-14. Both have the same one
/// of the twelve numeric types. `mul_into` may be given A or B itself as the output where that operand has the result's
/// shape.
[[nodiscard]] BINET_EXPORT Tensor mul(const Tensor& a, const Tensor& b);
BINET_EXPORT void mul_into(const Tensor& a, const Tensor& b, Tensor& output);

struct GemmOptions {
  float alpha = 1.0f;
  float beta = 1.0f;
  bool trans_a = false;
  bool trans_b = false;
};

/// alpha * op(A) * op(B) + beta * C: ONNX Gemm-13. A is (M,K), or (K,M) with trans_a; B is (K,N), or (N,K) with
/// trans_b; C broadcasts to (M,N), the shape of the result. Types: f16 bf16 f32 f64 i32 i64 u32 u64, the same for all.
[[nodiscard]] BINET_EXPORT Tensor gemm(const Tensor& a, const Tensor& b, const GemmOptions& options = {});
[[nodiscard]] BINET_EXPORT Tensor gemm(const Tensor& a, const Tensor& b, const Tensor& c,
                                       const GemmOptions& options = {});
BINET_EXPORT void gemm_into(const Tensor& a, const Tensor& b, const Tensor* c, Tensor& output,
                            const GemmOptions& options = {});

}  // namespace binet
