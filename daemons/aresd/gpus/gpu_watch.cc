#include "aresd/gpus/gpu_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <sstream>
#include <utility>

#include "base/printable.h"
#include "gres/nvml/events.h"

namespace ares::aresd {
namespace {

using Clock = std::chrono::steady_clock;
using gres::nvml::GpuError;

constexpr std::chrono::seconds kSoonest{10};
constexpr std::size_t kLongestLine = 4096;

// "error 79 0000:07:00.0"; "-" stands for an unknown GPU.
std::string line_of(const GpuError& error) {
  return "error " + std::to_string(error.xid) + " " + (error.bus_id.empty() ? "-" : error.bus_id) +
         "\n";
}
std::optional<GpuError> error_of(const std::string& line) {
  std::istringstream words(line);
  std::string word, bus_id;
  GpuError error;
  if (!(words >> word >> error.xid >> bus_id) || word != "error") return std::nullopt;
  error.bus_id = gres::pci_address(bus_id).value_or("");
  return error;
}

std::string describe(const GpuError& error) {
  if (error.xid == 0) return "the driver lost a GPU";
  return (error.bus_id.empty() ? "a GPU" : "GPU " + error.bus_id) + ": XID " +
         std::to_string(error.xid);
}

class Watcher {
 public:
  Watcher(DriverProcess process, os::Fd stopped, GpuWatch::Report report)
      : process_(std::move(process)), stopped_(std::move(stopped)), report_(std::move(report)) {}

  void run() {
    while (const std::optional<std::string> line = next_line()) {
      const std::optional<GpuError> error = error_of(*line);
      if (!error) continue;
      if (!concerns_hardware(*error)) {
        report_(describe(*error) + ", an error of a program", false);
        continue;
      }
      // So that an error that stays does not let aresd look for GPUs all the time.
      if (!wait_until(started_ + kSoonest)) return;
      return report_(describe(*error) + "; its state is looked at again", true);
    }
    if (!ended_) return;
    std::array<char, 1024> text{};
    const ssize_t count = ::read(process_.err(), text.data(), text.size());
    std::string why(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    while (why.ends_with('\n')) why.pop_back();
    report_("errors of GPUs are not watched: " +
                (why.empty() ? "the process that did it has ended" : excerpt(why)),
            false);
  }

 private:
  // False: stopped. Otherwise the descriptor is readable, or the time has come.
  bool wait(int fd, int milliseconds) {
    std::array<pollfd, 2> ends{{{stopped_.get(), POLLIN, 0}, {fd, POLLIN, 0}}};
    while (::poll(ends.data(), ends.size(), milliseconds) < 0 && errno == EINTR) {
    }
    return ends[0].revents == 0;
  }
  bool wait_until(Clock::time_point time) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(time - Clock::now()).count();
    return left <= 0 || wait(-1, static_cast<int>(left));
  }
  // None: stopped, or the process has ended.
  std::optional<std::string> next_line() {
    for (;;) {
      if (const std::size_t end = text_.find('\n'); end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      if (text_.size() > kLongestLine) text_.clear();
      if (!wait(process_.out(), -1)) return std::nullopt;
      std::array<char, 1024> buffer;
      const ssize_t count = ::read(process_.out(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      ended_ = count <= 0;
      if (ended_) return std::nullopt;
      text_.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

  DriverProcess process_;
  os::Fd stopped_;
  GpuWatch::Report report_;
  const Clock::time_point started_ = Clock::now();
  std::string text_;
  bool ended_ = false;
};

}  // namespace

Result<GpuWatch> GpuWatch::start(Report report, std::vector<std::string> command) {
  if (command.empty()) command = {"", "--watch-gpus-here"};
  Result<DriverProcess> process = DriverProcess::start(std::move(command));
  if (!process) return fail(process.error());
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(os::errno_error("cannot make a pipe"));
  GpuWatch watch;
  watch.stop_.reset(ends[1]);
  watch.thread_ = std::jthread([watcher = Watcher(std::move(*process), os::Fd(ends[0]),
                                                  std::move(report))]() mutable { watcher.run(); });
  return watch;
}

Status print_gpu_errors() {
  const pid_t parent = ::getppid();
  return gres::nvml::watch_errors(
      {},
      [](const GpuError& error) {
        std::fputs(line_of(error).c_str(), stdout);
        std::fflush(stdout);
      },
      [parent] { return ::getppid() == parent; });
}

}  // namespace ares::aresd
