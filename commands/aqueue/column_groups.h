// The groups that form the table of columns, and short names for the fields they read. Private to
// aqueue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aqueue/cells.h"
#include "aqueue/row.h"
#include "cli/output/table.h"
#include "proto/table.h"

namespace ares::aqueue {

using J = api::Job;
using S = api::JobSpec;
using R = const Row&;
using Out = std::string&;

constexpr std::uint32_t of_spec(int field) {
  return proto::nested_field(J::kSpecFieldNumber, field);
}

constexpr std::uint32_t kId = proto::nested_field(J::kKeyFieldNumber, api::JobRef::kJobFieldNumber);
constexpr std::uint32_t kTask =
    proto::nested_field(J::kKeyFieldNumber, api::JobRef::kTaskFieldNumber);
constexpr std::uint32_t kStarted = J::kStartedFieldNumber, kEnded = J::kEndedFieldNumber;
constexpr std::uint32_t kSuspended = J::kSuspendedFieldNumber;
constexpr std::uint32_t kSuspendedAt = J::kSuspendedAtFieldNumber;
constexpr std::uint32_t kLimit = J::kTimeLimitFieldNumber;
constexpr std::uint32_t kExpected = J::kExpectedStartFieldNumber;
constexpr std::uint32_t kState = J::kStateFieldNumber, kReason = J::kReasonFieldNumber;
constexpr std::uint32_t kNodeList = J::kNodeListFieldNumber;

using ColumnGroup = std::vector<cli::Column<Row>>;

ColumnGroup identity_columns();  // Identity of the job.
ColumnGroup state_columns();     // State of the job.
ColumnGroup time_columns();
ColumnGroup resource_columns();  // Requested and allocated resources.
ColumnGroup place_columns();     // Nodes and files.

}  // namespace ares::aqueue
