#include "aresd/gpus/discovery.h"

#include <unistd.h>

#include <cerrno>

#include "aresd/gpus/discovery_child.h"
#include "core/topology/parsed_topology.h"
#include "gres/amd/amd.h"
#include "gres/found/json.h"
#include "gres/nvml/discover.h"
#include "gres/pci/pci.h"
#include "os/fd.h"
#include "os/file.h"

namespace ares::aresd {
namespace {

bool is_file(const std::string& source) {
  return source.starts_with('/');
}

Result<gres::FoundMachine> read(const std::string& path) {
  const Result<std::string> text = os::read_file(path);
  if (!text) return fail(text.error());
  Result<gres::FoundMachine> found = gres::from_text(*text);
  if (!found) return fail(found.error().code, path + ": " + found.error().message);
  return found;
}

Result<gres::FoundMachine> first_with_gpus() {
  gres::FoundMachine none;
  none.source = "none";
  for (const char* source : {"nvml", "amd"}) {
    Result<gres::FoundMachine> found = discover_here(source);
    if (found && !found->gpus.empty()) {
      found->notes.insert(found->notes.begin(), none.notes.begin(), none.notes.end());
      return found;
    }
    none.notes.push_back(std::string(source) + ": " + (found ? "no GPUs" : found.error().message));
  }
  return none;
}

Status write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(os::errno_error("cannot write what was found"));
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

void log_found(const gres::FoundMachine& found, const gres::Offer& offer, const DiscoveryLog& log) {
  log("discovery of GPUs by " + found.source +
          (found.driver.empty() ? "" : ", driver " + found.driver) + ": " +
          (offer.gpus.empty()       ? "no GPUs"
           : offer.topology.empty() ? std::to_string(offer.gpus.size()) + " GPUs"
                                    : core::topology::summary(offer.topology)),
      false);
  for (const std::string& text : offer.left_out) log(text, true);
  for (const std::string& note : found.notes) log("discovery of GPUs: " + note, false);
  for (const gres::FoundGpu& gpu : found.gpus)
    for (const std::string& note : gpu.notes)
      log("GPU " + std::to_string(gpu.index) + ": " + note, true);
}

}  // namespace

Result<gres::FoundMachine> discover_here(const std::string& source) {
  if (is_file(source)) return read(source);
  if (source == "auto") return first_with_gpus();
  if (source == "nvml") return gres::nvml::discover();
  if (source == "amd") return gres::amd::discover();
  if (source == "pci") return gres::pci::discover();
  return fail(ErrorCode::invalid_argument,
              "unknown source " + source + "; there are auto, nvml, amd, pci and files");
}

Result<gres::FoundMachine> discover(const std::string& source, Seconds timeout, int cancel) {
  return is_file(source) ? read(source) : discover_in_child(source, timeout, {}, cancel);
}

Result<std::optional<gres::Offer>> find_gpus(const config::ConfiguredNode& node, Seconds timeout,
                                             bool simulated, const DiscoveryLog& log) {
  if (node.gpu_discovery.empty()) return std::nullopt;
  if (simulated && !is_file(node.gpu_discovery))
    return fail(
        ErrorCode::invalid_argument,
        "node " + node.name + ": gpu_discovery is " + node.gpu_discovery +
            ", but the GPUs of this machine are not those of a simulated node; name a file");
  Result<gres::FoundMachine> found = discover(node.gpu_discovery, timeout);
  if (!found && is_file(node.gpu_discovery)) return fail(found.error());
  if (!found) {
    log("discovery of GPUs by " + node.gpu_discovery + " failed: " + found.error().message, true);
    found = gres::FoundMachine{};
    found->source = node.gpu_discovery;
  }
  const std::vector<Gpu>& listed = node.inventory.gpus;
  gres::Offer offer = listed.empty() ? gres::offer(*found) : gres::offer(*found, listed);
  log_found(*found, offer, log);
  return offer;
}

std::map<GpuIndex, std::string> gpu_names(const std::optional<gres::Offer>& offer, bool confined) {
  std::map<GpuIndex, std::string> names;
  if (offer && (offer->only_names || confined))
    for (const gres::OfferedGpu& offered : offer->gpus)
      if (!offered.name.empty()) names.emplace(offered.gpu.index, offered.name);
  return names;
}

Status print_found(const std::string& source, Seconds timeout) {
  const Result<gres::FoundMachine> found = discover(source, timeout);
  return found ? write_all(STDOUT_FILENO, gres::to_json(*found)) : fail(found.error());
}

Status print_found_here(const std::string& source) {
  const os::Fd output(::dup(STDOUT_FILENO));
  if (!output || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return fail(os::errno_error("cannot duplicate the standard output"));
  const Result<gres::FoundMachine> found = discover_here(source);
  return found ? write_all(output.get(), gres::to_json(*found)) : fail(found.error());
}

}  // namespace ares::aresd
