// aattach: shows what the tasks of a running step write, and passes input to them.
#include "aattach/options.h"
#include "arun/place.h"
#include "arun/session.h"
#include "cli/options/frame.h"

namespace ares::aattach {
namespace {

Result<int> attach(const Asked& asked, const cli::Words& operands) {
  if (operands.size() != 1)
    return fail(ErrorCode::invalid_argument, "name one step: aattach [OPTIONS] JOB.STEP");
  const Result<Target> target = parse_target(operands.front());
  if (!target) return fail(target.error());
  Result<arun::Streams> streams = streams_of(asked);
  if (!streams) return fail(streams.error());
  arun::Wanted wanted;
  wanted.program = "aattach";
  wanted.attach_to = target->step;
  wanted.only_layout = asked.layout;
  wanted.label = asked.label;
  wanted.quiet = asked.quiet;
  wanted.pty = asked.pty;
  wanted.request.task.input_rank = asked.pty ? 0 : asked.input_rank;
  Result<arun::Place> place = arun::find_job("aattach", asked.common, target->job, asked.quiet);
  if (!place) return fail(place.error());
  return arun::Session(wanted, std::move(*streams), std::move(place->host)).run();
}

Result<int> run(const cli::Words& words) {
  Asked asked;
  const cli::OptionTable table = options(asked);
  return cli::run_line(manual(), table, asked.common, words,
                       [&](const cli::Words& operands) { return attach(asked, operands); });
}

}  // namespace
}  // namespace ares::aattach

int main(int argc, char** argv) {
  return ares::cli::run_main("aattach", argc, argv, ares::aattach::run);
}
