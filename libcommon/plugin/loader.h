// Loads plugins from shared objects. Refuses files that other users can change and plugins of another ABI version.
// The library stays loaded as long as its SharedObject exists; owned by the composition root. Any thread.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "plugin/exec_abi.h"

namespace ares::plugin {

class SharedObject {
 public:
  // permission_denied if the owner of the file or its directory is neither root nor this user, or
  // if others can write to it, because they could run code as this user.
  static Result<SharedObject> open(const std::string& path);

  // Loads a copy in memory. A file that later replaces this one is then loaded as a new object even
  // while this one is still loaded: the dynamic linker identifies objects by name.
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
  int memory_ = -1;  // descriptor of the copy; its name is made from it
};

// Whether this program can use the plugin. Otherwise failed_precondition with both versions.
Status check_exec_plugin(const ares_exec_plugin* plugin, const std::string& where);

struct LoadedExecPlugin {
  SharedObject library;
  const ares_exec_plugin* plugin = nullptr;
};
Result<LoadedExecPlugin> load_exec_plugin(const std::string& path);

}  // namespace ares::plugin
