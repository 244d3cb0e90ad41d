// Room: kernels. Products in one go: which ones, and how their rows are cut (Kernels::multiply_at_once).
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether a product is so small that cutting it would take longer than it saves, or has rows that each thread computes
/// so. `schedule`: how it would be computed else.
[[nodiscard]] bool may_take_at_once(const Problem& problem, const Kernels& kernels, const Schedule& schedule);

/// Replaces the schedule of such a product; sets the plan's way and workspace.
void plan_at_once(const Problem& problem, const Kernels& kernels, Plan& plan);

}  // namespace binet::kernels::gemm
