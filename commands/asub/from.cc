#include "asub/from.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "asub/failure.h"
#include "asub/job_line.h"
#include "cli/options/frame.h"
#include "cli/values/job_ids.h"

namespace ares::asub {
namespace {

// Larger than any reasonable submission. Rejects a wrong file before memory is full.
constexpr std::size_t kMaxFile = 256 << 20;

Result<std::string> read_all(const std::string& name) {
  const bool standard = name == "-";
  const int fd = standard ? STDIN_FILENO : open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return fail(ErrorCode::not_found, "--from: cannot read " + name + ": " + std::strerror(errno));
  std::string content;
  std::string buffer(1 << 16, '\0');
  for (;;) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    const int why = errno;
    if (count > 0) content.append(buffer, 0, static_cast<std::size_t>(count));
    if (count > 0 && content.size() <= kMaxFile) continue;
    if (!standard) close(fd);
    if (count < 0)
      return fail(ErrorCode::permission_denied,
                  "--from: cannot read " + name + ": " + std::strerror(why));
    if (count > 0)
      return invalid("--from: " + name + " is larger than " + std::to_string(kMaxFile >> 20) +
                     " MiB: split it");
    return content;
  }
}

// Options of the whole call are not allowed in a line.
Status check_for_line(const std::vector<cli::GivenOption>& given) {
  constexpr std::array<std::string_view, 4> kOfTheCall = {"parsable", "quiet", "verbose", "wait"};
  for (const cli::GivenOption& one : given) {
    const std::string& name = one.option->name;
    const bool of_a_job =
        name == "wrap" || (one.option->directive && std::find(kOfTheCall.begin(), kOfTheCall.end(),
                                                              name) == kOfTheCall.end());
    if (one.source == cli::Source::line && !of_a_job)
      return invalid(cli::display_name(*one.option) + " is for the command line, not for one job");
  }
  return {};
}

Result<submission::PreparedJob> prepare_line(std::string_view text,
                                             const std::vector<std::string>& words,
                                             const std::string& submit_line,
                                             submission::SubmitContext& context) {
  auto line = read_line(text);
  if (!line) return fail(line.error());
  submission::Submission wanted;
  wanted.submit_line = submit_line;
  const cli::OptionTable table = submission::options(wanted, cli::clock_now());
  auto given = cli::parse_options(table, words);
  if (!given) return fail(given.error());
  auto own = cli::parse_options(table, line->words, cli::Source::line);
  if (!own) return fail(own.error());
  given->given.insert(given->given.end(), own->given.begin(), own->given.end());
  if (Status good = check_for_line(given->given); !good) return fail(good.error());
  auto job = submission::prepare(wanted, table, given->given, line->operands, context);
  submission::print_warnings("asub", wanted);
  if (job && wanted.wait)
    return invalid("--wait, from the script or the environment, is for one job");
  return job;
}

Result<std::vector<submission::PreparedJob>> prepare_all(std::string_view text,
                                                         const std::string& name,
                                                         const std::vector<std::string>& words,
                                                         const std::string& submit_line,
                                                         submission::SubmitContext& context) {
  std::vector<submission::PreparedJob> jobs;
  for (const auto& [number, line] : lines_of(text)) {
    auto job = prepare_line(line, words, submit_line, context);
    if (!job)
      return fail(job.error().code,
                  name + ":" + std::to_string(number) + ": " + job.error().message);
    job->line = number;
    jobs.push_back(std::move(*job));
  }
  if (jobs.empty()) return invalid(name + " describes no jobs");
  return jobs;
}

}  // namespace

Result<int> submit_from(const submission::Submission& wanted,
                        const std::vector<std::string>& words) {
  const std::string name = *wanted.from == "-" ? "standard input" : *wanted.from;
  auto context = submission::SubmitContext::capture();
  if (!context) return fail(context.error());
  const auto text = read_all(*wanted.from);
  if (!text) return fail(text.error());
  const auto jobs = prepare_all(*text, name, words, wanted.submit_line, *context);
  if (!jobs) return fail(jobs.error());

  const std::string id = wanted.request_id.empty() ? rpc::new_request_id() : wanted.request_id;
  auto client = cli::open_client("asub", wanted.common, cli::RetryPolicy::change, wanted.quiet);
  if (!client) return fail(client.error());
  if (wanted.verbose)
    std::fprintf(stderr, "asub: submitting %zu jobs as request %s\n", jobs->size(), id.c_str());
  for (const Batch& batch : make_batches(*jobs, id)) {
    const auto response = client->call(batch.request);
    if (!response) return fail(failure_of_batch(response.error(), name, batch, id));
    for (const api::JobRef& job : response->acted().jobs()) {
      const std::string text_of = cli::format_job_id(cli::key_of(job));
      if (wanted.parsable)
        std::printf("%s\n", text_of.c_str());
      else if (!wanted.quiet)
        std::printf("Submitted batch job %s\n", text_of.c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace ares::asub
