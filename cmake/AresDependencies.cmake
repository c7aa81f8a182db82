# Every library from outside, as one target each. Debian 12 packages; contrib/deps.sh installs them.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# ares_find_archive(VAR NAME): the static archive libNAME.a, or an error that says how to get it.
function(ares_find_archive var name)
  find_library(${var} NAMES lib${name}.a)
  if(NOT ${var})
    message(FATAL_ERROR "lib${name}.a not found; run contrib/deps.sh")
  endif()
endfunction()

# ares_external(TARGET PKGCONFIG): an interface target for a shared library known to pkg-config.
function(ares_external target module)
  pkg_check_modules(${target} REQUIRED IMPORTED_TARGET ${module})
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE PkgConfig::${target})
endfunction()

# ares_archive(TARGET NAME): an interface target for a static archive, whose headers lie in /usr/include.
function(ares_archive target name)
  ares_find_archive(ARES_LIB_${name} ${name})
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE "${ARES_LIB_${name}}")
endfunction()

ares_external(ares_libpq libpq)
ares_external(ares_hwloc hwloc) # only in aresd and tests: it costs milliseconds at the start
ares_external(ares_spdlog spdlog) # shared only on Debian: daemons, never static commands
ares_external(ares_curl libcurl) # in the plugins for S3 and Kubernetes and in ares-notify
ares_external(ares_crypto libcrypto)
ares_external(ares_lua lua5.4) # only in ares-submit-hook
ares_archive(ares_munge munge)
# Debian's archive of these is not position-independent: what is loaded at run time uses the shared library.
function(ares_archive_or_shared target name)
  ares_find_archive(ARES_LIB_${name} ${name})
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE
    "$<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>,${name},${ARES_LIB_${name}}>")
endfunction()
ares_archive_or_shared(ares_sodium sodium)
ares_archive_or_shared(ares_yaml yaml-cpp)
ares_archive(ares_zlib z)

# readline as an archive, so that the interactive commands too can be static.
ares_archive(ares_readline readline)
ares_find_archive(ARES_LIB_tinfo tinfo)
target_link_libraries(ares_readline INTERFACE "${ARES_LIB_tinfo}")

# Protocol buffers and gRPC. The archives without OpenSSL: a command linked wholly static with them starts in a third of
# the time of one linked with the shared libraries, and local sockets are protected by a MAC instead of TLS.
find_program(ARES_PROTOC protoc REQUIRED)
find_program(ARES_GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

if(ARES_SANITIZE STREQUAL "thread")
  # ThreadSanitizer can be told by library name only that gRPC's own synchronisation is none of its business
  # (tests/tsan.supp), so here both are shared libraries.
  ares_external(ares_protobuf protobuf)
  ares_external(ares_grpc grpc++_unsecure)
else()
  ares_archive(ares_protobuf protobuf)
  ares_find_archive(ARES_LIB_z z)
  target_link_libraries(ares_protobuf INTERFACE "${ARES_LIB_z}" Threads::Threads)

  set(grpc_archives)
  foreach(name grpc++_unsecure grpc_unsecure gpr address_sorting upb cares re2)
    ares_find_archive(ARES_LIB_${name} ${name})
    list(APPEND grpc_archives "${ARES_LIB_${name}}")
  endforeach()
  get_filename_component(archive_dir "${ARES_LIB_gpr}" DIRECTORY)
  file(GLOB absl_archives "${archive_dir}/libabsl_*.a")
  # Abseil's archives refer to one another in circles; a linker takes from the group only what is used.
  add_library(ares_grpc_static INTERFACE)
  target_link_libraries(ares_grpc_static INTERFACE
    -Wl,--start-group ${grpc_archives} ${absl_archives} -Wl,--end-group ares_protobuf)
  add_library(ares_grpc ALIAS ares_grpc_static)
endif()

find_package(GTest REQUIRED)
include(GoogleTest)

# The system's Python is the one that has the packages of contrib/deps.sh; another may come first in the path.
find_program(ARES_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT ARES_PYTHON)
  find_program(ARES_PYTHON python3 REQUIRED)
endif()
