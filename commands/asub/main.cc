#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "asub/script.h"
#include "asub/submission.h"
#include "asub/surroundings.h"
#include "asub/wait.h"
#include "cli/directives.h"
#include "cli/frame.h"
#include "cli/job_ids.h"
#include "config/config.h"

namespace ares::asub {
namespace {

Result<Script> find_script(const Submission& wanted, const std::vector<std::string>& operands,
                           const std::string& directory) {
  if (wanted.wrap) {
    if (!operands.empty())
      return fail(ErrorCode::invalid_argument,
                  "--wrap stands for the script; \"" + operands.front() + "\" is too much");
    return wrap_command(*wanted.wrap);
  }
  const char* path = std::getenv("PATH");
  return read_script(operands.empty() ? "" : operands.front(), directory, path ? path : "");
}

// Options from all three places, in their order of precedence.
Result<Script> collect(Submission& wanted, const cli::OptionTable& table, const cli::Parsed& line,
                       const std::string& directory) {
  // The command line's own options say where the script is.
  if (Status applied = cli::apply_options(line.given); !applied) return fail(applied.error());
  Result<Script> script = find_script(wanted, line.operands, directory);
  if (!script) return script;
  if (Status good = check_script(*script); !good) return fail(good.error());

  auto given = cli::options_from_script(table, script->content, script->name);
  if (!given) return fail(given.error());
  const auto environment = cli::options_from_environment(
      table, [](const char* name) -> const char* { return std::getenv(name); });
  if (!environment) return fail(environment.error());
  given->insert(given->end(), environment->begin(), environment->end());
  given->insert(given->end(), line.given.begin(), line.given.end());
  wanted.spec.Clear();
  if (Status applied = cli::apply_options(*given); !applied) return fail(applied.error());
  return script;
}

Result<api::Request> make_request(Submission& wanted, Script script,
                                  const std::vector<std::string>& operands,
                                  const std::string& directory) {
  if (Status complete_now = complete(wanted, script.path, directory); !complete_now)
    return fail(complete_now.error());
  auto environment = environment_for(wanted.export_list, process_environment());
  if (!environment) return fail(environment.error());
  add_surroundings(wanted.spec);
  wanted.spec.set_command(script.path);
  for (std::size_t i = 1; i < operands.size(); ++i) wanted.spec.add_arguments(operands[i]);

  api::Request request;
  request.set_request_id(wanted.request_id.empty() ? rpc::new_request_id() : wanted.request_id);
  api::Submit* submit = request.mutable_submit();
  *submit->mutable_spec() = wanted.spec;
  submit->set_script(std::move(script.content));
  submit->set_environment(std::move(*environment));
  return request;
}

Result<int> submit(Submission& wanted, const api::Request& request) {
  auto client = cli::open_client("asub", wanted.common, cli::Patience::changing, wanted.quiet);
  if (!client) return fail(client.error());
  if (wanted.verbose)
    std::fprintf(stderr, "asub: submitting as request %s\n", request.request_id().c_str());
  auto response = client->call(request);
  if (!response) return fail(response.error());
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
  std::fflush(stdout);
  if (!wanted.wait) return 0;
  return wait_for_end(*client, job);
}

bool asks_only(const cli::Parsed& line) {
  for (const cli::Given& one : line.given)
    if (one.option->name == "help" || one.option->name == "version") return true;
  return false;
}

Result<int> run(const std::vector<std::string>& words) {
  Submission wanted;
  const cli::OptionTable table = options(wanted, cli::clock_now());
  if (const auto code = cli::answer_hidden(manual(), table, words)) return *code;
  auto line = cli::parse_options(table, words);
  if (!line) return fail(line.error());
  if (asks_only(*line)) {
    if (Status applied = cli::apply_options(line->given); !applied) return fail(applied.error());
    return cli::answer_common(manual(), table, wanted.common).value_or(0);
  }

  std::error_code error;
  const std::string directory = std::filesystem::current_path(error).string();
  if (error)
    return fail(ErrorCode::not_found,
                "cannot tell the current folder: " + error.message() + "; cd to one that exists");
  auto script = collect(wanted, table, *line, directory);
  if (!script) return fail(script.error());
  auto request = make_request(wanted, std::move(*script), line->operands, directory);
  if (!request) return fail(request.error());
  return submit(wanted, *request);
}

}  // namespace
}  // namespace ares::asub

int main(int argc, char** argv) {
  const auto code = ares::asub::run(ares::cli::words_of(argc, argv));
  return code ? *code : ares::cli::complain("asub", code.error());
}
