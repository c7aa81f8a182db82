#include "aresd/inventory.h"

#include <sched.h>
#include <unistd.h>

#include <charconv>
#include <sstream>

#include "base/interval_set.h"
#include "os/file.h"

namespace ares::aresd {
namespace {

// Terminal colours, which people paste along.
std::string without_escapes(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

bool is_device(std::string_view word) {
  return word.starts_with("GPU") || word.starts_with("NIC") || word.starts_with("mlx");
}

std::optional<std::uint16_t> gpu_number(std::string_view word) {
  if (!word.starts_with("GPU")) return std::nullopt;
  word.remove_prefix(3);
  std::uint16_t number = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

}  // namespace

Inventory machine_inventory() {
  Inventory inventory;
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
  inventory.cpus =
      static_cast<std::uint32_t>(known ? CPU_COUNT(&set) : ::sysconf(_SC_NPROCESSORS_ONLN));
  if (Result<std::string> text = os::read_file("/proc/meminfo")) {
    std::istringstream words(*text);
    for (std::string key; words >> key;) {
      std::int64_t kib = 0;
      if (key == "MemTotal:" && words >> kib) inventory.memory = Bytes::kib(kib);
    }
  }
  return inventory;
}

Result<std::vector<Gpu>> parse_gpu_topology(std::string_view text, const std::string& type) {
  std::vector<Gpu> gpus;
  std::size_t devices = 0;
  std::istringstream lines(without_escapes(text));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> row;
    for (std::string word; words >> word;) row.push_back(word);
    if (row.empty()) continue;
    const bool header = row.size() > 1 && gpu_number(row[0]) == 0 && gpu_number(row[1]) == 1;
    const bool lone_header = row.size() > 1 && gpu_number(row[0]) == 0 && !header &&
                             (is_device(row[1]) || row[1] == "CPU");
    if (header || lone_header) {
      devices = 0;
      while (devices < row.size() && is_device(row[devices])) ++devices;
      continue;
    }
    const std::optional<std::uint16_t> number = gpu_number(row[0]);
    if (!number) continue;
    if (!gpus.empty() && *number <= gpus.back().index.value())
      return fail(ErrorCode::invalid_argument, "GPU topology: row " + row[0] + " comes after GPU" +
                                                   std::to_string(gpus.back().index.value()));
    Gpu gpu{GpuIndex(*number), type.empty() ? "gpu" : type, {}};
    if (devices > 0 && row.size() > devices + 1)
      if (Result<IntervalSet> cores = parse_interval_set(row[devices + 1]))
        gpu.cores.assign(cores->begin(), cores->end());
    gpus.push_back(std::move(gpu));
  }
  if (gpus.empty())
    return fail(ErrorCode::invalid_argument,
                "GPU topology: no row begins with GPU0; give the output of nvidia-smi topo -m");
  return gpus;
}

Result<Inventory> node_inventory(const config::ConfiguredNode& configured,
                                 const Inventory& machine) {
  Inventory inventory = configured.inventory;
  if (inventory.cpus == 0) inventory.cpus = machine.cpus;
  if (inventory.memory.value() == 0) inventory.memory = machine.memory;
  if (!configured.gpu_topology.empty()) {
    Result<std::string> text = os::read_file(configured.gpu_topology);
    if (!text) return fail(text.error());
    const std::string type = inventory.gpus.empty() ? "" : inventory.gpus.front().type;
    Result<std::vector<Gpu>> gpus = parse_gpu_topology(*text, type);
    if (!gpus)
      return fail(gpus.error().code, configured.gpu_topology + ": " + gpus.error().message);
    inventory.gpus = std::move(*gpus);
  }
  return inventory;
}

}  // namespace ares::aresd
