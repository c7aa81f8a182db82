// The table `slurm`, also by the name `ares`: constants and functions that scripts for Slurm's job_submit/lua know. Internal to submit/lua.
#pragma once

#include "submit/lua/hook_values.h"

namespace ares::submit {

// Sets both globals, and print(), which writes to the log. May raise an error of Lua. The record outlives the interpreter.
void push_slurm_table(lua_State* lua, Record& record);

}  // namespace ares::submit
