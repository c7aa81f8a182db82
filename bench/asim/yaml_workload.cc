#include "asim/yaml_workload.h"

#include <charconv>
#include <cmath>

#include "asim/lines.h"
#include "base/random.h"
#include "config/fields.h"
#include "config/types.h"
#include "model/job/gpu_part.h"

namespace ares::sim {
namespace {

using config::CheckResult;
using config::Field;
using config::field;
using config::Type;
using config::Value;

// One number, or a range to draw from.
struct Range {
  double low = 1, high = 1;
  double draw(Random& random) const { return low < high ? random.log_uniform(low, high) : low; }
};

struct Kind {
  std::string name = "job";
  std::string user = "user1";
  std::uint32_t users = 1;
  Seconds submit{0};
  std::uint32_t count = 1;
  Range every{0, 0};
  std::string arrivals = "fixed";
  Range run{1, 1};
  std::optional<Seconds> limit;
  Range overestimate{1, 1};
  Range tasks{1, 1};
  std::uint32_t nodes = 1;
  std::uint32_t cpus_per_task = 1;
  Bytes memory_per_cpu{};
  Bytes memory_per_node{};
  std::vector<GpuRequest> gpus;
  bool exclusive = false;
  std::vector<std::string> partitions;
  std::string constraint;
  std::uint32_t gang = 1;
};

Result<double> seconds_or_number(const Value& value, bool time) {
  double number = 0;
  const char* end = value.text.data() + value.text.size();
  if (const auto [rest, error] = std::from_chars(value.text.data(), end, number);
      value.kind == Value::Kind::scalar && error == std::errc{} && rest == end &&
      std::isfinite(number) && number >= 0)
    return number;
  if (time) {
    const auto length = config::duration_type().parse(value);
    if (!length) return fail(length.error());
    return static_cast<double>(length->count());
  }
  return fail(ErrorCode::invalid_argument, "\"" + value.text + "\" is not a number from 0 up");
}

Type<Range> range_type(bool time) {
  return {time ? "duration | [shortest, longest]" : "number | [least, most]",
          [time](const Value& value) -> Result<Range> {
            if (value.kind != Value::Kind::list) {
              const auto one = seconds_or_number(value, time);
              if (!one) return fail(one.error());
              return Range{*one, *one};
            }
            if (value.items.size() != 2)
              return fail(ErrorCode::invalid_argument, "a range has two numbers: [1, 64]");
            const auto low = seconds_or_number(value.items[0], time);
            const auto high = seconds_or_number(value.items[1], time);
            if (!low) return fail(low.error());
            if (!high) return fail(high.error());
            if (*low <= 0 || *low > *high)
              return fail(ErrorCode::invalid_argument,
                          "the first number of a range is above 0 and not above the second");
            return Range{*low, *high};
          },
          [](const Range& range) { return std::to_string(range.low); }};
}

Type<std::vector<GpuRequest>> gpu_type() {
  return {"TYPE:COUNT | COUNT | TYPE:PART | PART",
          [](const Value& value) -> Result<std::vector<GpuRequest>> {
            const std::size_t colon = value.text.rfind(':');
            const std::string digits =
                colon == std::string::npos ? value.text : value.text.substr(colon + 1);
            GpuRequest request{colon == std::string::npos ? "" : value.text.substr(0, colon), 0};
            if (value.kind == Value::Kind::scalar && looks_like_part(digits)) {
              const auto part = parse_gpu_part(digits);
              if (!part) return fail(part.error());
              request.part = *part;
              return std::vector{request};
            }
            const char* end = digits.data() + digits.size();
            const auto [rest, error] = std::from_chars(digits.data(), end, request.count);
            if (value.kind != Value::Kind::scalar || error != std::errc{} || rest != end ||
                request.count == 0)
              return fail(ErrorCode::invalid_argument,
                          "\"" + value.text + "\" is not TYPE:COUNT, as in a100:4");
            return std::vector{request};
          },
          [](const std::vector<GpuRequest>&) { return std::string(); }};
}

std::vector<Field<Kind>> fields() {
  return {
      field<Kind>("name", &Kind::name, config::text_type(), "Name of the jobs."),
      field<Kind>("user", &Kind::user, config::name_type(), "Whose they are."),
      field<Kind>("users", &Kind::users, config::count_type(1),
                  "That many users take turns, each named like user with a number behind it."),
      field<Kind>("submit", &Kind::submit, config::duration_type(),
                  "When the first is submitted, from the beginning."),
      field<Kind>("count", &Kind::count, config::count_type(1), "How many."),
      field<Kind>("every", &Kind::every, range_type(true), "Time between one and the next."),
      field<Kind>("arrivals", &Kind::arrivals, config::choice_type({"fixed", "random"}),
                  "random: every is the mean of independent arrivals (a Poisson process)."),
      field<Kind>("run", &Kind::run, range_type(true),
                  "How long they run. Of a range each job draws its own, uniformly in the "
                  "logarithm."),
      field<Kind>("time_limit", &Kind::limit, config::time_limit_type(),
                  "The limit they ask for. When not given: the run time times overestimate."),
      field<Kind>("overestimate", &Kind::overestimate, range_type(false),
                  "How many times their run time they ask for."),
      field<Kind>("tasks", &Kind::tasks, range_type(false), "Tasks of a job."),
      field<Kind>("nodes", &Kind::nodes, config::count_type(1), "Fewest nodes of a job."),
      field<Kind>("cpus_per_task", &Kind::cpus_per_task, config::count_type(1),
                  "CPUs of each task."),
      field<Kind>("memory_per_cpu", &Kind::memory_per_cpu, config::memory_type(),
                  "Memory of each CPU."),
      field<Kind>("memory_per_node", &Kind::memory_per_node, config::memory_type(),
                  "Memory on each node."),
      field<Kind>("gpus", &Kind::gpus, gpu_type(),
                  "GPUs on each node, or a part of one: a100:2, 0.5."),
      field<Kind>("exclusive", &Kind::exclusive, config::boolean_type(), "Whole nodes."),
      field<Kind>("partitions", &Kind::partitions, config::text_list_type(),
                  "Partitions they may use. When not given: the default one."),
      field<Kind>("constraint", &Kind::constraint, config::text_type(),
                  "Features that their nodes must have, as asub --constraint."),
      field<Kind>("gang", &Kind::gang, config::count_type(1),
                  "Each so many in a row are a gang, as asub --gang: submitted and started "
                  "together. every is then the time between gangs."),
  };
}

class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(std::uint64_t seed) : random_(seed) {}

