// Binet's product beside plain compiled loops (for the build's baseline, and with -march=native) and beside memcpy, on
// random data. Compare runs of one process only, interleaved:
//   elementwise_bench --benchmark_enable_random_interleaving --benchmark_repetitions=9
//   --benchmark_report_aggregates_only
#include <benchmark/benchmark.h>
#include <hwy/cache_control.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>

#include "base/aligned_buffer.h"
#include "base/element_types.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/plain_loops.h"

namespace binet::kernels::elementwise {
namespace {

const ThreadPool& pool_of(int threads) {
  static const ThreadPool pools[] = {ThreadPool(1), ThreadPool(2)};
  return pools[threads - 1];
}

/// Random numbers of moderate size, so that no loop is slowed down by subnormals.
AlignedBuffer random_operand(ElementType type, std::int64_t count) {
  AlignedBuffer buffer(static_cast<std::size_t>(count) * byte_size(type));
  std::mt19937 random(static_cast<std::uint32_t>(count));
  visit_numeric_type(type, [&]<class T>() {
    for (std::int64_t i = 0; i < count; ++i) {
      T value;
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(random());
      } else {
        const double number = 0.5 + static_cast<double>(random()) * 0x1p-32;
        if constexpr (std::is_floating_point_v<T>) {
          value = static_cast<T>(number);
        } else {
          value = T::from_double(number);
        }
      }
      std::memcpy(buffer.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
  });
  return buffer;
}

std::int64_t count_elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

/// Operands and result of one product; made when the benchmark begins to run.
struct Product {
  Product(ElementType element_type, const Shape& a_shape, const Shape& b_shape)
      : type(element_type),
        plan(plan_broadcast(a_shape, b_shape)),
        kernel(find_kernel(Operation::multiply, type, default_target())),
        a(random_operand(type, count_elements(a_shape))),
        b(random_operand(type, count_elements(b_shape))),
        y(static_cast<std::size_t>(plan.elements) * byte_size(type)) {
    std::memset(y.data(), 1, y.size());
  }

  void report(benchmark::State& state) const {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * (a.size() + b.size() + y.size())));
  }

  ElementType type;
  BroadcastPlan plan;
  RowsFunction kernel;
  AlignedBuffer a;
  AlignedBuffer b;
  AlignedBuffer y;
};

using Body = std::function<void(const Product&)>;

void add(const std::string& name, ElementType type, const Shape& a, const Shape& b, const Body& body) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 const Product product(type, a, b);
                                 for (auto _ : state) {
                                   body(product);
                                   benchmark::ClobberMemory();
                                 }
                                 product.report(state);
                               })
      ->UseRealTime()
      ->MinTime(0.03);
}

Body binet_product(int threads) {
  return [threads](const Product& p) {
    run(p.plan, p.kernel, p.type, p.a.data(), p.b.data(), p.y.data(), pool_of(threads));
  };
}

/// Splits a loop over n elements as evenly as a person would.
template <class Loop>
void in_parallel(int threads, std::int64_t n, const Loop& loop) {
  pool_of(threads).run(threads, [&](std::int64_t task) {
    const std::int64_t begin = n * task / threads;
    loop(begin, n * (task + 1) / threads - begin);
  });
}

using PlainLoop = void (*)(const void* a, const void* b, void* y, std::size_t n);

template <class T, void (*kMultiply)(const T*, const T*, T*, std::size_t)>
void untyped(const void* a, const void* b, void* y, std::size_t n) {
  kMultiply(static_cast<const T*>(a), static_cast<const T*>(b), static_cast<T*>(y), n);
}

Body plain_product(PlainLoop loop, int threads) {
  return [=](const Product& p) {
    const auto size = static_cast<std::int64_t>(byte_size(p.type));
    in_parallel(threads, p.plan.elements, [&](std::int64_t begin, std::int64_t n) {
      loop(p.a.data() + begin * size, p.b.data() + begin * size, p.y.data() + begin * size,
           static_cast<std::size_t>(n));
    });
  };
}

/// Two reads and one write past the caches with nothing between them: what streaming can reach.
void add_limit(const std::string& name, ElementType type, std::int64_t n, int threads) {
  add(name, type, {n}, {n}, [threads](const Product& p) {
    // memcpy reads and writes as many bytes each: 3 parts of traffic are 1.5 copies of one part.
    const auto bytes = static_cast<std::int64_t>(p.y.size());
    in_parallel(threads, bytes, [&](std::int64_t begin, std::int64_t part) {
      std::memcpy(p.y.data() + begin, p.a.data() + begin, static_cast<std::size_t>(part));
      std::memcpy(p.b.data() + begin, p.a.data() + begin, static_cast<std::size_t>(part / 2));
    });
  });
}

