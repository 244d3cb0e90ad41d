// This machine, as Binet sees and uses it: instruction sets, kernels, and how fast it can be at most.
#pragma once

#include <string>
#include <vector>

#include "binet/element_type.h"
#include "binet/export.h"

namespace binet {

/// An instruction set for which the kernels are compiled. The first that the CPU has is used, unless BINET_TARGET names
/// another.
struct TargetDescription {
  std::string name;
  std::string needs;  ///< what the CPU must have
  bool is_supported = false;
  bool is_used = false;
};

/// Best first. Throws Error if BINET_TARGET names one that cannot be used.
[[nodiscard]] BINET_EXPORT std::vector<TargetDescription> describe_targets();

/// The kernel that computes an operation on elements of one type on this CPU.
struct KernelDescription {
  std::string operation;  ///< "matrix product", "elementwise"
  ElementType type = ElementType::f32;
  std::string target;  ///< the instruction set it was compiled for
  std::string kernel;  ///< how it computes
};

[[nodiscard]] BINET_EXPORT std::vector<KernelDescription> describe_kernels();

/// What the machine does at most, measured now, in about a fifth of a second.
struct MachinePeak {
  double f32_operations_per_second = 0;  ///< multiplications and additions, in registers
  double f64_operations_per_second = 0;
  /// Of matrix products on matrix registers, in bf16 and in integers of 32 and 64 bits; 0 where they are not used.
  double bf16_matrix_operations_per_second = 0;
  double i32_matrix_operations_per_second = 0;
  double i64_matrix_operations_per_second = 0;
  double bytes_per_second = 0;  ///< read from memory
};

/// On `threads` threads at once; 0: as many as a session would use. Throws Error if there is no memory.
[[nodiscard]] BINET_EXPORT MachinePeak measure_peak(int threads = 0);

}  // namespace binet
