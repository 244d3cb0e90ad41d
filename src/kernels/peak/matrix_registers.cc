// Room: kernels. The rate of the matrix registers of Intel's CPUs (AMX), with operands that stay in them.
#include "kernels/peak/peak.h"

namespace binet::kernels::peak {
namespace {

#ifdef BINET_COMPILER_KNOWS_AMX

/// While it lives, this thread has eight tiles of 16 rows of 64 bytes.
class Tiles {
 public:
  Tiles() {
    struct {
      std::uint8_t palette = 1, reserved[15] = {};
      std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
      std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
    } shapes;
    asm volatile("ldtilecfg %0" ::"m"(shapes));
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
  ~Tiles() { asm volatile("tilerelease"); }
};

// Macros, because an instruction's name is part of a literal. Four sums, each from two tiles of four.
#define BINET_FOUR_PRODUCTS(INSTRUCTION)                                                             \
  asm volatile(INSTRUCTION " %tmm6, %tmm4, %tmm0\n" INSTRUCTION " %tmm7, %tmm4, %tmm1\n" INSTRUCTION \
                           " %tmm6, %tmm5, %tmm2\n" INSTRUCTION " %tmm7, %tmm5, %tmm3")

void multiply_bf16(std::int64_t rounds) {
  const Tiles tiles;
  for (; rounds > 0; --rounds) BINET_FOUR_PRODUCTS("tdpbf16ps");
}

void multiply_bytes(std::int64_t rounds) {
  const Tiles tiles;
  for (; rounds > 0; --rounds) BINET_FOUR_PRODUCTS("tdpbuud");
}

#undef BINET_FOUR_PRODUCTS

#else
void multiply_bf16(std::int64_t) {}
void multiply_bytes(std::int64_t) {}
#endif

/// Of `k` products for each of 16 x 16 sums; a number takes so many products of tiles.
double operations(std::int64_t rounds, int k, int products) {
  return 2.0 * 4 * 16 * 16 * k * static_cast<double>(rounds) / products;
}

}  // namespace

double multiply_on_matrix_registers(ElementType type, std::int64_t rounds, const Target& target) {
  if (!has_amx(target)) return 0;
  // Integers from their bytes: of the products that count for a result of 4 or 8 bytes there are so many.
  constexpr int kFor32Bits = 10, kFor64Bits = 36;
  switch (type) {
    case ElementType::bf16:
      multiply_bf16(rounds);
      return operations(rounds, 32, 1);
    case ElementType::i32:
    case ElementType::u32:
      multiply_bytes(rounds);
      return operations(rounds, 64, kFor32Bits);
    case ElementType::i64:
    case ElementType::u64:
      multiply_bytes(rounds);
      return operations(rounds, 64, kFor64Bits);
    default:
      return 0;
  }
}

}  // namespace binet::kernels::peak
