#include "aacct/fields.h"

#include <algorithm>
#include <cstdio>

#include "base/duration.h"
#include "base/timespec.h"
#include "base/units.h"
#include "cli/job_ids.h"
#include "cli/table.h"
#include "cli/text.h"
#include "config/suggest.h"

namespace ares::aacct {
namespace {

std::string time_text(std::int64_t micros, const char* none = "Unknown") {
  return micros == 0 ? none : format_local_time(Time(Duration(micros)));
}

Seconds elapsed(const Row& row) {
  if (row.job->started() == 0) return Seconds(0);
  const std::int64_t end = row.job->ended() ? row.job->ended() : row.now.time_since_epoch().count();
  return Seconds(std::max<std::int64_t>(0, (end - row.job->started()) / 1'000'000));
}

// Below an hour with milliseconds, as short jobs would all read 0 otherwise.
std::string cpu_text(std::int64_t micros) {
  const std::int64_t seconds = micros / 1'000'000;
  if (seconds >= 3600) return format_duration(Seconds(seconds));
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%02jd:%02jd.%03jd", static_cast<intmax_t>(seconds / 60),
                static_cast<intmax_t>(seconds % 60), static_cast<intmax_t>(micros / 1000 % 1000));
  return buffer;
}

std::string state_text(const api::AccountingRow& row) {
  if (row.state() == "CANCELLED" && row.has_cancelled_by())
    return "CANCELLED by " + std::to_string(row.cancelled_by());
  return row.state();
}

std::string planned_text(const Row& row) {
  if (row.job->eligible() == 0) return "Unknown";
  const std::int64_t end = row.job->started() ? row.job->started()
                           : row.job->ended() ? row.job->ended()
                                              : row.now.time_since_epoch().count();
  return format_duration(
      Seconds(std::max<std::int64_t>(0, (end - row.job->eligible()) / 1'000'000)));
}

std::string count(std::uint64_t number) {
  return std::to_string(number);
}

}  // namespace

std::string id_text(const api::AccountingRow& row) {
  return cli::format_job_id(cli::key_of(row.key()));
}

