#include "mpi/pmix/library.h"

#include <dlfcn.h>

#include "base/printable.h"

namespace ares::mpi::pmix {
namespace {

constexpr std::string_view kRemedy =
    "; install PMIx 4 or 5 (Debian's package libpmix2) on all nodes, or choose another kind of MPI";

template <class Function>
void find(void* handle, Function& function, const std::string& name, std::string& missing) {
  if (void* address = ::dlsym(handle, name.c_str()))
    function = reinterpret_cast<Function>(address);
  else
    missing += (missing.empty() ? "" : ", ") + name;
}

}  // namespace

bool is_known_version(std::string_view version) {
  const std::size_t digit = version.find_first_of("0123456789");
  if (digit == version.npos) return false;
  version.remove_prefix(digit);
  return version.starts_with("4.") || version.starts_with("5.");
}

Result<Api> load(const std::string& library) {
  // Global, because the library loads parts of its own that need its symbols.
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) {
    const char* why = ::dlerror();
    return fail(ErrorCode::not_found, "cannot load " + quote(library) + ": " +
                                          excerpt(why ? why : "unknown error") +
                                          std::string(kRemedy));
  }
  Api api{};
  std::string missing;
  find(handle, api.Get_version, "PMIx_Get_version", missing);
  find(handle, api.Error_string, "PMIx_Error_string", missing);
  find(handle, api.server_init, "PMIx_server_init", missing);
  find(handle, api.server_finalize, "PMIx_server_finalize", missing);
  find(handle, api.server_register_nspace, "PMIx_server_register_nspace", missing);
  find(handle, api.server_register_client, "PMIx_server_register_client", missing);
  find(handle, api.server_setup_fork, "PMIx_server_setup_fork", missing);
  find(handle, api.server_dmodex_request, "PMIx_server_dmodex_request", missing);
  if (!missing.empty() || !api.Get_version)
    return fail(ErrorCode::failed_precondition,
                quote(library) + " has no " + missing + std::string(kRemedy));
  const char* version = api.Get_version();
  if (!version || !is_known_version(version))
    return fail(ErrorCode::failed_precondition, quote(library) + " is " +
                                                    quote(version ? version : "of no version") +
                                                    std::string(kRemedy));
  return api;
}

std::string describe(const Api& api, PmixStatus status) {
  const char* text = api.Error_string(status);
  return excerpt(text ? text : "error") + " (" + std::to_string(status) + ")";
}

}  // namespace ares::mpi::pmix
