// The binet program: times as a trace that chrome://tracing and https://ui.perfetto.dev show.
//
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "binet/session.h"

namespace binet::tool {

/// One bar of the trace; microseconds since the first.
struct TraceEvent {
  std::string name;
  double begin_us = 0;
  double length_us = 0;
  const StepDescription* step = nullptr;  ///< whose details are shown with the bar; may be null
};

/// Writes the file whole or not at all; throws Error.
void write_chrome_trace(const std::string& path, const std::string& model, const std::vector<TraceEvent>& events);

}  // namespace binet::tool
