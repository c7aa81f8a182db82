// What a job's owner wants to be told of by mail, and whom it may go to.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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
  time_limit = 1u << 5,     // ended by it
  time_limit_90 = 1u << 6,  // so much of it is used, in per cent
  time_limit_80 = 1u << 7,
  time_limit_50 = 1u << 8,
  array_tasks = 1u << 9,  // tell of each task, not of the array as a whole
};

inline bool wants_mail(const JobSpec& spec, MailType type) {
  return (spec.mail_types & static_cast<std::uint32_t>(type)) != 0;
}

// "begin,END,array_tasks", "ALL", "NONE" in any case. invalid_argument names what is wrong with the list.
Result<std::uint32_t> parse_mail_types(std::string_view text);
// "BEGIN,END"; empty for none. ALL is written out.
std::string format_mail_types(std::uint32_t types);

// One address, or several separated by commas. The mail program takes it as an argument, and common ones take much for an address
// that is none: a file, a folder, a command, an option. So only plain characters are let through. invalid_argument says which.
Status check_mail_user(std::string_view address);

// Where mail about the job goes.
inline const std::string& mail_address(const JobSpec& spec) {
  return spec.mail_user.empty() ? spec.user : spec.mail_user;
}

// The next share of its time limit that the owner wants to know of, in per cent above `above`; 0 = none.
std::uint32_t next_time_share(const JobSpec& spec, std::uint32_t above);

}  // namespace ares
