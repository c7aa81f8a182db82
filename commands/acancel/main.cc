#include <unistd.h>

#include <cstdio>

#include "acancel/selection.h"
#include "cli/job_ids.h"

namespace ares::acancel {
namespace {

// With -Q a job that is not there, or not there any more, is what was wanted; the exit status still tells.
bool is_about_absence(const Error& error) {
  return error.code == ErrorCode::not_found || error.code == ErrorCode::failed_precondition;
}

Status send(rpc::Client& client, const Selection& selection, const api::Cancel& cancel) {
  api::Request request;
  *request.mutable_cancel() = cancel;
  const auto response = client.call(request);
  if (!response) return fail(response.error());
  if (!selection.verbose) return {};
  for (const auto& job : response->acted().jobs())
    std::fprintf(stderr, "acancel: %s job %s\n", cancel.signal() ? "signalled" : "cancelled",
                 cli::format_job_id(cli::key_of(job)).c_str());
  if (!response->acted().text().empty())
    std::fprintf(stderr, "acancel: %s\n", response->acted().text().c_str());
  return {};
}

// Several ids are one request. If one of them is wrong nothing was done, and each is tried by itself.
std::vector<Error> cancel_all(rpc::Client& client, const Selection& selection,
                              const std::vector<api::Cancel>& all) {
  std::vector<Error> errors;
  for (const api::Cancel& cancel : all) {
    const Status sent = send(client, selection, cancel);
    if (sent) continue;
    if (cancel.jobs().jobs().size() < 2 || !is_about_absence(sent.error())) {
      errors.push_back(sent.error());
      continue;
    }
    for (const auto& ref : cancel.jobs().jobs()) {
      api::Cancel one = cancel;
      one.mutable_jobs()->clear_jobs();
      *one.mutable_jobs()->add_jobs() = ref;
      if (const Status alone = send(client, selection, one); !alone)
        errors.push_back(alone.error());
    }
  }
  return errors;
}

Result<int> run(const std::vector<std::string>& words) {
  Selection selection;
  const cli::OptionTable table = options(selection);
  if (const auto code = cli::answer_hidden(manual(), table, words)) return *code;
  auto operands = cli::take_options(table, words);
  if (!operands) return fail(operands.error());
  if (const auto code = cli::answer_common(manual(), table, selection.common)) return *code;
  selection.ids = std::move(*operands);
  if (selection.me) selection.filter.set_uid(getuid());
  const auto all = requests(selection);
  if (!all) return fail(all.error());

  auto client =
      cli::open_client("acancel", selection.common, cli::Patience::changing, selection.quiet);
  if (!client) return fail(client.error());
  int code = 0;
  for (const Error& error : cancel_all(*client, selection, *all)) {
    const bool silent = selection.quiet && is_about_absence(error);
    code = silent ? cli::kExitRefused : cli::complain("acancel", error);
  }
  return code;
}

}  // namespace
}  // namespace ares::acancel

int main(int argc, char** argv) {
  const auto code = ares::acancel::run(ares::cli::words_of(argc, argv));
  return code ? *code : ares::cli::complain("acancel", code.error());
}
