// Tests: a type on a target, and the check of one product against plain loops.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/gemm/gemm_testing.h"
#include "kernels/gemm/order.h"
#include "kernels/gemm/parts.h"
#include "kernels/gemm/row_major.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/tiled/tiled.h"

namespace binet::kernels::gemm {

/// The reference for targets whose products and additions are rounded one by one.
template <class T, class Sum>
void unfused_reference(const Problem& p, const Operands& operands, std::byte* y) {
  const Scale scale = make_scale(p);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t n = 0; n < p.n; ++n) {
      const Problem part = part_of_column(p, n);
      const Sum sum = sum_in_order<Sum>(part, order_of(part), [&](Sum before, std::int64_t k) {
        const auto a = static_cast<Sum>(get<T>(operands.a.data(), i * p.a_row_step + k * p.a_column_step));
        const auto b = static_cast<Sum>(get<T>(operands.b.data(), k * p.b_row_step + n * p.b_column_step));
        const Sum product = a * b;
        return before + product;
      });
      Sum value = static_cast<Sum>(scale.alpha) * sum;
      if (scale.has_c) {
        const auto c = static_cast<Sum>(get<T>(operands.c.data(), i * p.c_row_step + n * p.c_column_step));
        const Sum product = static_cast<Sum>(scale.beta) * c;
        value += product;
      }
      T result;
      if constexpr (sizeof(T) == 2) {
        result = T::from_float(value);
      } else {
        result = value;
      }
      std::memcpy(y + (i * p.n + n) * static_cast<std::int64_t>(sizeof(T)), &result, sizeof(T));
    }
  }
}

inline void compute_reference(const Problem& p, const Operands& operands, const Kernels& kernels, std::byte* y) {
  if (!is_float(p.type) || kernels.is_fused) {
    const bool by_tiles = p.type == ElementType::bf16 && takes_tiled(p, kernels, false) && !kernels.tiled->are_vectors;
    return run_reference(p, operands.a.data(), operands.b.data(), p.has_c ? operands.c.data() : nullptr, y, by_tiles);
  }
  switch (p.type) {
    case ElementType::f16:
      return unfused_reference<Float16, float>(p, operands, y);
    case ElementType::bf16:
      return unfused_reference<BFloat16, float>(p, operands, y);
    case ElementType::f32:
      return unfused_reference<float, float>(p, operands, y);
    default:
      return unfused_reference<double, double>(p, operands, y);
  }
}

struct TypeOnTarget {
  ElementType type;
  Target target;
};

inline void PrintTo(const TypeOnTarget& tested, std::ostream* out) {
  *out << to_string(tested.type) << " on " << tested.target.name;
}

inline std::vector<TypeOnTarget> types_on_targets() {
  std::vector<TypeOnTarget> all;
  for (const Target& target : supported_targets()) {
    for (const ElementType type : kTypes) all.push_back({type, target});
  }
  return all;
}

class TypeOnTargetTest : public ::testing::TestWithParam<TypeOnTarget> {
 protected:
  const ElementType type_ = GetParam().type;
  const Target target_ = GetParam().target;
  const Kernels& kernels_ = *find_kernels(type_, target_);
  const ThreadPool one_thread_{1};

  void check(const Case& c, const Operands& operands, bool pack, std::size_t misalignment = 0) {
    const Problem p = problem_of(type_, c);
    const Bytes want(Operands::bytes_of(p, p.m * p.n), 0);
    compute_reference(p, operands, kernels_, want.data());
    const Bytes got = compute(p, operands, target_, one_thread_, pack, misalignment);
    EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c << " packed " << pack;
  }
  void check(const Case& c, std::size_t misalignment = 0) {
    const Operands operands(problem_of(type_, c), misalignment, 1);
    check(c, operands, false, misalignment);
    check(c, operands, true, misalignment);
  }

  /// Goes through forms of C and factors, so that every one meets many sizes.
  void vary(Case& c) {
    constexpr struct {
      CForm c;
      float alpha, beta;
    } kForms[] = {{CForm::none, 1, 1},      {CForm::row, 1, 1},    {CForm::full, 1, 1},
                  {CForm::column, -2, 3},   {CForm::scalar, 1, 1}, {CForm::none, 0.5f, 1},
                  {CForm::full, 0.35f, -1}, {CForm::row, 0, 1},    {CForm::column, 1, 0.7f},
                  {CForm::full, 1, 0},      {CForm::none, 3, 1},   {CForm::scalar, 1, -2.5f}};
    const auto& form = kForms[next_form_++ % std::size(kForms)];
    c.c = form.c;
    c.alpha = form.alpha;
    c.beta = form.beta;
  }

 private:
  std::size_t next_form_ = 0;
};

inline std::string name_of(const ::testing::TestParamInfo<TypeOnTarget>& tested) {
  return std::string(to_string(tested.param.type)) + "_" + std::string(tested.param.target.name);
}

}  // namespace binet::kernels::gemm
