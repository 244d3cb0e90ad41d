// Room: kernels, benchmarks only. The arguments that say what is measured.
#pragma once

#include <vector>

#include "kernels/elementwise/bench/cases.h"

namespace binet::kernels::elementwise::bench {

/// The cases that the arguments name, all of them if they name none. Takes its own arguments out of argv and leaves
/// those of Google Benchmark. Ends the program after --help and after a mistake.
[[nodiscard]] std::vector<Case> take_cases(int& argc, char** argv);

}  // namespace binet::kernels::elementwise::bench
