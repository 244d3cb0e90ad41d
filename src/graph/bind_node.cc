#include "graph/bind_node.h"

#include <algorithm>

#include "base/fail.h"
#include "base/text.h"
#include "graph/parse_setting.h"
#include "operators/registry.h"

namespace binet {
namespace {

std::string suggestion(std::string_view found, const std::vector<std::string_view>& known) {
  const auto near = nearest_name(found, known);
  return near ? fmt::format(" (did you mean {}?)", *near) : "";
}

template <class T>
constexpr AttributeKind kind_of() {
  if constexpr (std::is_same_v<T, std::int64_t>) return AttributeKind::integer;
  if constexpr (std::is_same_v<T, float>) return AttributeKind::real;
  if constexpr (std::is_same_v<T, std::string>) return AttributeKind::text;
  if constexpr (std::is_same_v<T, std::vector<std::int64_t>>) return AttributeKind::integers;
  if constexpr (std::is_same_v<T, std::vector<float>>) return AttributeKind::reals;
  return AttributeKind::tensor;
}

/// The setting for a rule from the value in the file; throws unless it is of the rule's kind.
struct ToSetting {
  const AttributeRule& rule;
  const std::string& where;

  template <class T>
  AttributeSetting operator()(const T& value) const {
    if (kind_of<T>() == rule.kind) return value;
    refuse(to_string(kind_of<T>()));
  }
  AttributeSetting operator()(const TextAttribute& attribute) const {
    auto setting = parse_setting(rule.kind, attribute.text);
    if (setting) return *std::move(setting);
    fail(ErrorCode::invalid_model, "{}: attribute {} is {}; it must be {}", where, rule.name, quote(attribute.text),
         to_string(rule.kind));
  }
  AttributeSetting operator()(const OtherAttribute& other) const { refuse(other.kind); }

