#include "formats/openvino/weights.h"

#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"

namespace binet::openvino {

Weights Weights::beside(const std::filesystem::path& xml) {
  Weights weights;
  weights.path_ = std::filesystem::path(xml).replace_extension(".bin");
  return weights;
}

Weights::Weights(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : bytes_(bytes), owner_(std::move(owner)) {}

std::span<const std::byte> Weights::read(std::uint64_t offset, std::uint64_t size, const std::string& where) {
  if (size == 0) return {};
  if (owner_ == nullptr) {
    try {
      file_ = MappedFile::open(path_);
      bytes_ = file_->bytes();
      owner_ = file_;
    } catch (const Error& error) {
      fail(error.code(), "{}: {}", where, error.what());
    }
  }
  const auto end = checked_add(offset, size);
  if (!end || *end > bytes_.size()) {
    fail(ErrorCode::invalid_file, "{}: {} bytes at offset {} reach past the end of {}, which has {}", where, size,
         offset, path_.empty() ? "the weights" : quote(path_.filename().string()), bytes_.size());
  }
  return bytes_.subspan(offset, size);
}

}  // namespace binet::openvino
