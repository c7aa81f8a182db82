// Messages of clients and stored records to values of the model. The first byte says which it is.
#include "fuzz/target.h"
#include "proto/convert.h"
#include "proto/gen/api.pb.h"
#include "proto/gen/node.pb.h"
#include "proto/request_digest.h"
#include "proto/storage_convert.h"

namespace ares::fuzz {

const Allowance kAllowance{kReservedByProtobuf + (32 << 20), 8192};

namespace {

template <class Wire>
void try_wire(std::string_view input) {
  Wire wire;
  if (!wire.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  const auto value = proto::from_api(wire);
  if (!value) return require_refusal(value.error());
  Wire sent;
  proto::to_api(*value, &sent);
  const auto again = proto::from_api(sent);
  require(again && *again == *value, "a value survives being sent");
}

void try_request(std::string_view input) {
  api::Request request;
  if (!request.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
  const Digest digest = proto::request_digest(request);
  request.set_request_id("another");
  request.set_client_version("another");
  require(proto::request_digest(request) == digest, "the digest leaves out the id of a request");
}

// `encode` and `decode` are of one kind of stored records.
template <class Encode, class Decode>
void try_stored(std::string_view input, Encode encode, Decode decode) {
  const auto record = decode(input);
  if (!record) return require_refusal(record.error());
  const std::string stored = encode(*record);
  const auto again = decode(stored);
  require(again.has_value(), "a stored record can be loaded");
  require(encode(*again) == stored, "a record survives being stored");
}

#define ARES_TRY_STORED(kind)                                                \
  try_stored(                                                                \
      rest, [](const auto& record) { return proto::encode_##kind(record); }, \
      [](std::string_view bytes) { return proto::decode_##kind(proto::kStorageVersion, bytes); })

void try_job(std::string_view input) {
  static const auto spec = std::make_shared<const JobSpec>();
  try_stored(input, proto::encode_job, [](std::string_view bytes) {
    return proto::decode_job(proto::kStorageVersion, bytes, spec);
  });
}

}  // namespace

void try_input(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  switch (input[0]) {
    case 's': return try_wire<api::JobSpec>(rest);
    case 'k': return try_wire<api::AttemptKey>(rest);
    case 'r': return try_request(rest);
    case 'J': return try_job(rest);
    case 'E': return ARES_TRY_STORED(event);
    case 'S': return ARES_TRY_STORED(spec);
    case 'N': return ARES_TRY_STORED(node);
    case 'P': return ARES_TRY_STORED(partition);
    case 'V': return ARES_TRY_STORED(reservation);
    case 'A': return ARES_TRY_STORED(accounting);
    case 'U': return ARES_TRY_STORED(usage);
    case 'R': return ARES_TRY_STORED(request);
    default: return;
  }
}

}  // namespace ares::fuzz
