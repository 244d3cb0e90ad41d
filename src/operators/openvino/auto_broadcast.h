// Room: operators. What OpenVINO's elementwise operators share: the attribute auto_broadcast, and with it the shape of
// the result and the lowering.
//
// https://docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/broadcast-rules.html
#pragma once

#include <array>

#include "operators/elementwise_call.h"
#include "operators/operator_version.h"

namespace binet::openvino {

/// `axis` is for pdpd alone, where its default of -1 means at the end. The pages do not name it.
inline constexpr std::array kBroadcastAttributes = {
    AttributeRule{"auto_broadcast", AttributeKind::text, std::string_view("numpy")},
    AttributeRule{"axis", AttributeKind::integer, std::int64_t{-1}},
};
inline constexpr std::array<std::string_view, 2> kBroadcastInputs = {"A", "B"};
inline constexpr std::string_view kBroadcastRule =
    "none: equal; numpy: multidirectional; pdpd: A's shape, B placed at axis and stretched to it";

[[nodiscard]] ValueType infer_auto_broadcast(const NodeView& node);
[[nodiscard]] Lowered lower_auto_broadcast(kernels::elementwise::Operation operation, const NodeView& node,
                                           const ValueType& output, const LoweringContext& context);

}  // namespace binet::openvino
