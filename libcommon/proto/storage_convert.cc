#include "proto/storage_convert.h"

#include <utility>

#include "proto/accounts_convert.h"
#include "proto/storage_records.h"

namespace ares::proto {
namespace {

template <class Message, class Record>
std::string encode(const Record& record) {
  Message message;
  put(record, message);
  return message.SerializeAsString();
}

template <class Message>
auto decode(std::uint32_t version, std::string_view bytes, const char* what)
    -> Result<decltype(get(std::declval<const Message&>(), std::declval<DecodeErrors&>()))> {
  if (version == 0 || version > kStorageVersion)
    return fail(ErrorCode::data_loss,
                std::string("the record of a ") + what + " is in format " +
                    std::to_string(version) + ", but this release reads up to " +
                    std::to_string(kStorageVersion) + ": start the release that wrote it");
  Message message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(ErrorCode::data_loss,
                std::string("the record of a ") + what + " is damaged: it cannot be parsed");
  DecodeErrors errors;
  auto record = get(message, errors);
  if (!errors.empty())
    return fail(ErrorCode::data_loss, std::string("the record of a ") + what +
                                          " cannot be read: " + errors.text() +
                                          "; it is damaged, or a newer release wrote it");
  return record;
}

}  // namespace

std::string encode_spec(const JobSpec& spec) {
  return encode<storage::JobSpec>(spec);
}
Result<JobSpec> decode_spec(std::uint32_t version, std::string_view bytes) {
  return decode<storage::JobSpec>(version, bytes, "job's specification");
}

std::string encode_job(const Job& job) {
  return encode<storage::Job>(job);
}
Result<Job> decode_job(std::uint32_t version, std::string_view bytes,
                       std::shared_ptr<const JobSpec> spec) {
  auto job = decode<storage::Job>(version, bytes, "job");
  if (job) job->spec = std::move(spec);
  return job;
}

std::string encode_node(const Node& node) {
  return encode<storage::Node>(node);
}
Result<Node> decode_node(std::uint32_t version, std::string_view bytes) {
  return decode<storage::Node>(version, bytes, "node");
}

std::string encode_partition(const Partition& partition) {
  return encode<storage::Partition>(partition);
}
Result<Partition> decode_partition(std::uint32_t version, std::string_view bytes) {
  return decode<storage::Partition>(version, bytes, "partition");
}

std::string encode_reservation(const Reservation& reservation) {
  return encode<storage::Reservation>(reservation);
}
Result<Reservation> decode_reservation(std::uint32_t version, std::string_view bytes) {
  return decode<storage::Reservation>(version, bytes, "reservation");
}

std::string encode_accounting(const AccountingRecord& record) {
  return encode<accounts::Record>(record);
}
Result<AccountingRecord> decode_accounting(std::uint32_t version, std::string_view bytes) {
  return decode<accounts::Record>(version, bytes, "record of accounting");
}

std::string encode_usage(const AssociationUsage& usage) {
  return encode<storage::AssociationUsage>(usage);
}
Result<AssociationUsage> decode_usage(std::uint32_t version, std::string_view bytes) {
  return decode<storage::AssociationUsage>(version, bytes, "usage");
}

std::string encode_request(const Request& request) {
  return encode<storage::Request>(request);
}
Result<Request> decode_request(std::uint32_t version, std::string_view bytes) {
  return decode<storage::Request>(version, bytes, "request");
}

}  // namespace ares::proto
