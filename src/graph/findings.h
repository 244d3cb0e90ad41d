// Room: graph. What happens when a rule is broken: loading stops at the first finding, `binet check` collects them all.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "binet/error.h"

namespace binet {

/// Code that applies rules throws Error, and wraps each independent part of its work in check(). With a list to collect
/// into, check() keeps the message and goes on after that part; without one, the first Error ends the whole work.
class Findings {
 public:
  /// Stops at the first finding.
  Findings() = default;
  /// Collects into `messages`, which must outlive this object.
  explicit Findings(std::vector<std::string>& messages) : messages_(&messages) {}

  /// Runs `part`; true if it found nothing wrong.
  template <class Part>
  bool check(Part&& part) {
    if (messages_ == nullptr) {
      std::forward<Part>(part)();
      return true;
    }
    try {
      std::forward<Part>(part)();
      return true;
    } catch (const Error& error) {
      messages_->emplace_back(error.what());
      return false;
    }
  }

 private:
  std::vector<std::string>* messages_ = nullptr;
};

}  // namespace binet
