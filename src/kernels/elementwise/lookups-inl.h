// Room: kernels. What a target does with its shuffles (shuffles-inl.h): lays out an operand, alone or as part of an
// operation; and the list of them for each size of elements.
#if defined(BINET_ELEMENTWISE_LOOKUPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_ELEMENTWISE_LOOKUPS_INL_H_
#undef BINET_ELEMENTWISE_LOOKUPS_INL_H_
#else
#define BINET_ELEMENTWISE_LOOKUPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "kernels/elementwise/expansion.h"
#include "kernels/elementwise/joined_lines-inl.h"
#include "kernels/elementwise/lanes-inl.h"
#include "kernels/elementwise/shuffles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class AllChunks>
void expand(const Expansion& x, const std::byte* from, std::int64_t count, std::byte* to) {
  using D = typename AllChunks::D;
  const auto put = [&](auto chunk) HWY_ATTR {
    hn::Store(vector_of(D(), chunk), D(), reinterpret_cast<hn::TFromD<D>*>(to));
    to += AllChunks::kBytes;
  };
  AllChunks chunks(x, from, 0);
  std::int64_t i = 0;
  if constexpr (HWY_TARGET == HWY_AVX2) {
    for (; i < count - 1; i += 2) {
      const auto first = chunks.next();
      const auto second = chunks.next();
      put(first);
      put(second);
    }
  }
  for (; i < count; ++i) put(chunks.next());
}

/// What an operand is laid out as.
template <class L>
struct LaidOutAs {
  using Type = typename L::T;
};
template <class L>
requires(kShufflesWide<L>) struct LaidOutAs<L> {
  using Type = typename L::Wide;
};

/// y = other op the operand that is laid out; Other is what `other` holds: L::T or what operands are laid out as.
template <class L, class AllChunks, class Other>
class Computation {
  using T = typename L::T;
  using X = typename LaidOutAs<L>::Type;
  using D = hn::CappedTag<T, AllChunks::kBytes / sizeof(X)>;
  /// Of y.
  static constexpr auto kBytes = static_cast<std::int64_t>(AllChunks::kBytes * sizeof(T) / sizeof(X));
  /// Of `other`, for each of y.
  static constexpr std::int64_t kOtherBytes = sizeof(Other) / sizeof(T);

 public:
  static constexpr bool kStreamsAnywhere = kCanJoinChunks<L> && kBytes == kLineBytes && !kShufflesWide<L>;

  static HWY_INLINE void run(const Expansion& x, const std::byte* from, const std::byte* other, std::int64_t bytes,
                             std::byte* y, OpenLine* stream, bool fetch) {
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(y);
    if constexpr (kStreamsAnywhere) {
      const bool broken_lines = (start | static_cast<std::uintptr_t>(bytes)) % kBytes != 0;
      if (stream != nullptr && broken_lines && start % sizeof(T) == 0) {
        return Computation::lines(x, from, other, bytes, y, *stream);
      }
    }
    const std::int64_t whole = bytes / kBytes;
    const bool streams = stream != nullptr && start % kBytes == 0;
    if (kKnowsFar && (kFetchesY ? stream != nullptr || fetch : streams)) {
      whole_chunks<kKnowsFar>(x, from, other, whole, y, streams);
    } else {
      whole_chunks<false>(x, from, other, whole, y, false);
    }
    if (bytes % kBytes != 0) last_chunk(x, from, other, whole, bytes % kBytes, y);
  }

 private:
  /// With AVX-512, chunks of less than a line are rare, and not worth a loop of their own for a y far away.
  static constexpr bool kKnowsFar = kBytes == kLineBytes || HWY_TARGET != HWY_AVX3 || kShufflesWide<L>;

  /// Whether a y that is far away may be fetched instead of streamed, as fetch_to_write does.
  static constexpr bool kFetchesY = HWY_TARGET == HWY_AVX3;

  /// Of half lines: a loop's own instructions weigh as much as those of one chunk.
  static constexpr bool kTwoAtATime =
      kBytes == kLineBytes / 2 && (HWY_TARGET == HWY_AVX2 || (HWY_TARGET == HWY_AVX3 && kShufflesWide<L>));

  template <class DX>
  using VecOfX = hn::Vec<hn::Rebind<X, DX>>;

