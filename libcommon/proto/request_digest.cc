#include "proto/request_digest.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <sodium.h>

#include "model/job/spec_table.h"
#include "proto/gen/api.pb.h"

namespace ares::proto {
namespace {

// Clears what the user did not write.
void strip_ambient(api::JobSpec& spec) {
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  if constexpr (FieldChange::change == FieldChange::ambient) spec.clear_##api_name();
#include "model/job/spec_fields.def"
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
