// arespmixd FD: serves PMIx to the ranks of one step on one node. Started by the step's daemon as the
// job's user, with a socket to it; ends when that is closed.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "arespmixd/serve.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts("arespmixd " ARES_VERSION);
    return 0;
  }
  int socket = -1;
  if (argc == 2) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), socket);
  if (socket < 0) {
    std::fputs(
        "usage: arespmixd FD\nStarted by the daemon of a step, not by hand; see arespmixd(8).\n",
        stderr);
    return 2;
  }
  ares::pmixd::Channel channel{ares::os::Fd(socket)};
  const ares::Status status = ares::pmixd::serve(channel);
  if (status) return 0;
  std::fprintf(stderr, "arespmixd: %s\n", status.error().message.c_str());
  return 1;
}
