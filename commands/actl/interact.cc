#include <readline/history.h>
#include <readline/readline.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "actl/command.h"
#include "cli/directives.h"

namespace ares::actl {
namespace {

std::optional<std::string> next_line() {
  if (isatty(STDIN_FILENO) == 0) {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
  const std::unique_ptr<char, void (*)(void*)> line(readline("actl: "), std::free);
  if (!line) return std::nullopt;
  if (*line) add_history(line.get());
  return std::string(line.get());
}

}  // namespace

int interact(Context& context) {
  int code = 0;
  while (const auto line = next_line()) {
    const auto words = cli::cut_words(*line);
    if (!words) {
      code = cli::complain("actl", words.error());
      continue;
    }
    if (words->empty()) continue;
    if (words->front() == "quit" || words->front() == "exit") break;
    const auto done = dispatch(context, *words);
    code = done ? *done : cli::complain("actl", done.error());
    std::fflush(stdout);
  }
  return code;
}

}  // namespace ares::actl
