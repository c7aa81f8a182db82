#include "node/step_ledger.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

#include "base/hostlist.h"
#include "base/interval_set.h"
#include "base/printable.h"
#include "node/step_spec.h"

namespace ares::node {
namespace {

// Larger numbers than these are not those of a step, and sums of them must not overflow.
constexpr std::int64_t kMostAmount = std::int64_t{1} << 52;
constexpr std::uint32_t kMostCount = 1u << 24;
constexpr std::size_t kLiveEnded = 50;  // that have ended, of a running attempt

std::int64_t amount(std::int64_t value) {
  return std::clamp<std::int64_t>(value, 0, kMostAmount);
}

template <std::size_t N>
std::string text(const char (&bytes)[N]) {
  return printable(std::string_view(bytes, ::strnlen(bytes, N)));
}

// The names of the nodes with these ranks; empty if the text makes no sense.
std::string node_names(const std::string& ranks, const NodeLayout& layout) {
  if (layout.names.empty() || ranks.empty()) return {};
  const auto last = static_cast<std::uint32_t>(layout.names.size() - 1);
  const Result<IntervalSet> set = parse_interval_set(ranks, last);
  if (!set) return {};
  std::vector<std::string> names;
  for (const std::uint32_t rank : *set) names.push_back(layout.names[rank]);
  return compress_hostlist(names);
}

StepRecord record_of(const LedgerRow& row, const NodeLayout& layout) {
  StepRecord step;
  step.number = row.number;
  step.name = text(row.name);
  if (step.name.empty()) step.name = "unknown";  // each step of accounting has one
  const bool ended = row.use == LedgerRow::kEnded;
  const bool known = row.state <= static_cast<std::uint32_t>(kLastStepState);
  if (ended) step.state = known ? static_cast<StepState>(row.state) : StepState::failed;
  if (ended && step.state == StepState::running) step.state = StepState::cancelled;
  step.exit_code = std::clamp(row.exit_code, 0, 255);
  step.exit_signal = std::clamp(row.exit_signal, 0, 64);
  if (row.cancelled != 0) step.cancelled_by = UserId(row.cancelled_by);
  step.started = Time(Duration(amount(row.started)));
  if (ended) step.ended = std::max(step.started, Time(Duration(amount(row.ended))));
  step.steps = std::clamp(row.steps, 1u, kMostCount);
  step.tasks = std::min(row.tasks, kMostCount);
  step.cpus = std::min(row.cpus, kMostCount);
  step.nodes = std::min(row.nodes, static_cast<std::uint32_t>(layout.names.size()));
  step.node_list = node_names(text(row.ranks), layout);
  step.user_cpu = Duration(amount(row.user_cpu));
  step.system_cpu = Duration(amount(row.system_cpu));
  step.max_rss = Bytes(amount(row.max_rss));
  step.sum_rss = Bytes(amount(row.sum_rss));
  if (row.max_rss > 0 && row.max_rss_node < layout.names.size())
    step.max_rss_node = layout.names[row.max_rss_node];
  step.disk_read = Bytes(amount(row.disk_read));
  step.disk_written = Bytes(amount(row.disk_written));
  return step;
}

// None: it is not a ledger of this release.
std::unique_ptr<LedgerPage> page_of(std::string_view bytes) {
  auto page = std::make_unique<LedgerPage>();
  if (bytes.size() != sizeof(LedgerPage) ||
      !bytes.starts_with(std::string_view(page->magic, sizeof page->magic)))
    return nullptr;
  std::memcpy(page.get(), bytes.data(), bytes.size());
  return page;
}

// Ascending numbers. A step on one node may begin, and get its row, before one with a lower number on several nodes.
std::vector<StepRecord> records_of(const LedgerPage& page, const NodeLayout& layout) {
  std::vector<StepRecord> steps;
  for (std::size_t i = 0; i < std::min(page.used, kMostSteps); ++i) {
    const LedgerRow& row = page.rows[i];
    if (row.use != LedgerRow::kFree) steps.push_back(record_of(row, layout));
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepRecord& a, const StepRecord& b) { return a.number < b.number; });
  const auto repeated =
      std::unique(steps.begin(), steps.end(),
                  [](const StepRecord& a, const StepRecord& b) { return a.number == b.number; });
  steps.erase(repeated, steps.end());
  if (page.others.use != LedgerRow::kFree) {
    steps.push_back(record_of(page.others, layout));
    steps.back().number = kOtherSteps;
  }
  return steps;
}

std::optional<StepSpec> spec_in(const AttemptDir& dir) {
  const Result<std::string> text = dir.read(Record::spec);
  Result<StepSpec> spec = text ? decode_step_spec(*text) : fail(text.error());
  return spec ? std::optional(std::move(*spec)) : std::nullopt;
}

// What the attempt used on its first node, without what its steps used there. The memory is that of both:
// the kernel counts them together.
StepRecord batch_script(const AttemptReport& report, const LedgerPage& page, const StepSpec& spec) {
  StepRecord batch;
  batch.number = kBatchStep;
  batch.name = "batch";
  const ExitStatus& exit = report.exit;
  batch.state = exit.code != 0 || exit.signal != 0 ? StepState::failed : StepState::completed;
  batch.exit_code = exit.code;
  batch.exit_signal = exit.signal;
  batch.started = report.ran_since.value_or(Time{});
  batch.ended = report.ended_at;
  batch.tasks = batch.nodes = 1;
  batch.cpus = spec.launch.share.cpus;
  batch.node_list = spec.launch.node_name;
  batch.user_cpu = report.usage.user_cpu;
  batch.system_cpu = report.usage.system_cpu;
  const auto without = [&](const LedgerRow& row) {
    if (row.use == LedgerRow::kFree) return;
    batch.user_cpu -= std::min(batch.user_cpu, Duration(amount(row.first_user_cpu)));
    batch.system_cpu -= std::min(batch.system_cpu, Duration(amount(row.first_system_cpu)));
  };
  for (std::size_t i = 0; i < std::min(page.used, kMostSteps); ++i) without(page.rows[i]);
  without(page.others);
  batch.max_rss = batch.sum_rss = report.usage.max_rss;
  if (batch.max_rss > Bytes{}) batch.max_rss_node = spec.launch.node_name;
  batch.disk_read = report.usage.disk_read;
  batch.disk_written = report.usage.disk_written;
  return batch;
}

}  // namespace

