// Loads plugins from shared objects, refusing what could not be trusted or would not fit.
// The library stays loaded as long as its SharedObject lives; owned by the composition root. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "plugin/exec_abi.h"

namespace ares::plugin {

class SharedObject {
 public:
  // permission_denied when the file or its directory belongs to neither root nor us, or when others may write to it: whoever can
  // change the file would run as us.
  static Result<SharedObject> open(const std::string& path);

  SharedObject(SharedObject&& other) noexcept;
  SharedObject& operator=(SharedObject&& other) noexcept;
  ~SharedObject();

  Result<void*> symbol(const char* name) const;

 private:
  SharedObject(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  void* handle_ = nullptr;
  std::string path_;
};

// Whether this program can use the plugin; failed_precondition with both versions otherwise.
Status check_exec_plugin(const ares_exec_plugin* plugin, const std::string& where);

struct LoadedExecPlugin {
  SharedObject library;
  const ares_exec_plugin* plugin = nullptr;
};
Result<LoadedExecPlugin> load_exec_plugin(const std::string& path);

}  // namespace ares::plugin
