#include "formats/openvino/edges.h"

#include <functional>
#include <queue>
#include <unordered_map>

#include "base/fail.h"

namespace binet::openvino {
namespace {

/// Places by id. A hostile file may have as many ports in one layer as it has edges, so they are not searched one by
/// one.
using Places = std::unordered_map<std::uint64_t, std::size_t>;

template <class Items>
Places places_of(const Items& items) {
  Places places;
  for (std::size_t i = 0; i < items.size(); ++i) places.emplace(items[i].id, i);
  return places;
}

class Connector {
 public:
  Connector(const std::vector<Layer>& layers, const std::string& file) : layers_(layers), file_(file) {
    for (const Layer& layer : layers) {
      wiring_.emplace_back(layer.inputs.size());
      inputs_.push_back(places_of(layer.inputs));
      outputs_.push_back(places_of(layer.outputs));
    }
  }

  std::optional<Wiring> connect(pugi::xml_node edges, Findings& findings) {
    bool is_whole = true;
    const auto check = [&](const auto& part) { is_whole = findings.check(part) && is_whole; };
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      check([&] {
        if (by_id_.emplace(layers_[i].id, i).second) return;
        fail(ErrorCode::invalid_file, "{}: {} has the id {}, which {} has already", file_, label(layers_[i]),
             layers_[i].id, label(layers_[by_id_.at(layers_[i].id)]));
      });
    }
    if (!is_whole) return std::nullopt;
    std::size_t number = 0;
    for (const pugi::xml_node edge : edges.children("edge")) {
      check([&] { read_edge(edge, fmt::format("{}: edge {}", file_, number)); });
      ++number;
    }
    const bool edges_are_whole = is_whole;
    // An edge that could not be read may be the one that a port lacks.
    for (std::size_t i = 0; edges_are_whole && i < layers_.size(); ++i) {
      for (std::size_t port = 0; port < wiring_[i].size(); ++port) {
        check([&] { check_port(i, port); });
      }
    }
    if (!is_whole) return std::nullopt;
    return std::move(wiring_);
  }

 private:
  void read_edge(pugi::xml_node edge, const std::string& where) {
    const std::uint64_t from_layer = read_number(edge, "from-layer", where);
    const std::uint64_t from_port = read_number(edge, "from-port", where);
    const std::uint64_t to_layer = read_number(edge, "to-layer", where);
    const std::uint64_t to_port = read_number(edge, "to-port", where);
    const std::size_t to = find_layer(to_layer, where);
    const std::size_t input = find_port(inputs_[to], to, to_port, "input", where);
    std::optional<Source>& place = wiring_[to][input];
    const std::size_t from = find_layer(from_layer, where);
    const std::size_t output = find_port(outputs_[from], from, from_port, "output", where);
    if (place) {
      fail(ErrorCode::invalid_file, "{}: input port {} of {} has an edge already", where, to_port, label(layers_[to]));
    }
    place = Source{from, output};
  }

  [[nodiscard]] std::size_t find_layer(std::uint64_t id, const std::string& where) const {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) fail(ErrorCode::invalid_file, "{}: there is no layer {}", where, id);
    return found->second;
  }

  [[nodiscard]] std::size_t find_port(const Places& ports, std::size_t layer, std::uint64_t id, std::string_view kind,
                                      const std::string& where) const {
    const auto found = ports.find(id);
    if (found != ports.end()) return found->second;
    fail(ErrorCode::invalid_file, "{}: {} has no {} port {}", where, label(layers_[layer]), kind, id);
  }

  void check_port(std::size_t layer, std::size_t port) const {
    if (wiring_[layer][port]) return;
    fail(ErrorCode::invalid_file, "{}: {}: no edge leads to input port {}", file_, label(layers_[layer]),
         layers_[layer].inputs[port].id);
  }

  const std::vector<Layer>& layers_;
  const std::string& file_;
  Places by_id_;
  std::vector<Places> inputs_;
  std::vector<Places> outputs_;
  Wiring wiring_;
};

/// A layer on a cycle: going back from one that waits, some layer comes a second time.
std::size_t layer_on_cycle(const Wiring& wiring, const std::vector<std::size_t>& waiting) {
  std::size_t at = 0;
  while (waiting[at] == 0) ++at;
  std::vector<bool> seen(wiring.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    for (const std::optional<Source>& source : wiring[at]) {
      if (waiting[source->layer] == 0) continue;
      at = source->layer;
      break;
    }
  }
  return at;
}

}  // namespace

std::optional<Wiring> connect(const std::vector<Layer>& layers, pugi::xml_node edges, const std::string& file,
                              Findings& findings) {
  return Connector(layers, file).connect(edges, findings);
}

std::vector<std::size_t> running_order(const std::vector<Layer>& layers, const Wiring& wiring,
                                       const std::string& file) {
  std::vector<std::vector<std::size_t>> fed_by(layers.size());
  std::vector<std::size_t> waiting(layers.size());  // inputs that are not made yet
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    waiting[i] = wiring[i].size();
    if (waiting[i] == 0) ready.push(i);
    for (const std::optional<Source>& source : wiring[i]) fed_by[source->layer].push_back(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t layer = ready.top();
    ready.pop();
    order.push_back(layer);
    for (const std::size_t next : fed_by[layer]) {
      if (--waiting[next] == 0) ready.push(next);
    }
  }
  if (order.size() == layers.size()) return order;
  fail(ErrorCode::invalid_model, "{}: {} needs its own output: the edges make a cycle", file,
       label(layers[layer_on_cycle(wiring, waiting)]));
}

}  // namespace binet::openvino
