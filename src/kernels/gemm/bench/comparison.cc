#include "kernels/gemm/bench/comparison.h"

#include <algorithm>
#include <memory>

#include "base/aligned_buffer.h"
#include "kernels/gemm/bench/conversions.h"
#include "kernels/gemm/bench/operands.h"
#include "kernels/gemm/bench/peak.h"
#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm::bench {
namespace {

const ThreadPool& pool_of(int threads) {
  static const ThreadPool pools[] = {ThreadPool(1), ThreadPool(2)};
  return pools[threads - 1];
}

/// Binet's product as a session runs it: planned, and a constant B packed if that repays, beforehand.
std::function<void()> binet_product(const Case& c, const Operands& o, bool b_is_constant) {
  struct Prepared {
    Plan plan;
    AlignedBuffer workspace, packed_b;
  };
  const auto prepared = std::make_shared<Prepared>();
  const Problem problem = with_c(row_major_product(c.type, c.m, c.n, c.k, c.trans_a, c.trans_b), c.c);
  const Target& target = default_target();
  const ThreadPool& pool = pool_of(c.threads);
  const bool b_is_packed = b_is_constant && repays_packing(problem, target);
  prepared->plan = make_plan(problem, target, c.threads, b_is_packed);
  prepared->workspace = AlignedBuffer(prepared->plan.workspace_bytes);
  if (b_is_packed) {
    prepared->packed_b = AlignedBuffer(packed_b_bytes(problem, target));
    pack_b(problem, target, o.b, prepared->packed_b.data(), pool);
  }
  const std::byte* b = b_is_packed ? prepared->packed_b.data() : o.b;
  return [=, &pool] { run(prepared->plan, o.a, b, o.c, o.y, prepared->workspace.data(), pool); };
}

const Peak& peak_of(ElementType type) {
  if (has_amx(default_target())) {
    if (type == ElementType::bf16) return kPeakAmxBF16;
    if (type == ElementType::i32 || type == ElementType::u32) return kPeakAmxU32;
    if (type == ElementType::i64 || type == ElementType::u64) return kPeakAmxU64;
  }
  if (type == ElementType::bf16 && has_fast_pair_dots(default_target())) return kPeakPairsOfBF16;
  if (type == ElementType::f64) return kPeakF64;
  if (type == ElementType::i64 || type == ElementType::u64) return kPeakU64;
  return kPeakF32;
}

constexpr std::int64_t kPeakRounds = 10000;

Contestant peak_contestant(const Peak& peak) {
  return {[&peak] { peak.run(kPeakRounds, default_target()); }};
}

double rate(const Peak& peak, const Contestant& contestant) {
  return peak.run(1, default_target()) * static_cast<double>(kPeakRounds) / contestant.seconds;
}

struct PeerWay {
  std::size_t peer;
  bool b_is_constant;
  Contestant contestant;
};

/// The ways of all libraries, with a first estimate, and without those that have no chance against the same library's
/// others or give a wrong result.
std::vector<PeerWay> find_ways(const Case& c, std::span<const Peer> peers, const Matrices& matrices,
                               Comparison& comparison) {
  constexpr double kChance = 1.5;
  std::vector<PeerWay> found;
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    std::vector<PeerWay> ways;
    double best_given = 1e30, best = 1e30;
    for (Way& way : peers[peer].ways(c, matrices.operands())) {
      matrices.spoil_y();
      way.run();
      if (const std::string difference = matrices.differences(); !difference.empty()) {
        comparison.wrong.push_back(peers[peer].name + ", " + way.name + ": " + difference);
        continue;
      }
      const double seconds = estimate(way.run, c.threads);
      best = std::min(best, seconds);
      if (!way.b_is_constant) best_given = std::min(best_given, seconds);
      ways.push_back({peer, way.b_is_constant, {way.run, seconds}});
    }
    for (PeerWay& way : ways) {
      if (way.contestant.seconds <= kChance * (way.b_is_constant ? best : best_given)) found.push_back(std::move(way));
    }
  }
  return found;
}

void take_least(double& least, double seconds) { least = least == 0 ? seconds : std::min(least, seconds); }

}  // namespace

double operations(const Case& c) {
  return 2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k);
}

Comparison compare(const Case& c, std::span<const Peer> peers, const std::optional<Case>& beside,
                   const Effort& effort) {
  Comparison comparison;
  comparison.c = c;
  Matrices matrices(c);
  Contestant given = {binet_product(c, matrices.operands(), false)};
  Contestant constant = {binet_product(c, matrices.operands(), true)};
  matrices.spoil_y();
  given.run();
  matrices.keep_y();
  matrices.spoil_y();
  constant.run();
  if (const std::string difference = matrices.differences(); !difference.empty()) {
    comparison.wrong.push_back("Binet with constant B: " + difference);
  }
  std::vector<PeerWay> ways = find_ways(c, peers, matrices, comparison);

  std::vector<Contestant*> contestants = {&given, &constant};
  const Matrices beside_matrices(beside.value_or(Case{}));
  Contestant beside_given, beside_constant;
  if (beside) {
    beside_given.run = binet_product(*beside, beside_matrices.operands(), false);
    beside_constant.run = binet_product(*beside, beside_matrices.operands(), true);
    contestants.insert(contestants.end(), {&beside_given, &beside_constant});
  }
  Contestant conversions = {[&] { convert_all(c, matrices.operands()); }};
  const bool converts = c.type == ElementType::f16 && c.threads == 1;
  if (converts) contestants.push_back(&conversions);
  for (Contestant* contestant : contestants) contestant->seconds = estimate(contestant->run, c.threads);
  for (PeerWay& way : ways) contestants.push_back(&way.contestant);
  comparison.is_disturbed = !measure(contestants, c.threads, effort);
  Contestant peak = peak_contestant(peak_of(c.type)), peak_f32 = peak_contestant(kPeakF32);
  for (Contestant* contestant : {&peak, &peak_f32}) contestant->seconds = estimate(contestant->run, 1);
  measure({&peak, &peak_f32}, 1, effort);

  comparison.binet = {given.seconds, constant.seconds};
  comparison.beside = {beside_given.seconds, beside_constant.seconds};
  comparison.conversions = conversions.seconds;
  comparison.peak = c.threads * rate(peak_of(c.type), peak);
  comparison.peak_f32 = c.threads * rate(kPeakF32, peak_f32);
  comparison.peers.resize(peers.size());
  for (const PeerWay& way : ways) {
    Times& times = comparison.peers[way.peer];
    if (!way.b_is_constant) take_least(times.given, way.contestant.seconds);
    take_least(times.constant, way.contestant.seconds);
  }
  return comparison;
}

}  // namespace binet::kernels::gemm::bench
