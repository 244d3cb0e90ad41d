// Room: kernels. Walking the loops around a block or tile: what run.cc and tiles.cc share.
#pragma once

#include <span>

#include "tensor/broadcast.h"

namespace binet::kernels::elementwise {

/// Where a block begins in each operand, in elements. It is recomputed from the block's number, by division, instead of
/// being kept as one counter a loop: so a plan may have any number of loops without memory for them.
class BlockPosition {
 public:
  BlockPosition(std::span<const BroadcastLoop> outer, std::int64_t block) : outer_(outer), block_(block) {
    if (block == 0) return;
    if (!outer.empty()) innermost_turn_ = block % outer.back().extent;
    for (std::size_t k = outer.size(); k-- > 0;) {
      const std::int64_t turn = block % outer[k].extent;
      block /= outer[k].extent;
      a_ += turn * outer[k].a_step;
      b_ += turn * outer[k].b_step;
    }
  }

  void next() {
    std::int64_t turns = ++block_;
    if (outer_.empty()) return;
    const BroadcastLoop& innermost = outer_.back();
    if (++innermost_turn_ < innermost.extent) {
      a_ += innermost.a_step;
      b_ += innermost.b_step;
      return;
    }
    innermost_turn_ = 0;
    for (std::size_t k = outer_.size(); k-- > 0;) {
      const BroadcastLoop& loop = outer_[k];
      a_ += loop.a_step;
      b_ += loop.b_step;
      if (turns % loop.extent != 0) return;
      turns /= loop.extent;
      a_ -= loop.a_step * loop.extent;
      b_ -= loop.b_step * loop.extent;
    }
  }

  [[nodiscard]] std::int64_t a() const { return a_; }
  [[nodiscard]] std::int64_t b() const { return b_; }

 private:
  std::span<const BroadcastLoop> outer_;
  std::int64_t block_;
  std::int64_t innermost_turn_ = 0;  ///< kept, as most steps end here and a division costs as much as a short row
  std::int64_t a_ = 0;
  std::int64_t b_ = 0;
};

}  // namespace binet::kernels::elementwise
