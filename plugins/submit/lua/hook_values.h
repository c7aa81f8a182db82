// Fields of jobs and partitions as tables of Lua, and what the script did to them. Functions that take a lua_State may raise an error of Lua,
// which leaves them and their callers by longjmp. Internal to submit/lua; one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "submit/message/hook_message.h"

struct lua_State;

namespace ares::submit {

// What a script has done so far. Outlives the interpreter.
struct Record {
  std::string chunk_name;  // of the script, for messages of Lua: "@" and the file's name
  std::vector<std::string> messages{};
  std::vector<LogLine> log{};
  double code = 0;  // that the function returned
  FieldValues changes{};
  bool has_environment = false;  // `environment` was read
  Variables environment{};       // as the script left it
};

// Push one table each.
void push_values(lua_State* lua, const FieldValues& values);
void push_partitions(lua_State* lua, const HookCall& call);  // by name

// Pushes job_desc: its fields can be read, and set where they are not read-only; unknown ones are an error when set, and nil when read.
void push_job(lua_State* lua, const HookCall& call, Record& record);
// Stores in the record what the script set. Called once, after the function.
void read_changes(lua_State* lua, Record& record);

}  // namespace ares::submit
