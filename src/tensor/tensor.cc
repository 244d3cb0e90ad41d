#include "binet/tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "base/aligned_buffer.h"
#include "base/element_types.h"
#include "base/fail.h"
#include "base/out_of_memory.h"
#include "base/text.h"
#include "tensor/shape.h"

namespace binet {
namespace {

struct Size {
  std::size_t elements;
  std::size_t bytes;
};

Size checked_size(ElementType type, const Shape& shape) {
  if (bit_size(type) == 0) fail(ErrorCode::unsupported, "a tensor of {} elements is not supported", to_string(type));
  const auto elements = element_count(shape);
  const auto bytes = elements ? byte_count(type, *elements) : std::nullopt;
  if (!bytes) {
    fail(ErrorCode::invalid_argument, "shape {}: extents are at least 0, and the size must fit 63 bits",
         to_string(shape));
  }
  return {static_cast<std::size_t>(*elements), static_cast<std::size_t>(*bytes)};
}

}  // namespace

std::string to_string(const Shape& shape) {
  std::vector<std::string> extents;
  for (const std::int64_t extent : shape) extents.push_back(std::to_string(extent));
  return fmt::format("({})", join(extents, ", "));
}

Tensor::Tensor() : shape_{0} {}

Tensor::Tensor(ElementType type, Shape shape, const std::byte* data, bool writable, std::shared_ptr<const void> owner)
    : type_(type), writable_(writable), shape_(std::move(shape)), data_(data), owner_(std::move(owner)) {
  const Size size = checked_size(type_, shape_);
  element_count_ = size.elements;
  size_bytes_ = size.bytes;
}

Tensor Tensor::uninitialized(ElementType type, Shape shape) {
  return guard_memory([&]() -> Tensor {
    const auto buffer = std::make_shared<AlignedBuffer>(checked_size(type, shape).bytes);
    return {type, std::move(shape), buffer->data(), true, buffer};
  });
}

Tensor Tensor::allocate(ElementType type, Shape shape) {
  Tensor tensor = uninitialized(type, std::move(shape));
  if (tensor.size_bytes_ != 0) std::memset(tensor.mutable_bytes().data(), 0, tensor.size_bytes_);
  return tensor;
}

Tensor Tensor::copy_of(ElementType type, Shape shape, std::span<const std::byte> bytes) {
  Tensor tensor = uninitialized(type, std::move(shape));
  if (bytes.size() != tensor.size_bytes_) {
    fail(ErrorCode::invalid_argument, "{} bytes of values for shape {}, which needs {}", bytes.size(),
         to_string(tensor.shape_), tensor.size_bytes_);
  }
  if (!bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), bytes.data(), bytes.size());
  return tensor;
}

Tensor Tensor::view(ElementType type, Shape shape, void* data) {
  return {type, std::move(shape), static_cast<const std::byte*>(data), true, nullptr};
}

Tensor Tensor::view(ElementType type, Shape shape, const void* data) {
  return {type, std::move(shape), static_cast<const std::byte*>(data), false, nullptr};
}

Tensor Tensor::shared(ElementType type, Shape shape, const void* data, std::shared_ptr<const void> owner) {
  return {type, std::move(shape), static_cast<const std::byte*>(data), false, std::move(owner)};
}

std::span<std::byte> Tensor::mutable_bytes() {
  if (!writable_) fail(ErrorCode::invalid_argument, "the elements of this tensor are read-only");
  return {const_cast<std::byte*>(data_), size_bytes_};
}

Tensor Tensor::clone() const { return copy_of(type_, shape_, bytes()); }

void Tensor::check_access(ElementType type, std::size_t alignment) const {
  if (type != type_) {
    fail(ErrorCode::invalid_argument, "the elements are {}, not {}", to_string(type_), to_string(type));
  }
  if (reinterpret_cast<std::uintptr_t>(data_) % alignment != 0) {
    fail(ErrorCode::invalid_argument, "the elements are not aligned for {}; read them through bytes()",
         to_string(type));
  }
}

}  // namespace binet
