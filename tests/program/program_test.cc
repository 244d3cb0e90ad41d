// The `binet` program as its users meet it: what it prints, where it puts results, and how it says no.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/child_process.h"
#include "support/temporary_directory.h"
#include "support/tensor_file.h"

namespace binet::test {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = BINET_CONFORMANCE_CASES;

class Program : public ::testing::Test {
 protected:
  Finished binet(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), BINET_PROGRAM);
    return run(arguments, folder_.path());
  }
  static std::string model(const std::string& name) { return (kCases / name / "model.onnx").string(); }
  static std::string data(const std::string& name) { return (kCases / name / "test_data_set_0").string(); }
  [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }

  TemporaryDirectory folder_;
};

TEST_F(Program, MistakesOfUsageExitWith2AndOneLine) {
  const std::vector<std::vector<std::string>> mistakes = {
      {},
      {"bogus"},
      {"--bogus"},
      {"run"},
      {"run", "m.onnx", "--threads", "-1"},
      {"run", "m.onnx", "--threads", "many"},
      {"run", "m.onnx", "--format", "zip"},
      {"run", "m.onnx", "-i", "x"},
      {"run", "m.onnx", "-o", "=x"},
      {"run", "m.onnx", "--random", "x"},
      {"run", "m.onnx", "--random", "1", "--dim", "N=-1"},
      {"run", "m.onnx", "surplus"},
      {"test"},
      {"test", "x", "--rtol", "-1"},
      {"operators", "--json", "--markdown"},
      {"bench"},
      {"bench", "m.onnx", "--min-time", "-1"},
      {"bench", "m.onnx", "--min-time", "soon"},
      {"bench", "m.onnx", "--json", "--profile"},
  };
  for (const std::vector<std::string>& arguments : mistakes) {
    const Finished finished = binet(arguments);
    EXPECT_EQ(finished.exit_status, 2) << ::testing::PrintToString(arguments);
    EXPECT_EQ(lines_of(finished.err).size(), 1u) << finished.err;
    EXPECT_TRUE(finished.err.starts_with("binet: ")) << finished.err;
    EXPECT_TRUE(finished.out.empty()) << finished.out;
  }
}

TEST_F(Program, HelpAndVersionSucceed) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"--help"},
                                                                                         {"--version"},
                                                                                         {"run", "--help"},
                                                                                         {"test", "--help"},
                                                                                         {"check", "--help"},
                                                                                         {"inspect", "--help"},
                                                                                         {"bench", "--help"},
                                                                                         {"kernels", "--help"}}) {
    const Finished finished = binet(arguments);
    EXPECT_EQ(finished.exit_status, 0);
    EXPECT_FALSE(finished.out.empty());
    EXPECT_TRUE(finished.err.empty());
  }
}

TEST_F(Program, RunPrintsTheOutputs) {
  const Finished finished =
      binet({"run", model("examples_test_mul_example"), "--inputs", data("examples_test_mul_example")});
  EXPECT_EQ(finished.exit_status, 0) << finished.err;
  EXPECT_EQ(finished.out, "C f32 (3)\n[4, 10, 18]\n");
}

TEST_F(Program, RunWritesTheFilesThatAreAskedFor) {
  const std::string name = "graph_symbolic";
  ASSERT_EQ(binet({"run", model(name), "--inputs", data(name), "--outputs", "out"}).exit_status, 0);
  ASSERT_EQ(binet({"run", model(name), "--inputs", data(name), "--outputs", "npy", "--format", "npy"}).exit_status, 0);
  const TensorFile pb = parse_tensor_proto(read_file(path("out/output_0.pb")));
  const TensorFile npy = parse_npy(read_file(path("npy/output_0.npy")));
  EXPECT_EQ(difference(pb, npy), "");
}

TEST_F(Program, InputsByNameGoBeforeTheFolder) {
  const std::string name = "examples_test_mul_example";
  const std::string x = data(name) + "/input_0.pb";
  const Finished finished = binet({"run", model(name), "--inputs", data(name), "-i", "B=" + x, "-o", "C=z.npy"});
  EXPECT_EQ(finished.exit_status, 0) << finished.err;
  const TensorFile squares = parse_npy(read_file(path("z.npy")));
  float values[3];
  ASSERT_EQ(squares.bytes.size(), sizeof(values));
  std::copy(squares.bytes.begin(), squares.bytes.end(), reinterpret_cast<char*>(values));
  EXPECT_EQ(values[2], 9.0f);
}

