// Running a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "binet/executor.h"
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
  /// Threads that one run may use, the caller among them; 0: BINET_THREADS if that is set, else one for each CPU that
  /// the process may use. Sessions share their threads, which end with the last session.
  int threads = 0;
  /// The application's own threads, used instead of Binet's; `threads` then means nothing.
  std::shared_ptr<Executor> executor = nullptr;

  /// Limits, for models that are not trusted or machines that are small. What is larger is refused with an Error before
  /// memory is asked for; 0: no limit.
  std::size_t max_tensor_bytes = 0;  ///< of any one value, inputs and outputs among them
  /// Of what one run holds beside the model's file and the inputs: constants in another form, the values in between,
  /// and the outputs. Further runs at the same time share the constants.
  std::size_t max_memory_bytes = 0;
};

/// One computation of a run, for people and tools. What is folded into constants is not there.
struct StepDescription {
  std::string name;                 ///< the node's; may be empty
  std::string operation;            ///< "Gemm-13"
  std::vector<std::string> inputs;  ///< "f32 (2, 3)"; empty where left out
  std::string output;
  ElementType type = ElementType::f32;  ///< of the output
  std::string kernel;
  double operations = 0;  ///< multiplications and additions of elements
  double bytes = 0;       ///< of the inputs and the output, each once
};

/// A session's inputs and outputs, put into their places once, to be run again and again. It has memory of its own for
/// the values in between, and keeps alive what it needs of its session and the tensors. One run at a time; different
/// bindings may run at the same time, whether of one session or several.
class BINET_EXPORT Binding {
 public:
  Binding(Binding&&) noexcept;
  Binding& operator=(Binding&&) noexcept;
  ~Binding();

  /// Computes the outputs from the elements that the inputs hold now. No allocation, no lock, no error.
  void run();
  /// The same, with nanoseconds[i] set to the time of step i. Throws Error unless there are as many as steps().
  void run(std::span<std::int64_t> nanoseconds);

  /// In the order of the graph. The elements change with each run.
  [[nodiscard]] const NamedTensors& outputs() const noexcept;
  /// What a run computes, in this order.
  [[nodiscard]] std::vector<StepDescription> steps() const;

 private:
  friend class Session;
  struct Impl;
  explicit Binding(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A model made ready to run on this CPU. run() and bind() may be called from several threads at once; the results are
/// the same bits whatever the number of threads.
class BINET_EXPORT Session {
 public:
  /// Plans the computation; where all shapes are known now, everything is decided here. Constants that kernels want in
  /// another form are shared by the sessions of one Model. Throws Error if BINET_TARGET or BINET_THREADS cannot be
  /// used, if a shape rule is broken, if a limit is passed, or if there is no memory.
  explicit Session(const Model& model, const SessionOptions& options = {});
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// Computes the outputs, in the order of the graph. Each input that has no default must be given, with the element
  /// type and a shape that the model declares; throws Error otherwise, before anything runs.
  [[nodiscard]] NamedTensors run(const NamedTensors& inputs) const;

  /// Checks and plans as run() does, for these tensors: their elements are read when the binding runs, so they can be
  /// changed in between. An output that is given is written where it lies; it must have the type and the shape of the
  /// result, and overlap no other tensor given here. The others are allocated.
  [[nodiscard]] Binding bind(const NamedTensors& inputs, const NamedTensors& outputs = {}) const;

  /// Threads that one run may use.
  [[nodiscard]] int threads() const noexcept;

 private:
  friend class Binding;
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace binet
