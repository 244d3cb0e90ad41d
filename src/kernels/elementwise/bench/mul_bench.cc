// Benchmark: the elementwise product beside loops made by hand, which show the machine's limit, and beside a plain
// compiled loop, Eigen and oneDNN; all in turns within one run. docs/performance/mul.md says how to read it.
//
//   elementwise_mul_bench --benchmark_filter='f32/same'         names are type/threads/case
//   elementwise_mul_bench --pair='f32:8,1,6,1*7,1,5'            any other shapes
//   elementwise_mul_bench --random=200 --seed=3                 many of them, to find what nobody thought of
//
// BINET_TARGET works.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "binet/products.h"
#include "kernels/elementwise/bench/arguments.h"
#include "kernels/elementwise/bench/cases.h"
#include "kernels/elementwise/bench/contest.h"
#include "kernels/elementwise/bench/limits.h"
#include "kernels/elementwise/bench/peers.h"
#include "kernels/elementwise/bench/plain_loops.h"
#include "kernels/elementwise/bench/table.h"
#include "kernels/elementwise/plan.h"

namespace binet::kernels::elementwise::bench {
namespace {

const ThreadPool& pool_of(int threads) {
  static const ThreadPool pools[] = {ThreadPool(1), ThreadPool(2)};
  return pools[threads - 1];
}

/// The same bytes from `begin` on.
AlignedBuffer moved(const AlignedBuffer& x, std::int64_t begin) {
  AlignedBuffer buffer(x.size() + static_cast<std::size_t>(begin));
  std::memcpy(buffer.data() + begin, x.data(), x.size());
  return buffer;
}

std::function<void()> binet_product(const Case& test, const Operands& p) {
  if (test.whole_call) {
    const Tensor a = Tensor::view(p.type, test.a, static_cast<const void*>(p.a.data()));
    const Tensor b = Tensor::view(p.type, test.b, static_cast<const void*>(p.b.data()));
    Shape shape = test.a;
    for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = std::max(shape[i], test.b[i]);
    return [a, b, y = Tensor::view(p.type, shape, static_cast<void*>(p.y.data()))]() mutable { mul_into(a, b, y); };
  }
  const auto plan = std::make_shared<Plan>(make_plan(Operation::multiply, p.type, p.plan, default_target()));
  const ThreadPool& pool = pool_of(test.threads);
  if (test.begin == 0) return [plan, &p, &pool] { run(*plan, p.a.data(), p.b.data(), p.y.data(), pool); };
  const auto a = std::make_shared<AlignedBuffer>(moved(p.a, test.begin));
  const auto b = std::make_shared<AlignedBuffer>(moved(p.b, test.begin));
  const auto y = std::make_shared<AlignedBuffer>(moved(p.y, test.begin));
  return [plan, a, b, y, begin = test.begin, &pool] {
    run(*plan, a->data() + begin, b->data() + begin, y->data() + begin, pool);
  };
}

void measure(benchmark::State& state, const Case& test, Table& table) {
  const Operands p(test.type, test.a, test.b);
  const ThreadPool& pool = pool_of(test.threads);
  Contestant plain_loop{"plain", {}}, native_loop{"native", {}};
  if (plain::supports(p.type)) {
    plain_loop.work = [&] { plain::multiply(p, pool); };
    native_loop.work = [&] { plain_native::multiply(p, pool); };
  }
  Contestant arithmetic{"arithmetic", {}};
  if (has_arithmetic_limit(p.type)) arithmetic.work = [&] { arithmetic_limit(p, pool); };
  Contest contest({{"binet", binet_product(test, p)},
                   {"copy", [&] { copy_limit(p, pool); }},
                   {"multiply", [&] { multiply_limit(p, pool); }},
                   {"fetching", [&] { fetching_limit(p, pool); }},
                   {"streaming", [&] { streaming_limit(p, pool); }},
                   plain_loop,
                   native_loop,
                   {"eigen", eigen_product(p, pool)},
                   {"onednn", onednn_product(p, test.threads), true},
                   arithmetic},
                  test.threads);
  for (auto _ : state) {
    contest.round();
    state.SetIterationTime(contest.last(0));
  }
  const Result result{test,
                      contest.median(0),
                      contest.median(1),
                      contest.median(2),
                      contest.median(3),
                      contest.median(4),
                      contest.median(5),
                      contest.median(6),
                      contest.median(7),
                      contest.median(8),
                      contest.median(9)};
  state.counters["of_limit"] = result.of_limit();
  state.counters["to_best_peer"] = result.to_best_peer();
  table.add(result);
}

void register_cases(const std::vector<Case>& cases, Table& table) {
  for (const Case& test : cases) {
    const std::string name =
        std::string(to_string(test.type)) + "/threads:" + std::to_string(test.threads) + "/" + test.name;
    benchmark::RegisterBenchmark(name.c_str(), [test, &table](benchmark::State& state) { measure(state, test, table); })
        ->UseManualTime()
        ->Iterations(9);
  }
}

}  // namespace
}  // namespace binet::kernels::elementwise::bench

int main(int argc, char** argv) {
  namespace bench = binet::kernels::elementwise::bench;
  const std::vector<bench::Case> cases = bench::take_cases(argc, argv);
  bench::Table table;
  bench::register_cases(cases, table);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks(&table);
  return 0;
}
