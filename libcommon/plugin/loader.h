// Loads plugins from shared objects, refusing what could not be trusted or would not fit.
// The library stays loaded as long as its SharedObject lives; owned by the composition root. Any thread.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "plugin/exec_abi.h"

namespace ares::plugin {

class SharedObject {
 public:
  // permission_denied when the file or its directory belongs to neither root nor us, or when others may write to it: whoever can
  // change the file would run as us.
  static Result<SharedObject> open(const std::string& path);

  // The same of a copy in memory, so that whatever takes the file's place later is another object, although this one may still be loaded:
  // the dynamic linker knows objects by name.
  static Result<SharedObject> open_copy(const std::string& path);

  SharedObject(SharedObject&& other) noexcept;
  SharedObject& operator=(SharedObject&& other) noexcept;
  ~SharedObject();

  Result<void*> symbol(const char* name) const;

 private:
  SharedObject(void* handle, std::string path, int memory = -1)
      : handle_(handle), path_(std::move(path)), memory_(memory) {}

  void* handle_ = nullptr;
  std::string path_;
  int memory_ = -1;  // descriptor of the copy, which is its name as well
};

// Whether this program can use the plugin; failed_precondition with both versions otherwise.
Status check_exec_plugin(const ares_exec_plugin* plugin, const std::string& where);

struct LoadedExecPlugin {
  SharedObject library;
  const ares_exec_plugin* plugin = nullptr;
};
Result<LoadedExecPlugin> load_exec_plugin(const std::string& path);

}  // namespace ares::plugin
