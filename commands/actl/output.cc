// `output`: prints what a job has printed, where no file gets it.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "actl/assign.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"

namespace ares::actl {
namespace {

constexpr std::uint32_t kPollSeconds = 30;  // the controller answers sooner if there is something

Result<api::ReadOutput> request_of(const Words& operands) {
  if (operands.empty()) return invalid("name one job: actl output 12");
  const auto keys = cli::parse_job_ids(operands[0]);
  if (!keys) return fail(keys.error());
  if (keys->size() != 1) return invalid("name one job or one task of an array");
  api::ReadOutput read;
  read.mutable_job()->set_job(keys->front().job.value());
  if (!keys->front().task.is_none()) read.mutable_job()->set_task(keys->front().task.value);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const std::string& word = operands[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (equals == std::string::npos || (name != "rank" && name != "attempt"))
      return invalid("expected: output ID [rank=N] [attempt=N]");
    const auto number = cli::parse_number(word.substr(equals + 1), UINT32_MAX);
    if (!number) return invalid(name + ": expected a number");
    if (name == "rank")
      read.set_rank(static_cast<std::uint32_t>(*number));
    else
      read.set_attempt(static_cast<std::uint32_t>(*number));
  }
  return read;
}

Status write_out(const std::string& data) {
  if (std::fwrite(data.data(), 1, data.size(), stdout) == data.size() && std::fflush(stdout) == 0)
    return {};
  return fail(ErrorCode::unavailable, std::string("cannot write: ") + std::strerror(errno));
}

void say_lost(std::uint64_t bytes, const char* why) {
  std::fflush(stdout);
  std::fprintf(stderr, "actl: %llu bytes are missing here: %s\n",
               static_cast<unsigned long long>(bytes), why);
}

}  // namespace

Result<int> print_output(Context& context, const Words& operands) {
  Result<api::ReadOutput> read = request_of(operands);
  if (!read) return fail(read.error());
  for (;;) {
    api::Request request;
    *request.mutable_read_output() = *read;
    const auto response = context.call(request);
    if (!response) return fail(response.error());
    const api::Output& output = response->output();
    if (!output.data().empty()) {
      if (output.offset() > read->offset())
        say_lost(output.offset() - read->offset(), "they were not in the log any more");
      if (Status written = write_out(output.data()); !written) return fail(written.error());
      read->set_offset(output.offset() + output.data().size());
      read->set_seconds(0);
      // A later attempt would begin anew.
      read->set_attempt(output.attempt());
      continue;
    }
    if (output.ended() || !context.flags.follow) {
      if (output.size() > read->offset())
        say_lost(output.size() - read->offset(),
                 "no more is stored of a job (retention.job_output_limit)");
      return 0;
    }
    read->set_seconds(kPollSeconds);
  }
}

}  // namespace ares::actl
