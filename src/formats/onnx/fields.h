// Room: formats. The field numbers of onnx.proto (IR version 13) that Binet reads or knowingly passes over.
//
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
#pragma once

#include <cstdint>

namespace binet::onnx {

/// The newest IR version whose fields are all listed here.
inline constexpr std::int64_t kNewestIrVersion = 13;
/// The first IR version that has operator set imports; before it, every operator is of set 1.
inline constexpr std::int64_t kFirstIrVersionWithImports = 3;

namespace model {
enum : std::uint32_t {
  kIrVersion = 1,
  kProducerName = 2,
  kProducerVersion = 3,
  kDomain = 4,
  kModelVersion = 5,
  kDocString = 6,
  kGraph = 7,
  kOpsetImport = 8,
  kMetadataProps = 14,
  kTrainingInfo = 20,
  kFunctions = 25,
  kConfiguration = 26,
};
}
namespace operator_set_id {
enum : std::uint32_t { kDomain = 1, kVersion = 2 };
}
namespace graph {
enum : std::uint32_t {
  kNode = 1,
  kName = 2,
  kInitializer = 5,
  kDocString = 10,
  kInput = 11,
  kOutput = 12,
  kValueInfo = 13,
  kQuantizationAnnotation = 14,
  kSparseInitializer = 15,
  kMetadataProps = 16,
};
}
namespace node {
enum : std::uint32_t {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDocString = 6,
  kDomain = 7,
  kOverload = 8,
  kMetadataProps = 9,
  kDeviceConfigurations = 10,
};
}
namespace attribute {
enum : std::uint32_t {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kTensor = 5,
  kGraph = 6,
  kFloats = 7,
  kInts = 8,
  kStrings = 9,
  kTensors = 10,
  kGraphs = 11,
  kDocString = 13,
  kTypeProto = 14,
  kTypeProtos = 15,
  kType = 20,
  kRefAttrName = 21,
  kSparseTensor = 22,
  kSparseTensors = 23,
};
}
namespace value_info {
enum : std::uint32_t { kName = 1, kType = 2, kDocString = 3, kMetadataProps = 4 };
}
namespace type {
enum : std::uint32_t {
  kTensorType = 1,
  kSequenceType = 4,
  kMapType = 5,
  kDenotation = 6,
  kOpaqueType = 7,
  kSparseTensorType = 8,
  kOptionalType = 9,
};
}
namespace tensor_type {
enum : std::uint32_t { kElemType = 1, kShape = 2 };
}
namespace tensor_shape {
enum : std::uint32_t { kDim = 1 };
}
namespace dimension {
enum : std::uint32_t { kDimValue = 1, kDimParam = 2, kDenotation = 3 };
}
namespace tensor {
enum : std::uint32_t {
  kDims = 1,
  kDataType = 2,
  kSegment = 3,
  kFloatData = 4,
  kInt32Data = 5,
  kStringData = 6,
  kInt64Data = 7,
  kName = 8,
  kRawData = 9,
  kDoubleData = 10,
  kUint64Data = 11,
  kDocString = 12,
  kExternalData = 13,
  kDataLocation = 14,
  kMetadataProps = 16,
};
inline constexpr std::int64_t kLocationDefault = 0;
inline constexpr std::int64_t kLocationExternal = 1;
}  // namespace tensor
namespace string_entry {
enum : std::uint32_t { kKey = 1, kValue = 2 };
}

}  // namespace binet::onnx
