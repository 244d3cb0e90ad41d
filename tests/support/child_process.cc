#include "support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <sstream>
#include <system_error>

namespace binet::test {
namespace {

using Clock = std::chrono::steady_clock;

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

struct Pipe {
  Pipe() { check(::pipe2(ends.data(), O_CLOEXEC) == 0 ? 0 : errno, "pipe"); }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_end(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }

  std::array<int, 2> ends{-1, -1};
};

struct SpawnActions {
  SpawnActions() { check(::posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init"); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  posix_spawn_file_actions_t actions{};
};

pid_t spawn(const std::vector<std::string>& command, const std::filesystem::path& folder, const Pipe& out,
            const Pipe& err) {
  SpawnActions with;
  check(::posix_spawn_file_actions_addopen(&with.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0), "stdin");
  check(::posix_spawn_file_actions_adddup2(&with.actions, out.ends[1], STDOUT_FILENO), "stdout");
  check(::posix_spawn_file_actions_adddup2(&with.actions, err.ends[1], STDERR_FILENO), "stderr");
  check(::posix_spawn_file_actions_addchdir_np(&with.actions, folder.c_str()), "working folder");

  std::vector<std::string> copies = command;  // posix_spawn takes pointers to mutable characters
  std::vector<char*> arguments;
  for (std::string& argument : copies) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  check(::posix_spawn(&pid, arguments[0], &with.actions, nullptr, arguments.data(), environ), arguments[0]);
  return pid;
}

// Both pipes reach their end when the child does: it holds their only other ends.
bool read_until_end(std::array<Pipe*, 2> pipes, std::array<std::string*, 2> texts, Clock::time_point deadline) {
  std::array<char, 4096> buffer{};
  std::size_t open = pipes.size();
  while (open > 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> waits{};
    for (std::size_t i = 0; i < pipes.size(); ++i) waits[i] = {pipes[i]->ends[0], POLLIN, 0};  // -1 is skipped
    if (::poll(waits.data(), waits.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) check(errno, "poll");
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (waits[i].revents == 0) continue;
      const ssize_t count = ::read(pipes[i]->ends[0], buffer.data(), buffer.size());
      if (count > 0) {
        if (texts[i]->size() < kMaxOutput) texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      } else {
        pipes[i]->close_end(0);
        --open;
      }
    }
  }
  return true;
}

}  // namespace

Finished run(const std::vector<std::string>& command, const std::filesystem::path& folder,
             std::chrono::milliseconds limit) {
  Pipe out;
  Pipe err;
  const Clock::time_point deadline = Clock::now() + limit;
  const pid_t pid = spawn(command, folder, out, err);
  out.close_end(1);
  err.close_end(1);

  Finished result;
  result.timed_out = !read_until_end({&out, &err}, {&result.out, &result.err}, deadline);
  if (result.timed_out) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) check(errno, "waitpid");
  }
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  return result;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find_first_not_of(" \t\r\f\v") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

}  // namespace binet::test
