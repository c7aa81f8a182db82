// Converts accounting records to messages and back, for storage and for the API. To be included
// only by files that may use protobuf. Pure functions; any thread.
#pragma once

#include "model/accounts/accounts.h"
#include "proto/gen/accounts.pb.h"
#include "proto/storage_fields.h"

namespace ares::proto {

void put(const AccountingRecord& from, accounts::Record& to);
AccountingRecord get(const accounts::Record& from, DecodeErrors& errors);

void put(const RecordKey& from, accounts::RecordKey& to);
RecordKey get(const accounts::RecordKey& from, DecodeErrors& errors);

}  // namespace ares::proto
