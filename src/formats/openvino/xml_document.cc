#include "formats/openvino/xml_document.h"

#include <algorithm>
#include <vector>

#include "base/fail.h"
#include "base/text.h"

namespace binet::openvino {
namespace {

/// The walk before pugixml; see the header.
class Scanner {
 public:
  Scanner(const std::string& file, std::string_view bytes, std::size_t most_depth)
      : file_(file), bytes_(bytes), most_depth_(most_depth) {}

  void scan() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (const std::size_t zero = bytes_.find('\0'); zero != std::string_view::npos) refuse(zero, "a zero byte");
    if (bytes_.starts_with(kByteOrderMark)) position_ = kByteOrderMark.size();
    while (position_ < bytes_.size()) bytes_[position_] == '<' ? markup() : text();
    if (depth_ != 0) refuse(position_, "the file ends inside an element");
    if (!has_root_) refuse(position_, "there is no element");
  }

 private:
  [[noreturn]] void refuse(std::size_t position, std::string_view problem) const {
    fail(ErrorCode::invalid_file, "{}: not well-formed XML: byte {}: {}", file_, position, problem);
  }

  void text() {
    const std::size_t end = std::min(bytes_.find('<', position_), bytes_.size());
    const std::string_view run = bytes_.substr(position_, end - position_);
    if (depth_ == 0 && !trim(run).empty()) refuse(position_, "text outside of the root element");
    check_references(position_, end);
    position_ = end;
  }

  void markup() {
    const std::string_view rest = bytes_.substr(position_);
    if (rest.starts_with("<!--")) return skip_past("-->", 4);
    if (rest.starts_with("<![CDATA[")) {
      if (depth_ == 0) refuse(position_, "text outside of the root element");
      return skip_past("]]>", 9);
    }
    if (rest.starts_with("<?")) return skip_past("?>", 2);
    if (rest.starts_with("<!")) {
      fail(ErrorCode::invalid_file,
           "{}: byte {}: a document type or entity declaration (<!...>); models have none, and it is not allowed",
           file_, position_);
    }
    if (rest.starts_with("</")) {
      if (depth_ == 0) refuse(position_, "an element ends that did not begin");
      --depth_;
      return skip_past(">", 2);
    }
    start_tag();
  }

  void start_tag() {
    if (depth_ == 0 && has_root_) refuse(position_, "there is a second root element");
    has_root_ = true;
    const std::size_t begin = position_++;
    for (;;) {
      position_ = bytes_.find_first_of("\"'<>", position_);
      if (position_ == std::string_view::npos || bytes_[position_] == '<') refuse(begin, "a tag does not end");
      const char mark = bytes_[position_++];
      if (mark == '>') break;
      const std::size_t end = bytes_.find(mark, position_);
      if (end == std::string_view::npos) refuse(position_, "an attribute's value does not end");
      check_references(position_, end);
      position_ = end + 1;
    }
    const bool is_closed = bytes_[position_ - 2] == '/';
    if (depth_ >= most_depth_) {
      fail(ErrorCode::invalid_file, "{}: byte {}: elements are nested more than {} deep", file_, begin, most_depth_);
    }
    if (!is_closed) ++depth_;
  }

  void skip_past(std::string_view end, std::size_t begin_length) {
    const std::size_t found = bytes_.find(end, position_ + begin_length);
    if (found == std::string_view::npos) refuse(position_, "the file ends inside a tag or a comment");
    position_ = found + end.size();
  }

  void check_references(std::size_t begin, std::size_t end) const {
    const std::string_view run = bytes_.substr(0, end);
    for (std::size_t at = run.find('&', begin); at != std::string_view::npos; at = run.find('&', at + 1)) {
      const std::size_t stop = run.find(';', at);
      if (stop == std::string_view::npos || !is_character(run.substr(at + 1, stop - at - 1))) {
        refuse(at, "a reference (&...;) that is none of lt gt amp quot apos and numbers");
      }
    }
  }

  /// What stands between & and ; means one character.
  static bool is_character(std::string_view name) {
    if (name == "lt" || name == "gt" || name == "amp" || name == "quot" || name == "apos") return true;
    if (!name.starts_with('#')) return false;
    const bool is_hexadecimal = name.substr(1).starts_with('x');
    const std::string_view digits = name.substr(is_hexadecimal ? 2 : 1);
    const std::string_view allowed = is_hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
    constexpr std::size_t kMostDigits = 8;
    return !digits.empty() && digits.size() <= kMostDigits &&
           digits.find_first_not_of(allowed) == std::string_view::npos;
  }

  const std::string& file_;
  std::string_view bytes_;
  std::size_t most_depth_;
  std::size_t position_ = 0;
  std::size_t depth_ = 0;
  bool has_root_ = false;
};

/// Refuses an element that has one attribute twice: pugixml keeps both, and who reads the first differs from who reads
/// the last.
class AttributeChecker final : public pugi::xml_tree_walker {
 public:
  explicit AttributeChecker(const std::string& file) : file_(file) {}

  bool for_each(pugi::xml_node& node) override {
    names_.clear();
    for (const pugi::xml_attribute attribute : node.attributes()) names_.emplace_back(attribute.name());
    std::sort(names_.begin(), names_.end());
    const auto twice = std::adjacent_find(names_.begin(), names_.end());
    if (twice == names_.end()) return true;
    fail(ErrorCode::invalid_file, "{}: byte {}: element {} has attribute {} twice", file_, node.offset_debug(),
         quote(node.name()), quote(*twice));
  }

 private:
  const std::string& file_;
  std::vector<std::string_view> names_;
};

}  // namespace

XmlDocument::XmlDocument(const std::string& file, std::string_view bytes, const OpenVinoLimits& limits) {
  if (bytes.empty()) fail(ErrorCode::invalid_file, "{}: the file is empty", file);
  if (bytes.size() > limits.xml_bytes) {
    fail(ErrorCode::invalid_file, "{}: the XML has {} bytes; the limit is {} (LoadOptions::openvino.xml_bytes)", file,
         bytes.size(), limits.xml_bytes);
  }
  Scanner(file, bytes, limits.depth).scan();
  constexpr unsigned kOptions = pugi::parse_minimal | pugi::parse_escapes | pugi::parse_eol;
  const pugi::xml_parse_result result =
      document_.load_buffer(bytes.data(), bytes.size(), kOptions, pugi::encoding_utf8);
  if (result.status == pugi::status_out_of_memory) fail(ErrorCode::out_of_memory, "{}: no memory for the XML", file);
  if (!result) {
    fail(ErrorCode::invalid_file, "{}: not well-formed XML: byte {}: {}", file, result.offset, result.description());
  }
  AttributeChecker checker(file);
  document_.traverse(checker);
}

}  // namespace binet::openvino
