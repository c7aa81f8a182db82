// The section `scheduler` of ares.yaml: the plugins that a site adds to the scheduler's stages.
#include <algorithm>

#include "base/printable.h"
#include "config/tables.h"
#include "config/types.h"

namespace ares::config {
namespace {

using Options = std::map<std::string, std::string>;

Type<std::string> plugin_path_type() {
  const auto text = text_type();
  return {"FILE",
          [text](const Value& value) -> Result<std::string> {
            auto path = text.parse(value);
            if (path && !path->starts_with('/'))
              return fail(ErrorCode::invalid_argument,
                          quote(*path) + " is not the absolute path of a plugin");
            return path;
          },
          text.print};
}

// Any keys: the plugin itself refuses those that it does not know.
Type<Options> options_type() {
  return {"{KEY: VALUE, ...}",
          [](const Value& value) -> Result<Options> {
            Options options;
            if (value.kind == Value::Kind::null) return options;
            if (value.kind != Value::Kind::map)
              return fail(ErrorCode::invalid_argument,
                          "expected keys with their values, such as {links: 2}");
            for (const Entry& entry : value.entries) {
              const auto text = text_type().parse(entry.value);
              if (!text)
                return fail(ErrorCode::invalid_argument,
                            excerpt(entry.key) + ": " + text.error().message);
              options[entry.key] = *text;
            }
            return options;
          },
          [](const Options& options) {
            std::string out;
            for (const auto& [key, text] : options)
              out += (out.empty() ? "" : ", ") + quote_yaml(key) + ": " + quote_yaml(text);
            return out.empty() ? out : "{" + out + "}";
          }};
}

Type<std::vector<std::string>> some_texts() {
  const auto list = text_list_type();
  return {"list of texts", list.parse, [list](const std::vector<std::string>& texts) {
            return texts.empty() ? std::string() : list.print(texts);
          }};
}

CheckResult read_plugins(SchedulerConfig& scheduler, const Value& list) {
  const auto fields = plugin_fields();
  scheduler.plugins.clear();
  if (list.kind == Value::Kind::null) return {};
  if (list.kind != Value::Kind::list)
    return problem(list.line, "expected a list; begin each item with \"- \"");
  for (const Value& item : list.items) {
    if (item.kind != Value::Kind::map)
      return problem(item.line, "expected {name: ..., path: ..., ...}");
    PluginConfig plugin;
    if (CheckResult done = read_map(item, plugin, fields); !done) return done;
    plugin.line = item.line;
    for (const PluginConfig& other : scheduler.plugins)
      if (other.name == plugin.name)
        return problem(item.line, "plugin " + quote(plugin.name) + " is described a second time");
    if (scheduler.plugins.size() == kMostPlugins)
      return problem(item.line, "more than " + std::to_string(kMostPlugins) + " plugins");
    scheduler.plugins.push_back(std::move(plugin));
  }
  return {};
}

Field<SchedulerConfig> plugins_field() {
  Field<SchedulerConfig> row;
  row.name = "plugins";
  row.type = "list";
  row.help =
      "Plugins that have a say in which nodes a job may use, which of them it gets and whether it "
      "starts, asked in this order. Keys of each are below; see ares-sched-plugin(7).";
  row.read = read_plugins;
  row.print = [](const SchedulerConfig& scheduler) {
    std::string out;
    for (const PluginConfig& plugin : scheduler.plugins)
      out += "\n    - " + print_flow(plugin, plugin_fields());
    return out;
  };
  return row;
}

}  // namespace

std::vector<Field<SchedulerConfig>> scheduler_fields() {
  return {
      field<SchedulerConfig>(
          "plugin_timeout", &SchedulerConfig::plugin_timeout, duration_type(),
          "How long one call to a plugin may take. One that takes longer hangs: the controller "
          "ends, and when it is started again it sets that plugin aside."),
      plugins_field(),
  };
}

std::vector<Field<PluginConfig>> plugin_fields() {
  return {
      required(field<PluginConfig>("name", &PluginConfig::name, name_type(),
                                   "Its name in listings and reasons.")),
      required(field<PluginConfig>("path", &PluginConfig::path, plugin_path_type(),
                                   "The shared object. It and its folder belong to root or to the "
                                   "controller's user, and only the owner may write to them.")),
      field<PluginConfig>("partitions", &PluginConfig::partitions, some_texts(),
                          "Names of the partitions to whose jobs it applies. Not given: all."),
      field<PluginConfig>("options", &PluginConfig::options, options_type(),
                          "What the plugin is told when it is opened."),
  };
}

}  // namespace ares::config
