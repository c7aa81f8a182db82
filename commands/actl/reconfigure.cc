// `reconfigure`: makes the controller reload its configuration and prints the differences.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "actl/assign.h"
#include "cli/output/config_change.h"
#include "cli/output/json.h"

namespace ares::actl {
namespace {

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty())
    return fail(ErrorCode::not_found, "cannot read " + path + ", or it is empty");
  return text.str();
}

void print(const api::Reconfigured& answer) {
  if (answer.changes().empty()) {
    std::printf("%s: no change\n", answer.path().c_str());
    return;
  }
  std::printf("%s %s\n", answer.path().c_str(), answer.applied() ? "changed:" : "would change:");
  for (const api::ConfigChange& change : answer.changes())
    std::printf("  %s\n", cli::change_text(change).c_str());
}

}  // namespace

Result<int> reconfigure(Context& context, const Words& operands) {
  if (operands.size() > 1) return invalid("name one file at most");
  api::Request request;
  api::Reconfigure& body = *request.mutable_reconfigure();
  body.set_dry_run(context.flags.dry_run);
  if (!operands.empty()) {
    if (!context.flags.dry_run)
      return invalid(
          "another file can only be looked at, with --dry-run; to use it put it in the place "
          "of the controller's own");
    auto text = read_text(operands[0]);
    if (!text) return fail(text.error());
    body.set_text(*text);
    body.set_path(operands[0]);
  }
  const auto response = context.call(request, cli::RetryPolicy::change);
  if (!response) return fail(response.error());
  if (context.flags.document)
    cli::print_document(context.flags.document, cli::to_json(response->reconfigured()));
  else if (!context.flags.quiet)
    print(response->reconfigured());
  return 0;
}

}  // namespace ares::actl
