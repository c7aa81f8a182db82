#include <algorithm>
#include <cstdio>

#include "areport/query.h"
#include "base/timespec.h"

namespace ares::areport {
namespace {

// The period that one call sums up again, which takes a few seconds.
constexpr Duration kAgainAtOnce = std::chrono::hours(7 * 24);

Result<api::RolledUp> roll(rpc::Client& client, const api::Rollup& rollup) {
  api::Request request;
  *request.mutable_rollup() = rollup;
  auto response = client.call(std::move(request));
  if (!response) return fail(response.error());
  return response->rolled_up();
}

// Sums up again in parts, or sums up what is left until nothing changes any more.
Result<api::RolledUp> roll_up(rpc::Client& client, const Query& query) {
  api::Rollup rollup;
  rollup.set_what(query.rollup);
  if (query.rollup == api::Rollup::SHOW) return roll(client, rollup);
  if (query.rollup == api::Rollup::AGAIN) {
    Result<api::RolledUp> last;
    for (Time at = *query.start; at < *query.end; at += kAgainAtOnce) {
      rollup.set_start(at.time_since_epoch().count());
      rollup.set_end(std::min(*query.end, at + kAgainAtOnce).time_since_epoch().count());
      last = roll(client, rollup);
      if (!last) return last;
    }
    return last;
  }
  auto before = roll(client, rollup);
  while (before) {
    auto after = roll(client, rollup);
    if (!after || after->end() == before->end()) return after;
    before = std::move(after);
  }
  return before;
}

Status print_rolled_up(const api::RolledUp& rolled) {
  if (rolled.end() == 0) {
    std::puts("nothing is summed up yet");
    return {};
  }
  std::printf("summed up from %s to %s\n",
              format_local_time(Time(Duration(rolled.start()))).c_str(),
              format_local_time(Time(Duration(rolled.end()))).c_str());
  return {};
}

Result<int> run(const cli::Words& words) {
  Query query;
  const Time now = cli::clock_now();
  const cli::OptionTable table = options(query);
  return cli::run_line(
      manual(), table, query.common, words, [&](const cli::Words& operands) -> Result<int> {
        if (Status text = cli::refuse_invalid_utf8(operands); !text) return fail(text.error());
        if (Status read = read_words(operands, now, query); !read) return fail(read.error());
        if (Status filled = complete(query, now); !filled) return fail(filled.error());
        // An unknown field is reported before any request is sent.
        if (query.report)
          if (auto report_table = make_table(query, {}); !report_table)
            return fail(report_table.error());
        auto client = cli::open_client("areport", query.common, cli::RetryPolicy::query);
        if (!client) return fail(client.error());
        if (!query.report) {
          auto rolled = roll_up(*client, query);
          if (!rolled) return fail(rolled.error());
          if (Status printed = print_rolled_up(*rolled); !printed) return fail(printed.error());
          return 0;
        }
        api::Request request;
        *request.mutable_report() = query.filter;
        auto response = client->call(std::move(request));
        if (!response) return fail(response.error());
        auto report_table = make_table(query, response->reported());
        if (!report_table) return fail(report_table.error());
        std::fputs(print(*report_table, query.layout, !query.no_header, query.delimiter).c_str(),
                   stdout);
        return 0;
      });
}

}  // namespace
}  // namespace ares::areport

int main(int argc, char** argv) {
  return ares::cli::run_main("areport", argc, argv, ares::areport::run);
}
