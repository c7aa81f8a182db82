#include "property/plan_digest.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include "proto/view_dump.h"

namespace ares::property {
namespace {

// A line of words, each preceded by a blank.
class Line {
 public:
  explicit Line(char letter) : text_(1, letter) {}

  Line& add(std::string_view word) {
    text_ += ' ';
    text_ += word.empty() ? std::string_view("-") : word;
    return *this;
  }
  Line& add(std::uint64_t number) { return add(std::to_string(number)); }
  Line& add(Time time) { return add(std::to_string(time.time_since_epoch().count())); }
  Line& add(Seconds seconds) { return add(std::to_string(seconds.count())); }
  template <class T>
  Line& add(const std::optional<T>& value) {
    return value ? add(*value) : add("-");
  }
  Line& add(const JobKey& key) {
    return add(std::to_string(key.job.value()) +
               (key.task.is_none() ? "" : "_" + std::to_string(key.task.value)));
  }
  Line& add(const AttemptKey& key) { return add(key.job).add(key.attempt.value()); }
  Line& add(const NodeShare& share) {
    add("n" + std::to_string(share.node.value())).add(share.incarnation);
    add(share.cpus).add(static_cast<std::uint64_t>(share.memory.value())).add(share.tasks);
    std::string devices;
    for (const std::uint32_t cpu : share.cpu_ids) devices += "c" + std::to_string(cpu);
    for (const GpuIndex gpu : share.gpus) devices += "g" + std::to_string(gpu.value());
    if (share.gpu_part > 0) devices += "p" + std::to_string(share.gpu_part);
    if (share.cpu_thousandths > 0) devices += "m" + std::to_string(share.cpu_thousandths);
    return add(devices);
  }
  // What a job gets, now or later.
  template <class Given>
  Line& add_given(const Given& given) {
    add(given.partition).add(given.time_limit);
    for (const LicenseRequest& license : given.licenses)
      add("l" + std::to_string(license.count)).add(license.name);
    for (const NodeShare& share : given.nodes) add(share);
    return *this;
  }

  std::string end() { return text_ + '\n'; }

 private:
  std::string text_;
};

// The state in its stored form, without texts for people and without what plans do not look at.
std::uint64_t input_digest(ClusterState state, Time now) {
  std::vector<Job> jobs;
  state.jobs.for_each([&](const JobKey&, const Job& job) {
    const Allocation* has = job.allocation ? &*job.allocation : nullptr;
    if (!job.cause.empty() || (has && (has->master_port != 0 || has->priority != 0)))
      jobs.push_back(job);
  });
  for (Job& job : jobs) {
    job.cause.clear();
    if (job.allocation) job.allocation->master_port = 0;
    if (job.allocation) job.allocation->priority = 0;
    state.jobs.set(job.key, job);
  }
  std::vector<Node> nodes;
  state.nodes.for_each([&](NodeId, const Node& node) {
    const bool port = std::any_of(node.charges.begin(), node.charges.end(),
                                  [](const Charge& charge) { return charge.master_port != 0; });
    if (port || !node.reason.empty()) nodes.push_back(node);
  });
  for (Node& node : nodes) {
    node.reason.clear();
    for (Charge& charge : node.charges) charge.master_port = 0;
    state.nodes.set(node.id, node);
  }
  proto::ViewDump dump;
  dump.state = std::move(state);
  dump.now = now;
  return digest_of(proto::encode_view(dump).value());
}

std::string hex(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

std::uint64_t digest_of(std::string_view text, std::uint64_t before) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return before;
}

std::string structure_of(const Plan& plan) {
  std::string text = Line('P').add(plan.seen.value()).end();
  for (const PlanGroup& group : plan.groups) {
    Line relied('G');
    for (const auto& [key, version] : group.jobs) relied.add(key).add(version.value());
    for (const auto& [node, version] : group.nodes)
      relied.add("n" + std::to_string(node.value())).add(version.value());
    text += relied.end();
    for (const Start& start : group.starts)
      text += Line('S').add(start.key).add(start.alternative).add_given(start).end();
    for (const auto& [key, held] : group.claims) {
      Line line('E');
      line.add(key).add(held.at).add(held.ready).add(held.until).add_given(held);
      for (const AttemptKey& victim : held.victims) line.add("v").add(victim);
      text += line.end();
    }
    if (group.resume) text += Line('R').add(*group.resume).end();
  }
  for (const Accruing& one : plan.accruing) text += Line('A').add(one.key).add(one.since).end();
  plan.pending.for_each([&](const JobKey& key, const PendingInfo& info) {
    Line line('W');
    line.add(key).add(static_cast<std::uint64_t>(info.reason)).add(info.limit);
    line.add(info.expected_start);
    for (const NodeId node : info.expected_nodes) line.add("n" + std::to_string(node.value()));
    text += line.end();
  });
  return text + Line('T').add(plan.wake).end();
}

std::string PlanDigests::counted(const Plan& plan) {
  std::string structure = structure_of(plan);
  bool at_start = true;
  for (const char c : structure) {
    if (at_start) ++lines_[c];
    at_start = c == '\n';
  }
  plan.pending.for_each([&](const JobKey&, const PendingInfo& info) {
    ++reasons_[static_cast<unsigned>(info.reason)];
  });
  return structure;
}

void PlanDigests::view(const std::string& name, const ClusterState& state, const Policy& policy,
                       const core::Budget& budget, Time now) {
  const std::string structure = counted(core::plan(state, policy, budget, now));
  plans_[name] = digest_of(structure);
  inputs_[name] = input_digest(state, now);
  if (!folder_.empty())
    std::ofstream(folder_ / (name + ".txt"))
        << state.gangs.size() << " members of gangs, not part of the digest\n"
        << structure;
}

void PlanDigests::add_to_series(const std::string& name, const Plan& plan) {
  const std::string structure = counted(plan);
  const auto [series, added] = plans_.try_emplace(name, digest_of(structure));
  if (!added) series->second = digest_of(structure, series->second);
  if (!folder_.empty())
    std::ofstream(folder_ / (name + ".txt"), added ? std::ios::trunc : std::ios::app) << structure;
}

std::string PlanDigests::text() const {
  std::string text;
  for (const auto& [name, digest] : plans_) {
    text += name + " " + hex(digest);
    if (const auto input = inputs_.find(name); input != inputs_.end())
      text += " " + hex(input->second);
    text += "\n";
  }
  return text;
}

}  // namespace ares::property
