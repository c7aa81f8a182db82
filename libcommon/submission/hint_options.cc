#include "submission/hint_options.h"

#include <algorithm>
#include <cstdint>
#include <string>

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
    {0, "ntasks-per-core", "COUNT", "arun places tasks by --distribution and --cpu-bind", true},
    {0, "ntasks-per-socket", "COUNT", "arun places tasks by --distribution and --cpu-bind", true},
    {0, "oom-kill-step", "[0|1]", "a process that the kernel ends for its memory ends the job"},
    {0, "profile", "KINDS", "no profile is kept; see astat(1) and aacct(1)"},
    {0, "resv-ports", "[COUNT]", "the job has one port of its own, in MASTER_PORT"},
    {0, "spread-job", "", "nodes are chosen by the partition's placement"},
    {0, "stepmgr", "", "the job's first node runs its steps, as of every job"},
    {0, "thread-spec", "COUNT", "no threads are set aside for the system within a job", true},
    {0, "tmp", "SIZE", "the size of a node's temporary disk is not looked at"},
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

// All soft limits of the caller are passed on.
cli::Option propagate(Submission& target) {
  return {
      0, "propagate", "[LIMITS]",
      "The job gets the resource limits of the shell, all of them; others than ALL are accepted "
      "with a warning.",
      [&target](const std::string& value) -> Status {
        if (!value.empty() && cli::upper(value) != "ALL")
          warn(target, "--propagate=" + value + " has no effect: all limits are passed on");
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

}  // namespace ares::submission
