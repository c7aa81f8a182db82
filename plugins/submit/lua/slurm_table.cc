#include "submit/lua/slurm_table.h"

#include <lua.hpp>

#include "base/clip.h"
#include "base/printable.h"

namespace ares::submit {
namespace {

constexpr std::size_t kMostLines = 100;
constexpr std::size_t kMostText = 1000;

struct Constant {
  const char* name;
  double value;
};
// Values of Slurm's slurm.h. Fields that are not set have NO_VAL of their size.
constexpr Constant kConstants[] = {
    {"SUCCESS", 0},
    {"ERROR", -1},
    {"FAILURE", -1},
    {"NO_VAL8", 254},
    {"NO_VAL16", 65534},
    {"NO_VAL", 4294967294.0},
    {"NO_VAL64", 18446744073709551614.0},
    {"INFINITE8", 255},
    {"INFINITE16", 65535},
    {"INFINITE", 4294967295.0},
    {"INFINITE64", 18446744073709551615.0},
    {"MEM_PER_CPU", 9223372036854775808.0},
    {"JOB_SHARED_NONE", 0},
    {"JOB_SHARED_OK", 1},
    {"JOB_SHARED_USER", 2},
};

struct LogFunction {
  const char* name;
  const char* level;  // nullptr: for the user
};
constexpr LogFunction kLogFunctions[] = {
    {"log_error", "error"},  {"log_info", "info"},    {"log_verbose", "debug"},
    {"log_debug", "debug"},  {"log_debug2", "debug"}, {"log_debug3", "debug"},
    {"log_debug4", "debug"}, {"log_user", nullptr},
};

// Keeps a line. It owns nothing when it returns, so its callers may raise errors.
void keep(Record& record, const char* level, const char* text) {
  std::string line = printable(clip(text, kMostText), kLineControls);
  if (!level) {
    if (record.messages.size() < kMostLines) record.messages.push_back(std::move(line));
  } else if (record.log.size() < kMostLines) {
    record.log.push_back({level, std::move(line)});
  }
}

// (format, ...). Upvalues: string.format, the record, the level or nil.
int log_line(lua_State* lua) {
  const int arguments = lua_gettop(lua);
  lua_pushvalue(lua, lua_upvalueindex(1));
  lua_insert(lua, 1);
  lua_call(lua, arguments, 1);
  keep(*static_cast<Record*>(lua_touserdata(lua, lua_upvalueindex(2))),
       lua_tostring(lua, lua_upvalueindex(3)), lua_tostring(lua, -1));
  return 0;
}

// (text): for the user as it is. Upvalue: the record.
int user_message(lua_State* lua) {
  luaL_tolstring(lua, 1, nullptr);
  keep(*static_cast<Record*>(lua_touserdata(lua, lua_upvalueindex(1))), nullptr,
       lua_tostring(lua, -1));
  return 0;
}

// print(...). Upvalue: the record.
int print(lua_State* lua) {
  luaL_Buffer line;
  const int arguments = lua_gettop(lua);
  luaL_buffinit(lua, &line);
  for (int i = 1; i <= arguments; ++i) {
    if (i > 1) luaL_addchar(&line, '\t');
    luaL_tolstring(lua, i, nullptr);
    luaL_addvalue(&line);
  }
  luaL_pushresult(&line);
  keep(*static_cast<Record*>(lua_touserdata(lua, lua_upvalueindex(1))), "info",
       lua_tostring(lua, -1));
  return 0;
}

// __index of `slurm`: codes of errors, of which scripts know many, all mean that the job is refused.
int find_code(lua_State* lua) {
  const char* name = luaL_checkstring(lua, 2);
  if (std::string_view(name).starts_with("ESLURM_"))
    lua_pushinteger(lua, -1);
  else
    lua_pushnil(lua);
  return 1;
}

}  // namespace

void push_slurm_table(lua_State* lua, Record& record) {
  lua_newtable(lua);
  for (const Constant& constant : kConstants) {
    const auto whole = static_cast<lua_Integer>(constant.value);
    if (constant.value <= 4294967295.0)
      lua_pushinteger(lua, whole);
    else
      lua_pushnumber(lua, constant.value);
    lua_setfield(lua, -2, constant.name);
  }
  lua_getglobal(lua, "string");
  lua_getfield(lua, -1, "format");
  lua_remove(lua, -2);
  for (const LogFunction& function : kLogFunctions) {
    lua_pushvalue(lua, -1);
    lua_pushlightuserdata(lua, &record);
    if (function.level)
      lua_pushstring(lua, function.level);
    else
      lua_pushnil(lua);
    lua_pushcclosure(lua, log_line, 3);
    lua_setfield(lua, -3, function.name);
  }
  lua_pop(lua, 1);
  lua_pushlightuserdata(lua, &record);
  lua_pushcclosure(lua, user_message, 1);
  lua_setfield(lua, -2, "user_msg");
  lua_newtable(lua);
  lua_pushcfunction(lua, find_code);
  lua_setfield(lua, -2, "__index");
  lua_setmetatable(lua, -2);
  lua_pushvalue(lua, -1);
  lua_setglobal(lua, "slurm");
  lua_setglobal(lua, "ares");
  lua_pushlightuserdata(lua, &record);
  lua_pushcclosure(lua, print, 1);
  lua_setglobal(lua, "print");
}

}  // namespace ares::submit
