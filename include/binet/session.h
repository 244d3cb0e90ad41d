// Running a model.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "binet/export.h"
#include "binet/model.h"
#include "binet/tensor.h"

namespace binet {

/// Tensors under their names, in an order.
class BINET_EXPORT NamedTensors {
 public:
  using Entry = std::pair<std::string, Tensor>;

  NamedTensors() = default;
  NamedTensors(std::initializer_list<Entry> entries) : entries_(entries) {}

  void add(std::string name, Tensor tensor) { entries_.emplace_back(std::move(name), std::move(tensor)); }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  /// By place, or by name; throws Error if there is none.
  [[nodiscard]] const Tensor& operator[](std::size_t place) const;
  [[nodiscard]] const Tensor& operator[](std::string_view name) const;
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

struct SessionOptions {
  /// Threads that one run may use, the caller among them; 0: one for each CPU that the process may use.
  int threads = 0;
};

/// A model made ready to run on this CPU. run() may be called from several threads at once; the results are the same
/// bits whatever the number of threads.
class BINET_EXPORT Session {
 public:
  /// Plans the computation; where all shapes are known now, everything is decided here. Throws Error if BINET_TARGET
  /// names an instruction set that cannot be used, if a shape rule is broken, or if there is no memory.
  explicit Session(const Model& model, SessionOptions options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Computes the outputs, in the order of the graph. Each input that has no default must be given, with the element
  /// type and a shape that the model declares; throws Error otherwise, before anything runs.
  [[nodiscard]] NamedTensors run(const NamedTensors& inputs) const;

 private:
  struct Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace binet
