#include "runtime/place_values.h"

#include <algorithm>

#include "runtime/arena_layout.h"

namespace binet {
namespace {

class Placer {
 public:
  Placer(const std::vector<PlacedStep>& steps, std::span<const std::size_t> bytes, std::span<const ValueIndex> outputs)
      : steps_(steps),
        bytes_(bytes),
        last_use_(bytes.size(), 0),
        is_output_(bytes.size(), false),
        place_(bytes.size(), Placement::kElsewhere) {
    for (const ValueIndex output : outputs) is_output_[output] = true;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      last_use_[steps[i].output] = i;
      for (const ValueIndex input : steps[i].inputs) {
        if (input != kLeftOut) last_use_[input] = i;
      }
    }
  }

  Placement place() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const ValueIndex output = steps_[i].output;
      if (is_output_[output]) continue;
      const std::size_t taken = place_to_take(i);
      if (taken != Placement::kElsewhere) {
        place_[output] = taken;
        lifetimes_[taken].last = last_use_[output];
      } else {
        place_[output] = lifetimes_.size();
        lifetimes_.push_back({i, last_use_[output], bytes_[output]});
      }
    }
    const ArenaLayout layout = lay_out(lifetimes_);
    Placement placement{std::move(place_), layout.bytes};
    for (std::size_t& offset : placement.offsets) {
      if (offset != Placement::kElsewhere) offset = layout.offsets[offset];
    }
    return placement;
  }

 private:
  /// The place of an input of step i that is read for the last time there, and that the step may overwrite.
  [[nodiscard]] std::size_t place_to_take(std::size_t i) const {
    const PlacedStep& step = steps_[i];
    for (const ValueIndex input : step.inputs) {
      if (input == kLeftOut || place_[input] == Placement::kElsewhere || last_use_[input] != i) continue;
      if (bytes_[input] == bytes_[step.output] && may_overwrite(step, input)) return place_[input];
    }
    return Placement::kElsewhere;
  }

  /// A value may be read as more than one input; the kernel must allow it for each.
  static bool may_overwrite(const PlacedStep& step, ValueIndex value) {
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      if (step.inputs[i] == value && !step.may_overwrite[i]) return false;
    }
    return true;
  }

  const std::vector<PlacedStep>& steps_;
  std::span<const std::size_t> bytes_;
  std::vector<std::size_t> last_use_;
  std::vector<bool> is_output_;
  std::vector<std::size_t> place_;  ///< by value: its lifetime's number
  std::vector<Lifetime> lifetimes_;
};

}  // namespace

Placement place_values(const std::vector<PlacedStep>& steps, std::span<const std::size_t> bytes,
                       std::span<const ValueIndex> outputs) {
  return Placer(steps, bytes, outputs).place();
}

}  // namespace binet
