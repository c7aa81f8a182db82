// actl's commands: one row each; matching, help and the manual page come from the same table.
// Owned by actl's main thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

// What every command may need. The connection is made at first use, so that what needs none works without a controller.
class Context {
 public:
  cli::Common common;
  bool one_line = false;
  bool json = false;
  bool quiet = false;
  std::string check_file;  // --check
  bool check = false;

  Result<api::Response> call(api::Request request, cli::Patience patience = cli::Patience::reading);

 private:
  std::optional<rpc::Client> client_;
};

using Words = std::vector<std::string>;

struct Command {
  std::vector<std::string> words;  // {"show", "job"}
  std::string arguments;
  std::string help;
  std::function<Result<int>(Context&, const Words&)> run;
};

const std::vector<Command>& commands();

cli::OptionTable options(Context& context);
const cli::Manual& manual();

// Runs the command that `words` begin with, in any case of letters. invalid_argument, with a suggestion, when there is none.
Result<int> dispatch(Context& context, const Words& words);

// Reads commands from a terminal or a file until its end or `quit`. The exit status is the last failure's.
int interact(Context& context);

// The commands, by subject.
Result<int> show_jobs(Context& context, const Words& operands);
Result<int> show_nodes(Context& context, const Words& operands);
Result<int> show_partitions(Context& context, const Words& operands);
Result<int> show_config(Context& context, const Words& operands);
Result<int> show_host_names(Context& context, const Words& operands);
Result<int> show_host_list(Context& context, const Words& operands);
Result<int> act_on_jobs(Context& context, api::JobAction::Kind kind, const Words& operands);
Result<int> act_on_nodes(Context& context, api::UpdateNode::Kind kind, const Words& operands);
Result<int> update(Context& context, const Words& operands);
Result<int> ping(Context& context, const Words& operands);
Result<int> shut_down(Context& context, const Words& operands);
Result<int> check_config(Context& context, const Words& operands);

}  // namespace ares::actl
