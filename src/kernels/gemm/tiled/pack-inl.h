// Room: kernels, AVX-512. Packing an operand into tiles (TilePacking).
//
// A tile of A has a lane in each row, whose 64 bytes are k side by side: a *line*. A tile of B has a lane in each
// column of 32 bits, which hold as many k as fit: a *word* of each lane makes a row. The one is the transpose of the
// other, in words. An operand lies in memory as one of the two; it becomes that one, and then, if need be, the other.
//
// `Numbers` gives Element; kPlanes; kPerWord, the k in a word; and
//   Line(from, count, v): count <= kGroup neighbouring k of a lane, as a line for each plane;
//   Words(from, k_step, ks, lanes, v): ks <= kPerWord values of k of the lanes in a mask, as a row for each plane;
//   WordsOfTwo, WordsOfOne, if kHasWordsOfTwo: the same for two k of the 32 lanes of two tiles, or of one;
//   kLinesAreLoaded: Line() does nothing but to load 16 bits each;
//   Row(i): where the i-th word of k goes, the same in lines and columns;
//   Least: notes the smallest magnitude seen.
#if defined(BINET_KERNELS_GEMM_TILED_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_PACK_INL_H_
#undef BINET_KERNELS_GEMM_TILED_PACK_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_PACK_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/tiled/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// The first `count` of 16, 32 or 64 bits.
HWY_INLINE uint64_t FirstBits(int64_t count) {
  return count >= 64 ? ~uint64_t{0} : count <= 0 ? 0 : (uint64_t{1} << count) - 1;
}

