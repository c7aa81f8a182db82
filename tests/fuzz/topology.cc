// What describes a site's topology: the matrix of a machine's GPUs, the layout of its CPUs, and topology.yaml (any input with the word
// "topologies").
#include "base/hostlist.h"
#include "config/network.h"
#include "core/topology/choose.h"
#include "core/topology/machine.h"
#include "core/topology/matrix/matrix.h"
#include "core/topology/network.h"
#include "core/topology/parsed_topology.h"
#include "fuzz/target.h"
#include "model/cluster/cpu_layout.h"

namespace ares::fuzz {

const Allowance kAllowance{32 << 20, 32 << 10};

namespace {

using namespace core::topology;

// Names of devices and notes are not printed.
bool same_machine(const Matrix& a, const Matrix& b) {
  if (a.gpus.size() != b.gpus.size() || a.nics.size() != b.nics.size() || a.links != b.links)
    return false;
  for (std::size_t i = 0; i < a.gpus.size(); ++i)
    if (a.gpus[i].number != b.gpus[i].number || a.gpus[i].cpus != b.gpus[i].cpus ||
        a.gpus[i].numa != b.gpus[i].numa || a.gpus[i].own_numa != b.gpus[i].own_numa)
      return false;
  for (std::size_t i = 0; i < a.nics.size(); ++i)
    if (a.nics[i].name != b.nics[i].name) return false;
  return true;
}

void try_matrix(std::string_view input) {
  if (const auto parsed = read_topology(input, "a100")) {
    require(check_gpu_topology(parsed->topology).has_value(), "a stored topology can be read");
    require_fit_to_show(summary(parsed->topology).substr(0, kLongestMessage));
  }
  const auto matrix = parse_matrix(input);
  if (!matrix) return require_refusal(matrix.error());
  require(matrix->links.size() == matrix->devices() * matrix->devices(), "a matrix is square");
  const auto again = parse_matrix(format_matrix(*matrix));
  require(again && same_machine(*matrix, *again), "a matrix survives printing");
  const MachineTopology machine(*matrix);
  for (const GpuShapeName& shape : gpu_shape_names()) {
    const GpuRequest request{2, {shape.shape, 0}};
    const auto chosen = choose_gpus(machine, machine.gpus(), request);
    if (!chosen) {
      require_refusal(explain(chosen.error(), machine, machine.gpus(), request));
      continue;
    }
    require(chosen->gpus.count() == 2, "as many GPUs are chosen as requested");
    require(fulfils(machine, chosen->gpus, request.constraint), "chosen GPUs fulfil the request");
  }
}

void try_layout(std::string_view input) {
  const auto layout = parse_cpu_layout(input);
  if (!layout) return require_refusal(layout.error());
  const auto again = parse_cpu_layout(format_cpu_layout(*layout));
  require(again && *again == *layout, "a layout survives printing");
  if (!layout->empty()) require_fit_to_show(summary(*layout));
}

const std::vector<std::string>& known_nodes() {
  static const std::vector<std::string> nodes = *expand_hostlist("n[1-64]");
  return nodes;
}

std::string text_of(const std::vector<NetworkSpec>& networks) {
  std::string text = "topologies:\n";
  for (const NetworkSpec& network : networks)
    text += "  - " + config::print_network(network) + "\n";
  return text;
}

void try_networks(std::string_view input) {
  const auto networks = config::read_networks(std::string(input), "topology.yaml", known_nodes());
  if (!networks) return require_refusal(networks.error());
  if (!networks->empty()) {
    const auto again = config::read_networks(text_of(*networks), "topology.yaml", known_nodes());
    require(again.has_value(), "printed networks are networks");
    require(*again == *networks, "networks survive printing");
  }
  for (const NetworkSpec& spec : *networks) {
    const Network network(spec, [](const std::string& name) -> std::optional<Network::Node> {
      return static_cast<Network::Node>(std::stoul(name.substr(1)));
    });
    std::vector<NodeCandidate> all;
    for (Network::Node node = 1; node <= known_nodes().size(); ++node) all.push_back({node});
    const auto packed = pack(network, all, 3, {});
    require(!packed || packed->size() == 3, "as many nodes are packed as requested");
  }
}

}  // namespace

void try_input(std::string_view input) {
  if (input.find("topologies") != std::string_view::npos) return try_networks(input);
  try_layout(input);
  try_matrix(input);
}

}  // namespace ares::fuzz
