// `submit-hook test`: what a script would do with a submission, without a controller that runs it.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "actl/assign.h"
#include "base/printable.h"
#include "config/values.h"
#include "os/users.h"
#include "submission/prepare.h"
#include "submission/submission.h"
#include "submit/fields/job_fields.h"
#include "submit/fields/job_values.h"
#include "submit/process/hook_process.h"

namespace ares::actl {
namespace {

using submit::FieldValue;
using submit::HookAnswer;
using submit::HookCall;

// As it stands in Lua.
std::string in_lua(const FieldValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return "nil";
  if (const auto* text = std::get_if<std::string>(&value)) return quote(*text);
  if (const auto* number = std::get_if<double>(&value)) {
    if (*number == submit::kNoVal16) return "slurm.NO_VAL16";
    if (*number == submit::kNoVal) return "slurm.NO_VAL";
    if (*number >= submit::kNoVal64) return "slurm.NO_VAL64";
    if (*number == submit::kInfinite) return "slurm.INFINITE";
  }
  return submit::text_of(value);
}

std::string own_name() {
  const auto user = os::find_user(UserId(::getuid()));
  return user ? user->name : "uid " + std::to_string(::getuid());
}

// The words are a command line of asub.
Result<submission::PreparedJob> prepare_job(const Words& words) {
  submission::Submission wanted;
  const cli::OptionTable table = submission::options(wanted, cli::clock_now());
  auto line = cli::parse_options(table, words);
  if (!line) return fail(line.error());
  if (Status applied = cli::apply_options(line->given); !applied) return fail(applied.error());
  auto context = submission::SubmitContext::capture();
  if (!context) return fail(context.error());
  auto job = submission::prepare(wanted, table, line->given, line->operands, *context);
  submission::print_warnings("actl", wanted);
  return job;
}

HookCall call_for(Context& context, const std::string& file, const submission::PreparedJob& job) {
  const config::SubmitHookConfig limits;
  HookCall call;
  call.file = std::filesystem::absolute(file).string();
  call.caller = ::getuid();
  call.time_limit_ms = static_cast<std::uint32_t>(limits.time_limit.count());
  call.memory_limit = static_cast<std::uint64_t>(limits.memory_limit.value());
  call.job = submit::values_of(job.spec);
  call.job["user_id"] = static_cast<double>(::getuid());
  call.job["group_id"] = static_cast<double>(::getgid());
  call.job["user_name"] = own_name();
  call.job["default_account"] = FieldValue();
  call.job["script"] = job.script;
  call.environment = submit::variables_of(job.environment);
  call.read_only = submit::read_only_fields();
  call.read_only.emplace_back("script");
  call.read_only.emplace_back("default_account");
  api::Request request;
  request.mutable_list_partitions();
  if (const auto response = context.call(request)) {
    for (const api::Partition& partition : response->partitions().partitions())
      call.partitions.push_back(submit::values_of(partition));
  } else if (!context.flags.quiet) {
    std::fprintf(stderr, "actl: warning: the script sees no partitions: %s\n",
                 response.error().message.c_str());
  }
  return call;
}

void print_answer(const HookCall& call, const HookAnswer& answer) {
  for (const submit::LogLine& line : answer.log)
    std::printf("log %s: %s\n", line.level.c_str(), line.text.c_str());
  for (const std::string& message : answer.messages)
    std::printf("to the user: %s\n", message.c_str());
  for (const auto& [name, value] : answer.changes)
    std::printf("%s: %s -> %s\n", name.c_str(), in_lua(call.job.at(name)).c_str(),
                in_lua(value).c_str());
  for (const auto& [name, value] : answer.environment) {
    const auto before = call.environment.find(name);
    std::printf("environment[%s]: %s -> %s\n", quote(name).c_str(),
                before == call.environment.end() ? "nil" : quote(before->second).c_str(),
                in_lua(value).c_str());
  }
}

}  // namespace

Result<int> test_submit_hook(Context& context, const Words& operands) {
  if (operands.size() < 2)
    return invalid("expected: submit-hook test FILE [--] [OPTION OF asub]... SCRIPT");
  auto job = prepare_job({operands.begin() + 1, operands.end()});
  if (!job) return fail(job.error());
  const HookCall call = call_for(context, operands[0], *job);
  std::error_code unknown;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  auto process = submit::HookProcess::start((own.parent_path() / "ares-submit-hook").string());
  if (!process) return fail(process.error());
  const auto answer = process->answer(call);
  if (!answer) return fail(ErrorCode::failed_precondition, "failed: " + answer.error().message);
  print_answer(call, *answer);
  switch (answer->kind) {
    case HookAnswer::Kind::refused: std::puts("refused"); return 1;
    case HookAnswer::Kind::failed: std::printf("failed: %s\n", answer->problem.c_str()); return 1;
    case HookAnswer::Kind::accepted: break;
  }
  if (const Status good = submit::apply(job->spec, answer->changes); !good)
    return fail(good.error());
  if (const auto changed = submit::changed_environment(job->environment, answer->environment);
      !changed)
    return fail(changed.error());
  std::puts("accepted");
  return 0;
}

}  // namespace ares::actl
