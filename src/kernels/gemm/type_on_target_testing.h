// Tests: a type on a target, and the check of one product against plain loops.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/gemm/gemm_testing.h"
#include "kernels/gemm/reference_testing.h"

namespace binet::kernels::gemm {

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

  /// Y, by plain loops that add in the order of these kernels.
  [[nodiscard]] Bytes expected(const Problem& p, const Operands& operands) const {
    Bytes want(Operands::bytes_of(p, p.m * p.n), 0);
    run_reference(p, sum_order_of(p, kernels_), operands.a.data(), operands.b.data(),
                  p.has_c ? operands.c.data() : nullptr, want.data());
    return want;
  }

  /// B both as it lies and packed, or only one of them.
  void check(const Case& c, const Operands& operands, std::initializer_list<bool> packed,
             std::size_t misalignment = 0) {
    const Problem p = problem_of(type_, c);
    const Bytes want = expected(p, operands);
    for (const bool pack : packed) {
      const Bytes got = compute(p, operands, target_, one_thread_, pack, misalignment);
      EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c << " packed " << pack;
    }
  }
  void check(const Case& c, const Operands& operands, std::size_t misalignment = 0) {
    check(c, operands, {false, true}, misalignment);
  }
  void check(const Case& c, std::size_t misalignment = 0) {
    check(c, Operands(problem_of(type_, c), misalignment, 1), misalignment);
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
