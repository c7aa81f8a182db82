#include "aresctld/options.h"

#include <string_view>

#include "base/printable.h"

namespace ares::aresctld {
namespace {

struct Row {
  std::string_view name;
  std::string_view argument;
  std::string_view help;
};

constexpr Row kRows[] = {
    {"--config", "FILE", "read FILE instead of $ARES_CONF or /etc/ares/ares.yaml"},
    {"--check", "", "check the configuration and exit"},
    {"--accept-rollback", "",
     "start once on a database that is older than what nodes and this machine have seen; begins a "
     "new history and raises epoch and ids above all of it"},
    {"--help", "", "print this and exit"},
    {"--version", "", "print the version and exit"},
};

std::string help() {
  std::string text =
      "Usage: aresctld [OPTION]...\nThe controller of an Ares cluster. Runs in the foreground; "
      "SIGTERM stops it cleanly,\n"
      "jobs run on; SIGHUP reads the configuration again; SIGUSR1 opens the log file again.\n\n";
  for (const Row& row : kRows) {
    std::string left = "  " + std::string(row.name) +
                       (row.argument.empty() ? "" : " " + std::string(row.argument));
    left.resize(std::max<std::size_t>(left.size() + 2, 22), ' ');
    text += left + std::string(row.help) + "\n";
  }
  return text;
}

}  // namespace

Result<Options> parse_options(int argc, char** argv) {
  Options options;
  std::string flag;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--help" || word == "-h") {
      options.text = help();
    } else if (word == "--version" || word == "-V") {
      options.text = "aresctld " ARES_VERSION "\n";
    } else if (word == "--check") {
      options.check = true;
    } else if (word == "--accept-rollback") {
      options.accept_rollback = true;
    } else if (word.starts_with("--config=")) {
      flag = word.substr(9);
    } else if (word == "--config" || word == "-f") {
      if (++i == argc) return fail(ErrorCode::invalid_argument, "--config needs a file");
      flag = argv[i];
    } else {
      return fail(ErrorCode::invalid_argument,
                  "unknown option " + quote(word) + "; see aresctld --help");
    }
  }
  options.config = config::default_path(flag);
  return options;
}

}  // namespace ares::aresctld
