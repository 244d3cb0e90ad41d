// Room: base. Memory that cannot be had, at the library's edge: std::bad_alloc becomes an Error.
#pragma once

#include <new>
#include <utility>

#include "binet/error.h"

namespace binet {

/// Throws Error (out_of_memory), made when the library was loaded: now there may be no memory for its message.
[[noreturn]] void fail_out_of_memory();

/// What `work` returns; every function that users call and that may allocate goes through here.
template <class Work>
decltype(auto) guard_memory(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    fail_out_of_memory();
  }
}

}  // namespace binet
