#include <unistd.h>

#include <cstdio>
#include <future>

#include "aacct/following.h"
#include "aacct/print.h"
#include "aacct/query.h"
#include "cli/output/index_list.h"

namespace ares::aacct {
namespace {

Result<api::AccountingRows> ask(rpc::Client& client, const api::Accounting& filter) {
  api::Request request;
  *request.mutable_accounting() = filter;
  auto response = client.call(std::move(request));
  if (!response) return fail(response.error());
  return std::move(*response->mutable_accounting());
}

using TakePage = std::function<void(const api::AccountingRows&)>;

// Passes on all pages, fetching the next one meanwhile.
Status each_page(rpc::Client& client, api::Accounting filter, Result<api::AccountingRows> page,
                 const TakePage& take) {
  for (;;) {
    if (!page) return fail(page.error());
    std::future<Result<api::AccountingRows>> next;
    if (page->more()) {
      *filter.mutable_after() = page->last();
      next = std::async(std::launch::async, [&client, filter] { return ask(client, filter); });
    }
    take(*page);
    if (!next.valid()) return {};
    page = next.get();
  }
}

// Returns the number of rows.
Result<std::size_t> print_all(rpc::Client& client, const Query& query,
                              const std::vector<SelectedField>& chosen) {
  std::size_t count = 0;
  auto first = ask(client, query.filter);
  if (!first) return fail(first.error());  // Report the error before anything is printed.
  const auto printer =
      make_printer(query, chosen, cli::terminal_width(),
                   [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  const Status read =
      each_page(client, query.filter, std::move(first), [&](const api::AccountingRows& page) {
        count += static_cast<std::size_t>(page.rows_size());
        printer->page(page);
      });
  if (!read) return fail(read.error());
  printer->finish();
  return count;
}

Result<int> follow_all(const Query& query, const std::vector<SelectedField>& chosen) {
  return follow(query, chosen, [&](rpc::Client& client, Printer& printer, const TakePage& listed) {
    Status read = each_page(client, query.filter, ask(client, query.filter),
                            [&](const api::AccountingRows& page) {
                              listed(page);
                              printer.page(page);
                            });
    if (read) printer.finish();
    return read;
  });
}

Result<int> report(Query& query, Time now) {
  if (query.list_fields) {
    for (const Field& field : fields())
      std::printf("%-20s %s\n", field.name.c_str(), field.help.c_str());
    return 0;
  }
  const auto chosen = parse_fields(query.format);
  if (!chosen) return fail(chosen.error());
  if (Status filled = complete(query, now, getuid()); !filled) return fail(filled.error());
  const auto longest = cli::longest_index_list();
  if (!longest) return fail(longest.error());
  query.longest_list = *longest;
  if (query.document)
    query.filter.set_steps(!query.allocations);
  else
    ask_only_for(*chosen, query);

  if (query.follow) {
    if (!query.filter.fields().empty())
      query.filter.add_fields(api::AccountingRow::kEndedFieldNumber);
    return follow_all(query, *chosen);
  }
  auto client = cli::open_client("aacct", query.common, cli::RetryPolicy::query);
  if (!client) return fail(client.error());
  const auto count = print_all(*client, query, *chosen);
  std::fflush(stdout);
  if (!count) return fail(count.error());
  if (*count == 0 && !query.hint.empty()) std::fprintf(stderr, "aacct: %s\n", query.hint.c_str());
  return 0;
}

Result<int> run(const cli::Words& words) {
  Query query;
  const Time now = cli::clock_now();
  const cli::OptionTable table = options(query, now);
  return cli::run_line(
      manual(), table, query.common, words, [&](const cli::Words& operands) -> Result<int> {
        if (Status none = cli::refuse_operands(operands, "to name jobs use -j"); !none)
          return fail(none.error());
        return report(query, now);
      });
}

}  // namespace
}  // namespace ares::aacct

int main(int argc, char** argv) {
  return ares::cli::run_main("aacct", argc, argv, ares::aacct::run);
}
