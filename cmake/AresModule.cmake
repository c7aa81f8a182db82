# The four kinds of target. A folder without sources is no error: a library becomes header-only, the rest is left out.
#
#   ares_library(NAME [EXCEPT folders…] [DIR dir] DEPENDS modules… LINKS targets…)
#                                                                  ares_NAME from libcommon/NAME/**.cc; a / in NAME is a _ in the target.
#                                                                  EXCEPT: folders in it that are modules of their own
#   ares_program(NAME DIR dir [STATIC] DEPENDS modules… LINKS …)   bin/NAME from dir/main.cc, and ares_NAME from the rest
#   ares_plugin(KIND NAME DEPENDS modules… LINKS …)                ares_KIND_NAME (static) and KIND_NAME.so (on demand)
#   ares_tests(NAME [DIR dir] [RUNS_PROGRAMS] DEPENDS modules… LABELS …)
#                                                                  test_NAME from tests/unit/NAME/**.cc, found by ctest; not built
#                                                                  by itself if labelled unit and not among ARES_UNIT_TESTS
#
# DEPENDS names our modules without the prefix `ares_`; LINKS names targets of AresDependencies.cmake.
# contrib/check_includes.py reads these calls, so each is one literal call: no loops, and of variables only CMAKE_CURRENT_SOURCE_DIR.

set(ARES_INCLUDE_ROOTS
  "${CMAKE_SOURCE_DIR}/libcommon" "${CMAKE_SOURCE_DIR}/daemons" "${CMAKE_SOURCE_DIR}/commands"
  "${CMAKE_SOURCE_DIR}/plugins" "${CMAKE_SOURCE_DIR}/bench")

set(ARES_UNIT_TESTS all CACHE STRING "Unit tests to build and run, as tests/CMakeLists.txt names them; or all")

# Sources of unit tests are less optimised than what they test: half of all that is compiled are tests, and each runs for a moment.
# Under sanitizers that holds for modules that know the messages as well: they cost most to compile, and the core does the work.
if(CMAKE_BUILD_TYPE STREQUAL "Sanitize" AND NOT ARES_FUZZ)
  set(ARES_UNIT_TEST_OPTIONS -O0)
  set(ARES_MESSAGES_OPTIONS -O0)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(ARES_UNIT_TEST_OPTIONS -O1)
endif()

