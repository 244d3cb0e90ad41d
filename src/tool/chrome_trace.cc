#include "tool/chrome_trace.h"

#include <nlohmann/json.hpp>

#include "binet/tensor_file.h"

namespace binet::tool {

void write_chrome_trace(const std::string& path, const std::string& model, const std::vector<TraceEvent>& events) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  rows.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "binet bench " + model}}}});
  for (const TraceEvent& event : events) {
    nlohmann::ordered_json details = nlohmann::ordered_json::object();
    if (event.step != nullptr) {
      details = {{"node", event.step->name},     {"operator", event.step->operation},
                 {"inputs", event.step->inputs}, {"output", event.step->output},
                 {"kernel", event.step->kernel}, {"operations", event.step->operations},
                 {"bytes", event.step->bytes}};
    }
    // "X": an event with a beginning and a length.
    rows.push_back({{"name", event.name},
                    {"ph", "X"},
                    {"ts", event.begin_us},
                    {"dur", event.length_us},
                    {"pid", 1},
                    {"tid", 1},
                    {"args", details}});
  }
  const std::string text = nlohmann::ordered_json{{"traceEvents", rows}, {"displayTimeUnit", "ns"}}.dump(
      1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace binet::tool
