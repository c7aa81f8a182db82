#include "aacct/fields.h"

#include <algorithm>

#include "base/printable.h"
#include "cli/output/index_list.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"
#include "config/suggest.h"

namespace ares::aacct {

std::string id_text(const api::AccountingRow& row, std::size_t longest_list) {
  std::string id = cli::format_job_id(cli::key_of(row.key()));
  const std::string& tasks = row.array_tasks();
  if (tasks.empty()) return id;
  const std::size_t percent = std::min(tasks.find('%'), tasks.size());
  return id + "_[" + cli::shortened_indices(tasks.substr(0, percent), longest_list) +
         tasks.substr(percent) + "]";
}

std::string text_of(const Field& field, const Row& row) {
  constexpr std::string_view kOfJobsAlone[] = {
      "Container",     "Extra",      "OverSubscribe", "Reservation", "ReqReservation",
      "SegmentSize",   "AllocGPUS",  "AllocTRES",     "CPUEff",      "DerivedExitCode",
      "GPUTime",       "GPUTimeRAW", "MemEff",        "Planned",     "PlannedCPU",
      "PlannedCPURAW", "Priority",   "ReqCPUS",       "ReqGPUS",     "ReqMem",
      "ReqNodes",      "ReqTRES",    "Restarts",      "StdErr",      "StdIn",
      "StdOut",        "SubmitLine", "Suspended",     "Timelimit",   "TimelimitRaw",
      "WorkDir"};
  if (row.step && std::find(std::begin(kOfJobsAlone), std::end(kOfJobsAlone), field.name) !=
                      std::end(kOfJobsAlone))
    return {};
  return field.text(row);
}

Result<std::vector<SelectedField>> parse_fields(const std::string& list) {
  std::vector<SelectedField> chosen;
  for (const std::string& item : cli::split(list, ',')) {
    if (item.empty()) continue;
    const std::size_t percent = item.find('%');
    const std::string name = cli::lower(item.substr(0, percent));
    if (name == "all") {
      for (const Field& field : fields()) chosen.push_back({&field, field.width, false});
      continue;
    }
    const auto named = [&](const std::string& other) { return cli::lower(other) == name; };
    const auto found = std::find_if(fields().begin(), fields().end(),
                                    [&](const Field& field) { return named(field.name); });
    if (found == fields().end()) {
      for (const RefusedField& refused : refused_fields())
        if (named(refused.name))
          return fail(ErrorCode::invalid_argument,
                      "the field " + item.substr(0, percent) + " is not supported: " + refused.why);
      std::vector<std::string> names;
      for (const Field& field : fields()) names.push_back(field.name);
      const std::string meant = config::suggestion(item.substr(0, percent), names);
      return fail(ErrorCode::invalid_argument,
                  "unknown field " + quote(item.substr(0, percent)) +
                      (meant.empty() ? "; -e lists the fields" : meant));
    }
    SelectedField field{&*found, found->width, false};
    if (percent != std::string::npos) {
      const auto given = cli::parse_integer(item.substr(percent + 1), -1000, 1000);
      if (!given || *given == 0)
        return fail(ErrorCode::invalid_argument, "field " + quote(item) + ": expected NAME%WIDTH");
      field.width = static_cast<int>(*given);
      field.fixed = true;
    }
    chosen.push_back(field);
  }
  if (chosen.empty()) return fail(ErrorCode::invalid_argument, "no field is named");
  return chosen;
}

}  // namespace ares::aacct
