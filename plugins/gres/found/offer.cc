#include "gres/found/offer.h"

#include <algorithm>

#include "core/topology/matrix/matrix.h"
#include "core/topology/parsed_topology.h"
#include "core/topology/pcie_tree.h"

namespace ares::gres {
namespace {

using core::topology::Link;
using core::topology::Matrix;
using core::topology::MatrixGpu;
using core::topology::Path;

// One offered GPU and where it was found.
struct Item {
  OfferedGpu offered;
  std::size_t position = 0;  // in FoundMachine::gpus
  bool instance = false;
};

std::string describe(const FoundGpu& gpu) {
  return "GPU " + std::to_string(gpu.index) + (gpu.bus_id.empty() ? "" : " (" + gpu.bus_id + ")");
}

std::vector<std::uint32_t> numbers(const IntervalSet& set) {
  return {set.begin(), set.end()};
}

// "1g.10gb+me" becomes "1g.10gb.me", as in the names that Kubernetes gives to instances.
std::string type_of(const FoundGpu& gpu, const FoundInstance& instance) {
  std::string type = gpu.type + "_" + instance.profile;
  std::replace(type.begin(), type.end(), '+', '.');
  return type;
}

std::vector<Item> items_of(const FoundMachine& machine, std::vector<std::string>& left_out) {
  std::vector<Item> items;
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const FoundGpu& gpu = machine.gpus[i];
    if (!gpu.problem.empty()) {
      left_out.push_back(describe(gpu) + " is not offered: " + gpu.problem);
      continue;
    }
    if (!gpu.partitioned) {
      items.push_back({{{GpuIndex(gpu.index), gpu.type, numbers(gpu.cpus), gpu.memory},
                        gpu.devices,
                        gpu.minor,
                        gpu.uuid},
                       i,
                       false});
      continue;
    }
    if (gpu.instances.empty())
      left_out.push_back(describe(gpu) + " is not offered: it is in MIG mode without instances");
    for (const FoundInstance& instance : gpu.instances)
      items.push_back(
          {{{GpuIndex(gpu.index), type_of(gpu, instance), numbers(gpu.cpus), instance.memory},
            instance.devices,
            std::nullopt,
            instance.uuid},
           i,
           true});
  }
  return items;
}

// The path alone where an instance is involved: instances have no NVLinks.
Link link_of(const FoundMachine& machine, const Item& a, const Item& b, const MatrixGpu& near_a,
             const MatrixGpu& near_b) {
  if (a.position == b.position) return {0, Path::pix};
  const auto found = machine.link(a.position, b.position);
  if (found && (found->nvlinks == 0 || (!a.instance && !b.instance))) return *found;
  const bool near = core::topology::share_numa(near_a, near_b).value_or(false);
  return {0, near ? Path::node : Path::sys};
}

GpuTopology topology_of(const FoundMachine& machine, const std::vector<Item>& items,
                        std::vector<std::string>& left_out) {
  if (items.empty()) return {};
  Matrix matrix;
  for (const Item& item : items) {
    const FoundGpu& gpu = machine.gpus[item.position];
    matrix.gpus.push_back({item.offered.gpu.index.value(), gpu.cpus, gpu.numa, gpu.own_numa});
  }
  for (const std::string& nic : machine.nics) matrix.nics.push_back({nic, ""});
  const std::size_t gpus = items.size();
  for (std::size_t a = 0; a < matrix.devices(); ++a)
    for (std::size_t b = 0; b < matrix.devices(); ++b) {
      std::optional<Link> link;
      if (a < gpus && b < gpus && a != b) {
        link = link_of(machine, items[a], items[b], matrix.gpus[a], matrix.gpus[b]);
      } else if (a != b) {
        const auto found = [&](std::size_t device) {
          return device < gpus ? items[device].position : machine.gpus.size() + device - gpus;
        };
        link = machine.link(found(a), found(b));
        if (!link && std::min(a, b) < gpus) link = Link{0, Path::sys};
      }
      matrix.links.push_back(link);
    }
  GpuTopology topology(core::topology::format_matrix(matrix));
  if (const Status usable = core::topology::check_gpu_topology(topology); !usable) {
    left_out.push_back("the links of the GPUs are not offered: " + usable.error().message);
    return {};
  }
  return topology;
}

bool has_instances(const std::vector<Item>& items) {
  return std::any_of(items.begin(), items.end(), [](const Item& item) { return item.instance; });
}

// Instances have no index of their own, so all are numbered.
void number(std::vector<Item>& items) {
  if (!has_instances(items)) return;
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i].offered.gpu.index = GpuIndex(static_cast<GpuIndex::rep>(i));
}

Offer made_of(const FoundMachine& machine, std::vector<Item> items,
              std::vector<std::string> left_out) {
  Offer out;
  out.source = machine.source;
  out.only_names =
      has_instances(items) || std::any_of(machine.gpus.begin(), machine.gpus.end(),
                                          [](const FoundGpu& gpu) { return !gpu.problem.empty(); });
  out.topology = topology_of(machine, items, left_out);
  for (Item& item : items) out.gpus.push_back(std::move(item.offered));
  out.left_out = std::move(left_out);
  return out;
}

}  // namespace

Offer offer(const FoundMachine& machine) {
  std::vector<std::string> left_out;
  std::vector<Item> items = items_of(machine, left_out);
  number(items);
  return made_of(machine, std::move(items), std::move(left_out));
}

Offer offer(const FoundMachine& machine, const std::vector<Gpu>& configured) {
  std::vector<std::string> left_out;
  std::vector<Item> items = items_of(machine, left_out);
  number(items);
  std::string missing, other;
  std::vector<Item> wanted;
  for (const Gpu& gpu : configured) {
    const auto item = std::find_if(items.begin(), items.end(), [&](const Item& found) {
      return found.offered.gpu.index == gpu.index;
    });
    if (item == items.end()) {
      missing += " " + std::to_string(gpu.index.value());
      continue;
    }
    if (gpu.type != "gpu" && item->offered.gpu.type != "gpu" && gpu.type != item->offered.gpu.type)
      other += " " + std::to_string(gpu.index.value()) + " (" + item->offered.gpu.type + ")";
    item->offered.gpu.type = gpu.type;
    if (!gpu.cores.empty()) item->offered.gpu.cores = gpu.cores;
    wanted.push_back(*item);
  }
  if (!missing.empty()) left_out.push_back("ares.yaml lists GPUs that were not found:" + missing);
  if (!other.empty()) left_out.push_back("GPUs are of another type than ares.yaml says:" + other);
  if (items.size() > wanted.size())
    left_out.push_back(std::to_string(items.size()) +
                       " GPUs were found, of which ares.yaml lists " +
                       std::to_string(wanted.size()) + "; the others are not offered");
  return made_of(machine, std::move(wanted), std::move(left_out));
}

}  // namespace ares::gres
