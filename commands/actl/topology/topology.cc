#include "actl/topology/topology.h"

#include <cstdio>

#include "base/printable.h"
#include "cli/output/text.h"
#include "core/topology/cpus.h"

namespace ares::actl {
namespace {

using namespace core::topology;

// Parses a number of GPUs, "4", or a fraction of one GPU, "0.5".
Result<std::uint32_t> parse_amount(const std::string& text) {
  const std::size_t point = text.find('.');
  const auto whole = cli::parse_number(text.substr(0, point), kMaxGpus);
  std::string digits = point == std::string::npos ? "" : text.substr(point + 1);
  const bool good = whole && digits.size() <= 3 && (point == std::string::npos || !digits.empty());
  digits.resize(3, '0');
  const auto part = cli::parse_number(digits, 999);
  if (!good || !part || *whole * kWholeGpu + *part == 0)
    return fail(ErrorCode::invalid_argument,
                quote(text) + " is not a number of GPUs; give 1 or more, or a part such as 0.5");
  return static_cast<std::uint32_t>(*whole * kWholeGpu + *part);
}

// Returns the option's function, which stores the result of parse().
template <class Value, class Parse>
std::function<Status(const std::string&)> keep(std::optional<Value>& value, const Parse& parse) {
  return [&value, parse](const std::string& text) -> Status {
    const auto parsed = parse(text);
    if (!parsed) return fail(parsed.error());
    value = static_cast<Value>(*parsed);
    return {};
  };
}

Status set_policy(TopologyOptions& options, const std::string& word) {
  options.gaia = word == "gaia";
  if (options.gaia || word == "best") return {};
  return fail(ErrorCode::invalid_argument,
              quote(word) + " is no policy of placement; there are best and gaia");
}

// Checks the options that need other options.
Status check(const TopologyOptions& options) {
  if (!options.allocate &&
      (options.busy || options.shape || options.min_nvlinks || options.cpus || options.gaia))
    return invalid(
        "--busy, --gpu-topology, --min-nvlink, --near-cpus and --gpu-policy need --allocate");
  if (options.gaia && (options.shape || options.min_nvlinks))
    return invalid(
        "the policy gaia knows no constraints; leave out --gpu-topology and --min-nvlink");
  if (!options.gaia && options.allocate && *options.allocate % kWholeGpu != 0)
    return invalid("only the policy gaia chooses for a part of a GPU; add --gpu-policy=gaia");
  return {};
}

Status place(const MachineTopology& machine, const TopologyOptions& options,
             Allocation& allocation) {
  if (options.gaia) {
    const auto choice = Gaia(machine).choose(GpuShares::whole(allocation.free), *options.allocate);
    if (!choice) return fail(choice.error());
    allocation.gaia = *choice;
    allocation.gpus = choice->gpus;
    return {};
  }
  const GpuRequest request{*options.allocate / kWholeGpu,
                           {options.shape.value_or(Shape::any), options.min_nvlinks.value_or(0)}};
  const auto choice = choose_gpus(machine, allocation.free, request);
  if (!choice) return fail(explain(choice.error(), machine, allocation.free, request));
  allocation.best = *choice;
  allocation.gpus = choice->gpus;
  return {};
}

// All CPUs that the matrix names. Which of them are in use is not known here.
Bitset known_cpus(const MachineTopology& machine) {
  const IntervalSet near = near_cpus(machine, machine.gpus());
  Bitset cpus(near.empty() ? 0 : near.back() + std::size_t{1});
  for (const std::uint32_t cpu : near) cpus.set(cpu);
  return cpus;
}

}  // namespace

std::vector<cli::Option> topology_rows(TopologyOptions& options) {
  const auto number = [](std::int64_t max) {
    return [max](const std::string& text) { return cli::parse_integer(text, 1, max); };
  };
  return {
      {0, "allocate", "K", "With topology: which K GPUs a request would get; 0.5 is half of one.",
       keep(options.allocate, parse_amount)},
      {0, "busy", "LIST", "With topology: GPUs that are in use, such as 0-3,6.",
       keep(options.busy, parse_gpu_set)},
      {0, "gpu-topology", "WORD",
       "With topology: how the GPUs must be joined: any, nvlink, switch, pix or node.",
       keep(options.shape, parse_gpu_shape)},
      {0, "min-nvlink", "N",
       "With topology: by how many NVLinks every two of the GPUs must be joined directly.",
       keep(options.min_nvlinks, number(kMaxNvlinks))},
      {0, "near-cpus", "N", "With topology: which N processors would go with the GPUs.",
       keep(options.cpus, number(65536))},
      {0, "gpu-policy", "WORD", "With topology: best (the default) or gaia.",
       [&options](const std::string& word) { return set_policy(options, word); }},
  };
}

std::vector<std::string> topology_texts() {
  std::string shapes;
  for (const GpuShapeName& name : gpu_shape_names())
    shapes += (shapes.empty() ? "" : "; ") + std::string(name.word) + ": " + std::string(name.help);
  return {
      "FILE holds what nvidia-smi topo -m prints on the machine, or is - for standard input. "
      "The links are shown as they were understood, with the GPUs that NVLinks join, the NUMA "
      "nodes "
      "and the PCIe tree.",
      "With --allocate the best free GPUs are chosen: those whose slowest pair is fastest; among "
      "equals those with the largest sum over all pairs, then with most pairs in one NUMA node, "
      "then "
      "those that leave most to others, then the lowest numbers. Bandwidths are nominal: 25 GB/s "
      "an "
      "NVLink, 13 to 6 GB/s over PCIe from PIX to SYS.",
      "--gpu-topology is one of " + shapes +
          ". nvlink allows ways over other GPUs of the set; --min-nvlink=1 does not. A constraint "
          "that cannot be kept is refused, never loosened.",
      "The policy gaia chooses on the tree of access costs alone, as the Gaia scheduler does, and "
      "knows parts of GPUs."};
}

Result<std::optional<Allocation>> allocate(const MachineTopology& machine,
                                           const TopologyOptions& options) {
  if (Status done = check(options); !done) return fail(done.error());
  if (!options.allocate) return std::nullopt;
  Allocation allocation;
  const GpuSet busy = options.busy.value_or(GpuSet());
  if (!machine.gpus().contains(busy))
    return invalid("--busy: the machine has no GPU " + format_gpu_set(busy - machine.gpus()) +
                   "; it has " + format_gpu_set(machine.gpus()));
  allocation.free = machine.gpus() - busy;
  allocation.thousandths = *options.allocate;
  if (Status done = place(machine, options, allocation); !done) return fail(done.error());
  if (options.cpus) {
    allocation.cpus = choose_cpus(machine, allocation.gpus, known_cpus(machine), *options.cpus);
    if (allocation.cpus.size() < *options.cpus)
      return invalid("--near-cpus: the matrix names only " +
                     std::to_string(allocation.cpus.size()) + " processors");
  }
  return allocation;
}

}  // namespace ares::actl
