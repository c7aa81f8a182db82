// The properties of partitions that `update partition` can change.
#include "actl/assign.h"
#include "actl/update_keys.h"
#include "base/duration.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "base/units.h"

namespace ares::actl {
namespace {

using Update = api::UpdatePartition;

struct State {
  const char* word;
  bool up, open;
};
constexpr State kStates[] = {
    {"up", true, true}, {"down", false, true}, {"drain", true, false}, {"inactive", false, false}};

Status set_state(Update& update, const std::string& value, Time) {
  for (const State& state : kStates) {
    if (cli::lower(value) != state.word) continue;
    update.add_fields("up");
    update.add_fields("open");
    update.mutable_values()->set_up(state.up);
    update.mutable_values()->set_open(state.open);
    return {};
  }
  return invalid(quote(value) + " is none of up, down, drain and inactive");
}

using SetLimit = void (api::Partition::*)(std::int64_t);

// NONE means no default, as do all other spellings of "no limit".
std::function<Status(Update&, const std::string&, Time)> limit(const char* field, SetLimit set) {
  return [field, set](Update& update, const std::string& value, Time) -> Status {
    update.add_fields(field);
    if (cli::lower(value) == "none") return {};
    const auto parsed = parse_time_limit(value);
    if (!parsed) return fail(parsed.error());
    if (*parsed) (update.mutable_values()->*set)((*parsed)->count());
    return {};
  };
}

using SetCount = void (api::Partition::*)(std::uint32_t);

std::function<Status(Update&, const std::string&, Time)> count(const char* field, SetCount set,
                                                               bool may_be_unlimited) {
  return [=](Update& update, const std::string& value, Time) -> Status {
    const std::string word = cli::lower(value);
    update.add_fields(field);
    if (may_be_unlimited && (word == "unlimited" || word == "infinite")) return {};
    const auto number = cli::parse_integer(value, 0, 1'000'000'000);
    if (!number)
      return invalid(number.error().message + (may_be_unlimited ? ", or UNLIMITED" : ""));
    (update.mutable_values()->*set)(static_cast<std::uint32_t>(*number));
    return {};
  };
}

Status set_default(Update& update, const std::string& value, Time) {
  const std::string word = cli::lower(value);
  if (word != "yes" && word != "no") return invalid(quote(value) + " is neither yes nor no");
  update.add_fields("is_default");
  update.mutable_values()->set_is_default(word == "yes");
  return {};
}

Status set_tier(Update& update, const std::string& value, Time) {
  const auto tier = cli::parse_integer(value, 0, 65533);
  if (!tier) return fail(tier.error());
  update.add_fields("tier");
  update.mutable_values()->set_tier(static_cast<std::int32_t>(*tier));
  return {};
}

Status set_nodes(Update& update, const std::string& value, Time) {
  const auto names = expand_hostlist(value);
  if (!names) return fail(names.error());
  update.add_fields("nodes");
  for (const std::string& name : *names) update.mutable_values()->add_members(name);
  return {};
}

Status set_memory(Update& update, const std::string& value, Time) {
  const auto amount = parse_memory(value);
  if (!amount) return fail(amount.error());
  update.add_fields("default_memory_per_cpu");
  update.mutable_values()->set_default_memory_per_cpu(amount->value());
  return {};
}

Status set_sharing(Update& update, const std::string& value, Time) {
  const std::string word = cli::lower(value);
  if (word != "no" && word != "exclusive")
    return invalid(quote(value) + " is not supported; use no or exclusive");
  update.add_fields("exclusive");
  update.mutable_values()->set_exclusive(word == "exclusive");
  return {};
}

Status set_preempt_mode(Update& update, const std::string& value, Time) {
  const std::string word = cli::lower(value);
  if (word != "off" && word != "requeue" && word != "cancel" && word != "suspend")
    return invalid(quote(value) + " is not supported; use off, requeue, cancel or suspend");
  update.add_fields("preempt_mode");
  update.mutable_values()->set_preempt_mode(word);
  return {};
}

Status set_qos(Update& update, const std::string& value, Time) {
  update.add_fields("qos");
  update.mutable_values()->set_qos(value == "-1" ? "" : value);
  return {};
}

Status set_image(Update& update, const std::string& value, Time) {
  update.add_fields("container_image");
  update.mutable_values()->set_container_image(cli::lower(value) == "none" ? "" : value);
  return {};
}

using SetWord = void (api::Partition::*)(const std::string&);

// The controller checks the name of the strategy.
std::function<Status(Update&, const std::string&, Time)> strategy(const char* field, SetWord set) {
  return [=](Update& update, const std::string& value, Time) -> Status {
    if (value.empty()) return invalid("name a strategy: binpack, spread or least_fragmentation");
    update.add_fields(field);
    (update.mutable_values()->*set)(cli::lower(value));
    return {};
  };
}

}  // namespace

const Keys<api::UpdatePartition>& partition_keys() {
  using P = api::Partition;
  static const Keys<Update> keys = {
      "a partition",
      {{"State", "up|down|drain|inactive",
        "down: nothing starts. drain: no new jobs are taken. inactive: neither.", set_state},
       {"MaxTime", "LIMIT", "Longest time limit of a job, or UNLIMITED.",
        limit("max_time", &P::set_max_time)},
       {"DefaultTime", "LIMIT", "Time limit of jobs that ask for none; NONE for the longest.",
        limit("default_time", &P::set_default_time)},
       {"Default", "yes|no",
        "yes: where jobs go that name no partition, instead of the one before.", set_default},
       {"PriorityTier", "NUMBER", "Partitions of a higher tier are served first.", set_tier},
       {"PriorityJobFactor",
        "NUMBER",
        "Priority of the jobs submitted from now on.",
        count("priority", &P::set_priority, false),
        {"priority"}},
       {"MaxNodes", "COUNT", "Most nodes for one job, or UNLIMITED.",
        count("max_nodes", &P::set_max_nodes, true)},
       {"MaxCPUsPerNode", "COUNT",
        "Most CPUs of each of its nodes that its jobs get together, or UNLIMITED.",
        count("max_cpus_per_node", &P::set_max_cpus_per_node, true)},
       {"MinNodes", "COUNT", "Fewest nodes for one job.",
        count("min_nodes", &P::set_min_nodes, false)},
       {"DefMemPerCPU", "SIZE", "Memory for each CPU of jobs that ask for none.", set_memory},
       {"OverSubscribe",
        "no|exclusive",
        "exclusive: jobs get whole nodes.",
        set_sharing,
        {"shared"}},
       {"PlacementCPU", "STRATEGY",
        "Which nodes jobs without GPUs get: binpack, spread or least_fragmentation.",
        strategy("cpu_placement", &P::set_cpu_placement<const std::string&>)},
       {"PlacementGPU", "STRATEGY", "The same of jobs with GPUs.",
        strategy("gpu_placement", &P::set_gpu_placement<const std::string&>)},
       {"PreemptMode", "off|requeue|cancel|suspend",
        "What becomes of its running jobs when one of a higher tier, or of a QOS that preempts "
        "theirs, needs their place.",
        set_preempt_mode},
       {"QOS", "NAME",
        "Its limits apply to all jobs of the partition, in addition to those of their own QOS; "
        "empty for none.",
        set_qos},
       {"ContainerImage", "IMAGE",
        "Image of its jobs that name none, on nodes that run jobs in containers; none for that of "
        "the nodes.",
        set_image},
       {"Nodes", "NODES", "Its nodes, in place of those before.", set_nodes}},
      {"allocnodes",       "allowaccounts", "allowgroups",   "allowqos",          "alternate",
       "cpubind",          "defmempernode", "denyaccounts",  "denyqos",           "disablerootjobs",
       "exclusive",        "gracetime",     "hidden",        "jobdefaults",       "lln",
       "maxcpuspersocket", "maxmempercpu",  "maxmempernode", "overtimelimit",     "powerdownonidle",
       "reqresv",          "rootonly",      "topology",      "tresbillingweights"}};
  return keys;
}

}  // namespace ares::actl
