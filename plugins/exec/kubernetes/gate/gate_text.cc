#include "exec/kubernetes/gate/gate_text.h"

#include <array>
#include <utility>

#include "node/text_fields.h"

namespace ares::kubernetes {
namespace {

using node::FieldReader;
using node::FieldWriter;

constexpr std::array<std::pair<GateResult::End, std::string_view>, 5> kEnds{{
    {GateResult::End::exited, "exited"},
    {GateResult::End::signalled, "signalled"},
    {GateResult::End::not_started, "not_started"},
    {GateResult::End::never_ran, "never_ran"},
    {GateResult::End::ran_before, "ran_before"},
}};

// A termination message has at most 4096 bytes.
constexpr std::size_t kMostOfWhy = 1024;

template <class Value>
Result<Value> checked(const FieldReader& in, Value value) {
  if (Status read = in.status(); !read) return fail(read.error());
  return value;
}

}  // namespace

std::string encode(const GateSettings& settings) {
  FieldWriter out;
  out.put("fence", settings.fence).put("runs_script", settings.runs_script);
  for (const std::string& argument : settings.arguments) out.put("argument", argument);
  out.put("directory", settings.directory)
      .put("input", settings.input)
      .put("output", settings.output)
      .put("error", settings.error)
      .put("appends", settings.appends)
      .put("sends_output", settings.sends_output)
      .put("umask", settings.umask)
      .put("needs_directory", settings.needs_directory)
      .put("image_first", settings.is_image_first);
  for (const std::string& name : settings.kept_variables) out.put("kept", name);
  for (const std::uint32_t tasks : settings.tasks) out.put("tasks", tasks);
  return out.take();
}

Result<GateSettings> decode_settings(std::string_view text) {
  FieldReader in("settings", text);
  GateSettings settings;
  settings.fence = in.id<Fence>("fence");
  settings.runs_script = in.flag("runs_script");
  settings.arguments = in.all("argument");
  settings.directory = in.text_or_empty("directory");
  settings.input = in.text_or_empty("input");
  settings.output = in.text_or_empty("output");
  settings.error = in.text_or_empty("error");
  settings.appends = in.flag("appends");
  settings.sends_output = in.flag("sends_output");
  settings.umask = in.number<std::uint32_t>("umask");
  settings.tasks = in.numbers<std::uint32_t>("tasks");
  settings.needs_directory = in.flag("needs_directory");
  settings.is_image_first = in.flag("image_first");
  settings.kept_variables = in.all("kept");
  return checked(in, std::move(settings));
}

std::string encode(const GateGo& go) {
  FieldWriter out;
  out.put("fence", go.fence).put("at", go.at).put("boot_id", go.boot_id);
  for (const std::string& host : go.hosts) out.put("host", host);
  for (const std::string& variable : go.variables) out.put("variable", variable);
  return out.take();
}

Result<GateGo> decode_go(std::string_view text) {
  FieldReader in("go", text);
  GateGo go;
  go.fence = in.id<Fence>("fence");
  go.at = in.time("at");
  go.boot_id = in.text_or_empty("boot_id");
  go.hosts = in.all("host");
  go.variables = in.all("variable");
  return checked(in, std::move(go));
}

std::string encode(const GateSignal& signal) {
  FieldWriter out;
  out.put("number", signal.number)
      .put("signal", signal.signal)
      .put("script_only", signal.script_only);
  return out.take();
}

Result<GateSignal> decode_signal(std::string_view text) {
  FieldReader in("signal", text);
  GateSignal signal;
  signal.number = in.number<std::uint64_t>("number");
  signal.signal = in.number<std::int32_t>("signal");
  signal.script_only = in.flag("script_only");
  return checked(in, signal);
}

std::string encode(const GateResult& result) {
  FieldWriter out;
  for (const auto& [end, name] : kEnds)
    if (end == result.end) out.put("end", name);
  out.put("code", result.code)
      .put("signal", result.signal)
      .put("user_cpu_us", result.user_cpu.count())
      .put("system_cpu_us", result.system_cpu.count())
      .put("max_rss", result.max_rss)
      .put("sealed", result.is_sealed)
      .put("why", std::string_view(result.why).substr(0, kMostOfWhy));
  return out.take();
}

Result<GateResult> decode_result(std::string_view text) {
  FieldReader in("result", text);
  GateResult result;
  const std::string name = in.text("end");
  bool known = false;
  for (const auto& [end, its_name] : kEnds)
    if (its_name == name) {
      result.end = end;
      known = true;
    }
  if (!known) in.wrong("end", "is not known: " + quote(name));
  result.code = in.number<std::int32_t>("code");
  result.signal = in.number<std::int32_t>("signal");
  result.user_cpu = Duration(in.number<std::int64_t>("user_cpu_us"));
  result.system_cpu = Duration(in.number<std::int64_t>("system_cpu_us"));
  result.max_rss = Bytes(in.number<std::int64_t>("max_rss"));
  result.is_sealed = in.flag("sealed");
  result.why = in.text_or_empty("why");
  return checked(in, std::move(result));
}

}  // namespace ares::kubernetes
