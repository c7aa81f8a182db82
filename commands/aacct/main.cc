#include <unistd.h>

#include <cstdio>

#include "aacct/query.h"
#include "cli/json.h"

namespace ares::aacct {
namespace {

struct Answer {
  std::vector<api::AccountingRow> rows;
  Time now{};
};

// All pages.
Result<Answer> ask(rpc::Client& client, api::Accounting filter) {
  Answer answer;
  for (;;) {
    api::Request request;
    *request.mutable_accounting() = filter;
    auto response = client.call(request);
    if (!response) return fail(response.error());
    api::AccountingRows& page = *response->mutable_accounting();
    answer.now = Time(Duration(page.now()));
    for (api::AccountingRow& row : *page.mutable_rows()) answer.rows.push_back(std::move(row));
    if (!page.more() || answer.rows.empty()) return answer;
    *filter.mutable_after() = answer.rows.back().key();
  }
}

Result<int> run(const std::vector<std::string>& words) {
  Query query;
  const Time now = cli::clock_now();
  const cli::OptionTable table = options(query, now);
  if (const auto code = cli::answer_hidden(manual(), table, words)) return *code;
  const auto operands = cli::take_options(table, words);
  if (!operands) return fail(operands.error());
  if (const auto code = cli::answer_common(manual(), table, query.common)) return *code;
  if (!operands->empty())
    return fail(ErrorCode::invalid_argument, "unexpected \"" + operands->front() +
                                                 "\"; to name jobs use -j " + operands->front());
  if (query.list_fields) {
    for (const Field& field : fields())
      std::printf("%-12s %s\n", field.name.c_str(), field.help.c_str());
    return 0;
  }
  const auto chosen = parse_fields(query.format);
  if (!chosen) return fail(chosen.error());
  if (Status filled = complete(query, now, getuid()); !filled) return fail(filled.error());

  auto client = cli::open_client("aacct", query.common, cli::Patience::reading);
  if (!client) return fail(client.error());
  const auto answer = ask(*client, query.filter);
  if (!answer) return fail(answer.error());
  const std::vector<Row> rows = select(query, answer->rows, answer->now);
  if (query.json) {
    api::AccountingRows all;
    all.set_now(answer->now.time_since_epoch().count());
    for (const Row& row : rows) *all.add_rows() = *row.job;
    std::fputs(cli::to_json(all).c_str(), stdout);
    return 0;
  }
  std::fputs(print(query, *chosen, rows).c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace ares::aacct

int main(int argc, char** argv) {
  const auto code = ares::aacct::run(ares::cli::words_of(argc, argv));
  return code ? *code : ares::cli::complain("aacct", code.error());
}
