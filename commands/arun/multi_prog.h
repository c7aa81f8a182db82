// The file of arun --multi-prog: which tasks of a step run which program. A pure function; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "steps/request.h"

namespace ares::arun {

// Each line has ranks, such as 0, 1-3,7 or * for those that no line before it names, the program and its
// arguments. Quotes group, a backslash escapes, what follows # is a comment. `name` is the file's, for
// messages. invalid_argument: a line is wrong, or names a rank again.
Result<std::vector<steps::Program>> read_multi_prog(std::string_view text, const std::string& name);

}  // namespace ares::arun
