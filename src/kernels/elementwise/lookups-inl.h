// Room: kernels. The table lookups that lay out repeated operands (expansion.h), alone or as part of an operation.
//
// Elements of 4 and 8 bytes are moved as lanes of 4, from windows as wide as a vector. Smaller ones, and all on targets
// with vectors of 16 bytes, are moved as bytes, from windows of 16: shuffles of bytes do not cross 16-byte blocks, so
// every block of the vector gets the same window. Where that leaves elements of 2 bytes with short chunks, AVX-512
// moves them as lanes of 2 from a wide window.
#if defined(BINET_ELEMENTWISE_LOOKUPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_ELEMENTWISE_LOOKUPS_INL_H_
#undef BINET_ELEMENTWISE_LOOKUPS_INL_H_
#else
#define BINET_ELEMENTWISE_LOOKUPS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstring>

#include "kernels/elementwise/expansion.h"
#include "kernels/elementwise/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t kVectorBytes = hn::MaxLanes(hn::ScalableTag<std::uint8_t>());

template <class T>
HWY_INLINE const T* as(const std::byte* bytes) {
  return reinterpret_cast<const T*>(bytes);
}

enum class Windows { same, one, two };

/// A chunk of kBytes bytes, of lanes of 4.
struct Lanes32 {
  static constexpr std::size_t kBytes = kVectorBytes;
  static constexpr std::size_t kTableBytes = kBytes;
  using D = hn::ScalableTag<std::uint32_t>;

  static HWY_INLINE hn::Vec<D> window(const std::byte* from) { return hn::LoadU(D(), as<std::uint32_t>(from)); }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> window, const std::byte* table) {
    const D d;
    return hn::TableLookupLanes(window, hn::IndicesFromVec(d, hn::Load(d, as<std::uint32_t>(table))));
  }
  static HWY_INLINE hn::Vec<D> join(hn::Vec<D> first, hn::Vec<D> second, std::int32_t split) {
    return hn::IfThenElse(hn::FirstN(D(), static_cast<std::size_t>(split)), first, second);
  }
};

#if HWY_TARGET == HWY_AVX3
/// A chunk of kSize bytes, of lanes of 2.
template <std::size_t kSize>
struct Lanes16 {
  static constexpr std::size_t kBytes = kSize;
  static constexpr std::size_t kTableBytes = kBytes;
  using D = hn::CappedTag<std::uint16_t, kSize / 2>;

  static HWY_INLINE hn::Vec<D> window(const std::byte* from) { return hn::LoadU(D(), as<std::uint16_t>(from)); }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> window, const std::byte* table) {
    const auto places = hn::Load(D(), as<std::uint16_t>(table));
    if constexpr (kSize == 64) {
      return hn::Vec<D>{_mm512_permutexvar_epi16(places.raw, window.raw)};
    } else {
      return hn::Vec<D>{_mm256_permutexvar_epi16(places.raw, window.raw)};
    }
  }
  static HWY_INLINE hn::Vec<D> join(hn::Vec<D> first, hn::Vec<D> second, std::int32_t split) {
    return hn::IfThenElse(hn::FirstN(D(), static_cast<std::size_t>(split)), first, second);
  }
};
#endif

/// A chunk of kSize bytes.
template <std::size_t kSize>
struct Bytes {
  static constexpr std::size_t kBytes = kSize;
  static constexpr std::size_t kTableBytes = kBytes;
  using D = hn::CappedTag<std::uint8_t, kSize>;

  static HWY_INLINE hn::Vec<D> window(const std::byte* from) { return hn::LoadDup128(D(), as<std::uint8_t>(from)); }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> window, const std::byte* table) {
    return hn::TableLookupBytesOr0(window, hn::Load(D(), as<std::uint8_t>(table)));
  }
  static HWY_INLINE hn::Vec<D> join(hn::Vec<D> first, hn::Vec<D> second, std::int32_t /*split*/) {
    return hn::Or(first, second);
  }
};

/// A chunk of kSize bytes that is the window.
template <std::size_t kSize>
struct Run {
  static constexpr std::size_t kBytes = kSize;
  static constexpr std::size_t kTableBytes = 0;
  using D = hn::CappedTag<std::uint8_t, kSize>;

  static HWY_INLINE hn::Vec<D> window(const std::byte* from) { return hn::LoadU(D(), as<std::uint8_t>(from)); }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> window, const std::byte* /*table*/) { return window; }
};

/// The chunks one after the other.
template <class Shuffle, Windows kWindows>
class Chunks {
 public:
  static constexpr std::size_t kBytes = Shuffle::kBytes;
  using D = typename Shuffle::D;

  HWY_INLINE Chunks(const Expansion& x, const std::byte* from, std::int64_t first)
      : from_(from),
        chunk_(x.chunks.data() + first),
        table_(x.table.data() + first * kTableBytes),
        window_(Shuffle::window(from + chunk_->first)) {}

  HWY_INLINE hn::Vec<D> next() {
    auto bytes = Shuffle::choose(kWindows == Windows::same ? window_ : Shuffle::window(from_ + chunk_->first), table_);
    if constexpr (kWindows == Windows::two) {
      const auto rest = Shuffle::choose(Shuffle::window(from_ + chunk_->second), table_ + Shuffle::kTableBytes);
      bytes = Shuffle::join(bytes, rest, chunk_->split);
    }
    table_ += kTableBytes;
    ++chunk_;
    return bytes;
  }