TEST_F(Program, RandomInputsAreTheSameForTheSameSeed) {
  const auto values = [&](const std::string& seed) {
    const Finished finished = binet({"run", model("graph_mlp"), "--random", seed, "--dim", "batch=3"});
    EXPECT_EQ(finished.exit_status, 0) << finished.err;
    return finished.out;
  };
  EXPECT_EQ(values("5"), values("5"));
  EXPECT_NE(values("5"), values("6"));
  const Finished open = binet({"run", model("graph_mlp"), "--random", "5"});
  EXPECT_EQ(open.exit_status, 1);
  EXPECT_NE(open.err.find("--dim batch=N"), std::string::npos) << open.err;
}

TEST_F(Program, AnOutputThatCannotBeWrittenLeavesNothing) {
  const std::string name = "graph_symbolic";
  std::ofstream(path("file")) << "in the way";
  for (const std::vector<std::string>& where : std::vector<std::vector<std::string>>{
           {"--outputs", "file"}, {"-o", "Y=no/such/y.npy"}, {"-o", "Y=y.txt"}, {"-o", "Q=q.npy"}}) {
    std::vector<std::string> arguments = {"run", model(name), "--inputs", data(name)};
    arguments.insert(arguments.end(), where.begin(), where.end());
    const Finished finished = binet(arguments);
    EXPECT_EQ(finished.exit_status, 1) << where[1];
    EXPECT_EQ(lines_of(finished.err).size(), 1u) << finished.err;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

TEST_F(Program, TestComparesAndCounts) {
  const Finished good =
      binet({"test", (kCases / "graph_mlp").string(), (kCases / "gemm-special_nan-c-float64").string()});
  EXPECT_EQ(good.exit_status, 0) << good.out << good.err;
  EXPECT_NE(good.out.find("2 passed, 0 failed"), std::string::npos);

  // A copy with another expected value must fail and say where.
  fs::copy(kCases / "examples_test_mul_example", path("case"), fs::copy_options::recursive);
  fs::permissions(path("case/test_data_set_0/output_0.pb"), fs::perms::owner_all);
  fs::copy_file(path("case/test_data_set_0/input_0.pb"), path("case/test_data_set_0/output_0.pb"),
                fs::copy_options::overwrite_existing);
  const Finished bad = binet({"test", path("case").string()});
  EXPECT_EQ(bad.exit_status, 1);
  EXPECT_NE(bad.out.find("3 of 3 elements differ, first at [0]: 4, where 1 is expected"), std::string::npos) << bad.out;
  EXPECT_NE(bad.out.find("0 passed, 1 failed"), std::string::npos) << bad.out;
}

TEST_F(Program, TestRefusesFoldersWithoutCases) {
  fs::create_directory(path("empty"));
  for (const char* folder : {"empty", "missing"}) EXPECT_EQ(binet({"test", folder}).exit_status, 1) << folder;
}

TEST_F(Program, CheckListsEveryFinding) {
  const Finished good = binet({"check", model("graph_mlp")});
  EXPECT_EQ(good.exit_status, 0) << good.err;
  EXPECT_NE(good.out.find("no findings"), std::string::npos);
  const Finished bad = binet({"check", model("err-graph_cycle")});
  EXPECT_EQ(bad.exit_status, 1);
  EXPECT_NE(bad.err.find("used before it is made"), std::string::npos) << bad.err;
}

TEST_F(Program, InspectAgreesWithItselfAsTextJsonAndPage) {
  const Finished text = binet({"inspect", model("graph_mlp")});
  EXPECT_EQ(text.exit_status, 0);
  EXPECT_NE(text.out.find("Gemm-13"), std::string::npos);
  EXPECT_NE(text.out.find("f32 (batch, 3)"), std::string::npos);

  const Finished json = binet({"inspect", model("graph_mlp"), "--json"});
  const nlohmann::json parsed = nlohmann::json::parse(json.out);
  EXPECT_EQ(parsed["nodes"].size(), 3u);
  EXPECT_EQ(parsed["nodes"][0]["version"], 13);
  EXPECT_EQ(parsed["inputs"][0]["shape"], nlohmann::json::array({"batch", 3}));

  EXPECT_EQ(binet({"inspect", model("graph_mlp"), "--html", "page.html"}).exit_status, 0);
  const std::string page = read_file(path("page.html"));
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("Gemm-13"), std::string::npos);
}

TEST_F(Program, NamesFromAFileCannotBreakThePage) {
  ASSERT_EQ(binet({"inspect", model("graph_names"), "--html", "page.html"}).exit_status, 0);
  EXPECT_EQ(read_file(path("page.html")).find("<script"), std::string::npos);
}

TEST_F(Program, BenchPrintsOneObject) {
  const Finished finished =
      binet({"bench", model("graph_mlp"), "--dim", "batch=3", "--min-time", "0", "--threads", "2", "--json"});
  ASSERT_EQ(finished.exit_status, 0) << finished.err;
  const auto page = nlohmann::ordered_json::parse(finished.out);
  std::vector<std::string> keys;
  for (const auto& [key, value] : page.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"model", "threads", "iterations", "latency_us", "load_us", "first_run_us",
                                            "peak_rss_bytes", "gflops", "gbytes_per_s"}));
  EXPECT_EQ(page["model"], model("graph_mlp"));
  EXPECT_EQ(page["threads"], 2);
  EXPECT_GE(page["iterations"], 1);
  const auto& latency = page["latency_us"];
  EXPECT_EQ(latency.size(), 4u);
  EXPECT_GT(latency["min"], 0);
  EXPECT_LE(latency["min"], latency["p50"]);
  EXPECT_LE(latency["p50"], latency["p90"]);
  EXPECT_LE(latency["p90"], latency["p99"]);
  for (const char* key : {"load_us", "first_run_us", "peak_rss_bytes", "gflops", "gbytes_per_s"}) {
    EXPECT_GT(page[key], 0) << key;
  }
}

