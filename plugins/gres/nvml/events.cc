#include "gres/nvml/events.h"

#include <algorithm>
#include <iterator>

#include "gres/nvml/library.h"
#include "gres/nvml/links.h"

namespace ares::gres::nvml {
namespace {

// By NVIDIA's list of XID errors: faults and ends of a program, and limits that it exceeded.
constexpr std::uint64_t kOfPrograms[] = {13, 31, 43, 45, 68, 109};

// Frees the set.
class EventSet {
 public:
  explicit EventSet(const Api& api) : api_(api) {}
  ~EventSet() {
    if (set_) (void)api_.EventSetFree(set_);
  }
  EventSet(const EventSet&) = delete;
  EventSet& operator=(const EventSet&) = delete;

  Return make() { return api_.EventSetCreate(&set_); }
  Events get() const { return set_; }

 private:
  const Api& api_;
  Events set_ = nullptr;
};

std::string address_of(const Api& api, Device device) {
  PciInfo info{};
  return device && api.DeviceGetPciInfo && api.DeviceGetPciInfo(device, &info) == kSuccess
             ? bus_id_of(info)
             : "";
}

}  // namespace

bool concerns_hardware(const GpuError& error) {
  return std::find(std::begin(kOfPrograms), std::end(kOfPrograms), error.xid) ==
         std::end(kOfPrograms);
}

Status watch_errors(const Options& options, const std::function<void(const GpuError&)>& report,
                    const std::function<bool()>& go_on) {
  const Result<Library> library = Library::open(options.library);
  if (!library) return fail(library.error());
  const Api& api = library->api();
  if (!api.EventSetCreate || !api.EventSetWait || !api.EventSetFree || !api.DeviceRegisterEvents)
    return fail(ErrorCode::failed_precondition, "this driver does not report errors of GPUs");
  EventSet events(api);
  if (const Return error = events.make(); error != kSuccess)
    return fail(ErrorCode::failed_precondition,
                "cannot watch errors of GPUs: " + library->describe(error));
  unsigned count = 0, watched = 0;
  (void)api.DeviceGetCount(&count);
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (api.DeviceGetHandleByIndex(i, &device) == kSuccess &&
        api.DeviceRegisterEvents(device, kXidErrors, events.get()) == kSuccess)
      ++watched;
  }
  if (watched == 0) return fail(ErrorCode::failed_precondition, "no GPU reports its errors");
  while (go_on()) {
    EventData data{};
    const Return result = api.EventSetWait(events.get(), &data, 1000);
    if (result == kTimeout) continue;
    if (result == kGpuIsLost) {
      report({});
      return {};
    }
    if (result != kSuccess)
      return fail(ErrorCode::failed_precondition,
                  "cannot wait for errors of GPUs: " + library->describe(result));
    if ((data.type & kXidErrors) != 0) report({address_of(api, data.device), data.data});
  }
  return {};
}

}  // namespace ares::gres::nvml
