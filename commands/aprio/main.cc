#include <cstdio>

#include "aprio/print.h"
#include "aprio/query.h"
#include "cli/output/json.h"

namespace ares::aprio {
namespace {

Result<int> show(const Query& query) {
  auto client = cli::open_client("aprio", query.common, cli::RetryPolicy::query);
  if (!client) return fail(client.error());
  api::Request request;
  *request.mutable_list_priorities() = query.filter;
  auto response = client->call(std::move(request));
  if (!response) return fail(response.error());
  const api::Priorities& priorities = response->priorities();
  if (query.document) {
    cli::print_document(query.document, cli::to_json(priorities));
    return 0;
  }
  if (!priorities.multifactor())
    return fail(ErrorCode::failed_precondition,
                "no partition orders its jobs by multifactor here (fairness.policy in ares.yaml); "
                "aqueue --why JOB tells what comes before a job");
  const std::string text = print(query, priorities);
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
}  // namespace ares::aprio

int main(int argc, char** argv) {
  return ares::cli::run_main("aprio", argc, argv, ares::aprio::run);
}
