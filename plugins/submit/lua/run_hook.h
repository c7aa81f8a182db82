// Runs a submit hook in an interpreter of Lua 5.4 that is made for one call and ends with it. Owned by ares-submit-hook; one thread.
#pragma once

#include <string>

#include "submit/message/hook_message.h"

namespace ares::submit {

// `source`: the script's text. Limits of time and memory of the call are kept where Lua looks for them: its instructions and its allocator.
// A library function that takes long is ended by the caller, which kills the process. Never throws.
HookAnswer run_hook(const HookCall& call, const std::string& source);

}  // namespace ares::submit
