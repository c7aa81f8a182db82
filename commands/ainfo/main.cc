#include <cstdio>

#include "ainfo/query.h"
#include "ainfo/reservations.h"
#include "cli/options/repeat.h"
#include "cli/output/json.h"
#include "proto/table.h"

namespace ares::ainfo {
namespace {

// Reads all pages of the nodes into one list.
Status read_nodes(rpc::Client& client, api::ListNodes filter, api::Nodes& out) {
  for (;;) {
    api::Request request;
    *request.mutable_list_nodes() = filter;
    auto response = client.call(request);
    if (!response) return fail(response.error());
    api::Nodes& page = *response->mutable_nodes();
    out.set_now(page.now());
    out.set_cluster(page.cluster());
    if (Status read = proto::read_rows(page.nodes(), page.table(),
                                       [&](const api::Node& node) { *out.add_nodes() = node; });
        !read)
      return read;
    if (page.next() == 0) return {};
    filter.set_after(page.next());
  }
}

Result<api::Reservations> read_reservations(rpc::Client& client) {
  api::Request request;
  request.mutable_list_reservations();
  auto response = client.call(request);
  if (!response) return fail(response.error());
  return std::move(*response->mutable_reservations());
}

Status show_reservations(rpc::Client& client, const Query& query) {
  const auto all = read_reservations(client);
  if (!all) return fail(all.error());
  if (query.listing.document)
    cli::print_document(query.listing.document, cli::to_json(*all));
  else
    std::fputs(list_reservations(*all, !query.listing.no_header).c_str(), stdout);
  return {};
}

Status show(rpc::Client& client, const Query& query, const std::vector<std::uint32_t>& fields) {
  if (query.reservations) return show_reservations(client, query);
  Answer answer;
  api::Request about_partitions;
  about_partitions.mutable_list_partitions()->set_brief(!query.listing.document);
  for (const std::string& name : query.partitions)
    about_partitions.mutable_list_partitions()->add_names(name);
  auto partitions = client.call(about_partitions);
  if (!partitions) return fail(partitions.error());
  answer.partitions = std::move(*partitions->mutable_partitions());

  api::ListNodes filter;
  filter.set_nodes(query.nodes);
  for (const std::string& name : query.partitions) filter.add_partitions(name);
  for (const std::uint32_t field : fields) filter.add_fields(field);
  if (Status read = read_nodes(client, filter, answer.nodes); !read) return read;
  if (query.listing.document) {
    cli::print_document(query.listing.document, print_json(query, answer));
    return {};
  }
  if (shows_reservations(query)) {
    const auto all = read_reservations(client);
    if (!all) return fail(all.error());
    answer.reserved = reserved_nodes(*all);
  }
  const auto text = print(query, answer, cli::terminal_width());
  if (!text) return fail(text.error());
  std::fputs(text->c_str(), stdout);
  return {};
}

Result<int> run(const cli::Words& words) {
  Query query;
  const cli::OptionTable table = options(query);
  return cli::run_line(
      manual(), table, query.common, words, [&](const cli::Words& operands) -> Result<int> {
        if (Status none = cli::refuse_operands(operands, "to name nodes use -n"); !none)
          return fail(none.error());
        if (query.listing.list_columns) {
          std::fputs(cli::list_columns(columns()).c_str(), stdout);
          return 0;
        }
        // Report a wrong format before any request is sent.
        auto fields = fields_of(query);
        if (!fields) return fail(fields.error());
        if (query.listing.document) *fields = proto::all_fields(*api::Node::descriptor(), {});

        auto client = cli::open_client("ainfo", query.common, cli::RetryPolicy::query);
        if (!client) return fail(client.error());
        return cli::repeat("ainfo", query.listing.iterate,
                           [&] { return show(*client, query, *fields); });
      });
}

}  // namespace
}  // namespace ares::ainfo

int main(int argc, char** argv) {
  return ares::cli::run_main("ainfo", argc, argv, ares::ainfo::run);
}