  /// y = other op the chunk; in halves where L works on no more at once.
  template <class Chunk>
  static HWY_INLINE void compute(Chunk chunk, const std::byte* other, std::byte* y, bool stream) {
    const D d;
    if constexpr (hn::MaxLanes(d) > hn::MaxLanes(typename L::Tag())) {
      const hn::Half<D> half;
      const hn::Rebind<X, decltype(half)> d_laid_out;
      constexpr std::size_t kHalf = hn::MaxLanes(half) * sizeof(T);
      store(half, apply(half, lower_half_of(d_laid_out, chunk), other), y, stream);
      store(half, apply(half, upper_half_of(d_laid_out, chunk), other + kHalf), y + kHalf, stream);
    } else {
      store(d, apply(d, vector_of(hn::Rebind<X, D>(), chunk), other), y, stream);
    }
  }

  template <class DY>
  static HWY_INLINE hn::Vec<DY> apply(DY d, VecOfX<DY> x, const std::byte* other) {
    return L::apply(d, load(hn::Rebind<Other, DY>(), as<Other>(other)), x);
  }

  template <class DY>
  static HWY_INLINE void store(DY d, hn::Vec<DY> v, std::byte* y, bool stream) {
    if (stream) {
      hn::Stream(v, d, reinterpret_cast<T*>(y));
    } else {
      hn::StoreU(v, d, reinterpret_cast<T*>(y));
    }
  }

  /// kFar: y lies beyond the core's own caches, and is streamed, or its lines are fetched.
  template <bool kFar>
  static HWY_INLINE void whole_chunks(const Expansion& x, const std::byte* from, const std::byte* other,
                                      std::int64_t count, std::byte* y, bool stream) {
    const bool streams = kFar && (stream || !kFetchesY);
    AllChunks chunks(x, from, 0);
    std::int64_t at = 0;
    if constexpr (kTwoAtATime && !kFar) {
      for (; at < (count - 1) * kBytes; at += 2 * kBytes) {
        const auto first = chunks.next();
        const auto second = chunks.next();
        compute(first, other + at * kOtherBytes, y + at, false);
        compute(second, other + (at + kBytes) * kOtherBytes, y + at + kBytes, false);
      }
    }
    for (; at < count * kBytes; at += kBytes) {
      if (kFar) streams ? fetch_to_read(other + at * kOtherBytes, kFetchedAhead<L>) : fetch_to_write(y + at);
      compute(chunks.next(), other + at * kOtherBytes, y + at, streams);
    }
  }

#if HWY_TARGET == HWY_AVX3
  static HWY_INLINE hn::Vec<D> first_of(D d, const std::byte* other, std::int64_t bytes) {
    return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(bytes) / sizeof(T)), d, as<T>(other));
  }

  /// Streams lines of y that are the end of one chunk and the beginning of the next.
  static void lines(const Expansion& x, const std::byte* from, const std::byte* other, std::int64_t bytes, std::byte* y,
                    OpenLine& line) {
    const D d;
    AllChunks chunks(x, from, 0);
    const std::byte* const end = y + bytes;
    std::int64_t begun = bytes_in_line(y);
    const JoinedChunks<D> joined(static_cast<std::size_t>(begun) / sizeof(T));
    auto before = hn::Zero(d);
    auto v = before;
    y -= begun;
    for (std::int64_t left = bytes; y < end; y += kBytes, left -= kBytes) {
      if (left > 0) {
        const auto laid_out = vector_of(d, chunks.next());
        v = L::apply(d, left >= kBytes ? hn::LoadU(d, as<T>(other)) : first_of(d, other, left), laid_out);
        other += kBytes;
      }
      const auto whole = joined.line(before, v);
      if (begun == 0 && end - y >= kBytes) {
        hn::Stream(whole, d, reinterpret_cast<T*>(y));
      } else {
        write_part(hn::BitCast(hn::ScalableTag<std::uint8_t>(), whole).raw, begun, HWY_MIN(end - y, kBytes), y, line);
        begun = 0;
      }
      before = v;
    }
  }
