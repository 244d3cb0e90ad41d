// Room: kernels. What a product at once fetches of a Y, and of a C like it, that lie beyond the caches: its stores and
// loads are rows side by side, for which hardware prefetchers come late. Measured on Zen 5, but for what vectors of
// half a line do, on Zen 3.
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether lines of Y are fetched before they are written, as stores wait for them. A nearer Y would take up to 1.5
/// times as long, and with a longer K its lines come in time.
[[nodiscard]] bool fetches_far_y(const Problem& problem, const Kernels& kernels, std::int64_t workers);

/// Whether those of C are, which are read first: so the lines of Y have time to come.
[[nodiscard]] bool fetches_far_c(const Problem& problem, const Kernels& kernels, std::int64_t workers);

/// Whether a block of rows of Y, and of a full C, is read before it is computed: one load from each line, in the order
/// of memory. Prefetchers take that up as they take up none of the tiles' accesses, nor fetches by instructions: 0.45
/// to 0.8 of the time. With vectors of half a line; rows of whole lines without a C come in time.
[[nodiscard]] bool reads_far_rows_first(const Problem& problem, const Kernels& kernels);

/// Whether blocks of rows are computed in the workspace by so many workers, and streamed to Y from there: a store to Y
/// would read its line before, so memory moves half as much. With vectors of half a line, a Y that is one run, and
/// little to compute for each element: 0.4 to 0.8 of the time.
[[nodiscard]] bool streams_far_rows(const Problem& problem, const Kernels& kernels, std::int64_t workers);

/// How large these blocks are: all columns or, in long rows, some whole lines.
void cut_into_streamed_blocks(const Problem& problem, const Kernels& kernels, Schedule& schedule);

}  // namespace binet::kernels::gemm
