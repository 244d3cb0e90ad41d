// Room: runtime. What the sessions of one model share: constants in the form that a kernel wants, and folded constants.
//
// The store remembers them; those who use them own them, so the memory goes with the last session. Who prepares
// constants holds mutex() from the first look to the last keep(): then nothing is made twice.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "graph/bound_graph.h"

namespace binet {

class ConstantStore {
 public:
  [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }

  /// The form of a constant that somebody holds; null if nobody does.
  [[nodiscard]] std::shared_ptr<const std::byte> find(ValueIndex value, const FormKey& key) const {
    const auto found = forms_.find({value, key});
    return found == forms_.end() ? nullptr : found->second.lock();
  }
  void keep(ValueIndex value, const FormKey& key, const std::shared_ptr<const std::byte>& form) {
    forms_[{value, key}] = form;
  }

  /// The value of a node whose inputs are all constants.
  [[nodiscard]] std::shared_ptr<const Tensor> find_folded(ValueIndex value) const {
    const auto found = folded_.find(value);
    return found == folded_.end() ? nullptr : found->second.lock();
  }
  void keep_folded(ValueIndex value, const std::shared_ptr<const Tensor>& tensor) { folded_[value] = tensor; }

  /// Calls `visit` with each form that somebody holds.
  template <class Visit>
  void for_each_form(const Visit& visit) {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, form] : forms_) {
      if (const auto held = form.lock()) visit(held);
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<ValueIndex, FormKey>, std::weak_ptr<const std::byte>> forms_;
  std::map<ValueIndex, std::weak_ptr<const Tensor>> folded_;
};

}  // namespace binet
