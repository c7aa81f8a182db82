#include "asim/report.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "cli/output/json.h"
#include "model/job/gpu_part.h"

namespace ares::sim {
namespace {

std::string number(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string quoted(const std::string& text) {
  std::string out;
  cli::put_json_text(text, out);
  return out;
}

std::string counts_json(const std::map<std::string, std::uint64_t>& counts) {
  std::string out;
  for (const auto& [what, count] : counts)
    out += (out.empty() ? "" : ", ") + quoted(what) + ": " + std::to_string(count);
  return "{" + out + "}";
}

std::string seconds_since(Time origin, std::optional<Time> at) {
  if (!at) return "";
  return std::to_string(std::chrono::duration_cast<Seconds>(*at - origin).count());
}

}  // namespace

std::string summary_text(const std::vector<Setting>& settings, const Workload& workload,
                         const Outcome& outcome, const std::vector<Row>& rows) {
  std::string out;
  for (const Setting& setting : settings) out += setting.name + ": " + setting.value + "\n";
  out += "\n";
  for (const Row& row : rows) {
    std::string value = row.value ? number(*row.value, row.decimals) : "-";
    if (row.value && !row.unit.empty()) value += " " + row.unit;
    char line[160];
    std::snprintf(line, sizeof line, "%18s  %s\n", value.c_str(), row.label.c_str());
    out += line;
  }
  const auto list = [&](const char* title, const std::map<std::string, std::uint64_t>& counts) {
    if (!counts.empty()) out += std::string("\n") + title + "\n";
    for (const auto& [what, count] : counts) {
      char line[160];
      std::snprintf(line, sizeof line, "%18llu  ", static_cast<unsigned long long>(count));
      out += line + what + "\n";
    }
  };
  list("Left out of the log:", workload.left_out);
  list("Of the jobs read:", workload.notes);
  if (!outcome.refused.empty()) out += "\nRefused by the controller, the first of each kind:\n";
  for (const auto& [what, refusal] : outcome.refused) {
    char line[64];
    std::snprintf(line, sizeof line, "%18llu  ", static_cast<unsigned long long>(refusal.jobs));
    out += line + refusal.first + "\n";
  }
  return out;
}

std::string summary_json(const std::vector<Setting>& settings, const Workload& workload,
                         const Outcome& outcome, const std::vector<Row>& rows) {
  std::string out = "{\n";
  for (const Setting& setting : settings)
    out += "  " + quoted(setting.name) + ": " + quoted(setting.value) + ",\n";
  for (const Row& row : rows)
    out += "  " + quoted(row.name) + ": " +
           (row.value ? number(*row.value, std::max(row.decimals, 3)) : "null") + ",\n";
  std::map<std::string, std::uint64_t> refused;
  for (const auto& [what, refusal] : outcome.refused) refused[refusal.first] = refusal.jobs;
  out += "  \"left_out_why\": " + counts_json(workload.left_out) + ",\n";
  out += "  \"read_as\": " + counts_json(workload.notes) + ",\n";
  out += "  \"refused_why\": " + counts_json(refused) + "\n}\n";
  return out;
}

std::string jobs_csv(const Workload& workload, const Outcome& outcome) {
  std::string out =
      "job,user,submit,start,end,state,nodes,cpus,gpus,limit,run,wait,bounded_slowdown,restarts,"
      "predicted_start\n";
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const WorkJob& request = workload.jobs[i];
    const JobOutcome& job = outcome.jobs[i];
    const Time submitted = workload.origin + request.submit;
    const auto slowdown = bounded_slowdown(job, submitted);
    const std::string cells[] = {std::to_string(request.number),
                                 std::to_string(request.user),
                                 std::to_string(request.submit.count()),
                                 seconds_since(workload.origin, job.start),
                                 job.start ? seconds_since(workload.origin, job.end) : "",
                                 job.accepted ? std::string(to_string(job.state)) : "REFUSED",
                                 std::to_string(job.nodes),
                                 std::to_string(job.cpus),
                                 format_thousandths(job.gpus),
                                 request.limit ? std::to_string(request.limit->count()) : "",
                                 std::to_string(request.run.count()),
                                 seconds_since(submitted, job.start),
                                 slowdown ? number(*slowdown, 3) : "",
                                 std::to_string(job.restarts),
                                 seconds_since(workload.origin, job.predicted)};
    bool first = true;
    for (const std::string& cell : cells) {
      if (!std::exchange(first, false)) out += ',';
      out += cell;
    }
    out += '\n';
  }
  return out;
}

Status write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file)
    return fail(ErrorCode::permission_denied,
                "cannot write " + path + ": " + std::strerror(errno ? errno : EIO));
  return {};
}

}  // namespace ares::sim
