// Tests: pmix/api
// Our declarations against the header of the library, where that is installed.
#include <gtest/gtest.h>

#include "mpi/pmix/api.h"

#ifdef ARES_PMIX_HEADER
#include <pmix.h>
#include <pmix_server.h>

#include <cstddef>
#include <type_traits>
#endif

namespace ares::mpi::pmix {
namespace {

#ifdef ARES_PMIX_HEADER

TEST(Layout, StructsAndNumbersAreThoseOfTheHeader) {
  static_assert(sizeof(Process) == sizeof(pmix_proc_t));
  static_assert(offsetof(Process, rank) == offsetof(pmix_proc_t, rank));
  static_assert(sizeof(Value) == sizeof(pmix_value_t));
  static_assert(offsetof(Value, string) == offsetof(pmix_value_t, data));
  static_assert(sizeof(Info) == sizeof(pmix_info_t));
  static_assert(offsetof(Info, flags) == offsetof(pmix_info_t, flags));
  static_assert(offsetof(Info, value) == offsetof(pmix_info_t, value));
  static_assert(sizeof(Array) == sizeof(pmix_data_array_t));
  static_assert(offsetof(Array, size) == offsetof(pmix_data_array_t, size));
  static_assert(offsetof(Array, elements) == offsetof(pmix_data_array_t, array));
  static_assert(sizeof(Bytes) == sizeof(pmix_byte_object_t));
  static_assert(offsetof(Bytes, size) == offsetof(pmix_byte_object_t, size));
  static_assert(sizeof(Module) >= sizeof(pmix_server_module_t));
  static_assert(offsetof(Module, client_finalized) ==
                offsetof(pmix_server_module_t, client_finalized));
  static_assert(offsetof(Module, abort) == offsetof(pmix_server_module_t, abort));
  static_assert(offsetof(Module, fence) == offsetof(pmix_server_module_t, fence_nb));
  static_assert(offsetof(Module, direct_modex) == offsetof(pmix_server_module_t, direct_modex));
  static_assert(offsetof(Module, unsupported) == offsetof(pmix_server_module_t, publish));

  static_assert(kSuccess == PMIX_SUCCESS && kError == PMIX_ERROR &&
                kNotFound == PMIX_ERR_NOT_FOUND && kNotSupported == PMIX_ERR_NOT_SUPPORTED &&
                kOperationSucceeded == PMIX_OPERATION_SUCCEEDED);
  static_assert(kEveryRank == PMIX_RANK_WILDCARD);
  static_assert(
      static_cast<int>(Type::boolean) == PMIX_BOOL &&
      static_cast<int>(Type::string) == PMIX_STRING &&
      static_cast<int>(Type::uint16) == PMIX_UINT16 &&
      static_cast<int>(Type::uint32) == PMIX_UINT32 && static_cast<int>(Type::info) == PMIX_INFO &&
      static_cast<int>(Type::array) == PMIX_DATA_ARRAY &&
      static_cast<int>(Type::rank) == PMIX_PROC_RANK && static_cast<int>(Type::map) == PMIX_REGEX);
  static_assert(std::is_same_v<PmixStatus, pmix_status_t>);
  static_assert(std::is_same_v<OnDone, pmix_op_cbfunc_t>);
  static_assert(std::is_same_v<OnData, pmix_modex_cbfunc_t>);
  static_assert(std::is_same_v<OnModex, pmix_dmodex_response_fn_t>);
}

#else

TEST(Layout, StructsAndNumbersAreThoseOfTheHeader) {
  GTEST_SKIP() << "no pmix_server.h; contrib/deps.sh --dev installs libpmix-dev";
}

#endif

}  // namespace
}  // namespace ares::mpi::pmix
