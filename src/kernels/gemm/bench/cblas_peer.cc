// Benchmark: OpenBLAS and BLIS, both through CBLAS: gemm, and gemv for one row or column.
//
// Both choose their kernels by the CPU's model. Debian 12's do not know newer ones and then take kernels that are ten
// years old, or plain C: they are told to take those that they have for AVX-512 or AVX2.
#include <cstdlib>
#include <string>

#include "kernels/gemm/bench/peer.h"
#include "kernels/gemm/bench/place_c.h"

// CBLAS, the part of it that is used here: the libraries' headers differ in place and in names, these do not.
extern "C" {
enum CblasOrder { CblasRowMajor = 101 };
enum CblasTranspose { CblasNoTrans = 111, CblasTrans = 112 };
void cblas_sgemm(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc);
void cblas_dgemm(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, double alpha, const double* a,
                 int lda, const double* b, int ldb, double beta, double* c, int ldc);
void cblas_sgemv(CblasOrder, CblasTranspose, int m, int n, float alpha, const float* a, int lda, const float* x,
                 int x_step, float beta, float* y, int y_step);
void cblas_dgemv(CblasOrder, CblasTranspose, int m, int n, double alpha, const double* a, int lda, const double* x,
                 int x_step, double beta, double* y, int y_step);

#ifdef BINET_PEER_OPENBLAS
void openblas_set_num_threads(int threads);
char* openblas_get_corename();
char* openblas_get_config();
#else
void bli_thread_set_num_threads(long threads);
void bli_init();
int bli_arch_query_id();
char* bli_arch_string(int id);
char* bli_info_get_version_str();
#endif
}

namespace binet::kernels::gemm::bench {
namespace {

#ifdef BINET_PEER_OPENBLAS
void set_threads(int threads) { openblas_set_num_threads(threads); }
#else
void set_threads(int threads) { bli_thread_set_num_threads(threads); }
#endif

void gemm(CblasTranspose ta, CblasTranspose tb, int m, int n, int k, const float* a, int lda, const float* b, int ldb,
          float beta, float* y) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, beta, y, n);
}
void gemm(CblasTranspose ta, CblasTranspose tb, int m, int n, int k, const double* a, int lda, const double* b, int ldb,
          double beta, double* y) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, beta, y, n);
}
void gemv(CblasTranspose trans, int rows, int columns, const float* matrix, const float* x, float beta, float* y) {
  cblas_sgemv(CblasRowMajor, trans, rows, columns, 1, matrix, columns, x, 1, beta, y, 1);
}
void gemv(CblasTranspose trans, int rows, int columns, const double* matrix, const double* x, double beta, double* y) {
  cblas_dgemv(CblasRowMajor, trans, rows, columns, 1, matrix, columns, x, 1, beta, y, 1);
}

template <class T>
std::vector<Way> ways_of(const Case& c, const Operands& operands) {
  const auto* a = reinterpret_cast<const T*>(operands.a);
  const auto* b = reinterpret_cast<const T*>(operands.b);
  const auto* added = reinterpret_cast<const T*>(operands.c);
  auto* y = reinterpret_cast<T*>(operands.y);
  const int m = static_cast<int>(c.m), n = static_cast<int>(c.n), k = static_cast<int>(c.k);
  const T beta = c.c == CForm::none ? 0 : 1;
  std::vector<Way> ways;
  ways.push_back({"gemm", false, [=] {
                    place_c(c, added, y);
                    gemm(c.trans_a ? CblasTrans : CblasNoTrans, c.trans_b ? CblasTrans : CblasNoTrans, m, n, k, a,
                         c.trans_a ? m : k, b, c.trans_b ? k : n, beta, y);
                  }});
  if (m == 1) {
    ways.push_back({"gemv", false, [=] {
                      place_c(c, added, y);
                      gemv(c.trans_b ? CblasNoTrans : CblasTrans, c.trans_b ? n : k, c.trans_b ? k : n, b, a, beta, y);
                    }});
  } else if (n == 1) {
    ways.push_back({"gemv", false, [=] {
                      place_c(c, added, y);
                      gemv(c.trans_a ? CblasTrans : CblasNoTrans, c.trans_a ? k : m, c.trans_a ? m : k, a, b, beta, y);
                    }});
  }
  return ways;
}

std::vector<Way> ways(const Case& c, const Operands& operands) {
  set_threads(c.threads);
  if (c.type == ElementType::f32) return ways_of<float>(c, operands);
  if (c.type == ElementType::f64) return ways_of<double>(c, operands);
  return {};
}

}  // namespace
}  // namespace binet::kernels::gemm::bench

binet::kernels::gemm::bench::Peer binet_gemm_peer([[maybe_unused]] const char* target) {
#ifdef BINET_PEER_OPENBLAS
  return {"OpenBLAS", std::string(openblas_get_config()) + ", kernels " + openblas_get_corename(),
          &binet::kernels::gemm::bench::ways};
#else
  // BLIS_ARCH_TYPE wants BLIS's own number for them, and is read when BLIS is initialized.
  const std::string name = target;
  const bool has_avx512 = name == "amx" || name.substr(0, 6) == "avx512";
  const std::string wanted = has_avx512 ? "skx" : name == "avx2" ? "haswell" : "";
  constexpr int kX86Kernels = 13;  // these come first
  for (int id = 0; !wanted.empty() && id < kX86Kernels; ++id) {
    if (bli_arch_string(id) == wanted) ::setenv("BLIS_ARCH_TYPE", std::to_string(id).c_str(), 1);
  }
  bli_init();
  return {"BLIS", std::string(bli_info_get_version_str()) + ", kernels " + bli_arch_string(bli_arch_query_id()),
          &binet::kernels::gemm::bench::ways};
#endif
}
