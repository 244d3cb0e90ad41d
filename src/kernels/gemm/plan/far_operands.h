// Room: kernels. What is fetched of an operand ahead of its use: of one from memory, of a packed B that a part of the
// last-level cache does not hold, and of what is loaded under masks. Measured on Zen 5, whose prefetchers have one run
// of memory, or a few, in time, but not if multiply-adds leave them little to go by, and do not follow masked loads.
// What vectors of half a line fetch of a single panel, and of A and Y beside it, was measured on Zen 3.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Bytes from each line of a packed B, or of one that is a single panel as it lies, to the one that tiles fetch with
/// it; 0 if they leave that to hardware.
[[nodiscard]] std::int64_t bytes_ahead_in_panels(const Problem& problem, const Kernels& kernels);

/// Of a B that is read where it lies, by the way that the schedule says.
[[nodiscard]] FarOperand fetched_of_b(const Problem& problem, const Kernels& kernels, const Schedule& schedule);

/// FarOperand::next_rows_of_b, where more rows than few_rows-inl.h computes at a time read B in its order: else nothing
/// is on its way while all but the first of them read what is near.
[[nodiscard]] bool fetches_next_rows_of_b(const Problem& problem, const Kernels& kernels);

/// FarOperand::rows_of_b, which for so many rows is better than the way above: rows may not meet in few sets of the
/// caches, as what is fetched would leave those before its turn.
[[nodiscard]] bool fetches_rows_of_b(const Problem& problem, const Kernels& kernels);

/// FarOperand::runs_of_b.
[[nodiscard]] bool fetches_runs_of_b(const Problem& problem, const Kernels& kernels);

/// FarOperand::rows_of_a: of short rows much is loaded under masks. (So it is of a B that is turned and has fewer k
/// than a vector has lanes.)
[[nodiscard]] bool fetches_rows_of_a(const Problem& problem, const Kernels& kernels);

/// The same, for tiles as wide as Y with an A that is read where it lies.
[[nodiscard]] bool fetches_rows_of_a_and_y(const Problem& problem, const Kernels& kernels);

/// Whether rows of A are read in the order of memory before tiles read them side by side (read_lines.h). With vectors
/// of half a line, 0.65 to 0.9 of the time from memory: shorter rows come in time, and hardware follows each longer
/// one. Of a transposed A runs of the columns, 0.35 to 0.8 of the time.
[[nodiscard]] bool reads_far_rows_of_a_first(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
