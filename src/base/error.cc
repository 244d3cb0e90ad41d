#include "binet/error.h"

namespace binet {

Error::Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
Error::~Error() = default;

}  // namespace binet
