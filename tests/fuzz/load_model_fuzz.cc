// Whatever the bytes, reading a model ends in a Model or in binet::Error: no crash, no hang, no other exception.
//
// A libFuzzer program: `./dev fuzz` builds it with clang and sanitizers, and starts it from the conformance cases.
#include <cstddef>
#include <cstdint>
#include <span>

#include "binet/error.h"
#include "binet/model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const binet::Model model = binet::load_model(std::as_bytes(std::span(data, size)), "fuzzed");
    (void)model.inputs();
    (void)model.outputs();
    (void)model.values();
    (void)model.nodes();
  } catch (const binet::Error&) {
    return 0;
  }
  return 0;
}
