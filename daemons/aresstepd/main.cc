// aresstepd ATTEMPT_DIR [CHANNEL_FD]: supervises one attempt on a node. Outlives the aresd that starts it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "aresstepd/supervisor.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts("aresstepd " ARES_VERSION);
    return 0;
  }
  if (argc < 2 || argc > 3 || argv[1][0] != '/') {
    std::fputs(
        "usage: aresstepd ATTEMPT_DIR [CHANNEL_FD]\nStarted by aresd, not by hand; see "
        "aresstepd(8).\n",
        stderr);
    return 2;
  }
  const int channel = argc == 3 ? std::atoi(argv[2]) : -1;
  auto supervisor = ares::stepd::Supervisor::make(argv[1], channel);
  ares::Status status = supervisor ? (*supervisor)->run() : ares::fail(supervisor.error());
  if (status) return 0;
  std::fprintf(stderr, "aresstepd: %s\n", status.error().message.c_str());
  return 1;
}
