// actl's commands: one row each; matching, help, the manual page and completion come from the same table.
// Owned by actl's main thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actl/topology.h"
#include "base/result.h"
#include "cli/options/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

// Options that a single line may set when commands come one a line.
struct Flags {
  bool one_line = false;
  bool details = false;
  bool json = false;
  bool quiet = false;
  bool dry_run = false;
  TopologyOptions topology;
};

// What every command may need. The connection is made at first use, so that what needs none works without a controller.
class Context {
 public:
  cli::CommonOptions common;
  Flags flags;
  std::string check_file;  // --check
  bool check = false;

  Result<api::Response> call(api::Request request,
                             cli::RetryPolicy policy = cli::RetryPolicy::query);
  // A listing with all its pages.
  Result<api::Response> call_for_all(const api::Request& request,
                                     cli::RetryPolicy policy = cli::RetryPolicy::query);
  // A call that changes something: prints what the controller says about it, unless `quiet`.
  Result<int> change(const api::Request& request,
                     cli::RetryPolicy policy = cli::RetryPolicy::change);

 private:
  std::optional<rpc::Client> client_;
};

using Words = cli::Words;

// What a command's operands name, for completion.
enum class Names { none, jobs, nodes, partitions, reservations };

struct Command {
  std::vector<std::string> words;  // {"show", "job"}
  std::string arguments;
  std::string help;
  std::function<Result<int>(Context&, const Words&)> run;
  Names names = Names::none;
};

const std::vector<Command>& commands();

cli::OptionTable options(Context& context);
const cli::Manual& manual();

// Runs the command that `words` begin with, in any case of letters. invalid_argument, with a suggestion, when there is none.
Result<int> dispatch(Context& context, const Words& words);

// Reads commands, one a line, until the end or `quit`. From a terminal with editing, history and completion; the exit status is the
// last failure's. From a pipe or file the first failure ends it, and says its line.
int interact(Context& context);

// The commands, by subject.
Result<int> show_jobs(Context& context, const Words& operands);
Result<int> show_nodes(Context& context, const Words& operands);
Result<int> show_partitions(Context& context, const Words& operands);
Result<int> show_reservations(Context& context, const Words& operands);
Result<int> create(Context& context, const Words& operands);
Result<int> remove(Context& context, const Words& operands);
Result<int> show_plugins(Context& context, const Words& operands);
Result<int> show_config(Context& context, const Words& operands);
Result<int> show_host_names(Context& context, const Words& operands);
Result<int> show_host_list(Context& context, const Words& operands);
Result<int> write_script(Context& context, const Words& operands);
Result<int> act_on_jobs(Context& context, api::JobAction::Kind kind, const Words& operands);
Result<int> act_on_nodes(Context& context, api::UpdateNode::Kind kind, const Words& operands);
Result<int> update(Context& context, const Words& operands);
Result<int> send_node_update(Context& context, const api::UpdateNode& update);
Result<int> reconfigure(Context& context, const Words& operands);
Result<int> ping(Context& context, const Words& operands);
Result<int> show_version(Context& context, const Words& operands);
Result<int> help(Context& context, const Words& operands);
Result<int> shut_down(Context& context, const Words& operands);
Result<int> check_config(Context& context, const Words& operands);
Result<int> show_topology(Context& context, const Words& operands);

}  // namespace ares::actl
