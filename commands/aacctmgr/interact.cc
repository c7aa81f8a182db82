#include "aacctmgr/interact.h"

#include <unistd.h>

#include <cstdio>
#include <optional>

#include "aacctmgr/complete.h"
#include "cli/options/prompt.h"

namespace ares::aacctmgr {
namespace {

// Runs one input line like a command line of aacctmgr. Its options apply to that line only.
Result<int> run_line(Context& context, const Words& words) {
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

}  // namespace

int interact(Context& context) {
  context.script = isatty(STDIN_FILENO) == 0;
  std::optional<NamesBySelector> names;  // Fetched at most once per input line.
  return cli::interact({.program = "aacctmgr",
                        .run = [&](const Words& words) { return run_line(context, words); },
                        .complete =
                            [&](const std::string& line, std::size_t start) {
                              if (!names) {
                                const auto snapshot = context.records(cli::RetryPolicy::none);
                                names = snapshot ? names_in(*snapshot)
                                                 : NamesBySelector{};  // Completion ignores errors.
                              }
                              return complete(line, start, *names);
                            },
                        .before_line = [&] { names.reset(); }});
}

}  // namespace ares::aacctmgr
