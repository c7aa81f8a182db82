// Which mail a job's owner wants, and which mail addresses are allowed.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job/job.h"

namespace ares {

// One bit each of JobSpec::mail_types. Stored: append only.
enum class MailType : std::uint32_t {
  begin = 1u << 0,
  end = 1u << 1,
  fail = 1u << 2,
  requeue = 1u << 3,
  invalid_dependency = 1u << 4,
  time_limit = 1u << 5,     // the job was ended by its time limit
  time_limit_90 = 1u << 6,  // this percentage of the time limit is used
  time_limit_80 = 1u << 7,
  time_limit_50 = 1u << 8,
  array_tasks = 1u << 9,  // one mail for each task instead of one for the array
};

inline bool wants_mail(const JobSpec& spec, MailType type) {
  return (spec.mail_types & static_cast<std::uint32_t>(type)) != 0;
}

// Case is ignored: "begin,END,array_tasks", "ALL", "NONE". invalid_argument says what is wrong.
Result<std::uint32_t> parse_mail_types(std::string_view text);
// "BEGIN,END"; empty for none. ALL is written as its members.
std::string format_mail_types(std::uint32_t types);

// One recipient, or several separated by commas: mail addresses and webhook:NAME. The mail program could take an address for a
// file, command or option, so only plain characters are allowed. Error: invalid_argument, which lists them.
Status check_mail_user(std::string_view address);

// The recipients of a text that check_mail_user() permits.
struct Recipients {
  std::vector<std::string> addresses;  // of mail, each once
  std::vector<std::string> webhooks;   // names, each once
};
Recipients recipients_of(std::string_view address);

// Where mail about the job goes.
inline const std::string& mail_address(const JobSpec& spec) {
  return spec.mail_user.empty() ? spec.user : spec.mail_user.get();
}

// The next percentage of the time limit above `above` that the owner wants mail about; 0 = none.
std::uint32_t next_time_share(const JobSpec& spec, std::uint32_t above);

}  // namespace ares
