// acheckpoint: commits, lists, verifies and fetches the checkpoints of a job.
#include <cstdio>
#include <cstdlib>

#include "acheckpoint/commit.h"
#include "acheckpoint/look.h"
#include "acheckpoint/options.h"
#include "base/printable.h"
#include "cli/options/frame.h"

namespace ares::acheckpoint {
namespace {

Result<int> commit_operands(const Wanted& wanted, const cli::Words& operands) {
  if (operands.empty())
    return fail(ErrorCode::invalid_argument,
                "name the directory with the saved state: acheckpoint commit DIR");
  auto fields = fields_of(wanted, {operands.begin() + 1, operands.end()});
  if (!fields) return fail(fields.error());
  return commit(wanted, operands.front(), std::move(*fields));
}

Result<int> list_operands(const Wanted& wanted, const cli::Words& operands) {
  if (operands.size() > 1)
    return fail(ErrorCode::invalid_argument, "list takes one directory or URI at most");
  if (!operands.empty()) return list(wanted, operands.front());
  const char* const own = std::getenv("ARES_CHECKPOINT_PATH");
  if (!own)
    return fail(
        ErrorCode::failed_precondition,
        "name a directory or URI: ARES_CHECKPOINT_PATH is not set, because this is not within a "
        "job that was submitted with asub --checkpoint");
  return list(wanted, own);
}

Result<int> fetch_operands(const Wanted& wanted, const cli::Words& operands) {
  if (operands.size() != 2)
    return fail(ErrorCode::invalid_argument,
                "name a checkpoint and the directory to make: acheckpoint fetch URI DIR");
  return fetch(wanted, operands[0], operands[1]);
}

Result<int> run(const cli::Words& words) {
  Wanted wanted;
  const cli::OptionTable table = options(wanted);
  return cli::run_line(
      manual(), table, wanted.common, words, [&](const cli::Words& operands) -> Result<int> {
        const std::string verb = operands.empty() ? "" : operands.front();
        const cli::Words rest(operands.begin() + (operands.empty() ? 0 : 1), operands.end());
        if (verb == "commit") return commit_operands(wanted, rest);
        if (verb == "list") return list_operands(wanted, rest);
        if (verb == "verify") return verify(wanted, rest);
        if (verb == "fetch") return fetch_operands(wanted, rest);
        return fail(ErrorCode::invalid_argument,
                    (verb.empty() ? "say what to do" : quote(verb) + " is unknown") +
                        std::string(": commit, list, verify or fetch"));
      });
}

}  // namespace
}  // namespace ares::acheckpoint

int main(int argc, char** argv) {
  return ares::cli::run_main("acheckpoint", argc, argv, ares::acheckpoint::run);
}
