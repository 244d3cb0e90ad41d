// Room: operators. What an operator hands to the runtime: one computation with everything decided but the addresses.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "binet/element_type.h"
#include "threads/thread_pool.h"

namespace binet {

/// Where the operands are during one run. An input that is left out is null; a constant may be in another form.
struct Operands {
  std::span<const std::byte* const> inputs;
  std::byte* output = nullptr;
  std::byte* workspace = nullptr;  ///< workspace_bytes(), aligned to a cache line
  /// The next call reads the output: better kept in a cache than out of the way.
  bool output_is_read_next = false;
};

class KernelCall {
 public:
  KernelCall() = default;
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;
  virtual ~KernelCall() = default;

  /// Safe from several threads at once, each with its own output and workspace. Neither allocates nor throws.
  virtual void run(const Operands& operands, const ThreadPool& pool) const = 0;

  [[nodiscard]] virtual std::size_t workspace_bytes() const { return 0; }

  /// The output may lie where this input does, which nobody reads afterwards.
  [[nodiscard]] virtual bool may_overwrite(std::size_t /*input*/) const { return false; }

  /// Multiplications and additions of elements in one run.
  [[nodiscard]] virtual double operations() const { return 0; }

  /// The kernel that serves this call, for people.
  [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace binet
