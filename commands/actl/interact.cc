#include <cstdio>

#include "actl/command.h"
#include "actl/complete.h"
#include "actl/names.h"
#include "cli/options/prompt.h"

namespace ares::actl {
namespace {

// Runs one input line like a command line of actl. Its options apply to that line only.
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

}  // namespace

int interact(Context& context) {
  NameCache known(context);
  return cli::interact({.program = "actl",
                        .run = [&](const Words& words) { return run_line(context, words); },
                        .complete =
                            [&](const std::string& line, std::size_t start) {
                              return complete(line, start,
                                              [&](Names names) { return known.of(names); });
                            },
                        .before_line = [&] { known.forget(); }});
}

}  // namespace ares::actl
