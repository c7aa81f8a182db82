// Events and records of the model to the bytes that PostgreSQL keeps, and back. No protobuf type
// leaves this pair of files. Pure functions; any thread.
// Encoding cannot fail and loses nothing. Decoding fails with data_loss if the bytes are damaged or
// were written by a newer release; the text says which.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/cluster/node.h"
#include "model/engine/event.h"
#include "model/engine/request.h"
#include "model/job/job.h"

namespace ares::proto {

// Stored with every body. It is increased when the meaning of an existing field has to change; a
// new field or event does not change it. All earlier versions remain readable.
inline constexpr std::uint32_t kStorageVersion = 1;

// "Submitted": the name in the journal's `kind` column, for readers of the table.
std::string_view event_kind(const EventBody& body);

std::string encode_event(const EventBody& body);
Result<EventBody> decode_event(std::uint32_t version, std::string_view bytes);

std::string encode_spec(const JobSpec& spec);
Result<JobSpec> decode_spec(std::uint32_t version, std::string_view bytes);

// The record only; its specification is stored separately because it never changes.
std::string encode_job(const Job& job);
Result<Job> decode_job(std::uint32_t version, std::string_view bytes,
                       std::shared_ptr<const JobSpec> spec);

std::string encode_node(const Node& node);
Result<Node> decode_node(std::uint32_t version, std::string_view bytes);

std::string encode_partition(const Partition& partition);
Result<Partition> decode_partition(std::uint32_t version, std::string_view bytes);

std::string encode_reservation(const Reservation& reservation);
Result<Reservation> decode_reservation(std::uint32_t version, std::string_view bytes);

std::string encode_accounting(const AccountingRecord& record);
Result<AccountingRecord> decode_accounting(std::uint32_t version, std::string_view bytes);

std::string encode_usage(const AssociationUsage& usage);
Result<AssociationUsage> decode_usage(std::uint32_t version, std::string_view bytes);

std::string encode_request(const Request& request);
Result<Request> decode_request(std::uint32_t version, std::string_view bytes);

}  // namespace ares::proto
