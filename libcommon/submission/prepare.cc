#include "submission/prepare.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/printable.h"
#include "cli/options/directives.h"
#include "cli/output/text.h"
#include "cli/values/spec_values.h"
#include "submission/environment_options.h"
#include "submission/hint_options.h"
#include "submission/process_context.h"

namespace ares::submission {
namespace {

std::string search_path() {
  const char* const path = std::getenv("PATH");
  return path ? path : "";
}

Result<Script> find_script(const Submission& wanted, const std::vector<std::string>& operands,
                           const std::string& directory) {
  if (wanted.wrap) {
    if (!operands.empty())
      return fail(ErrorCode::invalid_argument,
                  "--wrap stands for the script; " + quote(operands.front()) + " is too much");
    return wrap_command(*wanted.wrap);
  }
  return read_script(operands.empty() ? "" : operands.front(), directory, search_path());
}

// Variables of the job that say how it was submitted, as sbatch sets them.
void add_options(const Submission& wanted, std::string& environment) {
  const auto add = [&](std::string_view name, const std::string& value) {
    environment.append(name).append("=").append(value).push_back('\0');
  };
  if (cli::upper(wanted.export_list) != "ALL") add("ARES_EXPORT_ENV", wanted.export_list);
  if (wanted.spec.dependencies().empty()) return;
  std::string list = cli::format_dependencies(wanted.spec.dependencies());
  if (wanted.spec.any_dependency()) std::replace(list.begin(), list.end(), ',', '?');
  add("ARES_JOB_DEPENDENCY", list);
}

}  // namespace

Result<SubmitContext> SubmitContext::capture() {
  SubmitContext context;
  std::error_code error;
  context.directory_ = std::filesystem::current_path(error).string();
  if (error)
    return fail(ErrorCode::not_found,
                "cannot tell the current folder: " + error.message() + "; cd to one that exists");
  add_process_context(context.common_);
  context.variables_ = process_environment();
  return context;
}

Result<std::string> SubmitContext::environment(const std::string& export_list) {
  const auto known = environments_.find(export_list);
  if (known != environments_.end()) return known->second;
  auto made = environment_for(export_list, variables_);
  if (made) environments_.emplace(export_list, *made);
  return made;
}

Result<PreparedJob> prepare(Submission& wanted, const cli::OptionTable& table,
                            std::span<const cli::GivenOption> given,
                            const std::vector<std::string>& operands, SubmitContext& context) {
  if (Status applied = cli::apply_options(given); !applied) return fail(applied.error());
  Result<Script> script = find_script(wanted, operands, context.directory());
  if (!script) return fail(script.error());
  if (Status good = check_script(*script); !good) return fail(good.error());

  auto all = cli::options_from_script(table, script->content, script->name);
  if (!all) return fail(all.error());
  auto from_environment = options_from_variables(table, context.variables());
  if (!from_environment) return fail(from_environment.error());
  all->insert(all->end(), from_environment->given.begin(), from_environment->given.end());
  wanted.warnings = std::move(from_environment->warnings);
  if (std::string warning = warn_of_srun(*script, search_path()); !warning.empty())
    wanted.warnings.push_back(std::move(warning));
  all->insert(all->end(), given.begin(), given.end());
  wanted.spec.Clear();
  if (Status applied = cli::apply_options(*all); !applied) return fail(applied.error());

  const std::string& prefix = from_environment->output_prefix;
  if (!prefix.empty() && wanted.spec.std_out().empty())
    wanted.spec.set_std_out(default_output(prefix, !wanted.spec.array().empty()));
  if (Status complete_now = complete(wanted, script->path, context.directory()); !complete_now)
    return fail(complete_now.error());
  auto environment = wanted.export_file.empty()
                         ? context.environment(wanted.export_list)
                         : environment_from_file(wanted.export_file, wanted.export_list);
  if (!environment) return fail(environment.error());
  add_options(wanted, *environment);
  context.add_to(wanted.spec);
  drop_other_limits(wanted, wanted.spec);
  wanted.spec.set_command(script->path);
  wanted.spec.set_submit_line(wanted.submit_line);
  for (std::size_t i = 1; i < operands.size(); ++i) wanted.spec.add_arguments(operands[i]);
  return PreparedJob{wanted.spec, std::move(script->content), std::move(*environment), 0};
}

}  // namespace ares::submission
