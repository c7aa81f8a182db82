#include "cli/options/frame.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/printable.h"
#include "base/standard_descriptors.h"
#include "config/config.h"

namespace ares::cli {

std::vector<std::string> words_of(int argc, char** argv) {
  return std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc);
}

std::optional<int> answer_hidden(const Manual& manual, const OptionTable& table,
                                 const std::vector<std::string>& words) {
  if (words.size() != 1) return std::nullopt;
  if (words[0] == "--help-man") {
    std::fputs(man_page(manual, table).c_str(), stdout);
  } else if (words[0] == "--help-completion") {
    std::fputs(completion_words(table).c_str(), stdout);
  } else {
    return std::nullopt;
  }
  return 0;
}

std::optional<int> answer_common(const Manual& manual, const OptionTable& table,
                                 const CommonOptions& common) {
  if (common.help) {
    std::fputs(help_text(manual, table).c_str(), stdout);
    return 0;
  }
  if (common.version) {
    std::puts("ares " ARES_VERSION);
    return 0;
  }
  return std::nullopt;
}

Result<std::vector<std::string>> take_options(const OptionTable& table,
                                              const std::vector<std::string>& words) {
  auto given = options_from_environment(
      table, [](const char* name) -> const char* { return std::getenv(name); });
  if (!given) return fail(given.error());
  auto parsed = parse_options(table, words);
  if (!parsed) return fail(parsed.error());
  given->insert(given->end(), parsed->given.begin(), parsed->given.end());
  if (Status applied = apply_options(*given); !applied) return fail(applied.error());
  return std::move(parsed->operands);
}

Result<int> run_line(const Manual& manual, const OptionTable& table, const CommonOptions& common,
                     const Words& words, const std::function<Result<int>(Words operands)>& work) {
  if (const auto code = answer_hidden(manual, table, words)) return *code;
  auto operands = take_options(table, words);
  if (!operands) return fail(operands.error());
  if (const auto code = answer_common(manual, table, common)) return *code;
  return work(std::move(*operands));
}

Status refuse_operands(const Words& operands, const std::string& hint) {
  if (operands.empty()) return {};
  return fail(ErrorCode::invalid_argument, "unexpected " + quote(operands.front()) + "; " + hint +
                                               " " + excerpt(operands.front()));
}

Status refuse_invalid_utf8(const Words& operands) {
  for (const std::string& operand : operands)
    if (!is_utf8(operand)) return invalid(quote(operand) + " is not valid UTF-8");
  return {};
}

int run_main(std::string_view program, int argc, char** argv, Result<int> (*run)(const Words&)) {
  open_standard_descriptors();
  const auto code = run(words_of(argc, argv));
  if (!code) return print_error(program, code.error());
  // A report that is cut must not look whole. Nothing is said where a reader has gone away.
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed || errno == EPIPE) return *code;
  const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : std::string();
  std::fprintf(stderr, "%.*s: cannot write standard output%s\n", static_cast<int>(program.size()),
               program.data(), why.c_str());
  return *code == 0 ? kExitRefused : *code;
}

int print_error(std::string_view program, const Error& error) {
  std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(program.size()), program.data(),
               printable(error.message, kLineControls).c_str());
  return error.code == ErrorCode::unavailable ? kExitUnavailable : kExitRefused;
}

Result<rpc::ClientOptions> client_options(std::string_view program, const CommonOptions& common,
                                          RetryPolicy policy, bool quiet) {
  auto config = config::load_client(config::default_path(common.config));
  if (!config) return fail(config.error());
  rpc::ClientOptions options;
  options.addresses = config->connect;
  options.munge_socket = config->munge_socket;
  options.server_uid = config->controller_uid;
  switch (policy) {
    case RetryPolicy::none: options.timeout = std::chrono::seconds(5); break;
    case RetryPolicy::query: options.retry_for = std::chrono::seconds(30); break;
    case RetryPolicy::once:
    case RetryPolicy::change: break;
  }
  if (!quiet)
    options.on_retry = [program = std::string(program)](const std::string& text) {
      std::fprintf(stderr, "%s: %s\n", program.c_str(), printable(text, kLineControls).c_str());
    };
  return options;
}

Result<rpc::Client> open_client(std::string_view program, const CommonOptions& common,
                                RetryPolicy policy, bool quiet) {
  auto options = client_options(program, common, policy, quiet);
  if (!options) return fail(std::move(options.error()));
  return rpc::Client::open(std::move(*options));
}

Time clock_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

unsigned terminal_width() {
  winsize size{};
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

}  // namespace ares::cli
