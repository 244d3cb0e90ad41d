// The binet program: a model as one HTML page that needs nothing beside it.
#pragma once

#include <string>

#include "binet/model.h"

namespace binet::tool {

/// Writes the page; throws Error if the file cannot be written.
void write_page(const Model& model, const std::string& path);

}  // namespace binet::tool
