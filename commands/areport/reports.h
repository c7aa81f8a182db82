// The reports of areport, one row each: their names, the request to the controller, the fields.
// Immutable; any thread.
#pragma once

#include <string>
#include <vector>

#include "areport/lines.h"
#include "base/result.h"
#include "proto/gen/api.pb.h"

namespace ares::areport {

struct ReportKind {
  std::string object;  // "cluster"
  std::string name;    // "AccountUtilizationByUser"
  std::string title;   // above the table
  std::string help;
  api::Report::Kind kind = api::Report::UTILIZATION;
  bool by_account = false, by_user = false, by_qos = false, by_wckey = false;
  bool with_capacity = true;
  std::string fields;  // the default of format=; TRESName is added if -T is given
  MakeLines lines = nullptr;
};

const std::vector<ReportKind>& reports();

// Both names in any case; an abbreviation must be unique.
Result<const ReportKind*> find_report(const std::string& object, const std::string& name);

}  // namespace ares::areport
