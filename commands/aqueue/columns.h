// The columns of aqueue, one row each: header, manual and sort order come from here.
// Immutable; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/table.h"
#include "proto/gen/api.pb.h"

namespace ares::aqueue {

struct Row {
  const api::Job* job = nullptr;
  Time now{};  // the controller's clock
};

const std::vector<cli::Column<Row>>& columns();

// Whether a format shows what the controller sends only when asked for details.
bool needs_details(std::string_view format);

// Sorts by keys such as "P,t,-p": letters of columns, - for descending. Ties are broken by id. invalid_argument for a letter
// that cannot be sorted by.
Status sort_rows(std::vector<Row>& rows, const std::string& keys);

// "12", "12_3", "12_[3-9%2]".
std::string id_text(const api::Job& job);

}  // namespace ares::aqueue