  void add(const Kind& kind) {
    const auto spec_index = static_cast<std::uint32_t>(out_.specs.size());
    out_.specs.push_back(to_spec(kind));
    const std::uint32_t first_user = users_;
    users_ += kind.users;
    double at = static_cast<double>(kind.submit.count());
    for (std::uint32_t i = 0; i < kind.count; ++i) {
      const double run = std::round(kind.run.draw(random_));
      WorkJob job;
      job.number = ++numbered_;
      job.submit = Seconds(static_cast<std::int64_t>(at));
      job.run = Seconds(static_cast<std::int64_t>(run));
      job.limit = kind.limit;
      if (!job.limit)
        job.limit = Seconds(std::max<std::int64_t>(
            1, std::llround(std::ceil(run * std::max(1.0, kind.overestimate.draw(random_))))));
      job.user = first_user + i / kind.gang % kind.users;
      if (kind.gang > 1) job.gang = i % kind.gang == 0 ? ++gangs_ : gangs_;
      job.tasks = static_cast<std::uint32_t>(std::max(1.0, std::round(kind.tasks.draw(random_))));
      job.memory_per_cpu = kind.memory_per_cpu;
      job.spec_index = spec_index;
      out_.jobs.push_back(job);
      if ((i + 1) % kind.gang != 0) continue;
      const double pause = kind.every.draw(random_);
      at += kind.arrivals == "random" ? random_.exponential(pause) : pause;
    }
  }

  Workload take() { return std::move(out_); }

 private:
  static JobSpec to_spec(const Kind& kind) {
    JobSpec spec;
    spec.name = kind.name;
    spec.min_nodes = kind.nodes;
    spec.cpus_per_task = kind.cpus_per_task;
    if (kind.memory_per_node.value() > 0) spec.memory_per_node = kind.memory_per_node;
    spec.gpus_per_node = kind.gpus;
    spec.exclusive = kind.exclusive;
    spec.partitions = kind.partitions;
    if (!kind.constraint.empty()) spec.features = {kind.constraint};
    if (kind.gang > 1) spec.gang = GangRequest{"", kind.gang, 0, std::nullopt};
    return spec;
  }

  Random random_;
  Workload out_;
  std::uint32_t users_ = 0;
  std::uint64_t numbered_ = 0;
  std::uint32_t gangs_ = 0;
};

}  // namespace

Result<Workload> parse_yaml_workload(const std::string& text, const std::string& name,
                                     std::uint64_t seed) {
  const auto located = [&](int line, const std::string& message) {
    return fail(ErrorCode::invalid_argument, name + ":" + std::to_string(line) + ": " + message);
  };
  const Result<Value> root = config::parse_yaml(text, name);
  if (!root) return fail(root.error());
  if (root->kind != Value::Kind::map || root->entries.size() != 1 ||
      root->entries.front().key != "jobs" || root->entries.front().value.kind != Value::Kind::list)
    return located(std::max(root->line, 1), "expected a list under \"jobs:\" and nothing else");
  const auto table = fields();
  WorkloadBuilder builder(seed);
  for (const Value& item : root->entries.front().value.items) {
    Kind kind;
    if (item.kind != Value::Kind::map) return located(item.line, "expected {name: ..., run: ...}");
    if (CheckResult read = config::read_map(item, kind, table); !read)
      return located(read.error().line, read.error().message);
    if (kind.count % kind.gang != 0)
      return located(item.line, "count is no multiple of gang: the last gang would wait for ever");
    if (kind.gang > 1 && kind.partitions.size() > 1)
      return located(item.line, "all members of a gang wait in one and the same partition");
    builder.add(kind);
  }
  return builder.take();
}

Result<Workload> read_yaml_workload(const std::string& path, std::uint64_t seed) {
  auto lines = Lines::open(path);
  if (!lines) return fail(lines.error());
  std::string text, line;
  for (;;) {
    const Result<bool> more = lines->next(line);
    if (!more) return fail(more.error());
    if (!*more) break;
    text += line + "\n";
  }
  return parse_yaml_workload(text, path, seed);
}

std::vector<std::string> yaml_workload_keys() {
  std::vector<std::string> out;
  for (const auto& row : fields()) out.push_back(row.name + " (" + row.type + "): " + row.help);
  return out;
}

}  // namespace ares::sim
