// A tensor: an element type, a shape, and elements in row-major order without gaps.
//
// Elements under 8 bits are packed, the first in the lowest bits of a byte; the bits after the last element mean
// nothing. They are reached through bytes(): no C++ type stands for them.
//
// A Tensor is a handle: copies share the elements. It either owns them (allocate, from), or keeps alive what does (a
// mapped model file), or borrows memory of the caller's (view), which must then outlive every copy of the handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "binet/element_type.h"
#include "binet/export.h"

namespace binet {

/// Extents from outer to inner; each at least 0. A scalar has none.
using Shape = std::vector<std::int64_t>;

/// "(2, 3)"; "()" for a scalar.
[[nodiscard]] BINET_EXPORT std::string to_string(const Shape& shape);

class BINET_EXPORT Tensor {
 public:
  /// An f32 tensor of shape (0).
  Tensor();

  /// New elements, all zero, aligned to 64 bytes. Throws Error if the type has no fixed size, an extent is negative,
  /// the size does not fit 63 bits, or there is no memory.
  [[nodiscard]] static Tensor allocate(ElementType type, Shape shape);
  /// The same with elements of any value, for a caller that writes them all.
  [[nodiscard]] static Tensor uninitialized(ElementType type, Shape shape);

  /// A copy of `values`; throws Error if their number is not that of `shape`.
  template <class T>
  [[nodiscard]] static Tensor from(Shape shape, std::span<const T> values) {
    return copy_of(element_type_of<T>, std::move(shape), std::as_bytes(values));
  }
  template <class T>
  [[nodiscard]] static Tensor from(Shape shape, std::initializer_list<T> values) {
    return from(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }

  /// The caller's elements, neither copied nor owned. `data` may have any alignment.
  [[nodiscard]] static Tensor view(ElementType type, Shape shape, void* data);
  /// The same for elements that may only be read: mutable_bytes() throws.
  [[nodiscard]] static Tensor view(ElementType type, Shape shape, const void* data);
  /// Read-only elements that stay valid as long as `owner` does.
  [[nodiscard]] static Tensor shared(ElementType type, Shape shape, const void* data,
                                     std::shared_ptr<const void> owner);

  [[nodiscard]] ElementType type() const noexcept { return type_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t element_count() const noexcept { return element_count_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_bytes_}; }
  /// Throws Error if the elements are read-only.
  [[nodiscard]] std::span<std::byte> mutable_bytes();

  /// The elements as C++ values; throws Error if T is not the element type, or `data` of a view is not aligned for T.
  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    check_access(element_type_of<T>, alignof(T));
    return {reinterpret_cast<const T*>(data_), element_count_};
  }
  template <class T>
  [[nodiscard]] std::span<T> mutable_values() {
    check_access(element_type_of<T>, alignof(T));
    return {reinterpret_cast<T*>(mutable_bytes().data()), element_count_};
  }

  /// An independent, writable copy.
  [[nodiscard]] Tensor clone() const;

 private:
  Tensor(ElementType type, Shape shape, const std::byte* data, bool writable, std::shared_ptr<const void> owner);
  static Tensor copy_of(ElementType type, Shape shape, std::span<const std::byte> bytes);
  void check_access(ElementType type, std::size_t alignment) const;

  ElementType type_ = ElementType::f32;
  bool writable_ = false;
  Shape shape_;
  std::size_t element_count_ = 0;
  std::size_t size_bytes_ = 0;
  const std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

}  // namespace binet
