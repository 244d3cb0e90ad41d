// Room: operators. The broadcasting rules of the standards, on shapes of which not everything may be known.
//
// Each rule says what shape A op B has, and where B lies in it: the place of B's first extent. That is all that
// tensor/broadcast.h needs. A rule throws Error where the shapes cannot fit, whatever the unknown extents turn out to
// be.
#pragma once

#include <cstdint>
#include <optional>

#include "tensor/broadcast.h"
#include "tensor/partial_shape.h"

namespace binet {

/// Multidirectional ("numpy") broadcasting: aligned at the right, extents equal or one of them 1
/// (onnx/docs/Broadcasting.md).
///   A (2,3,4,5)      A   (4,5)       A   (1,4,5)
///   B       (5)      B (2,3,4,5)     B (2,3,1,1)
[[nodiscard]] PartialShape broadcast_multidirectional(const PartialShape& a, const PartialShape& b);

/// Unidirectional broadcasting: `shape`, called `name` in messages, can be stretched to `target` and no further.
void check_unidirectional(std::string_view name, const PartialShape& shape, const PartialShape& target);

/// The limited broadcasting of ONNX before version 7: the result has A's shape, and B is equal to it, or has one
/// element, or is a contiguous run of A's extents that starts at `axis` (default: at the end). Nothing is stretched.
///   A (2,3,4,5)      A (2,3,4,5)     A (2,3,4,5)
///   B     (4,5)      B   (3,4)       B (2)
///                    axis = 1        axis = 0
/// Returns the place of B's first extent.
[[nodiscard]] std::size_t check_limited(const PartialShape& a, const PartialShape& b, bool broadcast,
                                        std::optional<std::int64_t> axis);

/// The broadcasting that OpenVINO calls pdpd: the result has A's shape; B is placed at `axis`, -1 meaning at the end,
/// and stretched where its extent is 1. Ones at the end of B may reach past A. A is never stretched.
///   A (2,3,4,5)      A (2,3,4,5)     A (2,3,4,5)     A (2,3,4,5)
///   B   (3,4)        B   (3,1)       B (1,3)         B     (4,5)
///   axis = 1         axis = 1        axis = 0        axis = -1
[[nodiscard]] PartialShape broadcast_pdpd(const PartialShape& a, const PartialShape& b, std::int64_t axis);

/// Both operands padded with ones to the rank of the result, B's first extent at place `b_place`.
struct AlignedShapes {
  Shape a;
  Shape b;
};
[[nodiscard]] AlignedShapes align_right(const Shape& a, const Shape& b);
[[nodiscard]] AlignedShapes align_at(const Shape& a, const Shape& b, std::size_t b_place);
/// For shapes that have passed broadcast_pdpd().
[[nodiscard]] AlignedShapes align_pdpd(const Shape& a, const Shape& b, std::int64_t axis);

}  // namespace binet
