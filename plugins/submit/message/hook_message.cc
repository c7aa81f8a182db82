#include "submit/message/hook_message.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/printable.h"

namespace ares::submit {
namespace {

using Json = nlohmann::json;

constexpr std::array<const char*, 2> kFunctions = {"job_submit", "job_modify"};
constexpr std::array<const char*, 3> kKinds = {"accepted", "refused", "failed"};

// Paths and variables need not be UTF-8.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json to_object(const FieldValues& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values)
    object[name] = std::visit(
        [](const auto& v) -> Json {
          if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>)
            return nullptr;
          else
            return v;
        },
        value);
  return object;
}

// Thrown by the functions below and caught where a text is read.
struct Unreadable {
  std::string what;
};

const Json& member(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (!object.is_object() || found == object.end())
    throw Unreadable{std::string(name) + " is missing"};
  return *found;
}

template <class T>
T get(const Json& object, const char* name) {
  const Json& value = member(object, name);
  bool fits = false;
  if constexpr (std::is_same_v<T, std::string>)
    fits = value.is_string();
  else
    fits =
        value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<T>::max();
  if (!fits) throw Unreadable{std::string(name) + " has another type"};
  return value.get<T>();
}

const Json& get_array(const Json& object, const char* name) {
  const Json& value = member(object, name);
  if (!value.is_array()) throw Unreadable{std::string(name) + " is not a list"};
  return value;
}

std::string text_of(const Json& value) {
  if (!value.is_string()) throw Unreadable{"a text has another type"};
  return value.get<std::string>();
}

FieldValues values_of(const Json& object) {
  if (!object.is_object()) throw Unreadable{"fields are not an object"};
  FieldValues values;
  for (const auto& [name, value] : object.items()) {
    FieldValue& to = values[name];
    if (value.is_boolean())
      to = value.get<bool>();
    else if (value.is_number())
      to = value.get<double>();
    else if (value.is_string())
      to = value.get<std::string>();
    else if (!value.is_null())
      throw Unreadable{"the field " + quote(name) + " has another type"};
  }
  return values;
}

template <class Enum, std::size_t N>
Enum word_of(const Json& object, const char* name, const std::array<const char*, N>& words) {
  const std::string word = get<std::string>(object, name);
  for (std::size_t i = 0; i < N; ++i)
    if (word == words[i]) return static_cast<Enum>(i);
  throw Unreadable{std::string(name) + " is not a word that is known"};
}

// Calls `read` with the JSON of the text; its complaint is the error.
template <class Value, class Read>
Result<Value> parse(std::string_view text, Read read) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    if (json.is_discarded()) throw Unreadable{"not JSON"};
    return read(json);
  } catch (const Unreadable& problem) {
    return fail(ErrorCode::invalid_argument, problem.what);
  }
}

}  // namespace

std::string to_json(const HookCall& call) {
  Json partitions = Json::array();
  for (const FieldValues& partition : call.partitions) partitions.push_back(to_object(partition));
  return dump({{"function", kFunctions[static_cast<std::size_t>(call.function)]},
               {"file", call.file},
               {"caller", call.caller},
               {"time_limit_ms", call.time_limit_ms},
               {"memory_limit", call.memory_limit},
               {"job", to_object(call.job)},
               {"read_only", call.read_only},
               {"record", to_object(call.record)},
               {"partitions", std::move(partitions)},
               {"environment", Json(call.environment)}});
}

Result<HookCall> hook_call_from_json(std::string_view text) {
  return parse<HookCall>(text, [](const Json& json) {
    HookCall call;
    call.function = word_of<HookCall::Function>(json, "function", kFunctions);
    call.file = get<std::string>(json, "file");
    call.caller = get<std::uint32_t>(json, "caller");
    call.time_limit_ms = get<std::uint32_t>(json, "time_limit_ms");
    call.memory_limit = get<std::uint64_t>(json, "memory_limit");
    call.job = values_of(member(json, "job"));
    for (const Json& name : get_array(json, "read_only")) call.read_only.push_back(text_of(name));
    call.record = values_of(member(json, "record"));
    for (const Json& partition : get_array(json, "partitions"))
      call.partitions.push_back(values_of(partition));
    const Json& environment = member(json, "environment");
    if (!environment.is_object()) throw Unreadable{"environment is not an object"};
    for (const auto& [name, value] : environment.items()) call.environment[name] = text_of(value);
    return call;
  });
}

std::string to_json(const HookAnswer& answer) {
  Json log = Json::array();
  for (const LogLine& line : answer.log) log.push_back({line.level, line.text});
  return dump({{"kind", kKinds[static_cast<std::size_t>(answer.kind)]},
               {"problem", answer.problem},
               {"messages", answer.messages},
               {"log", std::move(log)},
               {"changes", to_object(answer.changes)},
               {"environment", to_object(answer.environment)}});
}

Result<HookAnswer> hook_answer_from_json(std::string_view text) {
  return parse<HookAnswer>(text, [](const Json& json) {
    HookAnswer answer;
    answer.kind = word_of<HookAnswer::Kind>(json, "kind", kKinds);
    answer.problem = get<std::string>(json, "problem");
    for (const Json& line : get_array(json, "messages")) answer.messages.push_back(text_of(line));
    for (const Json& line : get_array(json, "log")) {
      if (!line.is_array() || line.size() != 2) throw Unreadable{"a line of the log is not a pair"};
      answer.log.push_back({text_of(line[0]), text_of(line[1])});
    }
    answer.changes = values_of(member(json, "changes"));
    answer.environment = values_of(member(json, "environment"));
    return answer;
  });
}

}  // namespace ares::submit
