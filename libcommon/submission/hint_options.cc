#include "submission/hint_options.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/spec_values.h"

namespace ares::submission {
namespace {

constexpr std::int64_t kMost = 1'000'000'000;

void warn(Submission& target, const std::string& text) {
  auto& all = target.warnings;
  if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
}

struct Hint {
  char letter;
  const char* name;
  const char* argument;
  const char* instead;  // what Ares does, for the manual and the warning
  bool number = false;
};

// An argument in brackets may be left out.
constexpr Hint kHints[] = {
    {0, "acctg-freq", "INTERVALS", "usage is sampled as often as the node's daemon does it"},
    {0, "contiguous", "", "nodes are chosen by the partition's topology; see --switches"},
    {'S', "core-spec", "COUNT", "no cores are set aside for the system within a job", true},
    {0, "cpu-freq", "FREQUENCY", "the CPUs run as the machine has set them"},
    {0, "delay-boot", "MINUTES", "no node is booted for a job"},
    {0, "get-user-env", "[TIMEOUT]", "the job gets the environment of the caller; see --export"},
    {0, "gpu-freq", "FREQUENCY", "the GPUs run as the machine has set them"},
    {0, "gres-flags", "FLAGS",
     "CPUs near the job's GPUs are taken first, and others where these do not suffice"},
    {0, "ignore-pbs", "", "lines that begin with #PBS are comments"},
    {0, "mcs-label", "LABEL",
     "jobs have no labels; --exclusive=user shares nodes with no other user"},
    {0, "network", "TYPE", "the job uses the networks that its programs choose"},
    {'k', "no-kill", "[off]", "a job ends when one of its nodes fails; see --spare-nodes"},
    {0, "ntasks-per-socket", "COUNT", "give it to arun, which binds the tasks of a step so", true},
    {0, "oom-kill-step", "[0|1]", "a process that the kernel ends for its memory ends the job"},
    {0, "profile", "KINDS", "no profile is kept; see astat(1) and aacct(1)"},
    {0, "resv-ports", "[COUNT]", "the job has one port of its own, in MASTER_PORT"},
    {0, "spread-job", "", "nodes are chosen by the partition's placement"},
    {0, "stepmgr", "", "the job's first node runs its steps, as of every job"},
    {0, "thread-spec", "COUNT", "no threads are set aside for the system within a job", true},
    {0, "use-min-nodes", "", "how many of a range of nodes a job gets is left to the scheduler"},
};

Status check(const Hint& hint, const std::string& value) {
  if (!hint.number) return {};
  const auto number = cli::parse_integer(value, 0, kMost);
  return number ? Status{} : fail(number.error());
}

cli::Option row_of(const Hint& hint, Submission& target) {
  return {hint.letter, hint.name, hint.argument,
          std::string("Accepted with a warning: ") + hint.instead + ".",
          [&target, &hint](const std::string& value) -> Status {
            if (Status good = check(hint, value); !good) return good;
            warn(target, std::string("--") + hint.name + " has no effect: " + hint.instead);
            return {};
          }};
}

constexpr std::pair<std::string_view, int> kLimits[] = {
    {"AS", RLIMIT_AS},         {"CORE", RLIMIT_CORE},   {"CPU", RLIMIT_CPU},
    {"DATA", RLIMIT_DATA},     {"FSIZE", RLIMIT_FSIZE}, {"MEMLOCK", RLIMIT_MEMLOCK},
    {"NOFILE", RLIMIT_NOFILE}, {"NPROC", RLIMIT_NPROC}, {"RSS", RLIMIT_RSS},
    {"STACK", RLIMIT_STACK},
};

Status set_propagated(Submission& target, const std::string& text) {
  const std::string all = cli::upper(text);
  target.propagated.reset();
  if (all.empty() || all == "ALL") return {};
  std::vector<int> chosen;
  for (const std::string& word : cli::split(all == "NONE" ? "" : all, ',')) {
    const std::string name = word.starts_with("RLIMIT_") ? word.substr(7) : word;
    const auto* const found = std::find_if(std::begin(kLimits), std::end(kLimits),
                                           [&](const auto& row) { return row.first == name; });
    if (found == std::end(kLimits))
      return fail(
          ErrorCode::invalid_argument,
          quote(word) + " is not a limit; use ALL, NONE, or names such as NOFILE and STACK");
    chosen.push_back(found->second);
  }
  target.propagated = std::move(chosen);
  return {};
}

cli::Option propagate(Submission& target) {
  return {0, "propagate", "[LIMITS]",
          "Resource limits of the shell that the job gets: ALL (the default), NONE, or some of AS, "
          "CORE, CPU, DATA, FSIZE, MEMLOCK, NOFILE, NPROC, RSS and STACK, separated by commas. "
          "Others are those of the node's daemon.",
          [&target](const std::string& text) { return set_propagated(target, text); }};
}

cli::Option tasks_per_core(Submission& target) {
  return {0, "ntasks-per-core", "COUNT",
          "With 1 each task has a core for itself, as with --hint=nomultithread. More is accepted "
          "with a warning.",
          [&target](const std::string& value) -> Status {
            const auto number = cli::parse_integer(value, 1, kMost);
            if (!number) return fail(number.error());
            target.tasks_per_core = static_cast<std::uint32_t>(*number);
            return {};
          }};
}

cli::Option least_cpus(Submission& target) {
  return {
      0, "mincpus", "COUNT",
      "CPUs that each node has for the job. With -c and --ntasks-per-node it is so anyway; else "
      "it is accepted with a warning.",
      [&target](const std::string& value) -> Status {
        const auto number = cli::parse_integer(value, 0, kMost);
        if (!number) return fail(number.error());
        target.least_cpus = static_cast<std::uint32_t>(*number);
        return {};
      }};
}

// As every job does.
cli::Option wait_all_nodes() {
  return {0, "wait-all-nodes", "0|1",
          "The script starts when all nodes are ready, as it always does.",
          [](const std::string& value) -> Status {
            const auto number = cli::parse_integer(value, 0, 1);
            return number ? Status{} : fail(number.error());
          }};
}

cli::Option oversubscribe() {
  cli::Option row{'s', "oversubscribe", "",
                  "Other jobs may use the rest of the nodes, as they may of every job without "
                  "--exclusive.",
                  [](const std::string&) { return Status(); }};
  row.aliases = {"share"};
  row.excludes = {"exclusive"};
  return row;
}

}  // namespace

std::vector<cli::Option> hint_options(Submission& target) {
  std::vector<cli::Option> rows;
  for (const Hint& hint : kHints) rows.push_back(row_of(hint, target));
  rows.push_back(least_cpus(target));
  rows.push_back(oversubscribe());
  rows.push_back(propagate(target));
  rows.push_back(tasks_per_core(target));
  rows.push_back(wait_all_nodes());
  std::sort(rows.begin(), rows.end(),
            [](const cli::Option& a, const cli::Option& b) { return a.name < b.name; });
  return rows;
}

void check_least_cpus(Submission& target) {
  const api::JobSpec& spec = target.spec;
  const std::uint64_t tasks = std::max(spec.tasks_per_node(), 1u);
  const std::uint64_t each = tasks * std::max(spec.cpus_per_task(), 1u);
  if (target.least_cpus <= each || spec.exclusive()) return;
  warn(target, "--mincpus=" + std::to_string(target.least_cpus) +
                   " has no effect: the job is sure of " + std::to_string(each) +
                   (each == 1 ? " CPU" : " CPUs") + " on a node; see -c and --ntasks-per-node");
}

void complete_tasks_per_core(Submission& target) {
  if (target.tasks_per_core == 0) return;
  const api::Binding& binding = target.spec.binding();
  const std::string option = "--ntasks-per-core=" + std::to_string(target.tasks_per_core);
  if (target.tasks_per_core > 1)
    warn(target, option + " has no effect: a task has hardware threads of its own, of any core");
  else if (binding.threads_per_core() > 1 || cli::lower(binding.hint()) == "multithread")
    warn(target, option +
                     " has no effect beside an option that lets tasks use several hardware "
                     "threads of a core");
  else if (binding.hint().empty())
    target.spec.mutable_binding()->set_threads_per_core(1);
}

void drop_other_limits(const Submission& target, api::JobSpec& spec) {
  if (!target.propagated) return;
  auto& limits = *spec.mutable_limits();
  limits.erase(std::remove_if(limits.begin(), limits.end(),
                              [&](const auto& limit) {
                                return std::find(target.propagated->begin(),
                                                 target.propagated->end(),
                                                 limit.resource()) == target.propagated->end();
                              }),
               limits.end());
}

}  // namespace ares::submission
