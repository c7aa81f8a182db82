#include "proto/request_digest.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <sodium.h>

#include "proto/gen/api.pb.h"

namespace ares::proto {
namespace {

// Clears the fields listed in the header: those that the environment adds.
void strip_ambient(api::JobSpec& spec) {
  spec.clear_environment();
  spec.clear_submit_dir();
  spec.clear_submit_host();
  spec.clear_submit_zone();
  spec.clear_umask();
  spec.clear_limits();
  spec.clear_uid();
  spec.clear_gid();
  spec.clear_user();
}

std::string canonical(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&out);
  }
  return bytes;
}

}  // namespace

Digest request_digest(const api::Request& request) {
  api::Request essence = request;
  essence.clear_request_id();
  essence.clear_client_version();
  if (essence.has_submit()) {
    essence.mutable_submit()->clear_environment();
    strip_ambient(*essence.mutable_submit()->mutable_spec());
  }
  if (essence.has_submit_many()) {
    // Items refer to environments by position. The positions count; the content does not.
    for (std::string& environment : *essence.mutable_submit_many()->mutable_environments())
      environment.clear();
    for (auto& item : *essence.mutable_submit_many()->mutable_items())
      strip_ambient(*item.mutable_spec());
  }
  const std::string bytes = canonical(essence);
  static_assert(crypto_hash_sha256_BYTES == Digest{}.size());
  Digest digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  return digest;
}

}  // namespace ares::proto
