// aresstepd ATTEMPT_DIR [CHANNEL_FD [--without-namespaces]]: supervises one attempt on a node.
// Outlives the aresd that starts it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "aresstepd/reaper.h"
#include "aresstepd/supervisor.h"

namespace {

int supervise(const std::string& directory, int channel, pid_t reaper) {
  auto supervisor = ares::stepd::Supervisor::make(directory, channel, reaper);
  ares::Status status = supervisor ? (*supervisor)->run() : ares::fail(supervisor.error());
  if (status) return 0;
  std::fprintf(stderr, "aresstepd: %s\n", status.error().message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts("aresstepd " ARES_VERSION);
    return 0;
  }
  const bool namespaces = argc < 4;
  if (argc < 2 || argc > 4 || argv[1][0] != '/' ||
      (!namespaces && std::string_view(argv[3]) != "--without-namespaces")) {
    std::fputs(
        "usage: aresstepd ATTEMPT_DIR [CHANNEL_FD [--without-namespaces]]\n"
        "Started by aresd, not by hand; see aresstepd(8).\n",
        stderr);
    return 2;
  }
  const std::string directory = argv[1];
  const int channel = argc > 2 ? std::atoi(argv[2]) : -1;
  if (namespaces) return supervise(directory, channel, 0);
  return ares::stepd::run_under_reaper(
      directory, channel, [&](pid_t reaper) { return supervise(directory, channel, reaper); });
}