std::vector<StepRecord> read_ledger(std::string_view bytes, const NodeLayout& layout) {
  const std::unique_ptr<LedgerPage> page = page_of(bytes);
  return page ? records_of(*page, layout) : std::vector<StepRecord>{};
}

std::vector<StepRecord> steps_at_end(const AttemptDir& dir, const AttemptReport& report) {
  const Result<std::string> bytes = dir.read(Record::steps);
  const std::unique_ptr<LedgerPage> page = bytes ? page_of(*bytes) : nullptr;
  const std::optional<StepSpec> spec = page ? spec_in(dir) : std::nullopt;
  if (!spec) return {};
  std::vector<StepRecord> steps = records_of(*page, *spec->launch.layout);
  if (steps.empty()) return {};
  for (StepRecord& step : steps) {
    if (step.ended) continue;
    step.ended = report.ended_at;
    step.state = StepState::cancelled;
    if (step.exit_code == 0 && step.exit_signal == 0) step.exit_signal = SIGKILL;
  }
  steps.insert(steps.begin(), batch_script(report, *page, *spec));
  return steps;
}

std::vector<StepRecord> steps_of_running(const AttemptDir& dir) {
  if (!dir.has(Record::steps)) return {};
  const Result<std::string> bytes = dir.read(Record::steps);
  const std::unique_ptr<LedgerPage> page = bytes ? page_of(*bytes) : nullptr;
  const std::optional<StepSpec> spec = page ? spec_in(dir) : std::nullopt;
  if (!spec) return {};
  std::vector<StepRecord> steps = records_of(*page, *spec->launch.layout);
  std::size_t ended = 0;
  for (const StepRecord& step : steps) ended += step.ended ? 1 : 0;
  std::erase_if(steps, [&](const StepRecord& step) {
    return step.ended && step.number != kOtherSteps && ended-- > kLiveEnded;
  });
  return steps;
}

}  // namespace ares::node
