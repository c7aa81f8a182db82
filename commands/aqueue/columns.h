// The columns of aqueue, one row each: header, manual, what is asked of the controller and sort order come from here.
// Immutable; any thread.
#pragma once

#include <string>

#include "base/time.h"
#include "cli/output/table.h"
#include "proto/gen/api.pb.h"

namespace ares::aqueue {

struct Row {
  const api::Job& job;
  Time now{};  // the controller's clock
  const std::string& cluster;
  std::int64_t tier = 0;  // of its partition, where they are sorted by it
};

const cli::Columns<Row>& columns();

// "12", "12_3", "12_[3-9%2]".
void put_id(const api::Job& job, std::string& out);

// "2030-03-17T17:46:40", or "N/A".
void put_time(std::int64_t micros, std::string& out);

}  // namespace ares::aqueue
