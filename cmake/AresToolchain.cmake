# How everything is compiled: one place for the language level, warnings, optimisation, sanitizers and build tools.
# Targets pick these up by linking `ares_options` (AresModule.cmake does); generated code does not.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or Sanitize (see CMakePresets.json)" FORCE)
endif()
# Asserts stay on in releases: a scheduler that goes on with broken state does more harm than one that stops.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")

set(ARES_SANITIZE "" CACHE STRING "What to give -fsanitize=: address,undefined or thread; empty for none")
option(ARES_FUZZ "Add the targets of tests/fuzz, by clang's libFuzzer" OFF)
option(ARES_COVERAGE "Count which lines run, for llvm-cov" OFF)
option(ARES_PCH "Precompile standard headers and GoogleTest" ON)
option(ARES_UNITY "Compile several sources of a target as one: half the time for a whole build, more after a change of one source" OFF)
if(ARES_SANITIZE)
  set(ARES_STATIC_DEFAULT OFF) # no sanitizer works in a static executable
else()
  set(ARES_STATIC_DEFAULT ON)
endif()
option(ARES_STATIC "Link commands and aresstepd wholly static: a third of the start time" ${ARES_STATIC_DEFAULT})

# One set of objects serves executables and plugins alike, so all are position independent.
add_compile_options(-fPIC -fno-semantic-interposition -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Precompiled headers alone fill the heap at which GCC begins to collect garbage. A collection touches all of it, which costs a tenth
  # of the compilation; without collections the largest source needs 1.5 GB.
  add_compile_options(--param=ggc-min-heapsize=4000000 --param=ggc-min-expand=1000)
endif()
add_link_options(-pthread)
if(ARES_SANITIZE)
  add_compile_options(-fsanitize=${ARES_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ARES_SANITIZE})
  if(ARES_SANITIZE MATCHES "address" AND ARES_SANITIZE MATCHES "undefined")
    # These checks stand at every access through a pointer and cost a third of the time to compile. AddressSanitizer finds most of
    # what they would; misaligned accesses and wrong dynamic types are no longer looked for.
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size,nonnull-attribute,returns-nonnull-attribute)
  endif()
endif()

if(ARES_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link) # the targets alone link libFuzzer with its main()
endif()
if(ARES_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()

add_library(ares_options INTERFACE)
target_compile_options(ares_options INTERFACE -Wall -Wextra -Werror -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # With optimisation, GCC 12 sees overruns in every inlined concatenation of strings (its bug 105651).
  target_compile_options(ares_options INTERFACE
    $<$<NOT:$<CONFIG:Debug>>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
endif()
if(ARES_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A class of one source may have members of its unnamed namespace; in a source that is included that looks like a header's class.
  target_compile_options(ares_options INTERFACE -Wno-subobject-linkage)
endif()
target_compile_definitions(ares_options INTERFACE ARES_VERSION="${PROJECT_VERSION}")

find_program(ARES_MOLD mold)
if(ARES_MOLD)
  add_link_options(-fuse-ld=mold)
  if(NOT ARES_SANITIZE)
    # First, so that members of archives are not taken for functions of the standard library that they happen to contain: with them
    # the server's part of the archives, and the descriptors of all messages, came into every command.
    add_link_options(-lstdc++)
  endif()
endif()

find_program(ARES_CCACHE ccache)
if(ARES_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The base folder and nohashdir let several build folders of one checkout share objects;
  # the sloppiness is what ccache asks for before it caches users of a precompiled header.
  set(launcher env "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros "${ARES_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(ARES_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()
