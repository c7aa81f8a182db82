#include "unit/topology/machines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace ares::core::topology {
namespace {

std::string range(unsigned first, unsigned count) {
  return std::to_string(first) + "-" + std::to_string(first + count - 1);
}

std::function<std::string(unsigned)> by_group(unsigned size, unsigned cpus) {
  return [=](unsigned gpu) { return range(gpu / size * cpus, cpus); };
}

std::function<std::string(unsigned)> numa_by_group(unsigned size) {
  return [=](unsigned gpu) { return std::to_string(gpu / size); };
}

}  // namespace

std::string text_of(const Description& machine) {
  std::string text;
  for (unsigned gpu = 0; gpu < machine.gpus; ++gpu) text += "\tGPU" + std::to_string(gpu);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (unsigned a = 0; a < machine.gpus; ++a) {
    text += "GPU" + std::to_string(a);
    for (unsigned b = 0; b < machine.gpus; ++b)
      text += "\t" + (a == b ? " X " : machine.link(std::min(a, b), std::max(a, b)));
    text += "\t" + machine.cpus(a) + "\t" + machine.numa(a) + "\n";
  }
  return text;
}

MachineTopology machine_of(const std::string& text) {
  Result<Matrix> matrix = parse_matrix(text);
  if (!matrix) throw std::runtime_error(matrix.error().message + "\n" + text);
  return MachineTopology(std::move(*matrix));
}

MachineTopology machine_of(const Description& machine) {
  return machine_of(text_of(machine));
}

Description dgx1() {
  // Within four: 0-1 and 0-2 single, 0-3 double, and so on; across, double or single to the same position in the other four.
  static const char* const kFour[4][4] = {
      {"", "NV1", "NV1", "NV2"}, {"", "", "NV2", "NV1"}, {"", "", "", "NV2"}, {"", "", "", ""}};
  static const char* const kAcross[4] = {"NV2", "NV2", "NV1", "NV1"};
  return {8,
          [](unsigned a, unsigned b) -> std::string {
            if (a / 4 == b / 4) return kFour[a % 4][b % 4];
            return a % 4 == b % 4 ? kAcross[a % 4] : "SYS";
          },
          by_group(4, 20), numa_by_group(4)};
}

Description dgx2() {
  return {16, [](unsigned, unsigned) { return "NV6"; }, by_group(8, 24), numa_by_group(8)};
}

Description dgx_a100() {
  return {8, [](unsigned, unsigned) { return "NV12"; }, by_group(2, 16),
          [](unsigned gpu) { return std::to_string(3 - gpu / 2); }};
}

Description pcie_tree() {
  return {16,
          [](unsigned a, unsigned b) -> std::string {
            if (a / 2 == b / 2) return "PIX";
            if (a / 4 == b / 4) return "PHB";
            return a / 8 == b / 8 ? "NODE" : "SYS";
          },
          by_group(8, 32), numa_by_group(8)};
}

Description bridge_pairs() {
  return {8,
          [](unsigned a, unsigned b) -> std::string {
            if (a / 2 == b / 2) return "NV4";
            return a / 4 == b / 4 ? "NODE" : "SYS";
          },
          by_group(4, 16), numa_by_group(4)};
}

Description mesh4() {
  Description machine = dgx1();
  machine.gpus = 4;
  machine.cpus = [](unsigned) { return "0-31"; };
  machine.numa = [](unsigned) { return "N/A"; };
  return machine;
}

Description gaia_machine() {
  return {4,
          [](unsigned a, unsigned b) -> std::string {
            if (a / 2 != b / 2) return "SOC";
            return a == 2 ? "PIX" : "PHB";
          },
          by_group(2, 28)};
}

Description irregular(unsigned gpus, std::uint32_t seed) {
  static const std::vector<std::string> kCodes = {"NV1", "NV2", "NV4",  "PIX",
                                                  "PXB", "PHB", "NODE", "SYS"};
  std::mt19937 random(seed);
  std::vector<std::string> links(std::size_t{gpus} * gpus);
  for (std::string& link : links) link = kCodes[random() % kCodes.size()];
  std::vector<unsigned> numa(gpus);
  for (unsigned& node : numa) node = random() % 3;
  return {gpus, [=](unsigned a, unsigned b) { return links[a * gpus + b]; },
          [=](unsigned gpu) { return range(numa[gpu] * 8, 8); },
          [=](unsigned gpu) { return std::to_string(numa[gpu]); }};
}

std::vector<NamedMachine> known_machines() {
  return {{"dgx1", machine_of(dgx1())},
          {"dgx2", machine_of(dgx2())},
          {"dgx_a100", machine_of(dgx_a100())},
          {"pcie_tree", machine_of(pcie_tree())},
          {"bridge_pairs", machine_of(bridge_pairs())},
          {"mesh4", machine_of(mesh4())},
          {"gaia", machine_of(gaia_machine())}};
}

std::vector<std::pair<std::string, std::string>> recorded_texts() {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& entry :
       std::filesystem::directory_iterator(ARES_SOURCE_DIR "/tests/data/topologies")) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    texts.emplace_back(entry.path().filename().string(), text.str());
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<NamedMachine> recorded_machines() {
  std::vector<NamedMachine> machines;
  for (const auto& [name, text] : recorded_texts())
    if (Result<Matrix> matrix = parse_matrix(text))
      machines.push_back({name, MachineTopology(std::move(*matrix))});
  return machines;
}

}  // namespace ares::core::topology
