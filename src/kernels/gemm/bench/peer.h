// Benchmark: what a library to compare with must offer. Each is a shared object of its own, loaded while the benchmark
// runs: they define the same names (cblas_sgemm), and none of them is needed to build Binet.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/gemm/bench/case.h"

namespace binet::kernels::gemm::bench {

/// One of the library's ways to compute a case, made ready: run() does what a program would repeat for each new A.
struct Way {
  std::string name;            ///< "sgemm", "matmul"
  bool b_is_constant = false;  ///< B was brought into the library's own layout beforehand
  std::function<void()> run;
};

struct Peer {
  std::string name;   ///< "OpenBLAS": the head of its column
  std::string about;  ///< its version and the kernels that it has chosen for this CPU
  /// Empty where the library does not offer the case. The operands outlive the ways.
  std::vector<Way> (*ways)(const Case& c, const Operands& operands) = nullptr;
};

}  // namespace binet::kernels::gemm::bench

/// The one function of each shared object. `target`: the name of Binet's, whose instructions the library may use too;
/// peers.cc has set the variables that libraries read when they are loaded.
extern "C" __attribute__((visibility("default"))) binet::kernels::gemm::bench::Peer binet_gemm_peer(const char* target);
