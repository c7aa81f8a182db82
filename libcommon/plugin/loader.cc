#include "plugin/loader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace ares::plugin {
namespace {

// Minimum size of the table in this ABI version. Later functions exist if `size` includes them.
constexpr std::size_t kLeast =
    offsetof(ares_exec_plugin, checkpoint_known) + sizeof(ares_exec_plugin::checkpoint_known);

Status check_trusted(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::permission_denied,
                "plugin " + path + ": " + std::strerror(errno));
  if (info.st_uid != 0 && info.st_uid != ::geteuid())
    return fail(ErrorCode::permission_denied,
                "plugin refused: " + path + " belongs to uid " + std::to_string(info.st_uid) +
                    "; it must belong to root or to the user of this daemon");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return fail(ErrorCode::permission_denied,
                "plugin refused: " + path + " can be written by group or others; chmod go-w it");
  return {};
}

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// Resolves symlinks, so that the file checked is the file loaded.
Result<std::string> trusted_file(const std::string& path) {
  std::unique_ptr<char, Free> real(::realpath(path.c_str(), nullptr));
  if (!real) return fail(ErrorCode::not_found, "plugin " + path + ": " + std::strerror(errno));
  if (Status trusted = check_trusted(real.get()); !trusted) return fail(trusted.error());
  const std::string file = real.get();
  if (Status trusted = check_trusted(file.substr(0, file.rfind('/') + 1)); !trusted)
    return fail(trusted.error());
  return file;
}

std::string name_of(int memory) {
  return "/proc/self/fd/" + std::to_string(memory);
}

// A descriptor of a copy of the file in memory.
Result<int> copy_of(const std::string& file) {
  const int from = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = from < 0 ? -1 : ::memfd_create("ares-plugin", MFD_CLOEXEC);
  ssize_t copied = to < 0 ? -1 : 1;
  while (copied > 0) copied = ::sendfile(to, from, nullptr, 1 << 30);
  const int error = errno;
  if (from >= 0) ::close(from);
  if (copied == 0) return to;
  if (to >= 0) ::close(to);
  return fail(ErrorCode::failed_precondition, "plugin " + file + ": " + std::strerror(error));
}

}  // namespace

Result<SharedObject> SharedObject::open(const std::string& path) {
  const auto file = trusted_file(path);
  if (!file) return fail(file.error());
  void* handle = ::dlopen(file->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail(ErrorCode::failed_precondition,
                std::string("plugin cannot be loaded: ") + ::dlerror());
  return SharedObject(handle, *file);
}

Result<SharedObject> SharedObject::open_copy(const std::string& path) {
  const auto file = trusted_file(path);
  if (!file) return fail(file.error());
  const auto memory = copy_of(*file);
  if (!memory) return fail(memory.error());
  void* handle = ::dlopen(name_of(*memory).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    std::string why = ::dlerror();
    if (why.starts_with(name_of(*memory))) why.replace(0, name_of(*memory).size(), *file);
    ::close(*memory);
    return fail(ErrorCode::failed_precondition, "plugin cannot be loaded: " + why);
  }
  return SharedObject(handle, *file, *memory);
}

SharedObject::SharedObject(SharedObject&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      path_(std::move(other.path_)),
      memory_(std::exchange(other.memory_, -1)) {}

SharedObject& SharedObject::operator=(SharedObject&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  std::swap(memory_, other.memory_);
  return *this;
}

SharedObject::~SharedObject() {
  if (handle_) ::dlclose(handle_);
  if (memory_ < 0) return;
  // dlclose may leave the object loaded. Then its name, and so the descriptor, must not be reused.
  if (void* still = ::dlopen(name_of(memory_).c_str(), RTLD_NOW | RTLD_NOLOAD))
    ::dlclose(still);
  else
    ::close(memory_);
}

Result<void*> SharedObject::symbol(const char* name) const {
  ::dlerror();
  void* address = ::dlsym(handle_, name);
  if (!address)
    return fail(ErrorCode::failed_precondition,
                "plugin " + path_ + " has no symbol " + name + "; is it a plugin of this kind?");
  return address;
}

Status check_exec_plugin(const ares_exec_plugin* plugin, const std::string& where) {
  if (!plugin) return fail(ErrorCode::failed_precondition, "plugin " + where + " is empty");
  if (plugin->abi_version != ARES_EXEC_ABI_VERSION)
    return fail(ErrorCode::failed_precondition,
                "plugin refused: " + where + " is built for version " +
                    std::to_string(plugin->abi_version) +
                    " of the exec interface, this program has version " +
                    std::to_string(ARES_EXEC_ABI_VERSION) + "; build it again");
  if (plugin->size < kLeast)
    return fail(ErrorCode::failed_precondition,
                "plugin refused: " + where + " lacks functions that this program calls");
  return {};
}

Result<LoadedExecPlugin> load_exec_plugin(const std::string& path) {
  Result<SharedObject> library = SharedObject::open(path);
  if (!library) return fail(library.error());
  Result<void*> entry = library->symbol(ARES_EXEC_ENTRY_NAME);
  if (!entry) return fail(entry.error());
  const ares_exec_plugin* plugin = reinterpret_cast<ares_exec_entry_fn>(*entry)();
  if (Status usable = check_exec_plugin(plugin, path); !usable) return fail(usable.error());
  return LoadedExecPlugin{std::move(*library), plugin};
}

}  // namespace ares::plugin
