// Room: kernels. The shuffles that bring repeated operands into the order of y (expansion.h), chunk by chunk.
//
// Elements of 4 and 8 bytes are moved as lanes of 4, from windows as wide as a vector. Smaller ones, and all on targets
// with vectors of 16 bytes, are moved as bytes, from windows of 16: shuffles of bytes do not cross 16-byte blocks, so
// every block of the vector gets the same window. AVX-512 has wider windows for these too: lanes of 2, and bytes in two
// steps. There a window of half a vector is preferred where it will do.
#if defined(BINET_ELEMENTWISE_SHUFFLES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_ELEMENTWISE_SHUFFLES_INL_H_
#undef BINET_ELEMENTWISE_SHUFFLES_INL_H_
#else
#define BINET_ELEMENTWISE_SHUFFLES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

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

/// How many windows the chunks of a tile need.
enum class Windows { same, one, two };

// A shuffle has
//   kBytes     of a chunk
//   kPlaceBytes, kTableBytes  of a place in a table, and of all that a chunk from one window has there
//   window     a window as a vector
//   choose     the chunk from one window and a table; from two of them where it is joint
//   join       where it is not, the chunk from what was chosen from each of two windows

/// As lanes of T, places that a table holds as Place.
template <class T, class Place>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> load_places(const std::byte* table) {
  const hn::ScalableTag<T> d;
  if constexpr (sizeof(Place) == sizeof(T)) {
    return hn::Load(d, as<T>(table));
  } else {
    return hn::PromoteTo(d, hn::Load(hn::Rebind<Place, decltype(d)>(), as<Place>(table)));
  }
}

/// A chunk of kBytes bytes, of lanes of 4.
template <class Place>
struct Lanes32 {
  static constexpr bool kJoint = HWY_TARGET == HWY_AVX3;
  static constexpr std::size_t kBytes = kVectorBytes;
  static constexpr std::size_t kPlaceBytes = sizeof(Place);
  static constexpr std::size_t kTableBytes = kBytes / 4 * kPlaceBytes;
  using D = hn::ScalableTag<std::uint32_t>;

  static HWY_INLINE hn::Vec<D> window(const std::byte* from) { return hn::LoadU(D(), as<std::uint32_t>(from)); }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> window, const std::byte* table) {
    return hn::TableLookupLanes(window, hn::IndicesFromVec(D(), places(table)));
  }
#if HWY_TARGET == HWY_AVX3
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> first, hn::Vec<D> second, const std::byte* table) {
    return hn::Vec<D>{_mm512_permutex2var_epi32(first.raw, places(table).raw, second.raw)};
  }
#endif
  static HWY_INLINE hn::Vec<D> join(hn::Vec<D> first, hn::Vec<D> second, std::int32_t split) {
    return hn::IfThenElse(hn::FirstN(D(), static_cast<std::size_t>(split)), first, second);
  }

 private:
  static HWY_INLINE hn::Vec<D> places(const std::byte* table) { return load_places<std::uint32_t, Place>(table); }
};

#if HWY_TARGET == HWY_AVX3
/// A chunk of lanes of 2.
template <class Place>
struct Lanes16 {
  static constexpr bool kJoint = true;
  static constexpr std::size_t kBytes = kVectorBytes;
  static constexpr std::size_t kPlaceBytes = sizeof(Place);
  static constexpr std::size_t kTableBytes = kBytes / 2 * kPlaceBytes;
  using D = hn::ScalableTag<std::uint16_t>;

  static HWY_INLINE hn::Vec<D> window(const std::byte* from) { return hn::LoadU(D(), as<std::uint16_t>(from)); }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> window, const std::byte* table) {
    return hn::Vec<D>{_mm512_permutexvar_epi16(places(table).raw, window.raw)};
  }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> first, hn::Vec<D> second, const std::byte* table) {
    return hn::Vec<D>{_mm512_permutex2var_epi16(first.raw, places(table).raw, second.raw)};
  }

 private:
  static HWY_INLINE hn::Vec<D> places(const std::byte* table) { return load_places<std::uint16_t, Place>(table); }
};

/// A chunk of 64 bytes from a window of 64.
struct WideWindow {
  static constexpr bool kJoint = true;
  static constexpr std::size_t kBytes = 64;
  static constexpr std::size_t kPlaceBytes = 1;
  static constexpr std::size_t kTableBytes = kBytes;
  using D = hn::ScalableTag<std::uint8_t>;