TEST_F(Program, BenchNeedsTheOpenExtents) {
  const Finished finished = binet({"bench", model("graph_mlp")});
  EXPECT_EQ(finished.exit_status, 1);
  EXPECT_NE(finished.err.find("give --dim batch=N"), std::string::npos) << finished.err;
}

TEST_F(Program, BenchShowsAndTracesTheNodes) {
  const Finished finished =
      binet({"bench", model("graph_mlp"), "--dim", "batch=3", "--min-time", "0", "--profile", "--trace", "trace.json"});
  ASSERT_EQ(finished.exit_status, 0) << finished.err;
  for (const char* text : {"GFLOP/s", "Gemm-13", "f32 (3, 3)", "% of ", "peak, measured now"}) {
    EXPECT_NE(finished.out.find(text), std::string::npos) << text << "\n" << finished.out;
  }
  const auto trace = nlohmann::json::parse(read_file(path("trace.json")));
  double end_of_run = 0;
  int steps = 0;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    const double begin = event["ts"];
    const double length = event["dur"];
    EXPECT_GE(length, 0);
    if (event["name"] == "run") end_of_run = begin + length;
    if (!event["args"].contains("kernel")) continue;
    ++steps;
    EXPECT_LE(begin + length, end_of_run + 0.01) << "a step lies within its run";
  }
  EXPECT_GE(steps, 3);
}

TEST_F(Program, KernelsNameTheInstructionSetInUse) {
  const Finished finished = run({"/usr/bin/env", "BINET_TARGET=portable", BINET_PROGRAM, "kernels"}, folder_.path());
  ASSERT_EQ(finished.exit_status, 0) << finished.err;
  EXPECT_NE(finished.out.find("portable  used: BINET_TARGET names it"), std::string::npos) << finished.out;
  const auto page = nlohmann::json::parse(binet({"kernels", "--json"}).out);
  int used = 0;
  for (const auto& target : page["targets"]) used += target["used"] ? 1 : 0;
  EXPECT_EQ(used, 1);
  EXPECT_EQ(page["kernels"].size(), 8u + 12u) << "types of the matrix product, and of elementwise operations";
}

TEST_F(Program, AWrongNumberOfThreadsInTheEnvironmentIsRefused) {
  const Finished finished = run({"/usr/bin/env", "BINET_THREADS=some", BINET_PROGRAM, "run", model("graph_mlp"),
                                 "--random", "1", "--dim", "batch=1"},
                                folder_.path());
  EXPECT_EQ(finished.exit_status, 1);
  EXPECT_EQ(finished.err, "binet: BINET_THREADS: 'some' is not a number of threads; it must be 1 to 4096\n");
}

TEST_F(Program, AForcedTargetIsUsedOrRefused) {
  const std::string name = "gemm-types_v13-opset13-float32";
  for (const char* target : {"portable", "nonsense"}) {
    const Finished finished =
        run({"/usr/bin/env", std::string("BINET_TARGET=") + target, BINET_PROGRAM, "test", (kCases / name).string()},
            folder_.path());
    const bool known = std::string(target) == "portable";
    EXPECT_EQ(finished.exit_status, known ? 0 : 1) << target << finished.out << finished.err;
    if (known) continue;
    EXPECT_NE((finished.out + finished.err).find("'nonsense' is not an instruction set"), std::string::npos);
  }
}

}  // namespace
}  // namespace binet::test
