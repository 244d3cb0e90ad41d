// The one exception type that Binet throws.
//
// A message is one line: where (file, node, operator version), what was found, what is allowed.
#pragma once

#include <stdexcept>
#include <string>

#include "binet/export.h"

namespace binet {

enum class ErrorCode {
  io,                ///< a file cannot be opened, read or written
  invalid_file,      ///< the bytes are not a well-formed model or tensor file
  invalid_model,     ///< the file is well formed, but breaks a rule of its standard
  unsupported,       ///< valid by its standard, but outside what Binet runs
  invalid_argument,  ///< a tensor, an option or a name given by the caller does not fit
  out_of_memory,     ///< memory could not be had
};

class BINET_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  ~Error() override;

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace binet