#endif

  /// Of which only `bytes` bytes are wanted.
  static void last_chunk(const Expansion& x, const std::byte* from, const std::byte* other, std::int64_t chunk,
                         std::int64_t bytes, std::byte* y) {
    AllChunks chunks(x, from, chunk);
#if HWY_TARGET == HWY_AVX3
    if constexpr (kBytes <= static_cast<std::int64_t>(kBytesOfVector<L>)) {
      const D d;
      const hn::Rebind<Other, D> d_other;
      const auto laid_out = vector_of(hn::Rebind<X, D>(), chunks.next());
      const std::size_t n = static_cast<std::size_t>(bytes) / sizeof(T);
      const auto others =
          hn::MaskedLoad(hn::FirstN(d_other, n), d_other, as<Other>(other + chunk * kBytes * kOtherBytes));
      hn::BlendedStore(L::apply(d, others, laid_out), hn::FirstN(d, n), d, reinterpret_cast<T*>(y + chunk * kBytes));
      return;
    }
#endif
    alignas(kVectorBytes) std::byte others[kVectorBytes] = {};
    alignas(kVectorBytes) std::byte last[kVectorBytes];
    std::memcpy(others, other + chunk * kBytes * kOtherBytes, static_cast<std::size_t>(bytes * kOtherBytes));
    compute(chunks.next(), others, last, false);
    std::memcpy(y + chunk * kBytes, last, static_cast<std::size_t>(bytes));
  }
};

template <class L, class AllChunks>
void compute(const Expansion& x, const std::byte* from, InOrder other, std::int64_t bytes, std::byte* y,
             OpenLine* stream, bool fetch) {
  using T = typename L::T;
  if constexpr (kShufflesWide<L>) {
    if (other.is_converted) {
      return Computation<L, AllChunks, typename L::Wide>::run(x, from, other.data, bytes, y, stream, fetch);
    }
  }
  Computation<L, AllChunks, T>::run(x, from, other.data, bytes, y, stream, fetch);
}

/// `compute` is null where L works on less than 16 bytes at once: it then costs so much that a tile is cheap beside it.
template <class L, class AllChunks>
constexpr ExpansionFunctions functions() {
  if constexpr (kBytesOfVector<L> >= 16) {
    return {&expand<AllChunks>, &compute<L, AllChunks>, Computation<L, AllChunks, typename L::T>::kStreamsAnywhere};
  } else {
    return {&expand<AllChunks>, nullptr};
  }
}

/// They need loads under masks of bytes, which AVX-512 has.
template <class L>
constexpr ExpansionFunctions two_runs() {
#if HWY_TARGET == HWY_AVX3
  return functions<L, TwoRuns>();
#else
  return {};
#endif
}

/// What choosing from two windows costs, for each of them one table, in what it costs from one: of two that share a
/// table, the second one costs less. With vectors shorter than a line, whose loops have little else to do, each of what
/// they take (windows, tables, shuffles, and what joins them) is felt.
template <class Shuffle>
inline constexpr double kCostOfTwo = Shuffle::kJoint          ? 1.6
                                     : HWY_TARGET == HWY_AVX3 ? 2
                                                              : 3;

/// `Same` is Shuffle, maybe with another table.
template <class L, class Shuffle, class Same = Shuffle>
constexpr Lookup describe(std::int32_t window, std::int32_t unit, double window_cost = 1) {
  return {static_cast<std::int32_t>(Shuffle::kBytes),
          window,
          unit,
          window_cost,
          window_cost * kCostOfTwo<Shuffle>,
          functions<L, Chunks<Same, Windows::same>>(),
          functions<L, Chunks<Shuffle, Windows::one>>(),
          functions<L, Chunks<Shuffle, Windows::two>>(),
          Shuffle::kJoint,
          static_cast<std::int32_t>(Same::kPlaceBytes),
          {},
          {}};
}

/// The first of a list.
template <class L, class Shuffle, class Same = Shuffle>
constexpr Lookup describe_widest(std::int32_t window, std::int32_t unit, double window_cost = 1) {
  Lookup lookup = describe<L, Shuffle, Same>(window, unit, window_cost);
  lookup.runs = functions<L, Chunks<Run<Shuffle::kBytes>, Windows::one>>();
  lookup.two_runs = two_runs<L>();
  return lookup;
}

/// Of chunks of a part of a vector, after whole ones: they need two windows where those would need more. From one
/// window they are never better, and need not be good.
template <class L, class Shuffle>
constexpr Lookup describe_part(std::int32_t window, std::int32_t unit) {
  Lookup lookup = describe<L, Shuffle>(window, unit);
  lookup.same = lookup.one = {&expand<Chunks<Shuffle, Windows::one>>};
  return lookup;
}

