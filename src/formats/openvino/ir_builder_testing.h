// Room: formats. For tests: OpenVINO models written layer by layer.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "binet/tensor.h"

namespace binet::openvino::testing {

/// Layers are numbered in the order in which they are added, and named by the caller. Input ports come first: of a
/// layer with two inputs they are 0 and 1, the output port is 2.
class IrBuilder {
 public:
  /// `shape` and `type` as the XML has them: "2,?", "f32". `names`: tensor names, with commas between them.
  IrBuilder& parameter(const std::string& name, const std::string& type, const std::string& shape,
                       const std::string& names = "") {
    const std::string data = fmt::format(R"(element_type="{}" shape="{}")", type, shape);
    return add(name, "Parameter", data, {}, names);
  }

  IrBuilder& constant(const std::string& name, const Tensor& value) {
    std::string shape;
    for (const std::int64_t extent : value.shape()) shape += fmt::format("{}{}", shape.empty() ? "" : ",", extent);
    const std::string data = fmt::format(R"(element_type="{}" shape="{}" offset="{}" size="{}")",
                                         to_string(value.type()), shape, weights_.size(), value.size_bytes());
    weights_.insert(weights_.end(), value.bytes().begin(), value.bytes().end());
    return add(name, "Const", data, {}, "");
  }

  /// `data`: the attributes of the <data> element, as they stand there.
  IrBuilder& layer(const std::string& name, const std::string& type, const std::string& data,
                   const std::vector<std::string>& inputs, const std::string& names = "") {
    return add(name, type, data, inputs, names);
  }

  IrBuilder& result(const std::string& from) {
    return add(fmt::format("result of {}", from), "Result", "", {from}, "");
  }

  [[nodiscard]] std::string xml() const {
    return fmt::format(
        "<?xml version=\"1.0\"?>\n<net name=\"net\" version=\"11\">\n<layers>\n{}</layers>\n<edges>\n{}"
        "</edges>\n<rt_info><unknown/></rt_info>\n</net>\n",
        layers_, edges_);
  }
  [[nodiscard]] std::span<const std::byte> weights() const { return weights_; }

 private:
  IrBuilder& add(const std::string& name, const std::string& type, const std::string& data,
                 const std::vector<std::string>& inputs, const std::string& names) {
    const std::size_t id = ids_.size();
    std::string ports;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      ports += fmt::format(R"(<port id="{}"/>)", i);
      const auto& [from, port] = ids_.at(inputs[i]);
      edges_ +=
          fmt::format("<edge from-layer=\"{}\" from-port=\"{}\" to-layer=\"{}\" to-port=\"{}\"/>\n", from, port, id, i);
    }
    layers_ += fmt::format(R"(<layer id="{}" name="{}" type="{}" version="opset1"><data {}/><input>{}</input>)", id,
                           name, type, data, ports);
    if (type != "Result") {
      layers_ += fmt::format(R"(<output><port id="{}" names="{}"/></output>)", inputs.size(), names);
    }
    layers_ += "</layer>\n";
    ids_[name] = {id, inputs.size()};
    return *this;
  }

  std::string layers_;
  std::string edges_;
  std::vector<std::byte> weights_;
  std::map<std::string, std::pair<std::size_t, std::size_t>> ids_;  ///< of each layer its id and its output port
};

}  // namespace binet::openvino::testing
