// Binet: runs ONNX and OpenVINO models on a CPU. This header includes all the others.
//
//   auto model   = binet::load_model("mlp.onnx");
//   auto session = binet::Session(model, {.threads = 2});
//   auto outputs = session.run({{"x", x}});
#pragma once

#include "binet/element_type.h"
#include "binet/error.h"
#include "binet/executor.h"
#include "binet/float16.h"
#include "binet/machine.h"
#include "binet/model.h"
#include "binet/operators.h"
#include "binet/products.h"
#include "binet/session.h"
#include "binet/tensor.h"
#include "binet/tensor_file.h"
#include "binet/version.h"