  static HWY_INLINE hn::Vec<D> window(const std::byte* from) { return load(D(), as<std::uint8_t>(from)); }

 protected:
  static HWY_INLINE __m512i load_places(const std::byte* table) { return load(D(), as<std::uint8_t>(table)).raw; }
};

/// The pairs of bytes in which the even ones lie, and those of the odd ones, are moved as lanes of 2; then each byte
/// within its pair.
struct WideBytes : WideWindow {
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> window, const std::byte* table) {
    const __m512i places = load_places(table);
    return choose_of_pairs(places, _mm512_permutexvar_epi16(pairs_of_even(places), window.raw),
                           _mm512_permutexvar_epi16(pairs_of_odd(places), window.raw));
  }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> first, hn::Vec<D> second, const std::byte* table) {
    const __m512i places = load_places(table);
    return choose_of_pairs(places, _mm512_permutex2var_epi16(first.raw, pairs_of_even(places), second.raw),
                           _mm512_permutex2var_epi16(first.raw, pairs_of_odd(places), second.raw));
  }

 private:
  /// The lowest bits are an index, the others are not looked at.
  static HWY_INLINE __m512i pairs_of_even(__m512i places) { return _mm512_srli_epi16(places, 1); }
  static HWY_INLINE __m512i pairs_of_odd(__m512i places) { return _mm512_srli_epi16(places, 9); }

  static HWY_INLINE hn::Vec<D> choose_of_pairs(__m512i places, __m512i even_pairs, __m512i odd_pairs) {
    // Where a pair lies within its 16 bytes; 0x80 clears a byte.
    const __m512i evens = _mm512_set4_epi32(0x800E800C, 0x800A8008, 0x80068004, 0x80028000);
    const __m512i odds = _mm512_set4_epi32(0x0E800C80, 0x0A800880, 0x06800480, 0x02800080);
    constexpr int kAndThenOr = 0xEA;
    const __m512i of_even = _mm512_ternarylogic_epi32(places, _mm512_set1_epi16(0x0001), evens, kAndThenOr);
    const __m512i of_odd = _mm512_ternarylogic_epi32(places, _mm512_set1_epi16(0x0100), odds, kAndThenOr);
    return hn::Vec<D>{
        _mm512_or_si512(_mm512_shuffle_epi8(even_pairs, of_even), _mm512_shuffle_epi8(odd_pairs, of_odd))};
  }
};

/// The same in one step, which takes AVX-512 VBMI. Assembly, because functions for AVX-512 alone have no leave to use
/// it.
struct WideBytesOfVbmi : WideWindow {
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> window, const std::byte* table) {
    __m512i chosen;
    asm("vpermb %2, %1, %0" : "=v"(chosen) : "v"(load_places(table)), "v"(window.raw));
    return hn::Vec<D>{chosen};
  }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> first, hn::Vec<D> second, const std::byte* table) {
    __m512i places = load_places(table);
    asm("vpermi2b %2, %1, %0" : "+v"(places) : "v"(first.raw), "v"(second.raw));
    return hn::Vec<D>{places};
  }
};

/// The same from windows of half a vector, of which fewer lie across two cache lines: two of them cost less than a wide
/// one.
template <class Shuffle>
struct FromHalves {
  static constexpr bool kJoint = true;
  static constexpr std::size_t kBytes = Shuffle::kBytes;
  static constexpr std::size_t kPlaceBytes = Shuffle::kPlaceBytes;
  static constexpr std::size_t kTableBytes = Shuffle::kTableBytes;
  using D = typename Shuffle::D;

  static HWY_INLINE hn::Vec<D> window(const std::byte* from) {
    return hn::Vec<D>{_mm512_zextsi256_si512(_mm256_loadu_si256(as<__m256i>(from)))};
  }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> window, const std::byte* table) {
    return Shuffle::choose(window, table);
  }
  static HWY_INLINE hn::Vec<D> choose(hn::Vec<D> first, hn::Vec<D> second, const std::byte* table) {
    const __m512i both = _mm512_inserti64x4(first.raw, _mm512_castsi512_si256(second.raw), 1);
    return Shuffle::choose(hn::Vec<D>{both}, table);
  }
};

/// Chunks of 64 bytes that are the end of one run and the beginning of another.
class TwoRuns {
 public:
  static constexpr std::size_t kBytes = 64;
  using D = hn::ScalableTag<std::uint8_t>;

