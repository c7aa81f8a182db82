// Checks of text in a specification: it must be printable in every table, log and terminal.
// Pure functions; any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/job/job.h"

namespace ares {

// Error: invalid_argument with the field's name, for controls (has_control()), NUL, invalid UTF-8 or excess length. Arguments of the
// script may hold any character but NUL.
Status check_text(const JobSpec& spec);

// The same check of one text, with the maximum length of a path.
Status check_plain(std::string_view field, std::string_view text);

}  // namespace ares
