#include "asim/gpu_trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string_view>

#include "model/job/gpu_part.h"

namespace ares::sim {
namespace {

// A CSV file read by column names. No column in these traces has quotes.
class Table {
 public:
  static Result<Table> open(Lines lines) {
    Table table(std::move(lines));
    std::string header;
    const Result<bool> more = table.lines_.next(header);
    if (!more) return fail(more.error());
    std::size_t column = 0;
    for (const std::string_view name : split(header))
      table.columns_.emplace(std::string(name), column++);
    return table;
  }

  bool has(const std::string& column) const { return columns_.contains(column); }
  const Lines& lines() const { return lines_; }

  Result<bool> next() {
    for (;;) {
      Result<bool> more = lines_.next(line_);
      if (!more || !*more) return more;
      if (line_.empty()) continue;
      words_ = split(line_);
      if (words_.size() == columns_.size()) return true;
      return fail(lines_.at_line("expected " + std::to_string(columns_.size()) +
                                 " columns, found " + std::to_string(words_.size())));
    }
  }

  // Empty if the file has no such column.
  std::string_view text(const std::string& column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() ? std::string_view{} : words_[found->second];
  }

  // nullopt if the text is not a number.
  std::optional<double> number(const std::string& column) const {
    const std::string_view word = text(column);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(value) ||
        std::abs(value) > 1e12)
      return std::nullopt;
    return value;
  }

 private:
  explicit Table(Lines lines) : lines_(std::move(lines)) {}

  static std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> words;
    for (;;) {
      const std::size_t comma = std::min(line.find(','), line.size());
      words.push_back(line.substr(0, comma));
      if (comma == line.size()) return words;
      line.remove_prefix(comma + 1);
    }
  }

  Lines lines_;
  std::map<std::string, std::size_t> columns_;
  std::string line_;
  std::vector<std::string_view> words_;
};

// One JobSpec for all jobs with equal requests.
class SpecTable {
 public:
  explicit SpecTable(Workload& out) : out_(out) {}
  std::uint32_t of(const std::string& key, const JobSpec& spec) {
    const auto [found, added] =
        known_.try_emplace(key, static_cast<std::uint32_t>(out_.specs.size()));
    if (added) out_.specs.push_back(spec);
    return found->second;
  }

 private:
  Workload& out_;
  std::map<std::string, std::uint32_t> known_;
};

std::uint32_t count_of(double value) {
  return static_cast<std::uint32_t>(std::clamp(std::ceil(value), 0.0, 1e6));
}

// "G2|T4" means any of these models. Nodes have their model as a feature too.
void ask_for_models(JobSpec& spec, const std::string& models) {
  if (models.empty() || spec.gpus_per_node.empty()) return;
  if (models.find('|') == std::string::npos)
    spec.gpus_per_node.front().type = models;
  else
    spec.features = {models};
}

// The request of a pod.
JobSpec pod_spec(double cpus, double memory, double gpus, double share, const std::string& models) {
  JobSpec spec;
  spec.name = "pod";
  spec.cpus_per_task = std::max(1u, count_of(cpus / 1000));
  if (memory > 0) spec.memory_per_node = Bytes::mib(static_cast<std::int64_t>(memory));
  if (gpus == 1 && share >= 1 && share < kWholeGpu)
    spec.gpus_per_node = {{"", 0, count_of(share)}};
  else if (gpus > 0)
    spec.gpus_per_node = {{"", count_of(gpus)}};
  ask_for_models(spec, models);
  return spec;
}

