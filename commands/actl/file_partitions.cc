// `create partition` and `delete partition` of scontrol: partitions are those of ares.yaml, so these are refused with what
// to write there.
#include "actl/file_partitions.h"

#include <algorithm>

#include "actl/update_keys.h"
#include "base/printable.h"
#include "config/print.h"

namespace ares::actl {
namespace {

constexpr std::string_view kPartition = "partition";
constexpr std::string_view kNoCommand =
    "partitions are not made and deleted by commands, but by the ares.yaml of the controller, "
    "which "
    "all nodes and commands read. ";

bool names_partition(const std::string& key) {
  return key == "partitionname" || key == kPartition;
}

PlacementStrategy strategy_of(const std::string& word, PlacementStrategy otherwise) {
  for (int i = 0; i <= static_cast<int>(kLastPlacementStrategy); ++i)
    if (const auto strategy = static_cast<PlacementStrategy>(i); to_string(strategy) == word)
      return strategy;
  return otherwise;
}

// What the words say; the rest has its defaults.
Partition partition_of(const api::UpdatePartition& update) {
  const auto is_set = [&](const char* field) {
    return std::find(update.fields().begin(), update.fields().end(), field) !=
           update.fields().end();
  };
  const api::Partition& from = update.values();
  Partition to;
  to.nodes.assign(from.members().begin(), from.members().end());
  to.is_default = from.is_default();
  if (is_set("up")) to.up = from.up(), to.open = from.open();
  if (from.has_max_time()) to.max_time = Seconds(from.max_time());
  if (from.has_default_time()) to.default_time = Seconds(from.default_time());
  if (from.has_max_nodes()) to.max_nodes = from.max_nodes();
  if (from.has_max_cpus_per_node()) to.max_cpus_per_node = from.max_cpus_per_node();
  if (is_set("min_nodes")) to.min_nodes = from.min_nodes();
  if (is_set("tier")) to.tier = from.tier();
  if (is_set("priority")) to.priority = from.priority();
  to.default_memory_per_cpu = Bytes(from.default_memory_per_cpu());
  to.exclusive = from.exclusive();
  to.placement.cpu = strategy_of(from.cpu_placement(), to.placement.cpu);
  to.placement.gpu = strategy_of(from.gpu_placement(), to.placement.gpu);
  if (is_set("preempt_mode"))
    to.preempt_mode = static_cast<PreemptMode>(
        std::find(kPreemptModeNames.begin(), kPreemptModeNames.end(), from.preempt_mode()) -
        kPreemptModeNames.begin());
  to.qos = from.qos();
  to.container_image = from.container_image();
  return to;
}

}  // namespace

std::optional<Error> refuse_new_partition(const Words& words) {
  // `create partition partitionname=NAME` says it twice.
  const bool twice = words.size() > 1 && cli::lower(words[0]) == kPartition &&
                     words[1].find('=') != std::string::npos;
  const auto all = assignments(join_subject(twice ? Words(words.begin() + 1, words.end()) : words));
  if (!all || all->empty() || !names_partition(all->front().key)) return std::nullopt;
  const std::string& name = all->front().value;
  if (name.empty()) return Error{ErrorCode::invalid_argument, "say the name of the partition"};
  api::UpdatePartition update;
  const Time now = cli::clock_now();
  for (auto one = all->begin() + 1; one != all->end(); ++one)
    if (Status done = apply_key(partition_keys(), update, one->key, one->value, now); !done)
      return done.error();
  if (update.values().members().empty())
    return Error{ErrorCode::invalid_argument, "say which nodes it has: Nodes=NODES, or Nodes=ALL"};
  Partition partition = partition_of(update);
  partition.name = name;
  return Error{ErrorCode::invalid_argument,
               std::string(kNoCommand) + "Write this line there, below partitions:\n  - " +
                   config::partition_line(partition) +
                   "\nand run actl reconfigure, which leaves running jobs alone"};
}

std::optional<Error> refuse_deletion(const Words& words) {
  if (words.empty()) return std::nullopt;
  const std::size_t equals = words[0].find('=');
  const bool named =
      equals != std::string::npos && names_partition(cli::lower(words[0].substr(0, equals)));
  // A single word may be the name of a reservation.
  const bool said = words.size() > 1 && cli::lower(words[0]) == kPartition;
  if (!named && !said) return std::nullopt;
  const std::string names = named ? words[0].substr(equals + 1) : words[1];
  std::string items;
  for (const std::string& name : cli::split(names, ','))
    items += "\n  - {name: " + excerpt(name) + ", ...}";
  return Error{ErrorCode::invalid_argument,
               std::string(kNoCommand) + "Take this out of it, below partitions:" + items +
                   "\nand run actl reconfigure; until then actl update partition=" +
                   excerpt(names) + " State=DOWN keeps jobs from starting there"};
}

}  // namespace ares::actl
