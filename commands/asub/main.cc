#include <cerrno>
#include <cstdio>

#include "asub/estimate.h"
#include "asub/failure.h"
#include "asub/from.h"
#include "asub/manual.h"
#include "cli/jobs/wait.h"
#include "cli/options/frame.h"
#include "cli/values/job_ids.h"
#include "submission/prepare.h"
#include "submission/refused_options.h"
#include "submission/submission.h"
#include "submission/submit_line.h"

namespace ares::asub {
namespace {

Result<int> submit(const submission::Submission& wanted, const api::Request& request) {
  auto client = cli::open_client("asub", wanted.common, cli::RetryPolicy::change, wanted.quiet);
  if (!client) return fail(client.error());
  if (wanted.verbose)
    std::fprintf(stderr, "asub: submitting as request %s\n", request.request_id().c_str());
  auto response = client->call(request);
  if (!response) return fail(failure_of_one(response.error(), request.request_id()));
  const api::Acted& acted = response->acted();
  if (acted.jobs().empty())
    return fail(ErrorCode::internal, "the controller answered without a job id");
  const JobKey job = cli::key_of(acted.jobs(0));
  if (!wanted.quiet && !acted.text().empty())
    std::fprintf(stderr, "asub: %s\n", acted.text().c_str());
  if (wanted.parsable) {
    std::printf("%s\n", cli::format_job_id(job).c_str());
  } else if (!wanted.quiet) {
    std::printf("Submitted batch job %s\n", cli::format_job_id(job).c_str());
  }
  if (std::fflush(stdout) != 0 && errno != EPIPE)
    std::fprintf(stderr, "asub: job %s is submitted\n", cli::format_job_id(job).c_str());
  if (!wanted.wait) return 0;
  return cli::wait_for_end(*client, job, !wanted.quiet);
}

api::Request request_for(const submission::Submission& wanted, submission::PreparedJob job) {
  api::Request request;
  request.set_request_id(wanted.request_id.empty() ? rpc::new_request_id() : wanted.request_id);
  api::Submit* submit = request.mutable_submit();
  *submit->mutable_spec() = std::move(job.spec);
  submit->set_script(std::move(job.script));
  submit->set_environment(std::move(job.environment));
  return request;
}

// Requests an estimate of the start time and submits nothing.
Result<int> test_only(const submission::Submission& wanted, submission::PreparedJob job) {
  auto client = cli::open_client("asub", wanted.common, cli::RetryPolicy::query, wanted.quiet);
  if (!client) return fail(client.error());
  api::Request request;
  *request.mutable_test_submit()->mutable_submit() =
      std::move(*request_for(wanted, std::move(job)).mutable_submit());
  const auto response = client->call(request);
  if (!response) return fail(response.error());
  std::fprintf(stderr, "asub: %s\n",
               describe_estimate(response->estimate(), cli::terminal_width()).c_str());
  return 0;
}

bool asks_only(const cli::Parsed& line) {
  for (const cli::GivenOption& one : line.given)
    if (one.option->name == "help" || one.option->name == "version") return true;
  return false;
}

// Options for a single job are not allowed together with --from.
Status check_from(const submission::Submission& wanted, const std::vector<std::string>& operands) {
  const char* wrong = !operands.empty()  ? "a script"
                      : wanted.wrap      ? "--wrap"
                      : wanted.wait      ? "--wait"
                      : wanted.test_only ? "--test-only"
                                         : nullptr;
  if (!wrong) return {};
  return fail(ErrorCode::invalid_argument,
              std::string("--from and ") + wrong + " exclude each other; the file says what runs");
}

Result<int> run(const std::vector<std::string>& words) {
  submission::Submission wanted;
  wanted.submit_line = submission::submit_line("asub", words);
  const cli::OptionTable table = submission::options(wanted, cli::clock_now());
  if (const auto code = cli::answer_hidden(manual(), table, words)) return *code;
  auto line = cli::parse_options(table, words);
  if (!line) return fail(line.error());
  if (asks_only(*line)) {
    if (Status applied = cli::apply_options(line->given); !applied) return fail(applied.error());
    return cli::answer_common(manual(), table, wanted.common).value_or(0);
  }

  // The command line's own options include --from.
  if (Status applied = cli::apply_options(line->given); !applied) return fail(applied.error());
  if (wanted.from) {
    if (Status good = check_from(wanted, line->operands); !good) return fail(good.error());
    return submit_from(wanted, words);
  }
  auto context = submission::SubmitContext::capture();
  if (!context) return fail(context.error());
  // Behind the script a : is its argument.
  if (!line->operands.empty())
    if (Status good = submission::check_not_heterogeneous({line->operands.front()}); !good)
      return fail(good.error());
  auto job = submission::prepare(wanted, table, line->given, line->operands, *context);
  if (!job) return fail(job.error());
  submission::print_warnings("asub", wanted);
  if (wanted.test_only) return test_only(wanted, std::move(*job));
  return submit(wanted, request_for(wanted, std::move(*job)));
}

}  // namespace
}  // namespace ares::asub

int main(int argc, char** argv) {
  return ares::cli::run_main("asub", argc, argv, ares::asub::run);
}
