#include "submission/allocation_request.h"

#include <algorithm>
#include <string_view>

#include "cli/output/text.h"
#include "rpc/client/client.h"
#include "submission/container_options.h"
#include "submission/hint_options.h"
#include "submission/prepare.h"

namespace ares::submission {
namespace {

// They are about the script, its files or its repetition, or about a call that does not wait.
constexpr std::string_view kOfBatchJobs[] = {
    "array",       "chdir",     "error",     "export",       "export-file", "from",
    "gang",        "gang-min",  "gang-size", "gang-timeout", "hold",        "input",
    "no-requeue",  "open-mode", "output",    "parsable",     "request-id",  "requeue",
    "spare-nodes", "test-only", "verbose",   "wait",         "wrap"};

bool is_of_allocations(const cli::Option& option) {
  return std::find(std::begin(kOfBatchJobs), std::end(kOfBatchJobs), option.name) ==
         std::end(kOfBatchJobs);
}

}  // namespace

cli::OptionTable allocation_options(Submission& target, Time now) {
  cli::OptionTable table = options(target, now);
  std::erase_if(table.options,
                [](const cli::Option& option) { return !is_of_allocations(option); });
  for (cli::Unsupported& refused : refused_container_options()) {
    std::erase_if(table.options,
                  [&](const cli::Option& option) { return option.name == refused.name; });
    table.unsupported.push_back(std::move(refused));
  }
  for (cli::Option& option : table.options)
    if (option.name == "job-name") option.help = "Name of the job. Default: the command's name.";
  return table;
}

cli::Option immediate_option(std::optional<Seconds>& most) {
  return {'I', "immediate", "[SECONDS]",
          "Give up, and cancel the job, if it has not started within this time (1).",
          [&most](const std::string& text) -> Status {
            most = Seconds(1);
            if (text.empty()) return {};
            const auto number = cli::parse_integer(text, 0, 1'000'000'000);
            if (!number) return fail(number.error());
            most = Seconds(*number);
            return {};
          }};
}

Result<api::Request> allocation_request(Submission& target, const std::string& name,
                                        std::string script, std::string environment) {
  auto context = SubmitContext::capture();
  if (!context) return fail(context.error());
  if (Status completed = complete(target, name, context->directory()); !completed)
    return fail(completed.error());
  context->add_to(target.spec);
  drop_other_limits(target, target.spec);
  target.spec.set_command(name);
  target.spec.set_submit_line(target.submit_line);
  // A second attempt would have no command, and what the waiting script says is of no use.
  target.spec.set_requeue(false);
  target.spec.set_std_out("/dev/null");
  api::Request request;
  request.set_request_id(target.request_id.empty() ? rpc::new_request_id() : target.request_id);
  api::Submit* submit = request.mutable_submit();
  *submit->mutable_spec() = target.spec;
  submit->set_script(std::move(script));
  submit->set_environment(std::move(environment));
  return request;
}

}  // namespace ares::submission
