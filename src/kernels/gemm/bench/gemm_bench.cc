// Benchmark: the matrix product beside OpenBLAS, BLIS, oneDNN and libxsmm, and beside what the machine can do at most,
// in turns within one run.
//
//   ./dev bench gemm                                 everything
//   ./dev bench gemm --shape=64x64x64 --type=f32     one shape; --quick measures a third as long
//   ./dev bench gemm --random=100 --seed=3           many shapes, to find what nobody thought of
//
// Not Google Benchmark: it measures one function at a time and prints a line for each, while here a case is measured
// by turns between all libraries, and its two lines say how they stand to each other.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/gemm/bench/calls_bench.h"
#include "kernels/gemm/bench/cases.h"
#include "kernels/gemm/bench/comparison.h"
#include "kernels/gemm/bench/peers.h"
#include "kernels/gemm/bench/report.h"
#include "kernels/gemm/bench/sessions_bench.h"

namespace binet::kernels::gemm::bench {
namespace {

struct Options {
  std::vector<std::string> parts, types;
  std::vector<Shape> shapes;
  std::vector<int> threads;
  bool quick = false;

  [[nodiscard]] bool has_part(const std::string& part) const { return accepts(parts, part); }
  [[nodiscard]] bool has_case(const Case& c) const {
    return accepts(types, std::string(to_string(c.type))) && accepts(threads, c.threads);
  }

 private:
  template <class T>
  static bool accepts(const std::vector<T>& chosen, const T& value) {
    return chosen.empty() || std::find(chosen.begin(), chosen.end(), value) != chosen.end();
  }
};

std::vector<Case> chosen(std::vector<Case> cases, const Options& options) {
  std::erase_if(cases, [&](const Case& c) { return !options.has_case(c); });
  return cases;
}

/// "MxNxK"; nothing, if it is something else.
std::optional<Shape> parse_shape(const std::string& text) {
  Shape shape;
  int end = 0;
  const int numbers =
      std::sscanf(text.c_str(), "%" SCNd64 "x%" SCNd64 "x%" SCNd64 "%n", &shape.m, &shape.n, &shape.k, &end);
  const bool is_shape =
      numbers == 3 && end == static_cast<int>(text.size()) && std::min({shape.m, shape.n, shape.k}) > 0;
  return is_shape ? std::optional(shape) : std::nullopt;
}

/// Returns whether all results agree.
bool run(const Options& options) {
  const std::vector<Peer> peers = load_peers();
  Effort effort;
  if (options.quick) effort = {5, 2e-4};
  Report report(peers);
  report.print_head();

  std::vector<Case> comparisons;
  if (options.has_part("shapes")) comparisons = chosen(shape_cases(options.shapes), options);
  if (options.has_part("forms")) {
    const std::vector<Case> forms = chosen(form_cases(options.shapes), options);
    comparisons.insert(comparisons.end(), forms.begin(), forms.end());
  }
  if (!comparisons.empty()) report.begin_comparisons();
  for (const Case& c : comparisons) {
    std::optional<Case> one_thread;
    if (c.threads > 1) (one_thread = c)->threads = 1;
    report.add(compare(c, peers, one_thread, effort));
  }
  report.print_summary();

  const std::vector<Case> types =
      options.has_part("types") ? chosen(type_cases(options.shapes), options) : std::vector<Case>{};
  const bool has_cases = !comparisons.empty() || !types.empty();
  if (!has_cases && !options.has_part("calls") && !options.has_part("sessions")) {
    throw std::runtime_error("these parts have no case of this type and number of threads");
  }
  if (!types.empty()) report.begin_types();
  for (const Case& c : types) {
    Case f32 = c;
    f32.type = ElementType::f32;
    report.add_type(compare(c, peers, f32, effort));
  }

  if (options.has_part("calls")) compare_calls(peers, effort);
  if (options.has_part("sessions")) compare_sessions(effort);
  return report.all_results_agree();
}

}  // namespace
}  // namespace binet::kernels::gemm::bench

int main(int argc, char** argv) {
  using binet::kernels::gemm::bench::parse_shape;
  using binet::kernels::gemm::bench::random_shapes;
  binet::kernels::gemm::bench::Options options;
  CLI::App app("Compares Binet's matrix product with other libraries.", "gemm_bench");
  app.add_option("--part", options.parts, "shapes, forms (transposes and C), types, calls, sessions; default: all")
      ->check(CLI::IsMember({"shapes", "forms", "types", "calls", "sessions"}));
  std::vector<std::string> shapes;
  app.add_option("--shape", shapes, "These shapes MxNxK, such as 64x64x64, instead of the usual ones")
      ->check([](const std::string& text) { return parse_shape(text) ? "" : "is no MxNxK: " + text; });
  int random = 0;
  std::uint64_t seed = 1;
  app.add_option("--random", random, "So many random shapes")->check(CLI::Range(1, 100'000));
  app.add_option("--seed", seed, "Of the random shapes: the same ones for the same seed");
  app.add_option("--type", options.types, "Only f32, f64, f16, bf16, i32, u32, i64 or u64")
      ->check(CLI::IsMember({"f32", "f64", "f16", "bf16", "i32", "u32", "i64", "u64"}));
  app.add_option("--threads", options.threads, "Only 1 or 2 threads")->check(CLI::IsMember({1, 2}));
  app.add_flag("--quick", options.quick, "Measure a third as long");
  CLI11_PARSE(app, argc, argv);
  if (random > 0) options.shapes = random_shapes(random, seed);
  for (const std::string& shape : shapes) options.shapes.push_back(*parse_shape(shape));
  // A choice of cases leaves the parts that have none.
  if (options.parts.empty() && (!options.shapes.empty() || !options.types.empty() || !options.threads.empty())) {
    options.parts = {"shapes", "forms", "types"};
  }
  try {
    return binet::kernels::gemm::bench::run(options) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gemm_bench: %s\n", error.what());
    return 1;
  }
}