// Two windows of 64 bytes hold what any 64 bytes of y need, as places that follow each other lie side by side or begin
// anew. So smaller chunks are not described where there are such windows.

// The costs of a window, where all else that a chunk costs is 1, as measured. Windows of 64 bytes mostly lie across two
// cache lines, those of 32 seldom do. Bytes from wide windows take two steps.
[[maybe_unused]] inline constexpr double kCostOfLanes16 = 1.8;
[[maybe_unused]] inline constexpr double kCostOfHalfLanes16 = 1.1;
[[maybe_unused]] inline constexpr double kCostOfLanes32 = 1.2;
[[maybe_unused]] inline constexpr double kCostOfHalfLanes32 = 0.7;
[[maybe_unused]] inline constexpr double kCostOfBytes = 2.2;
[[maybe_unused]] inline constexpr double kCostOfHalfBytes = 1.6;

/// Places as wide as the lanes need no widening, which is one more shuffle. Where others convert and round, that counts
/// more than the first-level cache's loads, if there are none of windows.
template <class L, class Lane>
using PlaceOfSame = std::conditional_t<(HWY_TARGET == HWY_AVX3) && L::kTakesLong, Lane, std::uint8_t>;

template <class L>
std::span<const Lookup> lookups_for() {
  constexpr std::size_t kSize = sizeof(typename LaidOutAs<L>::Type);
  if constexpr (kSize >= 4 && kVectorBytes > 16) {
    using Bytes32 = Lanes32<std::uint8_t>;
    using Same32 [[maybe_unused]] = Lanes32<PlaceOfSame<L, std::uint32_t>>;
    static constexpr Lookup kLanes[] = {
#if HWY_TARGET == HWY_AVX3
      describe_widest<L, Bytes32, Same32>(kVectorBytes, 4, kCostOfLanes32),
      describe<L, FromHalves<Bytes32>, FromHalves<Same32>>(kVectorBytes / 2, 4, kCostOfHalfLanes32),
#else
      describe_widest<L, Bytes32>(kVectorBytes, 4),
#endif
      kMoveElements<kSize>
    };
    return kLanes;
#if HWY_TARGET == HWY_AVX3
  } else if constexpr (kSize == 2) {
    using Bytes16 = Lanes16<std::uint8_t>;
    using Same16 = Lanes16<PlaceOfSame<L, std::uint16_t>>;
    static constexpr Lookup kBytesAndLanes[] = {
        describe_widest<L, Bytes<64>>(16, 1),
        describe<L, FromHalves<Bytes16>, FromHalves<Same16>>(32, 2, kCostOfHalfLanes16),
        describe<L, Bytes16, Same16>(64, 2, kCostOfLanes16), kMoveElements<kSize>};
    return kBytesAndLanes;
  } else if constexpr (kSize == 1) {
    static constexpr Lookup kAllBytes[] = {describe_widest<L, Bytes<64>>(16, 1),
                                           describe<L, FromHalves<WideBytes>>(32, 1, kCostOfHalfBytes),
                                           describe<L, WideBytes>(64, 1, kCostOfBytes), kMoveElements<kSize>};
    return kAllBytes;
#endif
  } else {
    static constexpr Lookup kBytes[] = {
      describe_widest<L, Bytes<kVectorBytes>>(16, 1),
#if HWY_TARGET == HWY_AVX2
      describe_part<L, Bytes<16>>(16, 1),
#endif
      kMoveElements<kSize>
    };
    return kBytes;
  }
}

#if HWY_TARGET == HWY_AVX3
/// Of elements of one byte, on CPUs that have VBMI.
template <class L>
std::span<const Lookup> lookups_of_vbmi_for() {
  static_assert(sizeof(typename L::T) == 1);
  static constexpr Lookup kAllBytes[] = {describe_widest<WithVbmi<L>, Bytes<64>>(16, 1),
                                         describe<WithVbmi<L>, FromHalves<WideBytesOfVbmi>>(32, 1, kCostOfHalfLanes32),
                                         describe<WithVbmi<L>, WideBytesOfVbmi>(64, 1, kCostOfLanes32),
                                         kMoveElements<1>};
  return kAllBytes;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
