// asim: replays a workload on a simulated cluster.
#include <cstdio>
#include <filesystem>

#include "asim/cluster.h"
#include "asim/options.h"
#include "asim/progress.h"
#include "asim/read_workload.h"
#include "asim/report.h"
#include "asim/simulation.h"
#include "asim/summary.h"
#include "asim/view.h"
#include "asim/workload.h"
#include "cli/options/frame.h"

namespace ares::sim {
namespace {

std::vector<Setting> settings_of(const CommandLine& command_line, const Workload& workload) {
  std::vector<Setting> out = {
      {"workload", workload.name},
      {"cluster", command_line.cluster.substr(command_line.cluster.rfind('/') + 1)},
      {"estimates", command_line.sim.exact_estimates ? "exact" : "logged"},
      {"seed", std::to_string(command_line.sim.seed)}};
  std::string policy;
  for (const std::string& one : command_line.policy) policy += (policy.empty() ? "" : " ") + one;
  if (!policy.empty()) out.push_back({"policy", policy});
  const auto add = [&](const char* name, Seconds value) {
    if (value > Seconds{0}) out.push_back({name, std::to_string(value.count()) + " s"});
  };
  add("node_mtbf", command_line.sim.node_mtbf.value_or(Seconds{0}));
  add("interval", command_line.sim.interval);
  if (command_line.load != 1) out.push_back({"load", std::to_string(command_line.load)});
  return out;
}

void scale_arrivals(Workload& workload, double load) {
  if (workload.jobs.empty() || load == 1) return;
  const Seconds first = workload.jobs.front().submit;
  for (WorkJob& job : workload.jobs)
    job.submit = first + Seconds(static_cast<std::int64_t>(
                             static_cast<double>((job.submit - first).count()) / load));
}

Status write_out(const std::string& folder, const std::vector<Setting>& settings,
                 const Workload& workload, const Outcome& outcome, const std::vector<Row>& rows) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorCode::permission_denied,
                "cannot make the folder " + folder + ": " + error.message());
  const std::pair<const char*, std::string> files[] = {
      {"summary.json", summary_json(settings, workload, outcome, rows)},
      {"jobs.csv", jobs_csv(workload, outcome)},
      {"history.svg", history_svg(workload.name, outcome)}};
  for (const auto& [name, content] : files)
    if (Status written = write_file(folder + "/" + name, content); !written) return written;
  return {};
}

Result<int> replay(const CommandLine& command_line, const std::string& path) {
  if (command_line.cluster.empty())
    return fail(ErrorCode::invalid_argument,
                "say on what: --cluster=FILE, or --cluster=swf for the machine of the log");
  auto workload = read_workload(path, command_line.sim.seed);
  if (!workload) return fail(workload.error());
  if (!workload->has_times)
    return fail(ErrorCode::invalid_argument,
                path + ": a list of what pods ask for, without times; there is nothing to replay");
  sort_and_limit(*workload, command_line.jobs);
  scale_arrivals(*workload, command_line.load);
  const auto config = read_cluster(command_line.cluster, *workload, command_line.policy);
  if (!config) return fail(config.error());

  Simulation simulation(*workload, *config, command_line.sim);
  const Time begin =
      workload->jobs.empty() ? workload->origin : workload->origin + workload->jobs.front().submit;
  Result<Outcome> outcome = [&] {
    ProgressBar progress(workload->jobs.size());
    return simulation.run([&](std::uint64_t over, Time now) { progress.show(over, now - begin); });
  }();
  if (!outcome) return fail(outcome.error());
  const std::vector<Row> rows = summarise(*workload, *outcome);
  const std::vector<Setting> settings = settings_of(command_line, *workload);
  const auto print = command_line.json ? summary_json : summary_text;
  std::fputs(print(settings, *workload, *outcome, rows).c_str(), stdout);
  if (!command_line.out.empty())
    if (Status written = write_out(command_line.out, settings, *workload, *outcome, rows); !written)
      return fail(written.error());
  return 0;
}

Result<int> run(const std::vector<std::string>& words) {
  CommandLine command_line;
  const cli::OptionTable table = table_of(command_line);
  if (const auto code = cli::answer_hidden(manual(), table, words)) return *code;
  const auto operands = cli::take_options(table, words);
  if (!operands) return fail(operands.error());
  cli::CommonOptions common;
  common.help = command_line.help;
  common.version = command_line.version;
  if (const auto code = cli::answer_common(manual(), table, common)) return *code;
  if (!command_line.view.empty()) {
    if (!operands->empty() || !command_line.cluster.empty() || !command_line.out.empty())
      return fail(ErrorCode::invalid_argument,
                  "--view plans what is in its file: it takes neither a workload nor --cluster "
                  "nor --out");
    if (Status done = replay_view(command_line.view, command_line.policy, command_line.json); !done)
      return fail(done.error());
    return 0;
  }
  if (operands->size() != 2 || operands->front() != "run")
    return fail(ErrorCode::invalid_argument,
                "say what to do: run WORKLOAD --cluster=FILE, or --view=FILE; try asim --help");
  return replay(command_line, operands->back());
}

}  // namespace
}  // namespace ares::sim

int main(int argc, char** argv) {
  const auto code = ares::sim::run(ares::cli::words_of(argc, argv));
  return code ? *code : ares::cli::print_error("asim", code.error());
}
