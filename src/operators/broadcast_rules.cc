#include "operators/broadcast_rules.h"

#include <algorithm>

#include "base/fail.h"

namespace binet {
namespace {

/// The extent of the result where A has `a` and B has `b`; nothing if they do not fit.
std::optional<Extent> broadcast_extent(Extent a, Extent b) {
  if (a == b) return a;
  if (a == 1) return b;
  if (b == 1) return a;
  if (is_known(a) && is_known(b)) return std::nullopt;
  // The unknown one can only be 1 or the known one.
  if (is_known(a)) return a;
  if (is_known(b)) return b;
  return kUnknownExtent;
}

bool may_be_equal(Extent a, Extent b) { return a == b || !is_known(a) || !is_known(b); }

/// Where B's first extent lies in A.
std::size_t pdpd_place(std::size_t a_rank, std::size_t b_rank, std::int64_t axis) {
  return axis == -1 ? a_rank - b_rank : static_cast<std::size_t>(axis);
}

bool has_one_element(const std::vector<Extent>& shape) {
  return std::all_of(shape.begin(), shape.end(), [](Extent extent) { return extent == 1; });
}

}  // namespace

PartialShape broadcast_multidirectional(const PartialShape& a, const PartialShape& b) {
  if (!a || !b) return std::nullopt;
  const std::size_t rank = std::max(a->size(), b->size());
  std::vector<Extent> result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const Extent of_a = i < rank - a->size() ? 1 : (*a)[i - (rank - a->size())];
    const Extent of_b = i < rank - b->size() ? 1 : (*b)[i - (rank - b->size())];
    const auto extent = broadcast_extent(of_a, of_b);
    if (!extent) {
      fail(ErrorCode::invalid_model,
           "A has shape {} and B {}, which do not broadcast: {} and {} meet; they must be equal, or one of them 1",
           to_string(a), to_string(b), of_a, of_b);
    }
    result[i] = *extent;
  }
  return result;
}

void check_unidirectional(std::string_view name, const PartialShape& shape, const PartialShape& target) {
  if (!shape || !target) return;
  const auto refuse = [&] {
    fail(ErrorCode::invalid_model, "{} has shape {}, which does not broadcast to {}", name, to_string(shape),
         to_string(target));
  };
  if (shape->size() > target->size()) refuse();
  const std::size_t padding = target->size() - shape->size();
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if ((*shape)[i] != 1 && !may_be_equal((*shape)[i], (*target)[padding + i])) refuse();
  }
}

std::size_t check_limited(const PartialShape& a, const PartialShape& b, bool broadcast,
                          std::optional<std::int64_t> axis) {
  if (!a || !b) return 0;
  if (!broadcast) {
    if (a->size() != b->size() || !std::equal(a->begin(), a->end(), b->begin(), may_be_equal)) {
      fail(ErrorCode::invalid_model, "A has shape {} and B {}; without broadcast=1 they must be equal", to_string(a),
           to_string(b));
    }
    return 0;
  }
  if (b->size() > a->size()) {
    fail(ErrorCode::invalid_model, "B has shape {}, of more dimensions than A {}; before version 7 only B is broadcast",
         to_string(b), to_string(a));
  }
  const auto last_place = static_cast<std::int64_t>(a->size() - b->size());
  if (axis && (*axis < 0 || *axis >= static_cast<std::int64_t>(a->size()))) {
    fail(ErrorCode::invalid_model, "axis is {}; it must be a dimension of A {}", *axis, to_string(a));
  }
  if (has_one_element(*b)) return 0;
  const std::int64_t place = axis.value_or(last_place);
  if (place > last_place) {
    fail(ErrorCode::invalid_model, "B {} placed at axis {} reaches past the end of A {}", to_string(b), place,
         to_string(a));
  }
  if (!std::equal(b->begin(), b->end(), a->begin() + place, may_be_equal)) {
    fail(ErrorCode::invalid_model,
         "B has shape {}, which is not the run of A {} that starts at axis {}; before version 7 extents of 1 are not "
         "stretched",
         to_string(b), to_string(a), place);
  }
  return static_cast<std::size_t>(place);
}

PartialShape broadcast_pdpd(const PartialShape& a, const PartialShape& b, std::int64_t axis) {
  if (axis < -1) {
    fail(ErrorCode::invalid_model, "axis is {}; it must be a dimension of A, or -1 for the last place of B", axis);
  }
  if (!a || !b) return a;
  if (b->size() > a->size()) {
    fail(ErrorCode::invalid_model, "B has shape {}, of more dimensions than A {}; with pdpd only B is broadcast",
         to_string(b), to_string(a));
  }
  const std::size_t place = pdpd_place(a->size(), b->size(), axis);
  if (place > a->size()) fail(ErrorCode::invalid_model, "axis is {}; A has shape {}", axis, to_string(a));
  std::vector<Extent> result = *a;
  for (std::size_t i = 0; i < b->size(); ++i) {
    const Extent of_b = (*b)[i];
    if (of_b == 1) continue;
    if (place + i >= a->size()) {
      if (!is_known(of_b)) continue;
      fail(ErrorCode::invalid_model, "B {} placed at axis {} reaches past the end of A {}", to_string(b), axis,
           to_string(a));
    }
    const Extent of_a = (*a)[place + i];
    if (!may_be_equal(of_a, of_b)) {
      fail(ErrorCode::invalid_model,
           "B {} placed at axis {} does not fit A {}: {} and {} meet; with pdpd B's extent must be A's, or 1",
           to_string(b), axis, to_string(a), of_a, of_b);
    }
    if (is_known(of_b)) result[place + i] = of_b;
  }
  return result;
}

AlignedShapes align_right(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  return {pad_left(a, rank), pad_left(b, rank)};
}

AlignedShapes align_at(const Shape& a, const Shape& b, std::size_t b_place) {
  return {a, place_at(b, b_place, a.size())};
}

AlignedShapes align_pdpd(const Shape& a, const Shape& b, std::int64_t axis) {
  const std::size_t place = pdpd_place(a.size(), b.size(), axis);
  Shape trimmed = b;
  while (!trimmed.empty() && trimmed.back() == 1) trimmed.pop_back();
  return align_at(a, trimmed, trimmed.empty() ? 0 : place);
}

}  // namespace binet
