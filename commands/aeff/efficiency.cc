#include "aeff/efficiency.h"

#include <algorithm>
#include <cstdio>

#include "aacct/values.h"
#include "base/duration.h"
#include "base/units.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"
#include "model/job/gpu_part.h"
#include "model/job/job.h"

namespace ares::aeff {
namespace {

class Lines {
 public:
  void add(const char* name, const std::string& value) {
    text_ += std::string(name) + ": " + value + "\n";
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string percent(double part, double whole) {
  if (whole <= 0) return "0.00%";
  char text[32];
  std::snprintf(text, sizeof text, "%.2f%%", 100 * part / whole);
  return text;
}

std::string state_of(const api::AccountingRow& row) {
  std::string text = aacct::state_text(row);
  const auto state = parse_job_state(row.state());
  if (!state || !is_terminal(*state)) return text;
  text += " (exit code " + std::to_string(row.exit_code());
  if (row.exit_signal() != 0) text += ", signal " + std::to_string(row.exit_signal());
  return text + ")";
}

void add_cpus(const api::AccountingRow& row, Seconds elapsed, Lines& out) {
  const std::uint32_t nodes = std::max(row.node_count(), 1u);
  out.add("Nodes", std::to_string(row.node_count()));
  out.add("Cores per node", std::to_string(row.cpus() / nodes));
  const double used = static_cast<double>(row.user_cpu() + row.system_cpu()) / 1e6;
  const Seconds had(elapsed.count() * row.cpus());
  out.add("CPU Utilized", format_duration(Seconds(static_cast<std::int64_t>(used))));
  out.add("CPU Efficiency", percent(used, static_cast<double>(had.count())) + " of " +
                                format_duration(had) + " core-walltime");
}

void add_memory(const api::AccountingRow& row, Lines& out) {
  const std::uint32_t nodes = std::max(row.node_count(), 1u);
  const std::int64_t had = (aacct::tres_amount(row.allocated_tres(), "mem") << 20) / nodes;
  out.add("Memory Utilized", format_memory_short(Bytes(row.max_rss())) +
                                 (nodes > 1 ? " (of the node with the most)" : ""));
  out.add("Memory Efficiency",
          had == 0 ? "no memory was reserved for it"
                   : percent(static_cast<double>(row.max_rss()), static_cast<double>(had)) +
                         " of " + format_memory_short(Bytes(had)) + (nodes > 1 ? " a node" : ""));
}

void add_gpus(const api::AccountingRow& row, Seconds elapsed, Lines& out) {
  const std::int64_t held = aacct::tres_thousandths(row.allocated_tres(), "gres/gpu");
  if (held == 0) return;
  out.add("GPUs", format_thousandths(held));
  out.add("GPU Efficiency", "not measured; they were held for " +
                                format_duration(Seconds(elapsed.count() * held / kWholeGpu)) +
                                " GPU-walltime");
}

}  // namespace

std::string describe(const api::AccountingRow& row, const std::string& cluster, Time now) {
  Lines out;
  const JobKey key = cli::key_of(row.key());
  out.add("Job ID", std::to_string(row.own_id()));
  if (!key.task.is_none()) out.add("Array Job ID", cli::format_job_id(key));
  out.add("Cluster", cluster);
  out.add("User/Group",
          row.user() + "/" + (row.group().empty() ? std::to_string(row.gid()) : row.group()));
  out.add("State", state_of(row));
  if (row.started() == 0) {
    out.add("Efficiency", "it never ran");
    return out.take();
  }
  const Seconds elapsed = aacct::elapsed(row, now);
  const bool ended = row.ended() != 0;
  if (ended)
    add_cpus(row, elapsed, out);
  else
    out.add("CPU Efficiency", "known when it has ended; astat -j " + cli::format_job_id(key) +
                                  " tells what it uses now");
  out.add("Job Wall-clock time", format_duration(elapsed));
  if (ended) add_memory(row, out);
  add_gpus(row, elapsed, out);
  return out.take();
}

}  // namespace ares::aeff
