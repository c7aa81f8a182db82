#include "submit/lua/hook_values.h"

#include <lua.hpp>

#include <cmath>

namespace ares::submit {
namespace {

// Keys of the registry.
constexpr const char* kValues = "ares.job.values";
constexpr const char* kChanged = "ares.job.changed";
constexpr const char* kEnvironment = "ares.job.environment";

void push_number(lua_State* lua, double number) {
  constexpr double kLargest = 9007199254740992.0;  // 2^53: up to it whole numbers are exact
  if (number == std::floor(number) && std::fabs(number) <= kLargest)
    lua_pushinteger(lua, static_cast<lua_Integer>(number));
  else
    lua_pushnumber(lua, number);
}

void push_value(lua_State* lua, const FieldValue& value) {
  if (const auto* text = std::get_if<std::string>(&value))
    lua_pushlstring(lua, text->data(), text->size());
  else if (const auto* number = std::get_if<double>(&value))
    push_number(lua, *number);
  else if (const auto* flag = std::get_if<bool>(&value))
    lua_pushboolean(lua, *flag ? 1 : 0);
  else
    lua_pushnil(lua);
}

// The value at the top of the stack, which stays there.
FieldValue value_at_top(lua_State* lua) {
  switch (lua_type(lua, -1)) {
    case LUA_TBOOLEAN: return lua_toboolean(lua, -1) != 0;
    case LUA_TNUMBER: return static_cast<double>(lua_tonumber(lua, -1));
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* text = lua_tolstring(lua, -1, &size);
      return std::string(text, size);
    }
    default: return std::monostate{};
  }
}

// __newindex of job_desc: (table, name, value). Upvalues: settable names, read-only names.
int set_field(lua_State* lua) {
  const char* name = luaL_checkstring(lua, 2);
  lua_pushvalue(lua, 2);
  if (lua_rawget(lua, lua_upvalueindex(2)) != LUA_TNIL)
    return luaL_error(lua, "job_desc.%s cannot be set", name);
  lua_pushvalue(lua, 2);
  if (lua_rawget(lua, lua_upvalueindex(1)) == LUA_TNIL)
    return luaL_error(lua, "job_desc has no field %s", name);
  const int type = lua_type(lua, 3);
  if (type == LUA_TNUMBER && !std::isfinite(lua_tonumber(lua, 3)))
    return luaL_error(lua, "job_desc.%s cannot be infinite", name);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN && type != LUA_TNUMBER && type != LUA_TSTRING)
    return luaL_error(lua, "job_desc.%s cannot be a %s", name, luaL_typename(lua, 3));
  lua_getfield(lua, LUA_REGISTRYINDEX, kValues);
  lua_pushvalue(lua, 2);
  lua_pushvalue(lua, 3);
  lua_rawset(lua, -3);
  lua_getfield(lua, LUA_REGISTRYINDEX, kChanged);
  lua_pushvalue(lua, 2);
  lua_pushboolean(lua, 1);
  lua_rawset(lua, -3);
  return 0;
}

// __pairs of job_desc.
int iterate_fields(lua_State* lua) {
  lua_getglobal(lua, "next");
  lua_getfield(lua, LUA_REGISTRYINDEX, kValues);
  lua_pushnil(lua);
  return 3;
}

void set_flag(lua_State* lua, const char* name) {
  lua_pushboolean(lua, 1);
  lua_setfield(lua, -2, name);
}

}  // namespace

void push_values(lua_State* lua, const FieldValues& values) {
  lua_newtable(lua);
  for (const auto& [name, value] : values) {
    push_value(lua, value);
    lua_setfield(lua, -2, name.c_str());
  }
}

void push_partitions(lua_State* lua, const HookCall& call) {
  lua_newtable(lua);
  for (const FieldValues& partition : call.partitions) {
    const auto name = partition.find("name");
    if (name == partition.end()) continue;
    push_value(lua, name->second);
    push_values(lua, partition);
    lua_settable(lua, -3);
  }
}

void push_job(lua_State* lua, const HookCall& call, Record& record) {
  push_values(lua, call.job);
  if (call.function == HookCall::Function::job_submit) {
    lua_newtable(lua);
    for (const auto& [name, value] : call.environment) {
      lua_pushlstring(lua, value.data(), value.size());
      lua_setfield(lua, -2, name.c_str());
    }
    lua_pushvalue(lua, -1);
    lua_setfield(lua, LUA_REGISTRYINDEX, kEnvironment);
    lua_setfield(lua, -2, "environment");
    record.has_environment = true;
  }
  lua_setfield(lua, LUA_REGISTRYINDEX, kValues);
  lua_newtable(lua);
  lua_setfield(lua, LUA_REGISTRYINDEX, kChanged);

  lua_newtable(lua);  // job_desc: always empty, so that each access reaches the metatable
  lua_newtable(lua);
  lua_getfield(lua, LUA_REGISTRYINDEX, kValues);
  lua_setfield(lua, -2, "__index");
  lua_newtable(lua);
  for (const auto& [name, value] : call.job) set_flag(lua, name.c_str());
  lua_newtable(lua);
  for (const std::string& name : call.read_only) set_flag(lua, name.c_str());
  set_flag(lua, "environment");
  lua_pushcclosure(lua, set_field, 2);
  lua_setfield(lua, -2, "__newindex");
  lua_pushcfunction(lua, iterate_fields);
  lua_setfield(lua, -2, "__pairs");
  lua_pushboolean(lua, 0);
  lua_setfield(lua, -2, "__metatable");
  lua_setmetatable(lua, -2);
}

void read_changes(lua_State* lua, Record& record) {
  lua_getfield(lua, LUA_REGISTRYINDEX, kValues);
  lua_getfield(lua, LUA_REGISTRYINDEX, kChanged);
  for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
    const char* name = lua_tostring(lua, -2);
    lua_getfield(lua, -4, name);
    record.changes[name] = value_at_top(lua);
    lua_pop(lua, 1);
  }
  lua_pop(lua, 2);
  if (!record.has_environment) return;
  lua_getfield(lua, LUA_REGISTRYINDEX, kEnvironment);
  for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
    // lua_tostring() would change a key that is a number, and with it confuse lua_next().
    if (lua_type(lua, -2) != LUA_TSTRING ||
        (lua_type(lua, -1) != LUA_TSTRING && lua_type(lua, -1) != LUA_TNUMBER))
      luaL_error(lua, "names and values of job_desc.environment must be texts");
    record.environment[lua_tostring(lua, -2)] = lua_tostring(lua, -1);
  }
  lua_pop(lua, 1);
}

}  // namespace ares::submit
