// ares-pam SERVICE USER: holds a PAM session open for a job, started by the job's first process.
// Standard output gets "ok" and the variables of the session, each ended by NUL, or why there is
// none. The session is closed at the end of standard input.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>

#include "pam/session.h"

namespace {

void say(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  ::close(STDOUT_FILENO);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "ares-pam: started by aresstepd, see PAM in ares-node(7)\n");
    return 2;
  }
  // Signals to all processes of the job are not for it.
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  const auto session = ares::pam::Session::open(argv[1], argv[2]);
  if (!session) {
    say(session.error().message);
    return 1;
  }
  std::string told("ok\0", 3);
  for (const std::string& variable : session->environment()) told += variable + '\0';
  say(told);
  char byte = 0;
  for (ssize_t n; (n = ::read(STDIN_FILENO, &byte, 1)) != 0;)
    if (n < 0 && errno != EINTR) break;
  return 0;
}
