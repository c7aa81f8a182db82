// The part of the server library of PMIx that is called here, as the PMIx standard (version 4) and
// OpenPMIx document it. Declared here so that neither the build nor a program depends on the library;
// tests/unit/mpi_pmix/layout_test.cc compares it with the library's own header where that is installed.
// Plain declarations.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace ares::mpi::pmix {

using PmixStatus = int;
inline constexpr PmixStatus kSuccess = 0;
inline constexpr PmixStatus kError = -1;
inline constexpr PmixStatus kNotFound = -46;
inline constexpr PmixStatus kNotSupported = -47;
// The request is complete: the library expects no callback.
inline constexpr PmixStatus kOperationSucceeded = -157;

inline constexpr std::size_t kSpaceBytes = 256;  // of the name of a namespace, with the end
inline constexpr std::size_t kKeyBytes = 512;
inline constexpr std::uint32_t kEveryRank = UINT32_MAX - 1;

struct Process {
  char space[kSpaceBytes];
  std::uint32_t rank;
};

enum class Type : std::uint16_t {
  boolean = 1,
  string = 3,
  uint16 = 13,
  uint32 = 14,
  info = 24,
  array = 39,
  rank = 40,
  map = 49,  // of nodes or ranks
};

struct Bytes {
  char* bytes;
  std::size_t size;
};

struct Array {
  Type type;
  std::size_t size;
  void* elements;
};

struct Value {
  Type type;
  union {
    bool boolean;
    char* string;
    std::uint16_t uint16;
    std::uint32_t uint32;  // of a rank as well
    Array* array;
    Bytes bytes;  // of a map
    void* as_large_as_the_largest[3];
  };
};

struct Info {
  char key[kKeyBytes];
  std::uint32_t flags;
  Value value;
};

using OnDone = void (*)(PmixStatus, void* data);
using Release = void (*)(void* data);
// `release` is called when the library no longer needs the bytes.
using OnData = void (*)(PmixStatus, const char* bytes, std::size_t size, void* data,
                        Release release, void* release_data);
using OnModex = void (*)(PmixStatus, char* bytes, std::size_t size, void* data);

// What the library calls, in its own thread. It takes null for what a host does not support.
struct Module {
  PmixStatus (*client_connected)(const Process*, void* object, OnDone, void* data);
  PmixStatus (*client_finalized)(const Process*, void* object, OnDone, void* data);
  PmixStatus (*abort)(const Process*, void* object, int status, const char* message, Process*,
                      std::size_t, OnDone, void* data);
  PmixStatus (*fence)(const Process*, std::size_t, const Info*, std::size_t, char* bytes,
                      std::size_t size, OnData, void* data);
  PmixStatus (*direct_modex)(const Process*, const Info*, std::size_t, OnData, void* data);
  // 23 more in version 4. Later versions append theirs and copy as many as they know.
  void* unsupported[59];
};

// Entry points by their names without "PMIx_".
struct Api {
  const char* (*Get_version)();
  const char* (*Error_string)(PmixStatus);
  PmixStatus (*server_init)(Module*, Info*, std::size_t);
  PmixStatus (*server_finalize)();
  PmixStatus (*server_register_nspace)(const char* space, int local_ranks, Info*, std::size_t,
                                       OnDone, void* data);
  PmixStatus (*server_register_client)(const Process*, uid_t, gid_t, void* object, OnDone,
                                       void* data);
  PmixStatus (*server_setup_fork)(const Process*, char*** environment);
  PmixStatus (*server_dmodex_request)(const Process*, OnModex, void* data);
};

}  // namespace ares::mpi::pmix