if(ARES_PCH)
  # Precompiled headers, each made once and used by every target of its kind. GCC takes one only for the same -O and -g.
  file(WRITE "${CMAKE_BINARY_DIR}/pch.cc.in" "")
  configure_file("${CMAKE_BINARY_DIR}/pch.cc.in" "${CMAKE_BINARY_DIR}/pch.cc" COPYONLY)
  set(ARES_PCH_STD
    <algorithm> <chrono> <compare> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view>
    <tuple> <utility> <variant> <vector> <tl/expected.hpp>)
  set(ARES_PCH_TEST ${ARES_PCH_STD} <gmock/gmock.h> <gtest/gtest.h>)
  set(ARES_PCH_API <proto/gen/api.pb.h>) # costs more to read than all standard headers together

  # ares_pch(TARGET HEADERS headers… [OPTIONS options…] [LINKS targets…])
  function(ares_pch target)
    cmake_parse_arguments(arg "" "" "HEADERS;OPTIONS;LINKS" ${ARGN})
    add_library(${target} OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/pch.cc")
    target_compile_options(${target} PRIVATE ${arg_OPTIONS})
    target_link_libraries(${target} PRIVATE ares_options ${arg_LINKS})
    target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
    set_property(TARGET ${target} PROPERTY CXX_COMPILER_LAUNCHER "${CMAKE_SOURCE_DIR}/cmake/compile_pch.sh" ${CMAKE_CXX_COMPILER_LAUNCHER})
  endfunction()
  ares_pch(ares_pch_std HEADERS ${ARES_PCH_STD})
  ares_pch(ares_pch_api HEADERS ${ARES_PCH_STD} ${ARES_PCH_API} OPTIONS ${ARES_MESSAGES_OPTIONS} LINKS ares_proto_gen)
  foreach(level unit long) # unit tests, and those that run for long
    set(options)
    if(level STREQUAL "unit")
      set(options OPTIONS ${ARES_UNIT_TEST_OPTIONS})
    endif()
    ares_pch(ares_pch_std_${level} HEADERS ${ARES_PCH_TEST} ${options} LINKS GTest::gmock)
    ares_pch(ares_pch_api_${level} HEADERS ${ARES_PCH_TEST} ${ARES_PCH_API} ${options} LINKS GTest::gmock ares_proto_gen)
  endforeach()
endif()

# ares_pch_for(VAR modules…): ares_pch_api if one of them knows the messages, else ares_pch_std. ares_knows_messages() is
# told of every module that is built on others.
set_property(GLOBAL PROPERTY ARES_MESSAGE_MODULES proto_gen)
function(ares_pch_for var)
  get_property(knowing GLOBAL PROPERTY ARES_MESSAGE_MODULES)
  set(${var} ares_pch_std PARENT_SCOPE)
  foreach(module IN LISTS ARGN)
    if(module IN_LIST knowing)
      set(${var} ares_pch_api PARENT_SCOPE)
    endif()
  endforeach()
endfunction()
function(ares_knows_messages name pch)
  if(pch STREQUAL "ares_pch_api")
    set_property(GLOBAL APPEND PROPERTY ARES_MESSAGE_MODULES ${name})
  endif()
endfunction()

function(ares_names_to_targets var)
  set(targets)
  foreach(name IN LISTS ARGN)
    string(REPLACE "/" "_" name "${name}")
    list(APPEND targets ares_${name})
  endforeach()
  set(${var} ${targets} PARENT_SCOPE)
endfunction()

function(ares_compile_setup target pch)
  target_include_directories(${target} PRIVATE ${ARES_INCLUDE_ROOTS})
  target_link_libraries(${target} PRIVATE ares_options)
  if(pch STREQUAL "ares_pch_api")
    target_compile_options(${target} PRIVATE ${ARES_MESSAGES_OPTIONS})
  endif()
  if(ARES_PCH)
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# ares_unity(VAR TARGET sources…): what to compile for the target, which with ARES_UNITY is few sources that include the others.
function(ares_unity var target)
  if(NOT ARES_UNITY OR NOT ARGN)
    set(${var} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${ARES_PYTHON}" "${CMAKE_SOURCE_DIR}/cmake/unity_groups.py" --into "${CMAKE_BINARY_DIR}/unity" --target ${target} ${ARGN}
    OUTPUT_VARIABLE joined COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(${var} ${joined} PARENT_SCOPE)
endfunction()

# ares_add_archive(TARGET PCH pch SOURCES… LINKS targets…)
function(ares_add_archive target)
  cmake_parse_arguments(arg "" "PCH" "SOURCES;LINKS" ${ARGN})
  if(arg_SOURCES)
    ares_unity(sources ${target} ${arg_SOURCES})
    add_library(${target} STATIC ${sources})
    ares_compile_setup(${target} ${arg_PCH})
    target_link_libraries(${target} PUBLIC ${arg_LINKS})
  else()
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_LINKS})
  endif()
endfunction()

