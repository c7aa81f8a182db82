// Whether a job may use its account and QOS, as far as the site enforces that.
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/accounts/account_directory.h"
#include "model/job/job.h"

namespace ares::core {

struct Ineligible {
  Reason reason = Reason::invalid_account;  // or invalid_qos
  std::string text;                         // what is wrong, and what to do
};

// Why the job may not run in that partition; none if it may.
std::optional<Ineligible> ineligible(const Accounting& records, Enforce enforce,
                                     const JobSpec& spec, const std::string& partition);
// None if it may run in one of the partitions, else the problem with the first.
std::optional<Ineligible> ineligible(const Accounting& records, Enforce enforce,
                                     const JobSpec& spec,
                                     const std::vector<std::string>& partitions);

// The accounts that the user may use, as text for a refused submission. O(associations).
std::string accounts_text(const Accounting& records, const JobSpec& spec);

// Why the wckey is not one of the user's; none if it is one. O(wckeys).
std::optional<std::string> foreign_wckey(const Accounting& records, const JobSpec& spec);

// Fills in account, QOS and wckey from the defaults if none is named. Whether it changed the spec.
bool fill_account(const Accounting& records, const std::string& partition, JobSpec& spec);

}  // namespace ares::core
