#include <unistd.h>

#include <cstdio>

#include "astat/columns.h"
#include "astat/query.h"
#include "cli/output/json.h"
#include "cli/output/text.h"

namespace ares::astat {
namespace {

// The chosen fields: aligned columns, or with a delimiter behind each.
Result<cli::Listing<Row>> make_listing(const Query& query) {
  std::vector<cli::FormatItem> items;
  for (const std::string& name : cli::split(query.format.empty() ? kUsual : query.format, ',')) {
    cli::FormatItem item;
    item.name = name;
    item.fit = item.right = !query.parsable && !query.trailing;
    item.literal = query.parsable || query.trailing ? "|" : " ";
    items.push_back(std::move(item));
  }
  if (!query.trailing) items.back().literal.clear();
  return cli::Listing<Row>::make(std::move(items), columns());
}

Result<api::RunningUse> ask(rpc::Client& client, api::ListUse filter) {
  api::RunningUse all;
  for (;;) {
    api::Request request;
    *request.mutable_list_use() = filter;
    auto response = client.call(std::move(request));
    if (!response) return fail(response.error());
    api::RunningUse& page = *response->mutable_running_use();
    const bool more = page.has_next();
    if (more) filter.mutable_after()->Swap(page.mutable_next());
    page.clear_next();
    all.MergeFrom(page);
    if (!more) return all;
  }
}

Result<int> show(Query& query) {
  if (query.list_fields) {
    for (const std::string& line : cli::describe_columns(columns())) std::puts(line.c_str());
    return 0;
  }
  // Report a wrong field before any request is sent.
  auto listing = make_listing(query);
  if (!listing) return fail(listing.error());
  api::ListUse filter = query.filter;
  if (filter.jobs().empty() && filter.users().empty() && !query.all_users)
    filter.add_users(std::to_string(::getuid()));
  auto client = cli::open_client("astat", query.common, cli::RetryPolicy::query);
  if (!client) return fail(client.error());
  const auto use = ask(*client, filter);
  if (!use) return fail(use.error());
  if (query.document) {
    cli::print_document(query.document, cli::to_json(*use));
    return 0;
  }
  const bool jobs = query.ids.steps.empty() && !query.all_steps;
  for (const Row& row :
       jobs ? rows_of(*use, query.by_node) : step_rows(*use, query.ids, query.all_steps))
    listing->add(row);
  const std::string text = listing->grid().layout(!query.no_header);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

Result<int> run(const cli::Words& words) {
  Query query;
  const cli::OptionTable table = options(query);
  return cli::run_line(
      manual(), table, query.common, words, [&](const cli::Words& operands) -> Result<int> {
        if (Status none = cli::refuse_operands(operands, "to name jobs use -j"); !none)
          return fail(none.error());
        return show(query);
      });
}

}  // namespace
}  // namespace ares::astat

int main(int argc, char** argv) {
  return ares::cli::run_main("astat", argc, argv, ares::astat::run);
}
