#include "aresd/gpus/gpu_look.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "aresd/gpus/discovery.h"
#include "base/printable.h"
#include "os/file.h"

namespace ares::aresd {
namespace {

void raise(const os::Fd& event) {
  const std::uint64_t one = 1;
  (void)!::write(event.get(), &one, sizeof one);
}

// The name of its program; empty: there is no such process.
std::string program_of(const std::string& folder) {
  const Result<std::string> arguments = os::read_file(folder + "/cmdline");
  if (arguments && !arguments->empty()) {
    const std::string path = arguments->substr(0, arguments->find('\0'));
    return path.substr(path.rfind('/') + 1);
  }
  Result<std::string> name = os::read_file(folder + "/comm");
  if (!name) return {};
  while (name->ends_with('\n')) name->pop_back();
  return *name;
}

std::string why_unclean(const GpuLookSetup& setup, const gres::Use& use, bool own_memory,
                        const std::string& proc) {
  std::vector<std::uint32_t> processes = use.processes;
  std::sort(processes.begin(), processes.end());
  for (const std::uint32_t process : processes) {
    const std::string folder = proc + "/" + std::to_string(process);
    const std::string program = program_of(folder);
    if (program.empty() || std::find(setup.system_programs.begin(), setup.system_programs.end(),
                                     program) != setup.system_programs.end())
      continue;
    struct stat info {};
    const bool known = ::stat(folder.c_str(), &info) == 0;
    return "process " + std::to_string(process) + " (" + printable(program) + ")" +
           (known ? " of uid " + std::to_string(info.st_uid) : "") + " uses it";
  }
  if (own_memory && use.memory > setup.idle_memory)
    return "more than " + format_memory(setup.idle_memory) +
           " of its memory is in use (gpu_idle_memory)";
  return {};
}

}  // namespace

bool is_looked_at(const std::string& source) {
  return source == "nvml" || source == "amd" || source == "auto";
}

std::map<GpuIndex, std::string> unclean_gpus(const GpuLookSetup& setup,
                                             const gres::FoundMachine& found,
                                             const std::string& proc) {
  std::map<std::string, std::string> by_name;
  for (const gres::FoundGpu& gpu : found.gpus) {
    // Where the memory is a NUMA node, files that the kernel keeps in it count as used.
    const bool own_memory = gpu.own_numa.empty();
    if (gpu.instances.empty())
      by_name[gpu.uuid.empty() ? std::to_string(gpu.index) : gpu.uuid] =
          gpu.problem.empty() ? why_unclean(setup, gpu.use, own_memory, proc) : std::string();
    for (const gres::FoundInstance& instance : gpu.instances)
      by_name[instance.uuid] = why_unclean(setup, instance.use, own_memory, proc);
  }
  std::map<GpuIndex, std::string> unclean;
  for (const auto& [index, name] : setup.gpus) {
    const auto found_one = by_name.find(name.empty() ? std::to_string(index.value()) : name);
    if (found_one != by_name.end() && !found_one->second.empty())
      unclean.emplace(index, found_one->second);
  }
  return unclean;
}

GpuLook::GpuLook(GpuLookSetup setup, std::function<void(node::GpuLook)> tell)
    : setup_(std::move(setup)),
      tell_(std::move(tell)),
      asked_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      cancel_(::eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

GpuLook::~GpuLook() {
  thread_.request_stop();
  raise(cancel_);
}

void GpuLook::ask() {
  raise(asked_);
}

void GpuLook::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd sources[] = {{asked_.get(), POLLIN, 0}, {cancel_.get(), POLLIN, 0}};
    if (::poll(sources, 2, -1) < 0 || sources[0].revents == 0) continue;
    std::uint64_t count = 0;
    (void)!::read(asked_.get(), &count, sizeof count);
    const Result<gres::FoundMachine> found = discover(setup_.source, setup_.timeout, cancel_.get());
    if (stop.stop_requested()) return;
    tell_(found ? node::GpuLook(unclean_gpus(setup_, *found)) : fail(found.error()));
  }
}

}  // namespace ares::aresd
