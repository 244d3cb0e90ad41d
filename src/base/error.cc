#include "binet/error.h"

#include "base/out_of_memory.h"

namespace binet {
namespace {

// Copies of an exception share its message.
const Error kOutOfMemory(ErrorCode::out_of_memory, "out of memory");

}  // namespace

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
Error::~Error() = default;

void fail_out_of_memory() { throw Error(kOutOfMemory); }

}  // namespace binet