Result<Workload> read_openb(Table table) {
  Workload out;
  out.has_times = table.has("creation_time");
  SpecTable specs(out);
  for (;;) {
    const Result<bool> more = table.next();
    if (!more) return fail(more.error());
    if (!*more) return out;
    const auto cpus = table.number("cpu_milli"), memory = table.number("memory_mib"),
               gpus = table.number("num_gpu"), share = table.number("gpu_milli"),
               from = out.has_times ? table.number("creation_time") : 0,
               to = out.has_times ? table.number("deletion_time") : 0;
    if (!cpus || !memory || !gpus || !share || !from)
      return fail(table.lines().at_line("a column that must be a number is none"));
    const double started = table.number("scheduled_time").value_or(*from);
    if (!to || *to < started) {
      ++out.left_out["no end in the trace"];
      continue;
    }
    const std::string models(table.text("gpu_spec"));
    const JobSpec spec = pod_spec(*cpus, *memory, *gpus, *share, models);
    const bool part = !spec.gpus_per_node.empty() && spec.gpus_per_node.front().part > 0;
    WorkJob job;
    job.number = out.jobs.size() + 1;
    job.submit = Seconds(std::llround(*from));
    job.run = Seconds(std::llround(*to - started));
    job.spec_index = specs.of(std::string(table.text("cpu_milli")) + "/" +
                                  std::string(table.text("memory_mib")) + "/" +
                                  std::string(table.text("num_gpu")) + "/" +
                                  std::string(part ? table.text("gpu_milli") : "") + "/" + models,
                              spec);
    out.jobs.push_back(job);
  }
}

// "2017-10-09 07:01:55", interpreted as UTC.
std::optional<Seconds> wall_time(std::string_view text) {
  const auto part = [&](std::size_t at, std::size_t length) -> int {
    int value = -1;
    if (text.size() >= at + length)
      std::from_chars(text.data() + at, text.data() + at + length, value);
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(part(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(part(8, 2)))};
  const int hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  if (!day.ok() || hour < 0 || minute < 0 || second < 0) return std::nullopt;
  return std::chrono::duration_cast<Seconds>(std::chrono::sys_days(day).time_since_epoch() +
                                             std::chrono::hours(hour) +
                                             std::chrono::minutes(minute) + Seconds(second));
}

// Machines have eight GPUs; a job with more GPUs uses several machines.
constexpr std::uint32_t kPhillyNode = 8;

Result<Workload> read_philly(Table table) {
  Workload out;
  SpecTable specs(out);
  std::map<std::string, std::uint32_t> clusters;
  std::optional<Seconds> first;
  for (;;) {
    const Result<bool> more = table.next();
    if (!more) return fail(more.error());
    if (!*more) break;
    const auto at = wall_time(table.text("timestamp"));
    const auto run = table.number("duration"), gpus = table.number("num_gpus");
    if (!at || !run || !gpus)
      return fail(table.lines().at_line("timestamp, duration or num_gpus is not what it says"));
    if (*gpus < 1 || *run < 0) {
      ++out.left_out[*gpus < 1 ? "no GPUs" : "no run time"];
      continue;
    }
    const std::uint32_t count = count_of(*gpus);
    JobSpec spec;
    spec.name = "train";
    spec.min_nodes = (count + kPhillyNode - 1) / kPhillyNode;
    if (spec.min_nodes == 1)
      spec.gpus_per_node = {{"", count}};
    else
      spec.gpus_total = {{"", count}};
    WorkJob job;
    job.number = out.jobs.size() + 1;
    job.submit = *at;
    job.run = Seconds(std::llround(*run));
    job.tasks = spec.min_nodes;
    job.user = clusters
                   .try_emplace(std::string(table.text("cluster")),
                                static_cast<std::uint32_t>(clusters.size()))
                   .first->second;
    job.spec_index = specs.of(std::to_string(count), spec);
    first = std::min(first.value_or(job.submit), job.submit);
    out.jobs.push_back(job);
  }
  out.origin = Time{first.value_or(Seconds{})};
  for (WorkJob& job : out.jobs) job.submit -= first.value_or(Seconds{});
  return out;
}

// One job of a list in which every job stands after the time since the one before it. The counts are over all its nodes.
std::optional<WorkJob> listed_job(const Table& table, Seconds submit, JobSpec& spec) {
  const auto gpus = table.number("gpu_num"), cpus = table.number("cpu_num"),
             nodes = table.number("node_num"), run = table.number("run_time"),
             wall = table.number("wall_time"), user = table.number("user");
  if (!gpus || !cpus || !nodes || !run || !wall || !user || *nodes < 1 || *run < 0 || *user < 0)
    return std::nullopt;
  spec.name = "job";
  spec.min_nodes = count_of(*nodes);
  spec.cpus_per_task = std::max(1u, count_of(*cpus / *nodes));
  if (*gpus > 0) spec.gpus_per_node = {{"", count_of(*gpus / *nodes)}};
  WorkJob job;
  job.submit = submit;
  job.run = Seconds(std::llround(*run));
  job.tasks = spec.min_nodes;
  job.user = count_of(*user);
  if (*wall > 0)
    job.limit = std::chrono::ceil<std::chrono::minutes>(
        Seconds(static_cast<std::int64_t>(std::ceil(*wall))));
  return job;
}

// Jobs of Helios, Philly, Theta and Blue Waters in one form: times are relative, a wall_time of 0 is not known.
Result<Workload> read_intervals(Table table) {
  Workload out;
  SpecTable specs(out);
  Seconds submit{};
  for (;;) {
    const Result<bool> more = table.next();
    if (!more) return fail(more.error());
    if (!*more) return out;
    JobSpec spec;
    const auto interval = table.number("interval");
    if (!interval || *interval < 0)
      return fail(table.lines().at_line("the interval is not a number of seconds"));
    submit += Seconds(std::llround(*interval));
    auto job = listed_job(table, submit, spec);
    if (!job) return fail(table.lines().at_line("a column that must be a number is none"));
    job->number = out.jobs.size() + 1;
    job->spec_index =
        specs.of(std::string(table.text("gpu_num")) + "/" + std::string(table.text("cpu_num")) +
                     "/" + std::string(table.text("node_num")),
                 spec);
    out.jobs.push_back(*job);
  }
}

}  // namespace

