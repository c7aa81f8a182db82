#include "submit/fields/job_values.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/printable.h"
#include "cli/output/text.h"
#include "submit/fields/job_fields.h"

namespace ares::submit {
FieldValues values_of(const api::JobSpec& spec) {
  FieldValues values;
  for (const JobField& field : job_fields()) values[field.name] = field.get(spec);
  return values;
}

std::vector<std::string> read_only_fields() {
  std::vector<std::string> names;
  for (const JobField& field : job_fields())
    if (!field.set) names.push_back(field.name);
  return names;
}

namespace {

const JobField* find(const std::string& name) {
  for (const JobField& field : job_fields())
    if (field.name == name) return &field;
  return nullptr;
}

// Whether the number is that of a field that is not set. Fields of 16 bits have one that others may have as a value.
bool is_no_value(const std::string& name, const FieldValue& value) {
  const auto* number = std::get_if<double>(&value);
  if (!number) return false;
  const bool is_short = name == "cpus_per_task" || name == "ntasks_per_node" || name == "requeue" ||
                        name == "shared" || name == "oversubscribe";
  return *number == kNoVal || *number >= kNoVal64 || (is_short && *number == kNoVal16);
}

Status set_field(api::JobSpec& spec, const JobField* field, const std::string& name,
                 const FieldValue& given) {
  const FieldValue value = is_no_value(name, given) ? FieldValue() : given;
  if (!field || !field->set) return invalid("job_desc." + name + " cannot be set");
  if (const Status good = field->set(spec, value); !good)
    return invalid("job_desc." + name + ": " + good.error().message);
  return {};
}

bool is_changed(const api::JobAction& action, const JobField& field) {
  if (field.name == "time_limit") return action.has_time_limit();
  if (field.name == "priority") return action.has_priority();
  return std::any_of(field.changes.begin(), field.changes.end(), [&](const std::string& name) {
    return std::find(action.fields().begin(), action.fields().end(), name) != action.fields().end();
  });
}

// Those of a change lie beside its specification.
api::JobSpec spec_of(const api::JobAction& action) {
  api::JobSpec spec = action.values();
  if (action.has_time_limit()) spec.set_time_limit(action.time_limit());
  if (action.has_priority()) spec.set_priority(action.priority());
  return spec;
}

}  // namespace

// Those that take a value back come first: they leave other fields alone, whose new values may depend on it.
Status apply(api::JobSpec& spec, const FieldValues& changes) {
  for (const bool takes_back : {true, false})
    for (const auto& [name, value] : changes) {
      const bool is_unset =
          std::holds_alternative<std::monostate>(value) || is_no_value(name, value);
      if (is_unset != takes_back) continue;
      if (Status good = set_field(spec, find(name), name, value); !good) return good;
    }
  return {};
}

FieldValues values_of(const api::JobAction& action) {
  const api::JobSpec given = spec_of(action), nothing;
  FieldValues values;
  for (const JobField& field : job_fields()) {
    const bool changed = is_changed(action, field);
    FieldValue& value = values[field.name] = changed ? field.get(given) : field.get(nothing);
    // A text that is taken back is there, and empty.
    if (changed && std::holds_alternative<std::monostate>(value)) value = std::string();
  }
  return values;
}

std::vector<std::string> read_only_fields_of_changes() {
  std::vector<std::string> names;
  for (const JobField& field : job_fields())
    if (!field.set || field.changes.empty()) names.push_back(field.name);
  return names;
}

Status apply(api::JobAction& action, const FieldValues& changes) {
  api::JobSpec spec = spec_of(action);
  std::set<std::string> names(action.fields().begin(), action.fields().end());
  for (const auto& [name, value] : changes) {
    const JobField* field = find(name);
    if (field && field->changes.empty()) field = nullptr;
    if (Status good = set_field(spec, field, name, value); !good) return good;
    // Nothing, or NO_VAL, is no change; an empty text takes the job's value back.
    const bool is_change =
        !std::holds_alternative<std::monostate>(value) && !is_no_value(name, value);
    if (name == "time_limit") {
      action.clear_time_limit();
      action.clear_time_limit_change();
      if (is_change) action.set_time_limit(spec.time_limit());
    } else if (name == "priority") {
      action.clear_priority();
      if (is_change) action.set_priority(spec.hold() ? 0 : spec.priority());
    } else {
      for (const std::string& changed : field->changes) {
        if (is_change)
          names.insert(changed);
        else
          names.erase(changed);
      }
    }
  }
  action.clear_fields();
  for (const std::string& name : names) action.add_fields(name);
  spec.clear_time_limit();
  spec.clear_priority();
  spec.clear_hold();
  *action.mutable_values() = std::move(spec);
  return {};
}

Variables variables_of(const std::string& environment) {
  Variables variables;
  for (std::size_t from = 0; from < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', from), environment.size());
    const std::string entry = environment.substr(from, end - from);
    if (const std::size_t equals = entry.find('='); equals != std::string::npos && equals > 0)
      variables[entry.substr(0, equals)] = entry.substr(equals + 1);
    from = end + 1;
  }
  return variables;
}

Result<std::string> changed_environment(const std::string& environment,
                                        const std::map<std::string, FieldValue>& changes) {
  for (const auto& [name, value] : changes)
    if (name.empty() || name.find('=') != std::string::npos ||
        name.find('\0') != std::string::npos || text_of(value).find('\0') != std::string::npos)
      return invalid("job_desc.environment: " + quote(name) + " cannot be a variable");
  const bool ends = environment.empty() || environment.back() == '\0';
  std::string out;
  const auto add = [&](const std::string& entry) {
    out += entry;
    out += '\0';
  };
  for (std::size_t from = 0; from < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', from), environment.size());
    const std::string entry = environment.substr(from, end - from);
    if (!changes.contains(entry.substr(0, entry.find('=')))) add(entry);
    from = end + 1;
  }
  for (const auto& [name, value] : changes)
    if (!std::holds_alternative<std::monostate>(value)) add(name + "=" + text_of(value));
  if (!ends && !out.empty()) out.pop_back();
  return out;
}

FieldValues values_of(const api::Partition& partition) {
  const auto minutes = [](bool is_set, std::int64_t seconds, double unset) {
    return is_set ? std::ceil(static_cast<double>(seconds) / kMinute) : unset;
  };
  return {{"name", partition.name()},
          {"flag_default", partition.is_default() ? 1.0 : 0.0},
          {"state_up", partition.state() == "UP" ? 1.0 : 0.0},
          {"nodes", text_or_nothing(partition.nodes())},
          {"max_time", minutes(partition.has_max_time(), partition.max_time(), kInfinite)},
          {"default_time", minutes(partition.has_default_time(), partition.default_time(), kNoVal)},
          {"min_nodes", static_cast<double>(partition.min_nodes())},
          {"max_nodes",
           partition.has_max_nodes() ? static_cast<double>(partition.max_nodes()) : kInfinite},
          {"priority_tier", static_cast<double>(partition.tier())},
          {"priority_job_factor", static_cast<double>(partition.priority())},
          {"allow_groups",
           text_or_nothing(
               cli::join({partition.allow_groups().begin(), partition.allow_groups().end()}, ","))},
          {"qos", text_or_nothing(partition.qos())}};
}

}  // namespace ares::submit
