# ares_proto_library(MESSAGES STUBS): generates C++ from libcommon/proto/*.proto and makes two static libraries of it,
# ares_MESSAGES (the messages, links protobuf) and ares_STUBS (the gRPC services, links gRPC).
#
# Generated code has no debug information, and AddressSanitizer and UndefinedBehaviorSanitizer leave it out: Debian's libprotobuf
# is not instrumented either, and with them api.pb.cc alone takes a minute. ThreadSanitizer keeps it, so that no race is missed.
function(ares_proto_compile_setup target)
  target_compile_options(${target} PRIVATE -g0)
  if(ARES_SANITIZE MATCHES "address")
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
  endif()
endfunction()

function(ares_proto_library messages stubs)
  set(source_dir "${CMAKE_SOURCE_DIR}/libcommon/proto")
  set(include_dir "${CMAKE_BINARY_DIR}/gen")
  set(out_dir "${include_dir}/proto/gen")
  file(MAKE_DIRECTORY "${out_dir}")
  file(GLOB protos CONFIGURE_DEPENDS "${source_dir}/*.proto")

  set(message_sources)
  set(message_headers)
  set(stub_sources)
  set(stub_headers)
  foreach(proto IN LISTS protos)
    # Whether a service is declared decides which files come out, so configure again when a .proto changes.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${proto}")
    get_filename_component(name "${proto}" NAME_WE)
    file(STRINGS "${proto}" services REGEX "^service ")

    add_custom_command(
      OUTPUT "${out_dir}/${name}.pb.cc" "${out_dir}/${name}.pb.h"
      COMMAND "${ARES_PROTOC}" -I "${source_dir}" "--cpp_out=${out_dir}" "--dependency_out=${out_dir}/${name}.d"
              "${proto}"
      DEPENDS "${proto}" DEPFILE "${out_dir}/${name}.d" VERBATIM)
    list(APPEND message_sources "${out_dir}/${name}.pb.cc")
    list(APPEND message_headers "${out_dir}/${name}.pb.h")
    if(services)
      add_custom_command(
        OUTPUT "${out_dir}/${name}.grpc.pb.cc" "${out_dir}/${name}.grpc.pb.h"
        COMMAND "${ARES_PROTOC}" -I "${source_dir}" "--plugin=protoc-gen-grpc=${ARES_GRPC_CPP_PLUGIN}"
                "--grpc_out=${out_dir}" "${proto}"
        DEPENDS "${proto}" VERBATIM)
      list(APPEND stub_sources "${out_dir}/${name}.grpc.pb.cc")
      list(APPEND stub_headers "${out_dir}/${name}.grpc.pb.h")
    endif()
  endforeach()

  if(message_sources)
    add_library(ares_${messages} STATIC ${message_sources} ${message_headers})
    target_include_directories(ares_${messages} SYSTEM PUBLIC "${include_dir}")
    target_link_libraries(ares_${messages} PUBLIC ares_protobuf)
    ares_proto_compile_setup(ares_${messages})
  else()
    add_library(ares_${messages} INTERFACE)
    target_link_libraries(ares_${messages} INTERFACE ares_protobuf)
  endif()
  if(stub_sources)
    add_library(ares_${stubs} STATIC ${stub_sources} ${stub_headers})
    target_link_libraries(ares_${stubs} PUBLIC ares_${messages} ares_grpc)
    ares_proto_compile_setup(ares_${stubs})
  else()
    add_library(ares_${stubs} INTERFACE)
    target_link_libraries(ares_${stubs} INTERFACE ares_${messages} ares_grpc)
  endif()
endfunction()
