#include "asim/options.h"

#include <charconv>
#include <cmath>

#include "asim/yaml_workload.h"
#include "base/duration.h"
#include "cli/options/frame.h"
#include "cli/output/text.h"

namespace ares::sim {
namespace {

using Apply = std::function<Status(const std::string&)>;

template <class T>
Apply set_number(T& out, std::uint64_t least = 0) {
  return [=, &out](const std::string& text) -> Status {
    const auto number = cli::parse_number(text, ~std::uint64_t{0} >> 1);
    if (!number || *number < least)
      return fail(ErrorCode::invalid_argument,
                  "\"" + text + "\" is not a whole number from " + std::to_string(least) + " up");
    out = static_cast<T>(*number);
    return {};
  };
}

// Seconds, or any time limit format with a colon or a dash.
template <class T>
Apply set_duration(T& out) {
  return [=, &out](const std::string& text) -> Status {
    std::optional<Seconds> length;
    if (const auto number = cli::parse_number(text, 1ULL << 40))
      length = Seconds(static_cast<std::int64_t>(*number));
    else if (text.find_first_of(":-") != std::string::npos)
      if (const auto limit = parse_time_limit(text)) length = limit->value_or(Seconds{0});
    if (!length || *length <= Seconds{0})
      return fail(
          ErrorCode::invalid_argument,
          "\"" + text + "\" is no length of time above zero; write seconds, HH:MM:SS or DAYS-HH");
    out = *length;
    return {};
  };
}

Apply set_estimates(bool& exact) {
  return [&exact](const std::string& text) -> Status {
    if (text != "exact" && text != "logged")
      return fail(ErrorCode::invalid_argument, "\"" + text + "\" is neither exact nor logged");
    exact = text == "exact";
    return {};
  };
}

Apply set_load(double& load) {
  return [&load](const std::string& text) -> Status {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, load);
    if (error != std::errc{} || rest != end || !std::isfinite(load) || load < 0.01 || load > 100)
      return fail(ErrorCode::invalid_argument, "\"" + text + "\" is not a factor from 0.01 to 100");
    return {};
  };
}

Apply append(std::vector<std::string>& list) {
  return [&list](const std::string& text) -> Status {
    list.push_back(text);
    return {};
  };
}

}  // namespace

cli::OptionTable table_of(CommandLine& a) {
  return {
      .options = {
          {'c', "cluster", "FILE",
           "The cluster: an ares.yaml, the nodes of the openb trace (.csv), or swf for the machine "
           "that the log's header describes. Plugins of the scheduler that an ares.yaml names are "
           "loaded.",
           cli::set_text(a.cluster)},
          {'p', "policy", "KEY=VALUE",
           "Set a key of the section policy over the file, as in backfill=conservative. May be "
           "given several times.",
           append(a.policy)},
          {0, "view", "FILE",
           "Instead of running a workload, plan this dump of a controller's view (adiag "
           "dump-view) once, print the plan, and say whether it is the controller's own. Of the "
           "other options --policy and --json count.",
           cli::set_text(a.view)},
          {'e', "estimates", "KIND",
           "logged: jobs ask for the time that the log says. exact: for just as long as they run. "
           "Default: logged.",
           set_estimates(a.sim.exact_estimates)},
          {'o', "out", "DIR",
           "Write summary.json, jobs.csv and history.svg into this folder, which is made if need "
           "be.",
           cli::set_text(a.out)},
          {'n', "jobs", "N", "Replay only the first N jobs.", set_number(a.jobs, 1)},
          {0, "load", "FACTOR", "Submit jobs so many times faster than in the log.",
           set_load(a.load)},
          {0, "memory", "", "Let jobs ask for the memory that the log says.",
           cli::set_flag(a.sim.use_memory)},
          {0, "seed", "N", "Seed of all that is left to chance. Default: 1.",
           set_number(a.sim.seed)},
          {0, "node-mtbf", "TIME",
           "Let every node fail, after this time on the average. Default: they never do.",
           set_duration(a.sim.node_mtbf)},
          {0, "node-repair", "TIME", "How long a node that failed stays away. Default: an hour.",
           set_duration(a.sim.node_repair)},
          {0, "interval", "TIME", "Plan at most so often. Default: after everything that happens.",
           set_duration(a.sim.interval)},
          {0, "predict", "TIME",
           "Ask so often when every waiting job is expected to start, and report how wrong that "
           "was "
           "an hour before.",
           set_duration(a.sim.predict_every)},
          {0, "budget", "N",
           "Work that one pass may spend: tests of a job against a node. Default: the "
           "controller's.",
           set_number(a.sim.budget, 1)},
          {0, "json", "", "Print the summary as JSON.", cli::set_flag(a.json)},
          {'h', "help", "", "Print this text and stop.", cli::set_flag(a.help)},
          {'V', "version", "", "Print the version and stop.", cli::set_flag(a.version)},
      }};
}

