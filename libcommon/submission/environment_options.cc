#include "submission/environment_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/printable.h"
#include "cli/output/text.h"

namespace ares::submission {
namespace {

constexpr std::array<std::string_view, 2> kPrefixes = {"SBATCH_", "ASUB_"};  // ascending precedence

// The second one has the time of --switches=COUNT@TIME.
constexpr std::string_view kSwitches = "REQ_SWITCH", kSwitchesTime = "WAIT4SWITCH";

// Variables of sbatch that are not named after their option (sbatch(1), INPUT ENVIRONMENT VARIABLES).
struct SlurmName {
  std::string_view variable;
  std::string_view option;
};
constexpr SlurmName kSlurmNames[] = {
    {"ARRAY_INX", "array"}, {"CPU_FREQ_REQ", "cpu-freq"}, {"MEM_PER_NODE", "mem"},
    {"NUM_NODES", "nodes"}, {kSwitches, "switches"},      {"TIMELIMIT", "time"},
};

// They set up the command itself, or have no effect in Slurm either.
constexpr std::string_view kNoOptions[] = {"CONF", "DEBUG", "IGNORE_PBS"};

// The first word of the default file of standard output. It is not an option: directives precede it.
constexpr std::string_view kOutputPrefix = "OUTPUT_PREFIX";

std::string option_name(std::string_view suffix) {
  for (const SlurmName& row : kSlurmNames)
    if (row.variable == suffix) return std::string(row.option);
  std::string name = cli::lower(suffix);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

const cli::Option* find(const cli::OptionTable& table, const std::string& name) {
  for (const cli::Option& option : table.options)
    if (option.environment &&
        (option.name == name ||
         std::find(option.aliases.begin(), option.aliases.end(), name) != option.aliases.end()))
      return &option;
  return nullptr;
}

bool means_no(const std::string& value) {
  const std::string word = cli::lower(value);
  return word.empty() || word == "0" || word == "no" || word == "false";
}

const std::string* variable_of(const std::vector<std::string>& variables, const std::string& name) {
  const auto found = std::find_if(variables.begin(), variables.end(), [&](const std::string& one) {
    return one.starts_with(name + "=");
  });
  return found == variables.end() ? nullptr : &*found;
}

// The time of SBATCH_WAIT4SWITCH belongs to the number of SBATCH_REQ_SWITCH.
void add_switches_time(const std::vector<std::string>& variables, std::string_view prefix,
                       std::string& switches) {
  const std::string name = std::string(prefix) + std::string(kSwitchesTime);
  const std::string* time = variable_of(variables, name);
  if (time && switches.find('@') == std::string::npos)
    switches += "@" + time->substr(name.size() + 1);
}

Status add(const cli::OptionTable& table, std::string_view prefix, const std::string& variable,
           std::string value, EnvironmentOptions& out) {
  const std::string_view suffix = std::string_view(variable).substr(prefix.size());
  if (std::find(std::begin(kNoOptions), std::end(kNoOptions), suffix) != std::end(kNoOptions))
    return {};
  if (suffix == kOutputPrefix && prefix == "ASUB_") {
    if (has_control(value) || !is_utf8(value) || value.find('%') != std::string::npos)
      return fail(ErrorCode::invalid_argument,
                  variable + ": " + quote(value) + " is not the beginning of a file name");
    out.output_prefix = std::move(value);
    return {};
  }
  const cli::Option* option = find(table, option_name(suffix));
  if (!option) {
    out.warnings.push_back("the environment variable " + excerpt(variable) +
                           " is not the name of an option, and has no effect");
    return {};
  }
  if (option->argument.empty()) {
    if (means_no(value)) return {};
    value.clear();
  }
  if (!option->any_text && has_control(value))
    return fail(ErrorCode::invalid_argument, variable + ": the value holds a control character");
  if (!option->any_text && !is_utf8(value))
    return fail(ErrorCode::invalid_argument,
                variable + ": the value " + quote(value) + " is not valid UTF-8");
  out.given.push_back({option, std::move(value), cli::Source::environment, variable + ": "});
  return {};
}

}  // namespace

Result<EnvironmentOptions> options_from_variables(const cli::OptionTable& table,
                                                  const std::vector<std::string>& variables) {
  EnvironmentOptions out;
  for (const std::string_view prefix : kPrefixes)
    for (const std::string& one : variables) {
      const std::size_t equals = one.find('=');
      if (!one.starts_with(prefix) || equals == std::string::npos) continue;
      const std::string name = one.substr(0, equals);
      std::string value = one.substr(equals + 1);
      if (name.substr(prefix.size()) == kSwitches) add_switches_time(variables, prefix, value);
      if (name.substr(prefix.size()) == kSwitchesTime &&
          variable_of(variables, std::string(prefix) + std::string(kSwitches)))
        continue;
      if (Status added = add(table, prefix, name, std::move(value), out); !added)
        return fail(added.error());
    }
  return out;
}

std::string default_output(const std::string& prefix, bool array) {
  return prefix + (array ? "-%A_%a.out" : "-%j.out");
}

}  // namespace ares::submission
