#include "submit/lua/run_hook.h"

#include <lua.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/clip.h"
#include "base/printable.h"
#include "submit/lua/hook_values.h"
#include "submit/lua/slurm_table.h"

namespace ares::submit {
namespace {

using Clock = std::chrono::steady_clock;

// What the callbacks of the interpreter need. They are C functions that Lua leaves by longjmp: none of them may own anything when it
// raises an error.
struct Limits {
  std::size_t used = 0;
  std::size_t most = 0;
  Clock::time_point deadline{};
  bool is_late = false;
};

void* allocate(void* owner, void* block, std::size_t old_size, std::size_t new_size) {
  Limits& limits = *static_cast<Limits*>(owner);
  const std::size_t before = block ? old_size : 0;  // without a block the size is a kind of object
  if (new_size == 0) {
    std::free(block);
    limits.used -= before;
    return nullptr;
  }
  if (new_size > before && limits.used - before + new_size > limits.most) return nullptr;
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the interpreter owns it
  void* const moved = std::realloc(block, new_size);
  if (moved) limits.used = limits.used - before + new_size;
  return moved;
}

constexpr int kInstructionsBetweenLooks = 1000;

void look_at_clock(lua_State* lua, lua_Debug*) {
  void* owner = nullptr;
  lua_getallocf(lua, &owner);
  Limits& limits = *static_cast<Limits*>(owner);
  if (!limits.is_late && Clock::now() < limits.deadline) return;
  limits.is_late = true;
  // From now on after each instruction, so that pcall() in a loop does not go on.
  lua_sethook(lua, look_at_clock, LUA_MASKCOUNT, 1);
  luaL_error(lua, "the time limit is over");
}

struct CloseState {
  void operator()(lua_State* lua) const { lua_close(lua); }
};

// With the line where it happened, as the first line of a traceback has it.
int add_position(lua_State* lua) {
  if (!lua_isstring(lua, 1)) {
    const char* text = luaL_tolstring(lua, 1, nullptr);
    lua_pushfstring(lua, "an error that is not a text: %s", text);
  }
  return 1;
}

struct Task {
  const HookCall* call;
  const std::string* source;
  Record* record;
};

void log_no_code(Record& record, const char* type) {
  record.log.push_back(
      {"info", std::string("the function returned ") + type + ", which counts as slurm.SUCCESS"});
}

// Loads the script and calls its function. The only upvalue is the Task; returns nothing.
int run_script(lua_State* lua) {
  const Task& task = *static_cast<const Task*>(lua_touserdata(lua, 1));
  luaL_openlibs(lua);
  push_slurm_table(lua, *task.record);
  const char* name = task.record->chunk_name.c_str();
  if (luaL_loadbufferx(lua, task.source->data(), task.source->size(), name, "t") != LUA_OK)
    return lua_error(lua);
  lua_call(lua, 0, 0);

  const bool modify = task.call->function == HookCall::Function::job_modify;
  if (lua_getglobal(lua, modify ? "slurm_job_modify" : "slurm_job_submit") == LUA_TNIL) {
    lua_pop(lua, 1);
    lua_getglobal(lua, modify ? "job_modify" : "job_submit");
  }
  if (lua_isnil(lua, -1)) return 0;  // the site has no rule for this
  push_job(lua, *task.call, *task.record);
  int arguments = 1;
  if (modify) {
    push_values(lua, task.call->record);
    ++arguments;
  }
  push_partitions(lua, *task.call);
  lua_pushinteger(lua, static_cast<lua_Integer>(task.call->caller));
  arguments += 2;
  lua_call(lua, arguments, 1);
  // As in Slurm what is not a number counts as slurm.SUCCESS.
  if (lua_type(lua, -1) == LUA_TNUMBER)
    task.record->code = static_cast<double>(lua_tonumber(lua, -1));
  else
    log_no_code(*task.record, luaL_typename(lua, -1));
  read_changes(lua, *task.record);
  return 0;
}

}  // namespace

HookAnswer run_hook(const HookCall& call, const std::string& source) {
  constexpr std::size_t kMostText = 1000;
  HookAnswer answer;
  Limits limits;
  limits.most = call.memory_limit;
  limits.deadline = Clock::now() + std::chrono::milliseconds(call.time_limit_ms);
  const auto failed = [&](std::string problem) {
    answer.kind = HookAnswer::Kind::failed;
    answer.problem = printable(clip(problem, kMostText), kLineControls);
    return answer;
  };
  const std::unique_ptr<lua_State, CloseState> lua(lua_newstate(allocate, &limits));
  if (!lua) return failed("not enough memory");
  Record record;
  record.chunk_name = "@" + std::filesystem::path(call.file).filename().string();
  Task task{&call, &source, &record};
  lua_sethook(lua.get(), look_at_clock, LUA_MASKCOUNT, kInstructionsBetweenLooks);
  // The two values need no memory of Lua's that could be missing: its stack has room for them.
  lua_pushcfunction(lua.get(), add_position);
  lua_pushcfunction(lua.get(), run_script);
  lua_pushlightuserdata(lua.get(), &task);
  const int status = lua_pcall(lua.get(), 1, 0, 1);
  lua_sethook(lua.get(), nullptr, 0, 0);
  answer.log = std::move(record.log);
  answer.messages = std::move(record.messages);
  if (limits.is_late)
    return failed("it took longer than " + std::to_string(call.time_limit_ms) + " ms");
  if (status == LUA_ERRMEM)
    return failed("it needed more than " + std::to_string(call.memory_limit >> 20) +
                  " MiB of memory");
  if (status != LUA_OK) {
    const char* text = lua_tostring(lua.get(), -1);
    return failed(text ? text : "an error without a text");
  }
  if (record.code != 0) {
    answer.kind = HookAnswer::Kind::refused;
    return answer;
  }
  answer.changes = std::move(record.changes);
  for (const auto& [name, value] : record.environment) {
    const auto before = call.environment.find(name);
    if (before == call.environment.end() || before->second != value)
      answer.environment[name] = value;
  }
  if (record.has_environment)
    for (const auto& [name, value] : call.environment)
      if (!record.environment.contains(name)) answer.environment[name] = std::monostate{};
  return answer;
}

}  // namespace ares::submit
