#include <pwd.h>
#include <unistd.h>

#include <cstdio>

#include "ashare/options.h"
#include "ashare/print.h"
#include "cli/output/json.h"

namespace ares::ashare {
namespace {

std::string own_name() {
  const passwd* entry = getpwuid(getuid());
  return entry ? entry->pw_name : "uid " + std::to_string(getuid());
}

// Keeps the accounts, and of the users only the calling user, unless others are requested.
void keep_own(const std::string& me, api::Shares& shares) {
  api::Shares kept;
  for (const api::ShareLine& line : shares.lines())
    if (line.user().empty() || line.user() == me) *kept.add_lines() = line;
  *shares.mutable_lines() = std::move(*kept.mutable_lines());
}

Result<int> show(const Query& query) {
  // Report a wrong field before any request is sent.
  if (auto known = print(query, {}); !known) return fail(known.error());
  auto client = cli::open_client("ashare", query.common, cli::RetryPolicy::query);
  if (!client) return fail(client.error());
  api::Request request;
  for (const std::string& account : query.accounts)
    request.mutable_list_shares()->add_accounts(account);
  for (const std::string& user : query.users) request.mutable_list_shares()->add_users(user);
  request.mutable_list_shares();
  auto response = client->call(std::move(request));
  if (!response) return fail(response.error());
  api::Shares& shares = *response->mutable_shares();
  if (!query.all && query.users.empty()) keep_own(own_name(), shares);
  if (query.document) {
    cli::print_document(query.document, cli::to_json(shares));
    return 0;
  }
  const auto text = print(query, shares);
  if (!text) return fail(text.error());
  std::fwrite(text->data(), 1, text->size(), stdout);
  return 0;
}

Result<int> run(const cli::Words& words) {
  Query query;
  const cli::OptionTable table = options(query);
  return cli::run_line(
      manual(), table, query.common, words, [&](const cli::Words& operands) -> Result<int> {
        if (Status none = cli::refuse_operands(operands, "to name accounts use -A"); !none)
          return fail(none.error());
        return show(query);
      });
}

}  // namespace
}  // namespace ares::ashare

int main(int argc, char** argv) {
  return ares::cli::run_main("ashare", argc, argv, ares::ashare::run);
}
