// Room: formats. Tensors in files of their own: .pb (ONNX TensorProto) and .npy (NumPy).
#include "binet/tensor_file.h"

#include <protozero/pbf_writer.hpp>

#include "base/element_types.h"
#include "base/fail.h"
#include "base/mapped_file.h"
#include "base/out_of_memory.h"
#include "base/output_file.h"
#include "formats/onnx/fields.h"
#include "formats/onnx/tensor_reader.h"
#include "formats/tensor_files/npy.h"
#include "tensor/shape.h"

namespace binet {
namespace {

enum class Format { protobuf, numpy };

Format format_of(const std::filesystem::path& path) {
  if (path.extension() == ".pb") return Format::protobuf;
  if (path.extension() == ".npy") return Format::numpy;
  fail(ErrorCode::invalid_argument, "{}: a tensor file ends in .pb or .npy", path.string());
}

/// Everything of a TensorProto but the elements, and the key and length that go before them.
std::string tensor_proto_head(const std::string& name, const Tensor& tensor) {
  std::string head;
  protozero::pbf_writer writer(head);
  writer.add_packed_int64(onnx::tensor::kDims, tensor.shape().begin(), tensor.shape().end());
  writer.add_int32(onnx::tensor::kDataType, onnx_number(tensor.type()));
  if (!name.empty()) writer.add_string(onnx::tensor::kName, name);
  if (tensor.size_bytes() == 0) return head;
  constexpr std::uint32_t kLengthDelimited = 2;
  protozero::write_varint(std::back_inserter(head), onnx::tensor::kRawData << 3 | kLengthDelimited);
  protozero::write_varint(std::back_inserter(head), tensor.size_bytes());
  return head;
}

}  // namespace

TensorFile read_tensor_file(const std::filesystem::path& path) {
  return guard_memory([&]() -> TensorFile {
    const Format format = format_of(path);
    const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
    const auto bytes = file->bytes();
    if (format == Format::numpy) return {"", npy::read(path.string(), bytes, file)};

    if (bytes.empty()) fail(ErrorCode::invalid_file, "{}: the file is empty", path.string());
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    onnx::Source source{path.string(), text};
    onnx::ExternalFiles external(path.parent_path());
    onnx::NamedTensorProto tensor =
        onnx::read_tensor(onnx::Message(source, "TensorProto", text), path.string() + ": tensor", external, file);
    return {std::move(tensor.name), std::move(tensor.value)};
  });
}

void write_tensor_file(const std::filesystem::path& path, const std::string& name, const Tensor& value) {
  return guard_memory([&] {
    const Format format = format_of(path);
    OutputFile file(path);
    if (format == Format::numpy) {
      file.write(npy::header(value));
    } else {
      const std::string head = tensor_proto_head(name, value);
      file.write(std::as_bytes(std::span(head)));
    }
    file.write(value.bytes());
    file.commit();
  });
}

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  return guard_memory([&] {
    OutputFile file(path);
    file.write(bytes);
    file.commit();
  });
}

Tensor bits_as(const Tensor& tensor, ElementType type) {
  return guard_memory([&]() -> Tensor {
    if (byte_size(type) == 0 || byte_size(type) != byte_size(tensor.type())) {
      fail(ErrorCode::invalid_argument, "the bits of {} cannot be seen as {}", to_string(tensor.type()),
           to_string(type));
    }
    // The view keeps a handle to the original, which keeps its elements.
    const auto owner = std::make_shared<const Tensor>(tensor);
    return Tensor::shared(type, tensor.shape(), owner->bytes().data(), owner);
  });
}

}  // namespace binet