const std::vector<Field>& fields() {
  using R = const Row&;
  static const std::vector<Field> all = {
      {"JobID", -12, "id of the job; of an array's task ID_TASK",
       [](R r) { return id_text(*r.job); }, true},
      {"JobIDRaw", -12, "the job's own number, also of an array's task",
       [](R r) { return count(r.job->own_id()); }, true},
      {"JobName", 10, "name", [](R r) { return cli::printable(r.job->name()); }},
      {"Partition", 10, "partition it ran in", [](R r) { return r.job->partition(); }},
      {"Account", 10, "account", [](R r) { return r.job->account(); }},
      {"QOS", 10, "quality of service", [](R r) { return r.job->qos(); }},
      {"User", 9, "whose it is", [](R r) { return r.job->user(); }},
      {"UID", 6, "the user's number", [](R r) { return count(r.job->uid()); }},
      {"State", 10, "state; of a cancelled job with the uid of who cancelled it",
       [](R r) { return state_text(*r.job); }},
      {"Reason", 22, "why it ended", [](R r) { return cli::printable(r.job->reason()); }},
      {"ExitCode", 8, "exit code of the script and the signal that ended it",
       [](R r) {
         return std::to_string(r.job->exit_code()) + ":" + std::to_string(r.job->exit_signal());
       }},
      {"AllocCPUS", 10, "CPUs it had", [](R r) { return count(r.job->cpus()); }},
      {"NCPUS", 10, "the same", [](R r) { return count(r.job->cpus()); }},
      {"AllocNodes", 10, "nodes it had", [](R r) { return count(r.job->node_count()); }},
      {"NNodes", 8, "the same", [](R r) { return count(r.job->node_count()); }},
      {"NodeList", 15, "names of the nodes",
       [](R r) { return r.job->node_list().empty() ? "None assigned" : r.job->node_list(); }},
      {"AllocTRES", 20, "all resources it had", [](R r) { return r.job->allocated_tres(); }},
      {"ReqTRES", 20, "all resources it asked for", [](R r) { return r.job->requested_tres(); }},
      {"Submit", 19, "when it was submitted", [](R r) { return time_text(r.job->submitted()); }},
      {"Eligible", 19, "since when it could have run",
       [](R r) { return time_text(r.job->eligible()); }},
      {"Start", 19, "when its script was started",
       [](R r) { return time_text(r.job->started(), r.job->ended() ? "None" : "Unknown"); }},
      {"End", 19, "when it ended", [](R r) { return time_text(r.job->ended()); }},
      {"Elapsed", 10, "from start to end", [](R r) { return format_duration(elapsed(r)); }},
      {"ElapsedRaw", 10, "the same in seconds",
       [](R r) { return std::to_string(elapsed(r).count()); }},
      {"Planned", 10, "how long it waited", [](R r) { return planned_text(r); }},
      {"Timelimit", 10, "its time limit",
       [](R r) {
         return format_time_limit(r.job->has_time_limit() && r.job->time_limit() > 0
                                      ? TimeLimit(Seconds(r.job->time_limit()))
                                      : TimeLimit{});
       }},
      {"CPUTime", 10, "Elapsed times CPUs",
       [](R r) { return format_duration(elapsed(r) * r.job->cpus()); }},
      {"CPUTimeRAW", 10, "the same in seconds",
       [](R r) { return std::to_string(elapsed(r).count() * r.job->cpus()); }},
      {"TotalCPU", 10, "CPU time its processes used",
       [](R r) { return cpu_text(r.job->user_cpu() + r.job->system_cpu()); }},
      {"UserCPU", 10, "of that, in the programs", [](R r) { return cpu_text(r.job->user_cpu()); }},
      {"SystemCPU", 10, "of that, in the kernel",
       [](R r) { return cpu_text(r.job->system_cpu()); }},
      {"MaxRSS", 10, "most memory it used on one node",
       [](R r) {
         return r.job->max_rss() ? format_memory_short(Bytes(r.job->max_rss())) : std::string();
       }},
      {"Restarts", 8, "how often it was started again",
       [](R r) { return count(r.job->restarts()); }},
      {"Attempt", 8, "number of this attempt", [](R r) { return count(r.job->attempt()); }},
      {"WorkDir", 20, "folder it ran in", [](R r) { return cli::printable(r.job->work_dir()); }},
      {"SubmitHost", 15, "machine it was submitted from",
       [](R r) { return cli::printable(r.job->submit_host()); }},
  };
  return all;
}

Result<std::vector<Chosen>> parse_fields(const std::string& list) {
  std::vector<Chosen> chosen;
  for (const std::string& item : cli::split(list, ',')) {
    if (item.empty()) continue;
    const std::size_t percent = item.find('%');
    const std::string name = item.substr(0, percent);
    const auto found = std::find_if(fields().begin(), fields().end(), [&](const Field& field) {
      return cli::lower(field.name) == cli::lower(name);
    });
    if (found == fields().end()) {
      std::vector<std::string> names;
      for (const Field& field : fields()) names.push_back(field.name);
      const std::string meant = config::suggestion(name, names);
      return fail(
          ErrorCode::invalid_argument,
          "unknown field \"" + name + "\"" + (meant.empty() ? "; -e lists the fields" : meant));
    }
    int width = found->width;
    if (percent != std::string::npos) {
      const auto given = cli::parse_integer(item.substr(percent + 1), -1000, 1000);
      if (!given || *given == 0)
        return fail(ErrorCode::invalid_argument, "field \"" + item + "\": expected NAME%WIDTH");
      width = static_cast<int>(*given);
    }
    chosen.push_back({&*found, width});
  }
  if (chosen.empty()) return fail(ErrorCode::invalid_argument, "no field is named");
  return chosen;
}

}  // namespace ares::aacct
