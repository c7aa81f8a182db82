#include "cli/options/prompt.h"

#include <readline/history.h>
#include <readline/readline.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/options/directives.h"
#include "cli/output/text.h"

namespace ares::cli {
namespace {

constexpr int kHistoryLines = 1000;

// $XDG_STATE_HOME/ares/PROGRAM_history, or below ~/.local/state. Empty if neither is known or can
// be created.
std::string history_path(const std::string& program) {
  namespace fs = std::filesystem;
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (state && *state)
    folder = fs::path(state) / "ares";
  else if (home && *home)
    folder = fs::path(home) / ".local/state/ares";
  else
    return {};
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) return {};
  if (made) fs::permissions(folder, fs::perms::owner_all, error);
  return (folder / (program + "_history")).string();
}

// A terminal session with readline's editing, history and completion. readline's callbacks take no
// user argument, so they find the only session through a static pointer.
class Terminal {
 public:
  explicit Terminal(const Prompt& prompt)
      : prompt_(prompt), text_(prompt.program + ": "), history_(history_path(prompt.program)) {
    current_ = this;
    rl_readline_name = prompt_.program.c_str();
    rl_basic_word_break_characters = " \t\n=,";
    rl_completer_quote_characters = "\"'";
    rl_attempted_completion_function = attempt;
    using_history();
    stifle_history(kHistoryLines);
    if (!history_.empty()) read_history(history_.c_str());
  }
  ~Terminal() {
    if (!history_.empty()) write_history(history_.c_str());
    current_ = nullptr;
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::optional<std::string> next_line() {
    prompt_.before_line();
    const std::unique_ptr<char, void (*)(void*)> line(readline(text_.c_str()), std::free);
    if (!line) {
      std::puts("");
      return std::nullopt;
    }
    const HIST_ENTRY* last = history_length > 0 ? history_get(history_length) : nullptr;
    if (*line && !(last && std::strcmp(last->line, line.get()) == 0)) add_history(line.get());
    return std::string(line.get());
  }

 private:
  static char** attempt(const char*, int start, int) {
    rl_attempted_completion_over = 1;  // No completion of file names.
    current_->found_ =
        current_->prompt_.complete(std::string(rl_line_buffer, static_cast<std::size_t>(rl_end))
                                       .substr(0, static_cast<std::size_t>(rl_point)),
                                   static_cast<std::size_t>(start));
    const bool property = current_->found_.size() == 1 && current_->found_[0].ends_with('=');
    rl_completion_append_character = static_cast<unsigned char>(property ? '\0' : ' ');
    return rl_completion_matches(rl_line_buffer + start, next);
  }
  static char* next(const char*, int state) {
    const auto at =
        static_cast<std::size_t>(state == 0 ? (current_->given_ = 0) : ++current_->given_);
    return at < current_->found_.size() ? strdup(current_->found_[at].c_str()) : nullptr;
  }

  inline static Terminal* current_ = nullptr;

  const Prompt& prompt_;
  const std::string text_;
  std::string history_;
  std::vector<std::string> found_;
  int given_ = 0;
};

bool ends(const Words& words) {
  const std::string first = lower(words.front());
  return first == "quit" || first == "exit";
}

int from_terminal(const Prompt& prompt) {
  Terminal terminal(prompt);
  int code = 0;
  while (const auto line = terminal.next_line()) {
    const auto words = cut_words(*line);
    if (words && words->empty()) continue;
    if (words && ends(*words)) break;
    const Result<int> done = words ? prompt.run(*words) : fail(words.error());
    code = done ? *done : print_error(prompt.program, done.error());
  }
  return code;
}

int from_file(const Prompt& prompt) {
  std::string line;
  for (int number = 1; std::getline(std::cin, line); ++number) {
    const auto words = cut_words(line);
    if (words && words->empty()) continue;
    if (words && ends(*words)) return 0;
    const Result<int> done = words ? prompt.run(*words) : fail(words.error());
    if (done && *done == 0) continue;
    if (done) return *done;
    Error error = done.error();
    error.message = "line " + std::to_string(number) + ": " + error.message;
    return print_error(prompt.program, error);
  }
  return 0;
}

}  // namespace

int interact(const Prompt& prompt) {
  return isatty(STDIN_FILENO) == 0 ? from_file(prompt) : from_terminal(prompt);
}

}  // namespace ares::cli
