#include <readline/history.h>
#include <readline/readline.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>

#include "actl/command.h"
#include "actl/complete.h"
#include "actl/names.h"
#include "cli/directives.h"
#include "cli/text.h"

namespace ares::actl {
namespace {

constexpr int kHistoryLines = 1000;

// $XDG_STATE_HOME/ares/actl_history, or below ~/.local/state; empty where neither is known or can be made.
std::string history_path() {
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
  return (folder / "actl_history").string();
}

// A terminal: readline edits, remembers and completes. It calls back without an argument of ours, so the one session that exists
// is found through a pointer.
class Terminal {
 public:
  explicit Terminal(Context& context) : names_(context), history_(history_path()) {
    current_ = this;
    rl_readline_name = "actl";
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
    names_.forget();
    const std::unique_ptr<char, void (*)(void*)> line(readline("actl: "), std::free);
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
    rl_attempted_completion_over = 1;  // never the names of files
    current_->found_ = complete(std::string(rl_line_buffer, static_cast<std::size_t>(rl_end))
                                    .substr(0, static_cast<std::size_t>(rl_point)),
                                static_cast<std::size_t>(start),
                                [](Names names) { return current_->names_.of(names); });
    const bool property = current_->found_.size() == 1 && current_->found_[0].ends_with('=');
    rl_completion_append_character = property ? '\0' : ' ';
    return rl_completion_matches(rl_line_buffer + start, next);
  }
  static char* next(const char*, int state) {
    const auto at =
        static_cast<std::size_t>(state == 0 ? (current_->given_ = 0) : ++current_->given_);
    return at < current_->found_.size() ? strdup(current_->found_[at].c_str()) : nullptr;
  }

  inline static Terminal* current_ = nullptr;

  KnownNames names_;
  std::string history_;
  std::vector<std::string> found_;
  int given_ = 0;
};

// One line as if it had been typed behind actl: its options count for it alone.
Result<int> run_line(Context& context, const std::vector<std::string>& words) {
  const Flags before = context.flags;
  const cli::OptionTable table = options(context);
  const auto operands = cli::take_options(table, words);
  Result<int> done = 0;
  if (!operands)
    done = fail(operands.error());
  else if (const auto code = cli::answer_common(manual(), table, context.common))
    done = *code;
  else if (!operands->empty())
    done = dispatch(context, *operands);
  context.flags = before;
  context.common.help = context.common.version = false;
  std::fflush(stdout);
  return done;
}

bool ends(const std::vector<std::string>& words) {
  const std::string first = cli::lower(words.front());
  return first == "quit" || first == "exit";
}

int from_terminal(Context& context) {
  Terminal terminal(context);
  int code = 0;
  while (const auto line = terminal.next_line()) {
    const auto words = cli::cut_words(*line);
    if (words && words->empty()) continue;
    if (words && ends(*words)) break;
    const Result<int> done = words ? run_line(context, *words) : fail(words.error());
    code = done ? *done : cli::complain("actl", done.error());
  }
  return code;
}

int from_file(Context& context) {
  std::string line;
  for (int number = 1; std::getline(std::cin, line); ++number) {
    const auto words = cli::cut_words(line);
    if (words && words->empty()) continue;
    if (words && ends(*words)) return 0;
    const Result<int> done = words ? run_line(context, *words) : fail(words.error());
    if (done && *done == 0) continue;
    if (done) return *done;
    Error error = done.error();
    error.message = "line " + std::to_string(number) + ": " + error.message;
    return cli::complain("actl", error);
  }
  return 0;
}

}  // namespace

int interact(Context& context) {
  return isatty(STDIN_FILENO) == 0 ? from_file(context) : from_terminal(context);
}

}  // namespace ares::actl