function(ares_library name)
  cmake_parse_arguments(arg "" "DIR" "EXCEPT;DEPENDS;LINKS" ${ARGN})
  if(NOT arg_DIR)
    set(arg_DIR "${CMAKE_SOURCE_DIR}/libcommon/${name}")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${arg_DIR}/*.cc")
  foreach(folder IN LISTS arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "^${arg_DIR}/${folder}/")
  endforeach()
  ares_names_to_targets(target ${name})
  ares_names_to_targets(modules ${arg_DEPENDS})
  ares_pch_for(pch ${arg_DEPENDS})
  ares_knows_messages(${name} ${pch})
  ares_add_archive(${target} PCH ${pch} SOURCES ${sources} LINKS ${modules} ${arg_LINKS})
endfunction()

function(ares_program name)
  cmake_parse_arguments(arg "STATIC" "DIR" "DEPENDS;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${arg_DIR}/*.cc")
  list(REMOVE_ITEM sources "${arg_DIR}/main.cc")
  ares_names_to_targets(modules ${arg_DEPENDS})
  ares_pch_for(pch ${arg_DEPENDS})
  ares_knows_messages(${name} ${pch})
  ares_add_archive(ares_${name} PCH ${pch} SOURCES ${sources} LINKS ${modules} ${arg_LINKS})

  # A glob, not EXISTS, so that a main.cc that appears later is noticed.
  file(GLOB main CONFIGURE_DEPENDS "${arg_DIR}/main.cc")
  if(NOT main)
    return()
  endif()
  add_executable(${name} ${main})
  ares_compile_setup(${name} ${pch})
  target_link_libraries(${name} PRIVATE ares_${name})
  add_dependencies(programs ${name})
  if(arg_STATIC AND ARES_STATIC)
    target_link_options(${name} PRIVATE -static)
  endif()
  install(TARGETS ${name} RUNTIME)
endfunction()

# The static form is linked into a daemon. The shared form is built on demand, with ARES_PLUGIN_MODULE defined, so that
# only there a plugin exports the entry symbol under the one name that the loader looks for.
function(ares_plugin kind name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugins/${kind}/${name}/*.cc")
  ares_names_to_targets(modules ${arg_DEPENDS})
  ares_add_archive(ares_${kind}_${name} PCH ares_pch_std SOURCES ${sources} LINKS ${modules} ${arg_LINKS})
  if(NOT sources)
    return()
  endif()
  add_library(${kind}_${name} MODULE EXCLUDE_FROM_ALL ${sources})
  ares_compile_setup(${kind}_${name} ares_pch_std)
  target_compile_definitions(${kind}_${name} PRIVATE ARES_PLUGIN_MODULE)
  target_link_libraries(${kind}_${name} PRIVATE ${modules} ${arg_LINKS})
  set_target_properties(${kind}_${name} PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/plugins")
endfunction()

# A plugin as a site would build it: of its sources and the one header that it needs.
function(ares_site_plugin kind name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugins/${kind}/${name}/*.cc")
  add_library(${kind}_${name} MODULE ${sources})
  target_include_directories(${kind}_${name} PRIVATE "${CMAKE_SOURCE_DIR}/libcommon")
  target_link_libraries(${kind}_${name} PRIVATE ares_options)
  set_target_properties(${kind}_${name} PROPERTIES
    PREFIX "" OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/plugins/${kind}")
endfunction()

# Defines NAME as the path for those sources that name it. The others compile alike in every checkout, so that a compiler cache
# serves them all. A source that begins to use it is found when CMake runs again.
function(ares_define_where_used name path)
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" used LIMIT_COUNT 1 REGEX "${name}")
    if(used)
      set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS "${name}=\"${path}\"")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
    endif()
  endforeach()
endfunction()

# Registers the program of tests as a few tests of many cases each: with AddressSanitizer it takes longer to start, and to look for leaks
# at its end, than most cases take. Programs of more sources begin earlier.
function(ares_test_in_parts name labels)
  list(LENGTH ARGN sources)
  set(parts 1)
  if(sources GREATER 3)
    set(parts 3)
  endif()
  foreach(part RANGE 1 ${parts})
    math(EXPR shard "${part} - 1")
    add_test(NAME ${name}.part${part} COMMAND test_${name})
    set_tests_properties(${name}.part${part} PROPERTIES
      LABELS "${labels}" TIMEOUT 900 COST ${sources} ENVIRONMENT "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

function(ares_tests name)
  cmake_parse_arguments(arg "RUNS_PROGRAMS" "DIR" "DEPENDS;LINKS;LABELS" ${ARGN})
  if(NOT arg_DIR)
    set(arg_DIR "${CMAKE_SOURCE_DIR}/tests/unit/${name}")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit ${name})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${arg_DIR}/*.cc")
  if(NOT sources)
    return()
  endif()
  ares_names_to_targets(modules ${arg_DEPENDS})
  ares_unity(joined test_${name} ${sources})
  add_executable(test_${name} ${joined})
  ares_pch_for(pch ${arg_DEPENDS})
  if(arg_LABELS MATCHES "(^|;)unit(;|$)")
    ares_compile_setup(test_${name} ${pch}_unit)
    target_compile_options(test_${name} PRIVATE ${ARES_UNIT_TEST_OPTIONS})
  else()
    ares_compile_setup(test_${name} ${pch}_long)
  endif()
  target_include_directories(test_${name} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  ares_define_where_used(ARES_SOURCE_DIR "${CMAKE_SOURCE_DIR}" ${sources})
  if(arg_RUNS_PROGRAMS)
    target_compile_definitions(test_${name} PRIVATE ARES_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  endif()
  target_link_libraries(test_${name} PRIVATE ${modules} ${arg_LINKS} GTest::gmock GTest::gtest_main)
  set_target_properties(test_${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  if(arg_LABELS MATCHES "(^|;)(engine|journal|rpc)(;|$)")
    add_dependencies(tsan_tests test_${name})
  endif()
  if(arg_LABELS MATCHES "(^|;)unit(;|$)" AND NOT ARES_UNIT_TESTS STREQUAL "all" AND NOT name IN_LIST ARES_UNIT_TESTS)
    set_target_properties(test_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  if(ARES_SANITIZE MATCHES "address")
    ares_test_in_parts(${name} "${arg_LABELS}" ${sources})
    return()
  endif()
  gtest_discover_tests(test_${name}
    DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}." TEST_LIST test_${name}_cases PROPERTIES TIMEOUT 300)
  # gtest_discover_tests takes one label only, so the labels are set by a script that ctest reads after its own.
  set(script "${CMAKE_CURRENT_BINARY_DIR}/test_${name}_labels.cmake")
  file(CONFIGURE OUTPUT "${script}" @ONLY CONTENT [[
foreach(case IN LISTS test_@name@_cases)
  set_tests_properties("${case}" PROPERTIES LABELS "@arg_LABELS@")
endforeach()
]])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
endfunction()