Result<Workload> read_gpu_trace(Lines lines) {
  auto table = Table::open(std::move(lines));
  if (!table) return fail(table.error());
  const auto has = [&](std::initializer_list<const char*> columns) {
    return std::all_of(columns.begin(), columns.end(),
                       [&](const char* column) { return table->has(column); });
  };
  const bool timed = has({"creation_time", "scheduled_time", "deletion_time"});
  const bool timeless = !table->has("creation_time") && !table->has("deletion_time");
  if (has({"cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}) &&
      (timeless || (timed && table->has("gpu_spec"))))
    return read_openb(std::move(*table));
  if (table->has("timestamp") && table->has("duration") && table->has("num_gpus") &&
      table->has("cluster"))
    return read_philly(std::move(*table));
  if (has({"user", "gpu_num", "cpu_num", "node_num", "interval", "run_time", "wall_time"}))
    return read_intervals(std::move(*table));
  return fail(table->lines().at_line(
      "these columns are those of no list of jobs known here: openb's pods, Philly's jobs, or jobs "
      "with intervals (user, gpu_num, cpu_num, node_num, interval, run_time, wall_time)"));
}

Result<std::string> read_openb_nodes(Lines lines) {
  auto table = Table::open(std::move(lines));
  if (!table) return fail(table.error());
  for (const char* column : {"sn", "cpu_milli", "memory_mib", "gpu", "model"})
    if (!table->has(column))
      return fail(table->lines().at_line("no column \"" + std::string(column) +
                                         "\": this is no openb list of nodes"));
  std::string out = "nodes:\n";
  for (;;) {
    const Result<bool> more = table->next();
    if (!more) return fail(more.error());
    if (!*more) break;
    const auto cpus = table->number("cpu_milli"), memory = table->number("memory_mib"),
               gpus = table->number("gpu");
    if (!cpus || !memory || !gpus)
      return fail(table->lines().at_line("a column that must be a number is none"));
    out += "  - {name: \"" + std::string(table->text("sn")) +
           "\", cpus: " + std::to_string(count_of(*cpus / 1000)) +
           ", memory: " + std::to_string(std::llround(*memory)) + "M";
    const std::string model(table->text("model"));
    if (*gpus > 0 && !model.empty())
      out += ", gpus: \"" + model + ":" + std::to_string(count_of(*gpus)) + "\", features: [" +
             model + "]";
    out += "}\n";
  }
  return out + "partitions:\n  - {name: all, nodes: ALL}\n";
}

}  // namespace ares::sim
