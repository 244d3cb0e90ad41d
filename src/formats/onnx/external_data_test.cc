#include "formats/onnx/external_data.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "binet/error.h"

namespace binet::onnx {
namespace {

namespace fs = std::filesystem;

class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "binet-external-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "model" / "sub");
    std::ofstream(root_ / "model" / "w.bin") << "0123456789";
    std::ofstream(root_ / "model" / "sub" / "v.bin") << "abcdef";
    std::ofstream(root_ / "secret.bin") << "secret";
    fs::create_symlink("w.bin", root_ / "model" / "link.bin");
    fs::create_directory_symlink("sub", root_ / "model" / "linked");
    fs::create_directory_symlink("..", root_ / "model" / "up");
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string read(const ExternalDataEntries& entries, std::uint64_t size) {
    ExternalFiles files(root_ / "model");
    try {
      const ExternalFiles::Range range = files.read("W", entries, size);
      return {reinterpret_cast<const char*>(range.bytes.data()), range.bytes.size()};
    } catch (const Error& error) {
      return error.what();
    }
  }

  fs::path root_;
};

TEST_F(ExternalData, ReadsRangesBelowTheFolder) {
  EXPECT_EQ(read({"w.bin", "2", "3"}, 3), "234");
  EXPECT_EQ(read({"w.bin", std::nullopt, std::nullopt}, 10), "0123456789");
  EXPECT_EQ(read({"sub/v.bin", "0", std::nullopt}, 6), "abcdef");
  EXPECT_EQ(read({"./sub/../w.bin", "9", std::nullopt}, 1), "9");
  EXPECT_EQ(read({"w.bin", "10", std::nullopt}, 0), "");
}

TEST_F(ExternalData, RefusesEveryWayOutAndEveryLink) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"../secret.bin", "leaves the model's folder"},
      {"sub/../../secret.bin", "leaves the model's folder"},
      {"..", "leaves the model's folder"},
      {(root_ / "secret.bin").string(), "is absolute"},
      {"link.bin", "a symbolic link is on the way"},
      {"linked/v.bin", "a symbolic link is on the way"},
      {"up/secret.bin", "a symbolic link is on the way"},
      {"nothing.bin", "No such file"},
      {"w.bin/x", "Not a directory"},
      {"sub", "not a regular file"},
      {".", "not a regular file"},
      {"", "the location is empty"},
      {std::string("w.bin\0.txt", 10), "holds a zero byte"},
  };
  for (const auto& [location, expected] : cases) {
    const std::string message = read({location, std::nullopt, std::nullopt}, 1);
    EXPECT_NE(message.find(expected), std::string::npos) << location << ": " << message;
    EXPECT_TRUE(message.starts_with("W: external data")) << message;
  }
}

TEST_F(ExternalData, RefusesRangesThatDoNotFit) {
  for (const char* offset :
       {"10", "11", "18446744073709551615", "18446744073709551616", "-1", "1.0", "", " 1", "0x1"}) {
    const std::string message = read({"w.bin", offset, std::nullopt}, 1);
    EXPECT_TRUE(message.find("past the end") != std::string::npos ||
                message.find("number of bytes") != std::string::npos)
        << offset << ": " << message;
  }
  EXPECT_NE(read({"w.bin", "0", "2"}, 3).find("length is 2"), std::string::npos);
}

}  // namespace
}  // namespace binet::onnx