void add_same_shape() {
  for (const std::int64_t n : {8, 64, 512, 4096, 32768, 262144, 1048576, 4194304, 16777216}) {
    const Shape shape = {n};
    for (const int threads : {1, 2}) {
      if (threads == 2 && n < 32768) continue;
      const std::string name = "same_shape/f32/" + std::to_string(n) + "/threads:" + std::to_string(threads) + "/";
      add(name + "binet", ElementType::f32, shape, shape, binet_product(threads));
      add(name + "plain", ElementType::f32, shape, shape, plain_product(&untyped<float, plain::multiply>, threads));
      add(name + "plain_native", ElementType::f32, shape, shape,
          plain_product(&untyped<float, plain_native::multiply>, threads));
      add_limit(name + "copy", ElementType::f32, n, threads);
    }
  }
}

template <class T>
void add_plain_type(const std::string& name, ElementType type, const Shape& shape) {
  add(name + "plain", type, shape, shape, plain_product(&untyped<T, plain::multiply>, 1));
  add(name + "plain_native", type, shape, shape, plain_product(&untyped<T, plain_native::multiply>, 1));
}

void add_types() {
  const std::int64_t n = 1 << 20;
  const Shape shape = {n};
  for (const ElementType type :
       {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64, ElementType::i8, ElementType::i16,
        ElementType::i32, ElementType::i64, ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64}) {
    const std::string name = "types/" + std::string(to_string(type)) + "/";
    add(name + "binet", type, shape, shape, binet_product(1));
    add_limit(name + "copy", type, n, 1);
  }
  add_plain_type<float>("types/f32/", ElementType::f32, shape);
  add_plain_type<double>("types/f64/", ElementType::f64, shape);
  add_plain_type<std::uint8_t>("types/u8/", ElementType::u8, shape);
  add_plain_type<std::uint16_t>("types/u16/", ElementType::u16, shape);
  add_plain_type<std::uint32_t>("types/u32/", ElementType::u32, shape);
  add_plain_type<std::uint64_t>("types/u64/", ElementType::u64, shape);
}

Body plain_nest(void (*nest)(const BroadcastLoop (&)[4], const float*, const float*, float*)) {
  return [nest](const Product& p) {
    BroadcastLoop loops[4];
    const std::size_t depth = p.plan.loops.size();
    for (std::size_t i = 0; i < depth; ++i) loops[4 - depth + i] = p.plan.loops[i];
    nest(loops, reinterpret_cast<const float*>(p.a.data()), reinterpret_cast<const float*>(p.b.data()),
         reinterpret_cast<float*>(p.y.data()));
  };
}

void add_broadcasts() {
  struct Case {
    const char* name;
    Shape a;
    Shape b;
  };
  const Case cases[] = {
      {"scalar", {2, 3, 4, 5}, {1, 1, 1, 1}},
      {"suffix", {2, 3, 4, 5}, {1, 1, 1, 5}},
      {"middle", {2, 3, 4, 5}, {1, 3, 4, 1}},
      {"alternating", {8, 1, 6, 1}, {1, 7, 1, 5}},
      {"alternating_large", {80, 1, 60, 1}, {1, 70, 1, 5}},
      {"rows_of_3", {100000, 3}, {1, 3}},
      {"3_per_scalar", {100000, 3}, {100000, 1}},
      {"rows_of_2", {100000, 2}, {1, 2}},
      {"2_per_scalar", {100000, 2}, {100000, 1}},
      {"rows_of_7", {100000, 7}, {1, 7}},
      {"7_per_scalar", {100000, 7}, {100000, 1}},
      {"rows_of_20", {100000, 20}, {1, 20}},
      {"20_per_scalar", {100000, 20}, {100000, 1}},
      {"rows_of_16", {100000, 16}, {1, 16}},
      {"16_per_scalar", {100000, 16}, {100000, 1}},
      {"rows_of_33", {100000, 33}, {1, 33}},
      {"33_per_scalar", {100000, 33}, {100000, 1}},
      {"pairs_of_3", {1000, 1, 3}, {1, 1000, 3}},
      {"outer_product", {4096, 1}, {1, 4096}},
      {"channels", {32, 256, 56, 56}, {1, 256, 1, 1}},
      {"attention", {64, 1, 128, 64}, {64, 32, 1, 64}},
  };
  for (const Case& c : cases) {
    const std::string name = std::string("broadcast/") + c.name + "/";
    for (const int threads : {1, 2}) {
      add(name + "binet/threads:" + std::to_string(threads), ElementType::f32, c.a, c.b, binet_product(threads));
    }
    add(name + "plain", ElementType::f32, c.a, c.b, plain_nest(&plain::multiply));
    add(name + "plain_native", ElementType::f32, c.a, c.b, plain_nest(&plain_native::multiply));
    for (const ElementType type : {ElementType::u8, ElementType::bf16}) {
      add(name + "binet_" + std::string(to_string(type)), type, c.a, c.b, binet_product(1));
    }
  }
}

}  // namespace
}  // namespace binet::kernels::elementwise

int main(int argc, char** argv) {
  binet::kernels::elementwise::add_same_shape();
  binet::kernels::elementwise::add_types();
  binet::kernels::elementwise::add_broadcasts();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