  HWY_INLINE TwoRuns(const Expansion& x, const std::byte* from, std::int64_t first)
      : from_(from), chunk_(x.chunks.data() + first) {}

  HWY_INLINE hn::Vec<D> next() {
    const auto in_first = static_cast<__mmask64>(_bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(chunk_->split)));
    const __m512i second = _mm512_maskz_loadu_epi8(~in_first, from_ + chunk_->second - chunk_->split);
    const __m512i both = _mm512_mask_loadu_epi8(second, in_first, from_ + chunk_->first);
    ++chunk_;
    return hn::Vec<D>{both};
  }

 private:
  const std::byte* from_;
  const Expansion::Chunk* chunk_;
};
#endif

/// A chunk of kSize bytes.
template <std::size_t kSize>
struct Bytes {
  static constexpr bool kJoint = false;
  static constexpr std::size_t kBytes = kSize;
  static constexpr std::size_t kPlaceBytes = 1;
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

/// A chunk that lies in memory as it is.
struct InMemory {
  const std::byte* at;
};

/// A chunk of kSize bytes that is the window.
template <std::size_t kSize>
struct Run {
  static constexpr bool kJoint = false;
  static constexpr std::size_t kBytes = kSize;
  static constexpr std::size_t kTableBytes = 0;
  using D = hn::CappedTag<std::uint8_t, kSize>;

  static HWY_INLINE InMemory window(const std::byte* from) { return {from}; }
  static HWY_INLINE InMemory choose(InMemory window, const std::byte* /*table*/) { return window; }
};

// A chunk as a vector of D, or half of it as one.

template <class D, class V>
HWY_INLINE hn::Vec<D> vector_of(D d, V chunk) {
  return hn::BitCast(d, chunk);
}
template <class D, class V>
HWY_INLINE hn::Vec<D> lower_half_of(D d, V chunk) {
  return hn::BitCast(d, hn::LowerHalf(hn::Half<hn::DFromV<V>>(), chunk));
}
template <class D, class V>
HWY_INLINE hn::Vec<D> upper_half_of(D d, V chunk) {
  return hn::BitCast(d, hn::UpperHalf(hn::Half<hn::DFromV<V>>(), chunk));
}

template <class D>
HWY_INLINE hn::Vec<D> vector_of(D d, InMemory chunk) {
  return hn::BitCast(d, load(hn::Repartition<std::uint8_t, D>(), as<std::uint8_t>(chunk.at)));
}
/// Loaded by what converts it: with AVX2 to take a vector apart takes a third longer.
template <class D>
HWY_INLINE hn::Vec<D> lower_half_of(D d, InMemory chunk) {
  return hn::LoadU(d, as<hn::TFromD<D>>(chunk.at));
}
template <class D>
HWY_INLINE hn::Vec<D> upper_half_of(D d, InMemory chunk) {
  return hn::LoadU(d, as<hn::TFromD<D>>(chunk.at) + hn::MaxLanes(d));
}

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

  HWY_INLINE auto next() {
    const auto bytes = current();
    table_ += kTableBytes;
    ++chunk_;
    return bytes;
  }

 private:
  static constexpr bool kTwoTables = kWindows == Windows::two && !Shuffle::kJoint;
  static constexpr std::int64_t kTableBytes = (kTwoTables ? 2 : 1) * Shuffle::kTableBytes;

  HWY_INLINE auto current() const {
    if constexpr (kWindows == Windows::same) {
      return Shuffle::choose(window_, table_);
    } else if constexpr (kWindows == Windows::one) {
      return Shuffle::choose(Shuffle::window(from_ + chunk_->first), table_);
    } else if constexpr (Shuffle::kJoint) {
      return Shuffle::choose(Shuffle::window(from_ + chunk_->first), Shuffle::window(from_ + chunk_->second), table_);
    } else {
      const auto first = Shuffle::choose(Shuffle::window(from_ + chunk_->first), table_);
      const auto rest = Shuffle::choose(Shuffle::window(from_ + chunk_->second), table_ + Shuffle::kTableBytes);
      return Shuffle::join(first, rest, chunk_->split);
    }
  }

  const std::byte* from_;
  const Expansion::Chunk* chunk_;
  const std::byte* table_;
  decltype(Shuffle::window(nullptr)) window_;
};

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#endif