cli::Manual manual() {
  return {
      .name = "asim",
      .summary = "replay a workload on a simulated cluster",
      .synopsis = {"run WORKLOAD --cluster=FILE [OPTION]...",
                   "--view=FILE [--policy=KEY=VALUE]... [--json]"},
      .description =
          {"Runs the controller's own engine and scheduler over virtual time: every job is "
           "submitted, planned, started and ended by the code that runs a real cluster. Nodes "
           "answer at once; there is no network, no database and no clock. The same workload, "
           "cluster and options give the same outcome.",
           "WORKLOAD is a log in the Standard Workload Format (.swf), a GPU trace (.csv: pods of "
           "Alibaba's openb, jobs of Philly, jobs of Helios, Theta and others with columns "
           "\"interval\" "
           "and \"gpu_num\"), both also packed with gzip, or a workload of our own "
           "(.yaml, see below).",
           "Of the configuration nodes, partitions, licences and policy count; what concerns "
           "daemons does not. min_job_age and request_retention count as zero."},
      .sections =
          {{"ODD JOBS",
            {"Left out and counted: jobs that were cancelled before they ran, that have no "
             "run time or no processors, and lines about a part of a job. Jobs that the "
             "controller refuses (larger than the machine, longer than the partition "
             "allows) are counted with its words.",
             "A job that ran longer than it had asked for ends at its limit, as it would "
             "on the cluster. One that ran for no time at all starts and ends at once. "
             "Where no time was asked for the run time stands for it. Jobs out of order "
             "are put into the order of their submission."}},
           {"WORKLOADS OF OUR OWN",
            [] {
              std::vector<std::string> keys = {
                  "A YAML file with one key, jobs: a list of kinds of jobs. Each is a map "
                  "of these keys:"};
              for (std::string& key : yaml_workload_keys()) keys.push_back(std::move(key));
              return keys;
            }()},
           {"FIGURES",
            {"wait: from submission to the first start. Bounded slowdown: "
             "max(1, (wait + run) / max(run, 10 s)). Percentiles are nearest ranks. "
             "utilisation: share of all CPUs in use from the first submission to the last "
             "end. gpu_fragmentation: share of the GPUs that are free while a job waits for "
             "some, over the same time. jain_users: Jain's index of the users' mean "
             "bounded slowdowns; 1 is even."}}},
      .examples = {{"asim run CTC-SP2.swf.gz --cluster=swf --policy=backfill=none",
                    "First come, first served on the machine of the log."},
                   {"asim run day.yaml --cluster=/etc/ares/ares.yaml --out=day",
                    "A day of our own on the cluster as it is configured."},
                   {"asim --view=now.view --policy=backfill=conservative",
                    "What a controller would start with another kind of backfill."}},
      .exit_status = {{"0", "Done."},
                      {"1",
                       "Refused or failed, or the plan of a dump is not the controller's; a line "
                       "on standard error says why."}},
      .see_also = {"adiag(1)", "ares.yaml(5)", "aresctld(8)"}};
}

}  // namespace ares::sim
