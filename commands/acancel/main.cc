#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "acancel/selection.h"
#include "cli/output/pages.h"
#include "cli/values/job_ids.h"
#include "proto/table.h"

namespace ares::acancel {
namespace {

// Maximum number of ids in one request of --interactive.
constexpr std::size_t kIdsAtOnce = 10'000;

// With -Q, errors about jobs that do not exist or have ended are not printed; the exit status still
// reports them.
bool is_about_absence(const Error& error) {
  return error.code == ErrorCode::not_found || error.code == ErrorCode::failed_precondition;
}

// Errors for some of the jobs are reported; the request still applies to the others.
Status send(rpc::Client& client, const Selection& selection, const api::Cancel& cancel) {
  api::Request request;
  *request.mutable_cancel() = cancel;
  const auto response = client.call(request);
  if (!response) return fail(response.error());
  if (!selection.verbose) return {};
  const std::string step = cancel.has_step() ? "." + std::to_string(cancel.step()) : "";
  for (const auto& job : response->acted().jobs())
    std::fprintf(stderr, "acancel: %s %s %s%s\n", cancel.signal() ? "signalled" : "cancelled",
                 step.empty() ? "job" : "step", cli::format_job_id(cli::key_of(job)).c_str(),
                 step.c_str());
  if (!response->acted().text().empty())
    std::fprintf(stderr, "acancel: %s\n", response->acted().text().c_str());
  return {};
}

// Lists every selected job, page by page.
Result<std::vector<api::Job>> list(rpc::Client& client, const Selection& selection) {
  const auto filter = listing(selection, getuid());
  if (!filter) return fail(filter.error());
  api::Request request;
  *request.mutable_list_jobs() = *filter;
  using J = api::Job;
  for (const int field : {J::kNameFieldNumber, J::kUserFieldNumber, J::kPartitionFieldNumber,
                          J::kStateFieldNumber, J::kArrayTasksFieldNumber})
    request.mutable_list_jobs()->add_fields(static_cast<std::uint32_t>(field));
  for (const int field : {api::JobRef::kJobFieldNumber, api::JobRef::kTaskFieldNumber})
    request.mutable_list_jobs()->add_fields(proto::nested_field(J::kKeyFieldNumber, field));
  std::vector<api::Job> rows;
  const auto take = [&](const api::Jobs& page) {
    return proto::read_rows(page.jobs(), page.table(), [&](const J& row) { rows.push_back(row); });
  };
  if (Status read = cli::each_page(
          std::move(request), [&](const api::Request& r) { return client.call(r); }, take);
      !read)
    return fail(read.error());
  return rows;
}

bool confirmed(const std::string& question) {
  for (;;) {
    std::fputs(question.c_str(), stdout);
    std::fflush(stdout);
    std::string answer;
    if (!std::getline(std::cin, answer)) {
      std::puts("");
      return false;
    }
    if (answer == "y" || answer == "Y" || answer == "yes") return true;
    if (answer == "n" || answer == "N" || answer == "no") return false;
  }
}

// Returns the requests for the jobs that the user confirms.
Result<std::vector<api::Cancel>> ask(rpc::Client& client, const Selection& selection) {
  const auto rows = list(client, selection);
  if (!rows) return fail(rows.error());
  const auto base = requests(selection, getuid());
  if (!base) return fail(base.error());
  std::vector<api::JobRef> chosen;
  for (const api::Job& row : *rows)
    if (confirmed(question(selection, row)))
      for (api::JobRef& ref : refs_of(row)) chosen.push_back(std::move(ref));
  std::vector<api::Cancel> all;
  for (std::size_t at = 0; at < chosen.size(); at += kIdsAtOnce) {
    all.emplace_back();
    all.back().set_signal(base->front().signal());
    all.back().set_batch_only(selection.batch_only);
    for (std::size_t i = at; i < std::min(chosen.size(), at + kIdsAtOnce); ++i)
      *all.back().mutable_jobs()->add_jobs() = chosen[i];
  }
  return all;
}

Result<int> cancel(const Selection& selection) {
  auto all = requests(selection, getuid());
  if (!all) return fail(all.error());
  auto client =
      cli::open_client("acancel", selection.common, cli::RetryPolicy::change, selection.quiet);
  if (!client) return fail(client.error());
  if (selection.interactive) all = ask(*client, selection);
  if (!all) return fail(all.error());
  int code = 0;
  for (const api::Cancel& one : *all) {
    const Status sent = send(*client, selection, one);
    if (sent) continue;
    const bool silent = selection.quiet && is_about_absence(sent.error());
    code = silent ? cli::kExitRefused : cli::print_error("acancel", sent.error());
  }
  return code;
}

Result<int> run(const cli::Words& words) {
  Selection selection;
  const cli::OptionTable table = options(selection);
  return cli::run_line(manual(), table, selection.common, words, [&](cli::Words operands) {
    selection.ids = std::move(operands);
    return cancel(selection);
  });
}

}  // namespace
}  // namespace ares::acancel

int main(int argc, char** argv) {
  return ares::cli::run_main("acancel", argc, argv, ares::acancel::run);
}
