// Room: kernels. A given B that is packed by the first tiles that read it (loops/packing_tiles-inl.h).
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether that is better than to read B in place: a B that is near; with vectors of half a line one that is not, for a
/// few tiles of rows.
[[nodiscard]] bool should_pack_in_tiles(const Problem& problem, const Kernels& kernels);

/// Whether it is a B from afar for the rows of two low tiles, whose own rows meet in few sets of the caches: the second
/// tile would find little of what the first one has read, and sums would be passed over for every few rows of B.
[[nodiscard]] bool packs_far_b_in_tiles(const Problem& problem, const Kernels& kernels);

/// Whether strips are packed so, with vectors of half a line: panels are filled while tiles compute, and fetch what the
/// next ones will be filled with. Rows that meet in few sets would drive that out; from afar rows of f64 come sooner in
/// long runs, for many rows of Y.
[[nodiscard]] bool packs_strips_in_tiles(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
