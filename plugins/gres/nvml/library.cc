#include "gres/nvml/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include "base/printable.h"

namespace ares::gres::nvml {
namespace {

// Looks entry points up; the first name that the library has counts.
class Resolver {
 public:
  Resolver(void* handle, std::vector<std::string>& missing) : handle_(handle), missing_(missing) {}

  template <class Function>
  bool find(Function& function, std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (void* address = ::dlsym(handle_, name)) {
        function = reinterpret_cast<Function>(address);
        return true;
      }
    missing_.emplace_back(*names.begin());
    return false;
  }

 private:
  void* handle_;
  std::vector<std::string>& missing_;
};

}  // namespace

// One row an entry point. Where a version has another signature than the newest, it stands in a row
// of its own or is not used.
Status Library::resolve() {
  Resolver in(handle_, missing_);
  // All are looked for, so that the message names each that is missing.
  const bool found[] = {
      in.find(api_.Init, {"nvmlInit_v2", "nvmlInit"}),
      in.find(api_.Shutdown, {"nvmlShutdown"}),
      in.find(api_.DeviceGetCount, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}),
      in.find(api_.DeviceGetHandleByIndex,
              {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}),
      in.find(api_.DeviceGetName, {"nvmlDeviceGetName"}),
  };
  if (std::count(std::begin(found), std::end(found), false) > 0) {
    std::string names;
    for (const std::string& name : missing_) names += (names.empty() ? "" : ", ") + name;
    return fail(ErrorCode::failed_precondition, "the library has no " + names);
  }
  in.find(api_.ErrorString, {"nvmlErrorString"});
  in.find(api_.SystemGetDriverVersion, {"nvmlSystemGetDriverVersion"});
  in.find(api_.DeviceGetUUID, {"nvmlDeviceGetUUID"});
  in.find(api_.DeviceGetMinorNumber, {"nvmlDeviceGetMinorNumber"});
  in.find(api_.DeviceGetPciInfo,
          {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
  in.find(api_.DeviceGetMemoryInfo, {"nvmlDeviceGetMemoryInfo"});
  in.find(api_.DeviceGetMemoryInfo_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  if (!in.find(api_.DeviceGetComputeRunningProcesses, {"nvmlDeviceGetComputeRunningProcesses_v3",
                                                       "nvmlDeviceGetComputeRunningProcesses_v2"}))
    in.find(api_.DeviceGetComputeRunningProcesses_v1, {"nvmlDeviceGetComputeRunningProcesses"});
  in.find(api_.DeviceGetCpuAffinityWithinScope, {"nvmlDeviceGetCpuAffinityWithinScope"});
  in.find(api_.DeviceGetCpuAffinity, {"nvmlDeviceGetCpuAffinity"});
  in.find(api_.DeviceGetMemoryAffinity, {"nvmlDeviceGetMemoryAffinity"});
  in.find(api_.DeviceGetNumaNodeId, {"nvmlDeviceGetNumaNodeId"});
  in.find(api_.DeviceGetTopologyCommonAncestor, {"nvmlDeviceGetTopologyCommonAncestor"});
  in.find(api_.DeviceGetP2PStatus, {"nvmlDeviceGetP2PStatus"});
  in.find(api_.DeviceGetNvLinkState, {"nvmlDeviceGetNvLinkState"});
  in.find(api_.DeviceGetNvLinkRemotePciInfo,
          {"nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo"});
  in.find(api_.DeviceGetNvLinkRemoteDeviceType, {"nvmlDeviceGetNvLinkRemoteDeviceType"});
  in.find(api_.DeviceGetMigMode, {"nvmlDeviceGetMigMode"});
  in.find(api_.DeviceGetMaxMigDeviceCount, {"nvmlDeviceGetMaxMigDeviceCount"});
  in.find(api_.DeviceGetMigDeviceHandleByIndex, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  in.find(api_.DeviceGetGpuInstanceId, {"nvmlDeviceGetGpuInstanceId"});
  in.find(api_.DeviceGetComputeInstanceId, {"nvmlDeviceGetComputeInstanceId"});
  in.find(api_.DeviceGetAttributes, {"nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes"});
  in.find(api_.DeviceGetTotalEccErrors, {"nvmlDeviceGetTotalEccErrors"});
  in.find(api_.DeviceGetRemappedRows, {"nvmlDeviceGetRemappedRows"});
  in.find(api_.DeviceGetRetiredPages, {"nvmlDeviceGetRetiredPages"});
  in.find(api_.DeviceGetRetiredPagesPendingStatus, {"nvmlDeviceGetRetiredPagesPendingStatus"});
  in.find(api_.EventSetCreate, {"nvmlEventSetCreate"});
  in.find(api_.EventSetFree, {"nvmlEventSetFree"});
  in.find(api_.EventSetWait, {"nvmlEventSetWait_v2", "nvmlEventSetWait"});
  in.find(api_.DeviceRegisterEvents, {"nvmlDeviceRegisterEvents"});
  return {};
}

Result<Library> Library::open(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = ::dlerror();
    return fail(ErrorCode::not_found,
                "cannot load " + name + ": " + printable(why ? why : "unknown error"));
  }
  Library library(handle);
  if (Status resolved = library.resolve(); !resolved)
    return fail(resolved.error().code, name + ": " + resolved.error().message);
  if (const Return error = library.api_.Init(); error != kSuccess)
    return fail(error == kDriverNotLoaded ? ErrorCode::not_found : ErrorCode::failed_precondition,
                name + " cannot be initialised: " + library.describe(error));
  library.initialised_ = true;
  return library;
}

Library::Library(Library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      initialised_(std::exchange(other.initialised_, false)),
      api_(other.api_),
      missing_(std::move(other.missing_)) {}

Library::~Library() {
  if (initialised_) (void)api_.Shutdown();
  if (handle_) ::dlclose(handle_);
}

std::string Library::describe(Return error) const {
  const char* text = api_.ErrorString ? api_.ErrorString(error) : nullptr;
  return (text ? printable(text) : "error") + " (" + std::to_string(error) + ")";
}

}  // namespace ares::gres::nvml
