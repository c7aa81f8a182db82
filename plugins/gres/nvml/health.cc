#include "gres/nvml/health.h"

namespace ares::gres::nvml {
namespace {

void add_problem(FoundGpu& gpu, const std::string& problem) {
  gpu.problem += (gpu.problem.empty() ? "" : "; ") + problem;
}

std::string counted(unsigned long long count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace

void check_health(const Library& library, Device device, FoundGpu& gpu) {
  const Api& api = library.api();
  unsigned long long errors = 0;
  if (api.DeviceGetTotalEccErrors) {
    const Return error = api.DeviceGetTotalEccErrors(device, kUncorrected, kVolatile, &errors);
    if (error == kSuccess && errors > 0)
      add_problem(gpu, counted(errors, "uncorrectable error") +
                           " of its memory since the driver was loaded; reset it");
    else if (error == kGpuIsLost)
      add_problem(gpu, library.describe(error));
  }
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (api.DeviceGetRemappedRows &&
      api.DeviceGetRemappedRows(device, &corrected, &uncorrected, &pending, &failed) == kSuccess) {
    if (failed != 0) add_problem(gpu, "a row of its memory could not be remapped; replace it");
    if (pending != 0) gpu.notes.emplace_back("rows of its memory are remapped at its next reset");
    if (uncorrected > 0)
      gpu.notes.push_back(counted(uncorrected, "row") +
                          " of its memory remapped after uncorrectable errors");
  }
  unsigned pages = 0;
  if (api.DeviceGetRetiredPages) {
    // With no room for addresses it only counts.
    const Return error = api.DeviceGetRetiredPages(device, kByDoubleBitError, &pages, nullptr);
    if ((error == kSuccess || error == kInsufficientSize) && pages > 0)
      gpu.notes.push_back(counted(pages, "page") +
                          " of its memory retired after double bit errors");
  }
  if (api.DeviceGetRetiredPagesPendingStatus &&
      api.DeviceGetRetiredPagesPendingStatus(device, &pending) == kSuccess && pending != 0)
    gpu.notes.emplace_back("pages of its memory are retired when the driver is next loaded");
}

}  // namespace ares::gres::nvml
