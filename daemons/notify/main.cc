// ares-notify: sends one message about a job, see ares-notify(7). aresctld starts it for each message, so that neither a slow server nor
// the libraries that speak to it are part of the controller. Reads the message from standard input and writes what became of it to
// standard output, both as JSON of notify/message/message.h.
#include <cstdio>
#include <string>
#include <string_view>

#include "notify/message/message.h"
#include "notify/send/send.h"

namespace {

constexpr std::size_t kMostInput = std::size_t{1} << 20;
constexpr int kUsage = 2;
constexpr int kNotWritten = 74;  // EX_IOERR

std::string read_all(std::FILE* from) {
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, from)) > 0;) {
    text.append(buffer, n);
    if (text.size() > kMostInput) break;
  }
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    const std::string_view word = arguments[1];
    if (word == "--version") {
      std::puts("ares-notify " ARES_VERSION);
      return 0;
    }
    std::fputs("usage: ares-notify < MESSAGE.json\naresctld starts it; see ares-notify(7)\n",
               stderr);
    return kUsage;
  }
  const auto message = ares::notify::message_from_json(read_all(stdin));
  ares::notify::Outcome outcome;
  if (message) {
    outcome = ares::notify::send(*message);
  } else {
    outcome.kind = ares::notify::Outcome::Kind::refused;
    outcome.text = message.error().message;
  }
  std::puts(ares::notify::to_json(outcome).c_str());
  return std::fflush(stdout) == 0 ? 0 : kNotWritten;
}
