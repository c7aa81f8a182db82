// What a user may write into a job: text that every table, log and terminal can carry.
// Pure functions; any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/job/job.h"

namespace ares {

// invalid_argument, naming the field: control characters, NUL or invalid UTF-8, or longer than a field may be.
// Arguments of the script may hold any character but NUL.
Status check_text(const JobSpec& spec);

// The same of one text, as long as a path may be.
Status check_plain(std::string_view field, std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace ares