/// 16 x 16 words.
HWY_INLINE void TransposeWords(__m512i (&v)[16]) {
  __m512i t[16];
  HWY_UNROLL(16)
  for (size_t i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
  }
  HWY_UNROLL(16)
  for (size_t i = 0; i < 16; i += 4) {
    v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  // Now block b of v[4 * g + c] has column 4 * b + c of the rows 4 * g to 4 * g + 3.
  HWY_UNROLL(4)
  for (size_t c = 0; c < 4; ++c) {
    const __m512i low01 = _mm512_shuffle_i32x4(v[c], v[4 + c], 0x44),
                  high01 = _mm512_shuffle_i32x4(v[c], v[4 + c], 0xEE);
    const __m512i low23 = _mm512_shuffle_i32x4(v[8 + c], v[12 + c], 0x44),
                  high23 = _mm512_shuffle_i32x4(v[8 + c], v[12 + c], 0xEE);
    t[c] = _mm512_shuffle_i32x4(low01, low23, 0x88);
    t[4 + c] = _mm512_shuffle_i32x4(low01, low23, 0xDD);
    t[8 + c] = _mm512_shuffle_i32x4(high01, high23, 0x88);
    t[12 + c] = _mm512_shuffle_i32x4(high01, high23, 0xDD);
  }
  HWY_UNROLL(16)
  for (size_t i = 0; i < 16; ++i) v[i] = t[i];
}

/// All of it is inlined, so that what it consists of are registers.
template <class Numbers>
class TilePacker {
 public:
  explicit HWY_INLINE TilePacker(const TilePacking& packing)
      : p_(packing),
        from_(reinterpret_cast<const Element*>(packing.from)),
        tile_bytes_(packing.tile_lanes * kTileRowBytes),
        plane_bytes_(packing.tiles * tile_bytes_),
        group_bytes_(kPlanes * plane_bytes_),
        turn_(_mm512_set1_epi32(packing.swaps_pairs ? 16 : 0)) {}

  /// Tiles of A.
  HWY_INLINE uint32_t Lines() {
    if (p_.k_step != 1) return Transposed<true>();
    ForTiles(p_.tile_lanes, [&](int64_t lane, std::byte* tile) HWY_ATTR {
      for (int64_t k = 0; k < p_.k; k += kGroup, tile += group_bytes_) {
        if constexpr (Numbers::kLinesAreLoaded) {
          if (lane + p_.tile_lanes <= p_.lanes) {
            LoadLines(from_ + lane * p_.lane_step + k, p_.k - k, tile);
            continue;
          }
        }
        for (int64_t i = 0; i < p_.tile_lanes; ++i) StoreRow(LineAt(lane + i, k), tile + i * kTileRowBytes);
      }
    });
    return least_.Get();
  }

  /// Tiles of B.
  HWY_INLINE uint32_t Words() {
    if (p_.lane_step != 1) return Transposed<false>();
    if constexpr (Numbers::kHasWordsOfTwo) {
      if (p_.tiles == 1 && p_.lanes <= kTileLanes) return NarrowWords();
    }
    // A row of B after the other: runs of memory.
    int64_t place = 0;
    for (int64_t k = 0; k < p_.k; k += kGroup, place += group_bytes_) {
      for (int64_t word = 0; word < 16; ++word) {
        RowOfWords(k + word * Numbers::kPerWord, p_.to + place + Numbers::Row(word) * kTileRowBytes);
      }
    }
    return least_.Get();
  }

 private:
  using Element = typename Numbers::Element;
  static constexpr int64_t kPlanes = Numbers::kPlanes, kGroup = 16 * Numbers::kPerWord;
  struct Planes {
    __m512i v[kPlanes];
  };

  /// Calls act(first lane, its tile of the first group) for all tiles side by side.
  template <class Act>
  HWY_INLINE void ForTiles(int64_t tile_lanes, const Act& act) {
    int64_t lane = 0;
    for (std::byte* panel = p_.to; lane < p_.lanes; panel += p_.panel_bytes) {
      std::byte* tile = panel;
      for (int64_t t = 0; t < p_.tiles && lane < p_.lanes; ++t, lane += tile_lanes, tile += tile_bytes_)
        act(lane, tile);
    }
  }

  /// All lines of a tile, whose elements are not changed.
  HWY_INLINE void LoadLines(const Element* from, int64_t count, std::byte* to) {
    const auto lanes = static_cast<__mmask32>(FirstBits(HWY_MIN(count, kGroup)));
    // Neighbouring lines are one run of memory; of long ones it is the next groups that come too late.
    constexpr int64_t kShortLine = 64, kAheadInLine = 8 * kGroup;
    const int64_t ahead = p_.lane_step <= kShortLine ? 2 * kTileLanes * p_.lane_step : kAheadInLine;
    for (int64_t i = p_.tile_lanes; i > 0; --i, from += p_.lane_step, to += kTileRowBytes) {
      hwy::Prefetch(from + ahead);
      const __m512i line = _mm512_maskz_loadu_epi16(lanes, from);
      least_.Note(line);
      Store(line, to);
    }
  }

  HWY_INLINE Planes LineAt(int64_t lane, int64_t k) {
    Planes planes = {};
    if (lane < p_.lanes) Numbers::Line(from_ + lane * p_.lane_step + k, p_.k - k, planes.v);
    return planes;
  }

  HWY_INLINE Planes WordsAt(int64_t lane, int64_t k) {
    Planes planes = {};
    const int64_t left = p_.lanes - lane;
    const auto lanes = static_cast<__mmask16>(left >= kTileLanes ? 0xFFFF : FirstBits(left));
    if (k < p_.k) Numbers::Words(from_ + k * p_.k_step + lane, p_.k_step, p_.k - k, lanes, planes.v);
    return planes;
  }

  /// No more lanes than one tile has.
  HWY_INLINE uint32_t NarrowWords() {
    const auto lanes = static_cast<__mmask16>(FirstBits(p_.lanes));
    const Element* from = from_ + (p_.swaps_pairs ? p_.k_step : 0);
    const int64_t second_k_step = p_.swaps_pairs ? -p_.k_step : p_.k_step;
    std::byte* to = p_.to;
    int64_t k = 0;
    for (; k + 2 <= p_.k; k += 2, from += 2 * p_.k_step, to += kTileRowBytes) {
      hwy::Prefetch(from + kGroup * p_.k_step);
      hwy::Prefetch(from + (kGroup + 1) * p_.k_step);
      const __m512i words = Numbers::WordsOfOne(from, second_k_step, lanes);
      least_.Note(words);
      _mm512_store_si512(to, words);
    }
    for (; k < p_.k || k % kGroup != 0; k += 2, to += kTileRowBytes) StoreRow(WordsAt(0, k), to);
    return least_.Get();
  }

  /// The words of all lanes that begin with k.
  HWY_INLINE void RowOfWords(int64_t k, std::byte* to) {
    const Element* from = from_ + k * p_.k_step;
    const bool is_whole = k + Numbers::kPerWord <= p_.k;
    const int64_t first_k_step = p_.swaps_pairs ? p_.k_step : 0, second_k_step = p_.k_step - first_k_step;
    for (int64_t lane = 0; lane < p_.lanes; to += p_.panel_bytes) {
      // The next group, too far away for hardware to see a pattern.
      for (int64_t i = 0; i < Numbers::kPerWord; ++i) hwy::Prefetch(from + lane + (kGroup + i) * p_.k_step);
      if constexpr (Numbers::kHasWordsOfTwo) {
        if (is_whole && p_.tiles == 2 && lane + 2 * kTileLanes <= p_.lanes) {
          __m512i v[2];
          Numbers::WordsOfTwo(from + lane + first_k_step, second_k_step - first_k_step, least_, v);
          _mm512_store_si512(to, v[0]);
          _mm512_store_si512(to + tile_bytes_, v[1]);
          lane += 2 * kTileLanes;
          continue;
        }
      }
      std::byte* tile = to;
      for (int64_t t = 0; t < p_.tiles && lane < p_.lanes; ++t, lane += kTileLanes, tile += tile_bytes_) {
        StoreRow(WordsAt(lane, k), tile);
      }
    }
  }

  HWY_INLINE void Store(__m512i words, std::byte* to) const {
    if constexpr (Numbers::kPerWord == 2) words = _mm512_rolv_epi32(words, turn_);
    _mm512_store_si512(to, words);
  }

  HWY_INLINE void StoreRow(const Planes& planes, std::byte* to) {
    HWY_UNROLL(8)
    for (int64_t plane = 0; plane < kPlanes; ++plane, to += plane_bytes_) {
      least_.Note(planes.v[plane]);
      Store(planes.v[plane], to);
    }
  }

  template <bool kToLines>
  HWY_INLINE uint32_t Transposed() {
    const int64_t rows = kToLines ? p_.tile_lanes : kTileLanes;
    ForTiles(rows, [&](int64_t lane, std::byte* tile) HWY_ATTR {
      for (int64_t k = 0; k < p_.k; k += kGroup, tile += group_bytes_) {
        __m512i v[kPlanes][16];
        HWY_UNROLL(1)
        for (int64_t i = 0; i < 16; ++i) {
          const Planes planes = kToLines ? WordsAt(lane, k + i * Numbers::kPerWord) : LineAt(lane + i, k);
          const int64_t row = kToLines ? Numbers::Row(i) : i;
          for (int64_t plane = 0; plane < kPlanes; ++plane) v[plane][row] = planes.v[plane];
        }
        std::byte* to = tile;
        for (int64_t plane = 0; plane < kPlanes; ++plane, to += plane_bytes_) {
          HWY_UNROLL(1)
          for (const __m512i& row : v[plane]) least_.Note(row);
          TransposeWords(v[plane]);
          HWY_UNROLL(1)
          for (int64_t i = 0; i < rows; ++i) Store(v[plane][i], to + i * kTileRowBytes);
        }
      }
    });
    return least_.Get();
  }

  const TilePacking p_;
  const Element* const from_;
  const int64_t tile_bytes_, plane_bytes_, group_bytes_;  ///< from one to the next
  const __m512i turn_;                                    ///< of words, to the left
  typename Numbers::Least least_;
};

template <class Numbers>
uint32_t PackLines(const TilePacking& packing) {
  TilePacker<Numbers> packer(packing);
  return packer.Lines();
}
template <class Numbers>
uint32_t PackWords(const TilePacking& packing) {
  TilePacker<Numbers> packer(packing);
  return packer.Words();
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