 private:
  static constexpr std::int64_t kTableBytes = (kWindows == Windows::two ? 2 : 1) * Shuffle::kTableBytes;

  const std::byte* from_;
  const Expansion::Chunk* chunk_;
  const std::byte* table_;
  hn::Vec<D> window_;
};

template <class AllChunks>
void expand(const Expansion& x, const std::byte* from, std::int64_t count, std::byte* to) {
  using D = typename AllChunks::D;
  AllChunks chunks(x, from, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    hn::Store(chunks.next(), D(), reinterpret_cast<hn::TFromD<D>*>(to));
    to += AllChunks::kBytes;
  }
}

/// y = other op the operand that is laid out. y may be `other`.
template <class L, class AllChunks>
class Computation {
  using T = typename L::T;
  using D = hn::CappedTag<T, AllChunks::kBytes / sizeof(T)>;
  static constexpr auto kBytes = static_cast<std::int64_t>(AllChunks::kBytes);

 public:
  static void run(const Expansion& x, const std::byte* from, const std::byte* other, std::int64_t bytes, std::byte* y,
                  bool stream) {
    const std::int64_t whole = bytes / kBytes;
    const bool can_stream = stream && reinterpret_cast<std::uintptr_t>(y) % kBytes == 0;
    can_stream ? whole_chunks<true>(x, from, other, whole, y) : whole_chunks<false>(x, from, other, whole, y);
    if (bytes % kBytes != 0) last_chunk(x, from, other, whole, bytes % kBytes, y);
  }

 private:
  static HWY_INLINE hn::Vec<D> one(AllChunks& chunks, const std::byte* other) {
    const D d;
    return L::apply(d, hn::LoadU(d, as<T>(other)), hn::BitCast(d, chunks.next()));
  }

  template <bool kStream>
  static HWY_INLINE void whole_chunks(const Expansion& x, const std::byte* from, const std::byte* other,
                                      std::int64_t count, std::byte* y) {
    const D d;
    AllChunks chunks(x, from, 0);
    for (std::int64_t at = 0; at < count * kBytes; at += kBytes) {
      const auto v = one(chunks, other + at);
      if constexpr (kStream) {
        hn::Stream(v, d, reinterpret_cast<T*>(y + at));
      } else {
        hn::StoreU(v, d, reinterpret_cast<T*>(y + at));
      }
    }
  }

  /// Of which only `bytes` bytes are wanted.
  static void last_chunk(const Expansion& x, const std::byte* from, const std::byte* other, std::int64_t chunk,
                         std::int64_t bytes, std::byte* y) {
    alignas(kVectorBytes) std::byte last[kVectorBytes] = {};
    std::memcpy(last, other + chunk * kBytes, static_cast<std::size_t>(bytes));
    AllChunks chunks(x, from, chunk);
    hn::Store(one(chunks, last), D(), reinterpret_cast<T*>(last));
    std::memcpy(y + chunk * kBytes, last, static_cast<std::size_t>(bytes));
  }
};

/// `compute` is null where a chunk is larger than the vectors on which L works.
template <class L, class AllChunks>
constexpr ExpansionFunctions functions() {
  if constexpr (AllChunks::kBytes <= hn::MaxLanes(typename L::Tag()) * sizeof(typename L::T)) {
    return {&expand<AllChunks>, &Computation<L, AllChunks>::run};
  } else {
    return {&expand<AllChunks>, nullptr};
  }
}

template <class L, class Shuffle>
constexpr Lookup describe(std::int32_t window, std::int32_t unit, double window_cost = 1) {
  return {static_cast<std::int32_t>(Shuffle::kBytes),
          window,
          unit,
          window_cost,
          functions<L, Chunks<Shuffle, Windows::same>>(),
          functions<L, Chunks<Shuffle, Windows::one>>(),
          functions<L, Chunks<Shuffle, Windows::two>>(),
          functions<L, Chunks<Run<Shuffle::kBytes>, Windows::one>>()};
}

/// Windows of 64 bytes mostly lie across two cache lines. With it the chunks of 32 bytes from two windows of 16 are
/// preferred where they will do, and those of 16 bytes are not: as measured.
[[maybe_unused]] inline constexpr double kCostOfLanes16 = 2.6;

template <class L>
std::span<const Lookup> lookups_for() {
  constexpr std::size_t kSize = sizeof(typename L::T);
  if constexpr (kSize >= 4 && kVectorBytes > 16) {
    static constexpr Lookup kLanes[] = {describe<L, Lanes32>(kVectorBytes, 4), kMoveElements<kSize>};
    return kLanes;
#if HWY_TARGET == HWY_AVX3
  } else if constexpr (kSize == 2) {
    constexpr std::size_t kChunk = hn::MaxLanes(typename L::Tag()) * kSize;
    static constexpr Lookup kBytesAndLanes[] = {describe<L, Bytes<64>>(16, 1), describe<L, Bytes<32>>(16, 1),
                                                describe<L, Lanes16<kChunk>>(kChunk, 2, kCostOfLanes16),
                                                describe<L, Bytes<16>>(16, 1), kMoveElements<kSize>};
    return kBytesAndLanes;
#endif
  } else {
    static constexpr Lookup kBytes[] = {describe<L, Bytes<HWY_MIN(kVectorBytes, 64)>>(16, 1),
                                        describe<L, Bytes<HWY_MIN(kVectorBytes, 32)>>(16, 1),
                                        describe<L, Bytes<16>>(16, 1), kMoveElements<kSize>};
    return kBytes;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
