#include <unistd.h>

#include <cstdio>

#include "aqueue/query.h"
#include "aqueue/report.h"
#include "cli/job_ids.h"
#include "cli/repeat.h"

namespace ares::aqueue {
namespace {

void write_out(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void tell_missing(const api::Jobs& page) {
  for (const api::JobRef& ref : page.missing())
    std::fprintf(stderr, "aqueue: Invalid job id specified: %s\n",
                 cli::format_job_id(cli::key_of(ref)).c_str());
}

// Reads page after page and hands the rows on.
Status show(rpc::Client& client, const Query& query, const api::ListJobs& filter, Report& report) {
  api::Request request;
  *request.mutable_list_jobs() = filter;
  for (const std::uint32_t field : report.fields()) request.mutable_list_jobs()->add_fields(field);
  std::uint64_t first_lsn = 0;
  bool moved = false;
  for (std::size_t pages = 1;; ++pages) {
    request.clear_request_id();
    const auto response = client.call(request);
    if (!response) return fail(response.error());
    const api::Jobs& page = response->jobs();
    if (pages == 1) {
      first_lsn = page.lsn();
      tell_missing(page);
      if (page.missing_size() > 0 && page.missing_size() == filter.jobs_size())
        return fail(ErrorCode::not_found,
                    "none of these jobs is known; aacct shows those that ended");
    }
    moved = moved || page.lsn() != first_lsn;
    if (Status added = add_rows(page, report); !added) return added;
    if (page.has_next()) {
      write_out(report.ready());
      *request.mutable_list_jobs()->mutable_after() = page.next();
      continue;
    }
    write_out(report.finish(page, moved));
    if (query.verbose)
      std::fprintf(stderr, "aqueue: read %zu page%s; %s\n", pages, pages == 1 ? "" : "s",
                   moved ? "the queue moved in between" : "of one state");
    return {};
  }
}

Result<int> run(const std::vector<std::string>& words) {
  Query query;
  const cli::OptionTable table = options(query);
  if (const auto code = cli::answer_hidden(manual(), table, words)) return *code;
  const auto operands = cli::take_options(table, words);
  if (!operands) return fail(operands.error());
  if (const auto code = cli::answer_common(manual(), table, query.common)) return *code;
  if (!operands->empty())
    return fail(ErrorCode::invalid_argument, "unexpected \"" + operands->front() +
                                                 "\"; to name jobs use -j " + operands->front());
  // A wrong format is told before anything is asked.
  if (const auto tried = make_report(query, 0); !tried) return fail(tried.error());
  auto client = cli::open_client("aqueue", query.common, cli::Patience::reading);
  if (!client) return fail(client.error());
  const api::ListJobs filter = filter_of(query, getuid());
  return cli::repeat("aqueue", query.iterate, [&]() -> Status {
    const auto report = make_report(query, cli::terminal_width());
    if (!report) return fail(report.error());
    return show(*client, query, filter, **report);
  });
}

}  // namespace
}  // namespace ares::aqueue

int main(int argc, char** argv) {
  const auto code = ares::aqueue::run(ares::cli::words_of(argc, argv));
  return code ? *code : ares::cli::complain("aqueue", code.error());
}
