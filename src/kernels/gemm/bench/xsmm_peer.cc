// Benchmark: libxsmm: code generated for the shape while matrices are small, and its blocked product. Both run on one
// thread.
#include <libxsmm.h>

#include <algorithm>

#include "kernels/gemm/bench/peer.h"
#include "kernels/gemm/bench/place_c.h"

namespace binet::kernels::gemm::bench {
namespace {

// libxsmm hands what it does not compute itself to the BLAS it is linked with: that is no way of its own.
bool has_called_blas = false;

// Beyond, the blocked product is better: generated code is one tile after another, with nothing packed.
constexpr std::int64_t kGeneratedExtent = 512;

auto generate(int m, int n, int k, const float* beta) {
  constexpr float kAlpha = 1;
  return libxsmm_smmdispatch(m, n, k, nullptr, nullptr, nullptr, &kAlpha, beta, nullptr, nullptr);
}
auto generate(int m, int n, int k, const double* beta) {
  constexpr double kAlpha = 1;
  return libxsmm_dmmdispatch(m, n, k, nullptr, nullptr, nullptr, &kAlpha, beta, nullptr, nullptr);
}

template <class T>
std::vector<Way> ways_of(const Case& c, const Operands& operands) {
  const auto* a = reinterpret_cast<const T*>(operands.a);
  const auto* b = reinterpret_cast<const T*>(operands.b);
  const auto* added = reinterpret_cast<const T*>(operands.c);
  auto* y = reinterpret_cast<T*>(operands.y);
  const T beta = c.c == CForm::none ? 0 : 1;
  std::vector<Way> ways;
  // Column-major: Y^T = op(B)^T * op(A)^T.
  const int m = static_cast<int>(c.n), n = static_cast<int>(c.m), k = static_cast<int>(c.k);
  if (!c.trans_a && !c.trans_b && std::max({c.m, c.n, c.k}) <= kGeneratedExtent) {
    if (const auto kernel = generate(m, n, k, &beta)) {
      ways.push_back({"generated", false, [=] {
                        place_c(c, added, y);
                        kernel(b, a, y);
                      }});
    }
  }
  const auto xgemm = [=] {
    place_c(c, added, y);
    constexpr auto kPrecision = sizeof(T) == 4 ? LIBXSMM_GEMM_PRECISION_F32 : LIBXSMM_GEMM_PRECISION_F64;
    const T alpha = 1;
    const int ldb = c.trans_b ? k : m, lda = c.trans_a ? n : k;
    libxsmm_xgemm(kPrecision, kPrecision, c.trans_b ? "T" : "N", c.trans_a ? "T" : "N", &m, &n, &k, &alpha, b, &ldb, a,
                  &lda, &beta, y, &m);
  };
  has_called_blas = false;
  xgemm();
  if (!has_called_blas) ways.push_back({"xgemm", false, xgemm});
  return ways;
}

std::vector<Way> ways(const Case& c, const Operands& operands) {
  if (c.type == ElementType::f32) return ways_of<float>(c, operands);
  if (c.type == ElementType::f64) return ways_of<double>(c, operands);
  return {};
}

}  // namespace
}  // namespace binet::kernels::gemm::bench

// The functions of BLAS that libxsmm asks for.
extern "C" {
void sgemm_() { binet::kernels::gemm::bench::has_called_blas = true; }
void dgemm_() { binet::kernels::gemm::bench::has_called_blas = true; }
void sgemv_() { binet::kernels::gemm::bench::has_called_blas = true; }
void dgemv_() { binet::kernels::gemm::bench::has_called_blas = true; }
}

binet::kernels::gemm::bench::Peer binet_gemm_peer(const char*) {
  ::libxsmm_init();
  return {"libxsmm", std::string("kernels ") + ::libxsmm_get_target_arch(), &binet::kernels::gemm::bench::ways};
}
