#include "asim/view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "asim/cluster.h"
#include "base/duration.h"
#include "base/fnv1a.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "cli/values/job_ids.h"
#include "config/config.h"
#include "core/sched/pass/plan.h"
#include "core/sched/pass/plan_text.h"
#include "proto/view_dump.h"

namespace ares::sim {
namespace {

// A job of the plan that starts or waits.
struct Line {
  std::string job, user, name, partition, state;
  std::string start;  // "now", a time, or empty
  std::string limit, nodes, detail;
};

std::string text_of(Time time) {
  const std::time_t seconds = std::chrono::floor<Seconds>(time.time_since_epoch()).count();
  std::tm broken{};
  gmtime_r(&seconds, &broken);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &broken)};
}

std::string names_of(const ClusterState& state, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (const NodeId id : nodes)
    if (const Node* node = state.nodes.find(id)) names.push_back(node->name);
  return compress_hostlist(names);
}

// A task that this start splits off its array is described by the array's record.
Line line_of(const ClusterState& state, const JobKey& key) {
  Line line;
  line.job = cli::format_job_id(key);
  const Job* job = state.jobs.find(key);
  if (!job) job = state.jobs.find(JobKey{key.job, {}});
  if (!job) return line;
  line.user = job->spec->user;
  line.name = job->spec->name;
  return line;
}

std::vector<NodeId> ids_of(const NodeShares& shares) {
  std::vector<NodeId> nodes;
  for (const NodeShare& share : shares) nodes.push_back(share.node);
  return nodes;
}

// A job for which other jobs are to be preempted.
Line line_of(const ClusterState& state, const ProposedClaim& wanted) {
  Line line = line_of(state, wanted.key);
  line.partition = wanted.claim.partition;
  line.state = "preempt";
  line.start = text_of(wanted.claim.ready);
  line.limit = format_time_limit(wanted.claim.time_limit);
  line.nodes = names_of(state, ids_of(wanted.claim.nodes));
  line.detail = "ends";
  for (const AttemptKey& victim : wanted.claim.victims)
    line.detail += " " + cli::format_job_id(victim.job);
  return line;
}

std::vector<Line> lines_of(const ClusterState& state, const Plan& plan) {
  std::vector<Line> lines;
  for (const PlanGroup& group : plan.groups) {
    for (const ProposedClaim& claim : group.claims) lines.push_back(line_of(state, claim));
    for (const Start& start : group.starts) {
      Line line = line_of(state, start.key);
      line.partition = start.partition;
      line.state = "start";
      line.start = "now";
      line.limit = format_time_limit(start.time_limit);
      line.nodes = names_of(state, ids_of(start.nodes));
      lines.push_back(std::move(line));
    }
  }
  plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
    Line line = line_of(state, key);
    line.state = reason_text(info);
    if (info.expected_start) line.start = text_of(*info.expected_start);
    line.nodes = names_of(state, info.expected_nodes);
    line.detail = info.detail;
    lines.push_back(std::move(line));
  });
  return lines;
}

template <std::string Line::*member>
void put(const Line& line, std::string& out) {
  out += line.*member;
}

std::string table_of(const std::vector<Line>& lines) {
  static const cli::Columns<Line> kColumns{{
      {'i', "JobID", "JOBID", "", put<&Line::job>, {}, nullptr, true},
      {'u', "User", "USER", "", put<&Line::user>},
      {'j', "Name", "NAME", "", put<&Line::name>},
      {'T', "State", "PLAN", "", put<&Line::state>},
      {'S', "Start", "START", "", put<&Line::start>},
      {'P', "Partition", "PARTITION", "", put<&Line::partition>},
      {'l', "Limit", "TIME_LIMIT", "", put<&Line::limit>},
      {'N', "Nodes", "NODES", "", put<&Line::nodes>},
      {'r', "Detail", "DETAIL", "", put<&Line::detail>},
  }};
  auto format_items = cli::parse_format("%#1i %#1u %#1j %#1T %#1S %#1P %#1l %#1N %r");
  auto listing = cli::Listing<Line>::make(std::move(*format_items), kColumns);
  for (const Line& line : lines) listing->add(line);
  return listing->grid().layout(true);
}

std::string json_of(const std::vector<Line>& lines, const proto::ViewDump& dump,
                    const std::string& digest, bool same) {
  std::string out = "{\n  \"release\": ";
  cli::put_json_text(dump.release, out);
  out += ",\n  \"now\": \"" + text_of(dump.now) + "\",\n  \"plan\": \"" + digest +
         "\",\n  \"same\": " + (same ? "true" : "false") + ",\n  \"jobs\": [";
  const std::pair<const char*, std::string Line::*> fields[] = {
      {"job", &Line::job},     {"user", &Line::user},   {"name", &Line::name},
      {"plan", &Line::state},  {"start", &Line::start}, {"partition", &Line::partition},
      {"limit", &Line::limit}, {"nodes", &Line::nodes}, {"detail", &Line::detail}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += i ? ",\n    {" : "\n    {";
    for (const auto& [name, member] : fields) {
      out += std::string(name == fields[0].first ? "\"" : ", \"") + name + "\": ";
      cli::put_json_text(lines[i].*member, out);
    }
    out += "}";
  }
  return out + "\n  ]\n}\n";
}

std::string hex(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

Result<proto::ViewDump> read_dump(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::not_found, "cannot read " + path);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  auto dump = proto::decode_view(bytes);
  if (!dump) return fail(dump.error().code, path + ": " + dump.error().message);
  return dump;
}

}  // namespace

Status replay_view(const std::string& path, const std::vector<std::string>& policy, bool json) {
  const auto dump = read_dump(path);
  if (!dump) return fail(dump.error());
  auto config = config::parse(config::PortableConfig{dump->config, dump->topologies},
                              path + " (its configuration)");
  if (!config) return fail(config.error());
  if (Status set = set_policies(*config, policy); !set) return set;
  if (Status loaded = load_plugins(*config); !loaded) return loaded;

  core::Budget budget;
  budget.units = dump->budget;
  budget.estimates = dump->estimates;
  const Plan plan = core::plan(dump->state, config->policy, budget, dump->now);
  const std::uint64_t digest = fnv1a(core::plan_text(plan));
  const bool same = digest == dump->plan;
  const std::vector<Line> lines = lines_of(dump->state, plan);
  if (json) {
    std::fputs(json_of(lines, *dump, hex(digest), same).c_str(), stdout);
  } else {
    std::printf("cluster %s at %s, by Ares %s: %zu jobs, %zu nodes\n",
                printable(config->policy.cluster_name).c_str(), text_of(dump->now).c_str(),
                printable(dump->release).c_str(), dump->state.jobs.size(),
                dump->state.nodes.size());
    std::fputs(table_of(lines).c_str(), stdout);
    std::printf("plan %s: %s\n", hex(digest).c_str(),
                same             ? "the same as the controller's"
                : policy.empty() ? "not the controller's"
                                 : ("the controller's was " + hex(dump->plan)).c_str());
  }
  if (!same && policy.empty())
    return fail(ErrorCode::failed_precondition,
                path + ": this asim plans it otherwise than the controller did (Ares " +
                    dump->release + "); of the same release that is a bug");
  return {};
}

}  // namespace ares::sim
