// Whether a job may run on the account and with the QOS it names, as the site enforces that.
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

// Nothing: it may, in that partition.
std::optional<Ineligible> ineligible(const Accounting& records, Enforce enforce,
                                     const JobSpec& spec, const std::string& partition);
// Nothing: it may in one of them. Else what is wrong with the first.
std::optional<Ineligible> ineligible(const Accounting& records, Enforce enforce,
                                     const JobSpec& spec,
                                     const std::vector<std::string>& partitions);

// What the user could do instead, for the refusal of a submission. O(associations).
std::string accounts_text(const Accounting& records, const JobSpec& spec);

// What is wrong with the wckey of a job where it must be one of its user's; nothing: it is. O(wckeys).
std::optional<std::string> foreign_wckey(const Accounting& records, const JobSpec& spec);

// The account, QOS and wckey of a job that names none: the user's defaults, and the default QOS there. Whether that changed it.
bool fill_account(const Accounting& records, const std::string& partition, JobSpec& spec);

}  // namespace ares::core
