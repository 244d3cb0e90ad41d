// Room: kernels. What tiles fetch of a B that they read where it lies.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether B is such a part of the last-level cache that it comes from no further: other cores have their parts of it.
[[nodiscard]] bool comes_from_caches(const Problem& problem, const Kernels& kernels);

/// Whether B, with elements of so many bytes, is larger than all caches.
[[nodiscard]] bool comes_from_memory(const Problem& problem, std::int64_t element_bytes);

/// Whether hardware prefetchers follow rows of B and its packed panels better than tiles can: those of AMD's CPUs with
/// AVX-512 do. On Zen 4 few rows with a B from memory, or with a packed one from anywhere, take 0.6 to 0.8 of the time
/// that they take with fetches to the first-level cache, of which few can be under way. Fetches of another row remain.
[[nodiscard]] bool leaves_b_to_hardware(const Kernels& kernels);

/// Whether the hardware prefetchers that follow B follow one run of memory best. So do those of Zen 5: from the
/// second-level cache a core gets half as much again of one run, or of several that lie far apart, as of rows side by
/// side. From memory, though, it gets more of several.
[[nodiscard]] bool follows_one_run_best(const Kernels& kernels);

/// Whether tiles fetch rows of B just before they read them. Else they fetch the same rows for the next tile; with a
/// long k that would leave the first-level cache before its turn, and from anywhere but memory a few rows ahead are
/// enough. (Measured with vectors of half a line.) `schedule`: with all that it says of B.
[[nodiscard]] bool fetches_below(const Problem& problem, const Kernels& kernels, const Schedule& schedule);

/// Elements from the end of what a tile reads of a row of B, which is not packed, to what it fetches with that row;
/// where squares of B are turned, runs of k ahead (turned_squares-inl.h).
[[nodiscard]] std::int64_t near_b(const Problem& problem, const Kernels& kernels, const Schedule& schedule);

}  // namespace binet::kernels::gemm
