#include <cstdio>

#include "ainfo/query.h"
#include "cli/json.h"

namespace ares::ainfo {
namespace {

Result<int> run(const std::vector<std::string>& words) {
  Query query;
  const cli::OptionTable table = options(query);
  if (const auto code = cli::answer_hidden(manual(), table, words)) return *code;
  const auto operands = cli::take_options(table, words);
  if (!operands) return fail(operands.error());
  if (const auto code = cli::answer_common(manual(), table, query.common)) return *code;
  if (!operands->empty())
    return fail(ErrorCode::invalid_argument,
                "unexpected \"" + operands->front() + "\"; to name nodes use -n");
  // A wrong format is told before anything is asked.
  if (const auto tried = print(query, {}, {}); !tried) return fail(tried.error());

  auto client = cli::open_client("ainfo", query.common, cli::Patience::reading);
  if (!client) return fail(client.error());
  api::Request about_partitions;
  for (const std::string& name : query.partitions)
    about_partitions.mutable_list_partitions()->add_names(name);
  about_partitions.mutable_list_partitions();
  const auto partitions = client->call(about_partitions);
  if (!partitions) return fail(partitions.error());
  api::Request about_nodes;
  about_nodes.mutable_list_nodes()->set_nodes(query.nodes);
  for (const std::string& name : query.partitions)
    about_nodes.mutable_list_nodes()->add_partitions(name);
  const auto nodes = client->call(about_nodes);
  if (!nodes) return fail(nodes.error());

  if (query.json) {
    api::Nodes wanted;
    wanted.set_now(nodes->nodes().now());
    for (const api::Node* node : select(query, nodes->nodes())) *wanted.add_nodes() = *node;
    std::printf("{\"partitions\": %s, \"nodes\": %s}\n",
                cli::to_json(partitions->partitions()).c_str(), cli::to_json(wanted).c_str());
    return 0;
  }
  const auto text = print(query, partitions->partitions(), nodes->nodes());
  if (!text) return fail(text.error());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace ares::ainfo

int main(int argc, char** argv) {
  const auto code = ares::ainfo::run(ares::cli::words_of(argc, argv));
  return code ? *code : ares::cli::complain("ainfo", code.error());
}
