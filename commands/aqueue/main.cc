#include <unistd.h>

#include <cstdio>

#include "aqueue/past.h"
#include "aqueue/query.h"
#include "aqueue/report.h"
#include "aqueue/steps.h"
#include "aqueue/watch.h"
#include "cli/options/repeat.h"
#include "cli/output/json.h"
#include "cli/output/pages.h"
#include "cli/values/job_ids.h"

namespace ares::aqueue {
namespace {

void write_out(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// Reads all pages and passes the rows to the report.
Status show(rpc::Client& client, const Query& query, const api::ListJobs& filter, Report& report) {
  api::Request request;
  *request.mutable_list_jobs() = filter;
  for (const std::uint32_t field : report.fields()) request.mutable_list_jobs()->add_fields(field);
  const auto call = [&](const api::Request& r) { return client.call(r); };
  std::uint64_t first_lsn = 0;
  std::size_t pages = 0;
  bool moved = false;
  const auto take = [&](const api::Jobs& page) -> Status {
    if (++pages == 1) {
      first_lsn = page.lsn();
      std::string notes;
      Status past = add_past_jobs(call, filter, page, query.shows_live_jobs(), report, notes);
      std::fputs(notes.c_str(), stderr);
      if (!past) return past;
    }
    moved = moved || page.lsn() != first_lsn;
    if (Status added = add_rows(page, report); !added) return added;
    write_out(page.has_next() ? report.ready() : report.finish(page, moved));
    return {};
  };
  if (Status read = cli::each_page(std::move(request), call, take); !read) return read;
  if (query.verbose)
    std::fprintf(stderr, "aqueue: read %zu page%s; %s\n", pages, pages == 1 ? "" : "s",
                 moved ? "the queue moved in between" : "of one state");
  return {};
}

Result<Tiers> read_tiers(rpc::Client& client) {
  api::Request request;
  request.mutable_list_partitions()->set_brief(true);
  const auto response = client.call(request);
  if (!response) return fail(response.error());
  Tiers tiers;
  for (const api::Partition& partition : response->partitions().partitions())
    tiers[partition.name()] = partition.tier();
  return tiers;
}

Result<api::Explanation> explain(rpc::Client& client, const api::JobRef& job) {
  api::Request request;
  *request.mutable_explain_job()->mutable_job() = job;
  auto response = client.call(request);
  if (!response) return fail(response.error());
  return std::move(*response->mutable_explanation());
}

Result<int> list_steps(const Query& query) {
  if (Status good = check_for_steps(query); !good) return fail(good.error());
  auto client = cli::open_client("aqueue", query.common, cli::RetryPolicy::query);
  if (!client) return fail(client.error());
  return cli::repeat("aqueue", query.listing.iterate, [&]() -> Status {
    const auto use = cli::read_use([&](const api::Request& r) { return client->call(r); },
                                   use_filter_of(query, getuid()));
    if (!use) return fail(use.error());
    write_out(query.listing.document ? cli::in_form(query.listing.document, cli::to_json(*use))
                                     : list_steps(query, *use));
    return {};
  });
}

Result<int> list(const Query& query) {
  if (query.listing.list_columns) {
    write_out(cli::list_columns(columns()));
    return 0;
  }
  if (query.steps) return list_steps(query);
  // Report a wrong format before any request is sent.
  if (const auto tried = make_report(query, 0); !tried) return fail(tried.error());
  if (query.watch) return watch(query);
  auto client = cli::open_client("aqueue", query.common, cli::RetryPolicy::query);
  if (!client) return fail(client.error());
  const api::ListJobs filter = filter_of(query, getuid());
  return cli::repeat("aqueue", query.listing.iterate, [&]() -> Status {
    Tiers tiers;
    if (query.each_partition) {
      auto known = read_tiers(*client);
      if (!known) return fail(known.error());
      tiers = std::move(*known);
    }
    const auto report = make_report(query, cli::terminal_width(), std::move(tiers),
                                    [&](const api::JobRef& job) { return explain(*client, job); });
    if (!report) return fail(report.error());
    return show(*client, query, filter, **report);
  });
}

Result<int> run(const cli::Words& words) {
  Query query;
  const cli::OptionTable table = options(query);
  return cli::run_line(
      manual(), table, query.common, words, [&](const cli::Words& operands) -> Result<int> {
        if (Status none = cli::refuse_operands(operands, "to name jobs use -j"); !none)
          return fail(none.error());
        return list(query);
      });
}

}  // namespace
}  // namespace ares::aqueue

int main(int argc, char** argv) {
  return ares::cli::run_main("aqueue", argc, argv, ares::aqueue::run);
}
