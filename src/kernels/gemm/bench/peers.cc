#include "kernels/gemm/bench/peers.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/target.h"

namespace binet::kernels::gemm::bench {
namespace {

/// Forgets what the caller's environment tells these libraries: it was not made for a comparison.
void clear_settings() {
  constexpr std::string_view kPrefixes[] = {"OPENBLAS_", "GOTO_", "BLIS_",   "OMP_",
                                            "GOMP_",     "DNNL_", "ONEDNN_", "LIBXSMM_"};
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    for (const std::string_view prefix : kPrefixes) {
      if (text.substr(0, prefix.size()) == prefix) names.emplace_back(text.substr(0, text.find('=')));
    }
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

/// Lets each library use the instructions that Binet uses, with the kernels that it has for them.
void configure(std::string_view target) {
  clear_settings();
  if (target == "amx" || target.substr(0, 6) == "avx512") {
    ::setenv("OPENBLAS_CORETYPE", "SkylakeX", 1);
    if (target != "amx") ::setenv("DNNL_MAX_CPU_ISA", "AVX512_CORE_BF16", 1);
  } else if (target == "avx2") {
    ::setenv("OPENBLAS_CORETYPE", "Haswell", 1);
    ::setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
    ::setenv("LIBXSMM_TARGET", "hsw", 1);
  }
  // Workers of OpenBLAS and of OpenMP spin after their work, for up to a tenth of a second, on the core that the next
  // library needs: 2^20 ticks and 30000 turns are as good for a product that follows at once.
  ::setenv("OPENBLAS_THREAD_TIMEOUT", "20", 1);
  ::setenv("GOMP_SPINCOUNT", "30000", 1);
}

}  // namespace

std::vector<Peer> load_peers() {
  const std::string target(default_target().name);
  configure(target);
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::vector<Peer> peers;
  for (const char* name : {"openblas", "blis", "onednn", "xsmm"}) {
    const std::filesystem::path file = folder / ("gemm_peer_" + std::string(name) + ".so");
    if (!std::filesystem::exists(file)) {
      std::fprintf(stderr, "gemm_bench: built without %s\n", name);
      continue;
    }
    // RTLD_LOCAL: OpenBLAS and BLIS define the same functions, and each must find its own.
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* entry = library == nullptr ? nullptr : ::dlsym(library, "binet_gemm_peer");
    if (entry == nullptr) {
      std::fprintf(stderr, "gemm_bench: %s\n", ::dlerror());
      continue;
    }
    peers.push_back(reinterpret_cast<Peer (*)(const char*)>(entry)(target.c_str()));
  }
  return peers;
}

}  // namespace binet::kernels::gemm::bench
