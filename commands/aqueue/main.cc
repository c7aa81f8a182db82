#include <unistd.h>

#include <cstdio>

#include "aqueue/columns.h"
#include "aqueue/query.h"
#include "base/hostlist.h"
#include "cli/json.h"
#include "model/job.h"

namespace ares::aqueue {
namespace {

void add_default_states(Query& query) {
  auto* states = query.filter.mutable_states();
  if (query.start) {
    states->Clear();
    *states->Add() = std::string(to_string(JobState::pending));
  } else if (states->empty()) {
    for (const JobState state : {JobState::pending, JobState::configuring, JobState::running,
                                 JobState::suspended, JobState::completing})
      *states->Add() = std::string(to_string(state));
  } else if (states->Get(0) == "all") {
    states->Clear();
  }
}

// The controller finds no job on a node that does not exist; the user wants to know that it does not.
Status check_nodes(rpc::Client& client, const Query& query) {
  if (query.filter.nodes().empty()) return {};
  const std::vector<std::string> names(query.filter.nodes().begin(), query.filter.nodes().end());
  api::Request request;
  request.mutable_list_nodes()->set_nodes(compress_hostlist(names));
  const auto response = client.call(request);
  return response ? Status{} : fail(response.error());
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
  if (const auto tried = print(query, api::Jobs()); !tried) return fail(tried.error());

  if (query.me) query.filter.add_users(std::to_string(getuid()));
  add_default_states(query);
  query.filter.set_details(query.json || needs_details(format_of(query)));
  auto client = cli::open_client("aqueue", query.common, cli::Patience::reading);
  if (!client) return fail(client.error());
  if (Status known = check_nodes(*client, query); !known) return fail(known.error());
  api::Request request;
  *request.mutable_list_jobs() = query.filter;
  const auto response = client->call(request);
  if (!response) return fail(response.error());
  if (query.json) {
    std::fputs(cli::to_json(response->jobs()).c_str(), stdout);
    return 0;
  }
  const auto text = print(query, response->jobs());
  if (!text) return fail(text.error());
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace ares::aqueue

int main(int argc, char** argv) {
  const auto code = ares::aqueue::run(ares::cli::words_of(argc, argv));
  return code ? *code : ares::cli::complain("aqueue", code.error());
}
