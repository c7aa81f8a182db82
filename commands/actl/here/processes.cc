#include "actl/here/processes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "actl/command.h"
#include "base/printable.h"
#include "cli/values/step_ids.h"
#include "os/file.h"

namespace ares::actl {
namespace {

constexpr std::string_view kBatch = "batch";
constexpr const char* kOthers = "of other users' processes only root sees whose they are";

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

using Variables = std::map<std::string, std::string, std::less<>>;

// Those that the process was started with.
Variables variables_of(std::string_view environment) {
  Variables variables;
  while (!environment.empty()) {
    const std::string_view item = environment.substr(0, environment.find('\0'));
    environment.remove_prefix(std::min(item.size() + 1, environment.size()));
    const std::size_t equals = item.find('=');
    if (equals != std::string_view::npos && item.starts_with("ARES"))
      variables.emplace(item.substr(0, equals), item.substr(equals + 1));
  }
  return variables;
}

std::string value_of(const Variables& variables, std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

// The number of the process in its own namespace, where the job has one: the last of the line NSpid.
std::string inner_number(const std::string& status) {
  constexpr std::string_view kLine = "\nNSpid:";
  const std::size_t at = status.find(kLine);
  if (at == std::string::npos) return {};
  const std::size_t end = status.find('\n', at + 1);
  const std::string line = status.substr(at, end == std::string::npos ? end : end - at);
  return line.substr(line.find_last_of("\t :") + 1);
}

std::optional<JobProcess> look(const std::string& directory, pid_t pid) {
  const Result<std::string> environment = os::read_file(directory + "/environ");
  if (!environment) return std::nullopt;
  const Variables variables = variables_of(*environment);
  JobProcess found;
  found.job = value_of(variables, "ARES_JOB_ID");
  if (value_of(variables, "ARES_ATTEMPT_DIR").empty() || !number_of(found.job)) return std::nullopt;
  found.pid = pid;
  found.node = value_of(variables, "ARESD_NODENAME");
  if (const std::string array = value_of(variables, "ARES_ARRAY_JOB_ID"); !array.empty())
    found.array_task = array + "_" + value_of(variables, "ARES_ARRAY_TASK_ID");
  found.step = value_of(variables, "ARES_STEP_ID");
  if (found.step.empty()) found.step = kBatch;
  const Result<std::string> status = os::read_file(directory + "/status");
  const std::string task = value_of(variables, "ARES_TASK_PID");
  const bool is_task = status && !task.empty() && inner_number(*status) == task;
  found.local = is_task ? value_of(variables, "ARES_LOCALID") : "-";
  found.rank = is_task ? value_of(variables, "ARES_PROCID") : "-";
  return found;
}

// The batch script before the steps, and those by their numbers.
std::pair<std::uint64_t, std::uint64_t> order_of(const JobProcess& process) {
  const auto step = number_of(process.step);
  return {number_of(process.job).value_or(0), step ? *step + 1 : 0};
}

std::string shown(const JobProcess& process) {
  return process.array_task.empty() ? process.job : process.array_task;
}

// `operands`: [JOB[.STEP]] [NODE], or [NODE] alone.
Result<std::vector<JobProcess>> selected(const Words& operands, bool takes_job) {
  const std::size_t most = takes_job ? 2 : 1;
  if (operands.size() > most) return invalid("too many words");
  const std::string job = takes_job && !operands.empty() ? operands.front() : "";
  const std::string node = operands.size() == most ? operands.back() : "";
  auto found = processes_of(job_processes(), job, node);
  if (!found) return found;
  if (found->empty() && !job.empty() && job != "*")
    return fail(ErrorCode::not_found,
                "no process of " + quote(job) + " is seen on this machine; " + kOthers);
  return found;
}

void print_nothing(const Context& context) {
  if (!context.flags.quiet) std::printf("No processes of jobs are seen here; %s\n", kOthers);
}

}  // namespace

std::vector<JobProcess> job_processes(const std::string& proc) {
  std::vector<JobProcess> all;
  const Result<std::vector<std::string>> entries = os::list_directory(proc);
  if (!entries) return all;
  for (const std::string& entry : *entries) {
    const auto pid = number_of(entry);
    if (!pid) continue;
    if (auto found = look(proc + "/" + entry, static_cast<pid_t>(*pid)))
      all.push_back(std::move(*found));
  }
  std::sort(all.begin(), all.end(), [](const JobProcess& a, const JobProcess& b) {
    return std::tuple(order_of(a), a.pid) < std::tuple(order_of(b), b.pid);
  });
  return all;
}

Result<std::vector<JobProcess>> processes_of(std::vector<JobProcess> all, const std::string& wanted,
                                             const std::string& node) {
  const std::size_t dot = wanted.find('.');
  const std::string job = wanted.substr(0, dot);
  const std::string step = dot == std::string::npos ? "" : wanted.substr(dot + 1);
  const bool any = wanted.empty() || wanted == "*";
  if (!any)
    if (const auto ids = cli::parse_step_ids(wanted); !ids) return fail(ids.error());
  std::erase_if(all, [&](const JobProcess& process) {
    const bool is_of_job = any || process.job == job || process.array_task == job ||
                           process.array_task.starts_with(job + "_");
    return !is_of_job || (!step.empty() && process.step != step) ||
           (!node.empty() && process.node != node);
  });
  return all;
}

Result<int> list_processes(Context& context, const Words& operands) {
  const auto found = selected(operands, true);
  if (!found) return fail(found.error());
  if (found->empty()) return print_nothing(context), 0;
  std::puts("PID      JOBID    STEPID   LOCALID GLOBALID");
  for (const JobProcess& process : *found)
    std::printf("%-8d %-8s %-8s %-7s %s\n", process.pid, shown(process).c_str(),
                process.step.c_str(), process.local.c_str(), process.rank.c_str());
  return 0;
}

Result<int> list_jobs_here(Context& context, const Words& operands) {
  const auto found = selected(operands, false);
  if (!found) return fail(found.error());
  if (found->empty()) return print_nothing(context), 0;
  std::puts("JOBID");
  std::string before;
  for (const JobProcess& process : *found) {
    if (process.job != before) std::printf("%s\n", shown(process).c_str());
    before = process.job;
  }
  return 0;
}

Result<int> list_steps_here(Context& context, const Words& operands) {
  const auto found = selected(operands, false);
  if (!found) return fail(found.error());
  if (found->empty()) return print_nothing(context), 0;
  std::puts("JOBID    STEPID");
  std::pair<std::string, std::string> before;
  for (const JobProcess& process : *found) {
    const std::pair<std::string, std::string> step{process.job, process.step};
    if (step != before) std::printf("%-8s %s\n", shown(process).c_str(), process.step.c_str());
    before = step;
  }
  return 0;
}

}  // namespace ares::actl
