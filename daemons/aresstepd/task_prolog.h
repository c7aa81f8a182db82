// The site's task prolog: a program that runs as the job's user before the script, and can change its
// environment. Called in the job's first process after it has become the user; single-threaded.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ares::stepd {

// Runs the program with the environment of the job ("NAME=value") and does what the lines say that it
// prints: "export NAME=value", "unset NAME" change `variables`, "print TEXT" writes the text to standard
// output. Other lines are ignored. An error says how it failed; it ends the job.
Status run_task_prolog(const std::string& program, std::vector<std::string>& variables);

// One line of its output.
void obey_line(std::string_view line, std::vector<std::string>& variables, std::string& printed);

}  // namespace ares::stepd