  [[noreturn]] void refuse(std::string_view found) const {
    fail(ErrorCode::invalid_model, "{}: attribute {} is of kind {}; it must be {}", where, rule.name, found,
         to_string(rule.kind));
  }
};

struct FallbackToSetting {
  AttributeSetting operator()(std::string_view text) const { return std::string(text); }
  template <class T>
  AttributeSetting operator()(const T& value) const {
    return value;
  }
};

bool has_attribute(const OperatorVersion& version, std::string_view name) {
  return std::any_of(version.attributes.begin(), version.attributes.end(),
                     [&](const AttributeRule& rule) { return rule.name == name; });
}

/// Which version of the same operator has the attribute, for the message: the last older one, or the first newer one.
std::string version_with(const OperatorVersion& version, std::string_view attribute) {
  std::string text;
  for (const OperatorVersion& other : find_operator(version.domain, version.name)) {
    if (!has_attribute(other, attribute)) continue;
    if (other.since_version > version.since_version) {
      return text.empty() ? fmt::format("; {} is the first to have it", versioned_name(other)) : text;
    }
    text = fmt::format("; {} was the last to have it", versioned_name(other));
  }
  return text;
}

[[noreturn]] void refuse_attribute(const Attribute& attribute, const OperatorVersion& version,
                                   const std::string& where) {
  std::vector<std::string_view> known;
  for (const AttributeRule& rule : version.attributes) {
    if (rule.kind != AttributeKind::unsupported) known.push_back(rule.name);
  }
  fail(ErrorCode::invalid_model, "{}: attribute {} is not one of {}{}; {}{}", where, quote(attribute.name),
       versioned_name(version), suggestion(attribute.name, known),
       known.empty() ? "it has none" : fmt::format("it has {}", join(known, " ")),
       version_with(version, attribute.name));
}

}  // namespace

OpsetVersions bind_imports(const Graph& graph, Findings& findings) {
  OpsetVersions opsets;
  for (const OpsetImport& import : graph.opset_imports) {
    findings.check([&] {
      const auto [place, is_new] = opsets.emplace(import.domain, import.version);
      if (!is_new && place->second != import.version) {
        fail(ErrorCode::invalid_model, "{}: operator set {} is imported as version {} and as {}", graph.file,
             escape(import.domain), place->second, import.version);
      }
      if (import.domain == kOnnxDomain && (import.version < 1 || import.version > kNewestOnnxOpset)) {
        fail(ErrorCode::unsupported, "{}: operator set {} is imported in version {}; versions 1 to {} are known",
             graph.file, import.domain, import.version, kNewestOnnxOpset);
      }
    });
  }
  findings.check([&] {
    if (graph.opset_imports.empty()) fail(ErrorCode::invalid_model, "{}: no operator set is imported", graph.file);
  });
  return opsets;
}

const OperatorVersion& select_operator(const Node& node, const OpsetVersions& opsets, const std::string& where) {
  if (node.op_type.empty()) fail(ErrorCode::invalid_model, "{}: the node has no operator", where);
  const auto opset = opsets.find(node.domain);
  if (opset == opsets.end()) {
    fail(ErrorCode::invalid_model, "{}: operator set {} is not imported by the model", where, quote(node.domain));
  }
  const std::span<const OperatorVersion> versions = find_operator(node.domain, node.op_type);
  if (versions.empty()) {
    const std::vector<std::string_view> known = operator_names(node.domain);
    if (known.empty()) {
      fail(ErrorCode::unsupported, "{}: operator {} of domain {} is not supported", where, quote(node.op_type),
           quote(node.domain));
    }
    fail(ErrorCode::unsupported, "{}: operator {} is not supported{}; supported are {}", where, quote(node.op_type),
         suggestion(node.op_type, known), join(known, " "));
  }
  const OperatorVersion* version = select_version(versions, opset->second);
  if (version == nullptr) {
    fail(ErrorCode::invalid_model, "{}: {} does not exist in operator set {}; {} is its first version", where,
         node.op_type, opset->second, versioned_name(versions.front()));
  }
  return *version;
}

std::vector<AttributeSetting> bind_attributes(const Node& node, const OperatorVersion& version,
                                              const std::string& where, Findings& findings) {
  std::vector<AttributeSetting> settings;
  for (const AttributeRule& rule : version.attributes)
    settings.push_back(std::visit(FallbackToSetting{}, rule.fallback));
  std::vector<bool> given(settings.size(), false);
  for (const Attribute& attribute : node.attributes) {
    findings.check([&] {
      const auto rule = std::find_if(version.attributes.begin(), version.attributes.end(),
                                     [&](const AttributeRule& r) { return r.name == attribute.name; });
      if (rule == version.attributes.end()) refuse_attribute(attribute, version, where);
      if (rule->kind == AttributeKind::unsupported) {
        fail(ErrorCode::unsupported, "{}: attribute {} is not supported", where, rule->name);
      }
      const auto place = static_cast<std::size_t>(rule - version.attributes.begin());
      if (given[place]) fail(ErrorCode::invalid_model, "{}: attribute {} is given twice", where, rule->name);
      given[place] = true;
      settings[place] = std::visit(ToSetting{*rule, where}, attribute.value);
    });
  }
  return settings;
}

void check_type(const OperatorVersion& version, ElementType type, std::string_view what, const std::string& where) {
  if (version.types.contains(type)) return;
  std::string first;
  for (const OperatorVersion& other : find_operator(version.domain, version.name)) {
    if (first.empty() && other.types.contains(type)) {
      first = fmt::format("{} is the first to allow {}", versioned_name(other), to_string(type));
    }
  }
  if (first.empty()) first = fmt::format("no version allows {}", to_string(type));
  fail(ErrorCode::invalid_model, "{}: {} has type {}; {} allows {}; {}", where, what, to_string(type),
       versioned_name(version), version.types.names(), first);
}

void check_types(const NodeView& node, const std::string& where) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == nullptr) continue;
    check_type(node.version, node.inputs[i]->type, fmt::format("input {}", node.version.input_names[i]), where);
    if (node.inputs[i]->type != node.inputs[0]->type) {
      fail(ErrorCode::invalid_model, "{}: input {} has type {}, and input {} has {}; they must be the same", where,
           node.version.input_names[0], to_string(node.inputs[0]->type), node.version.input_names[i],
           to_string(node.inputs[i]->type));
    }
  }
}

}  // namespace binet
