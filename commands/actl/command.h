// The commands of actl. Matching, help, the manual page and completion use one table with one row
// per command. Owned by actl's main thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actl/topology/topology.h"
#include "base/result.h"
#include "cli/options/frame.h"
#include "cli/output/colour.h"
#include "cli/output/document.h"
#include "proto/gen/api.pb.h"

namespace ares::actl {

// Options that an input line may set for itself in the interactive and script modes.
struct Flags {
  bool one_line = false;
  bool details = false;
  cli::Document document;
  bool quiet = false;
  bool dry_run = false;
  bool wait = false;
  bool history = false;
  bool follow = false;
  cli::ColourWhen colour = cli::ColourWhen::automatic;
  TopologyOptions topology;
};

// State shared by all commands. The connection is opened at first use, so that commands without
// requests need no controller.
class Context {
 public:
  cli::CommonOptions common;
  Flags flags;
  std::string check_file;  // --check
  bool check = false;

  Result<api::Response> call(api::Request request,
                             cli::RetryPolicy policy = cli::RetryPolicy::query);
  // Its connection, for what is not a single request.
  Result<rpc::Client*> client(cli::RetryPolicy policy = cli::RetryPolicy::query);
  // Fetches all pages of a listing.
  Result<api::Response> call_for_all(const api::Request& request,
                                     cli::RetryPolicy policy = cli::RetryPolicy::query);
  // Sends a request that changes something and prints the controller's result, unless `quiet`.
  Result<int> change(const api::Request& request,
                     cli::RetryPolicy policy = cli::RetryPolicy::change);

 private:
  std::optional<rpc::Client> client_;
};

using Words = cli::Words;

// The kind of names that a command takes as operands, for completion.
enum class Names { none, jobs, nodes, partitions, reservations };

struct Command {
  std::vector<std::string> words;  // {"show", "job"}
  std::string arguments;
  std::string help;
  std::function<Result<int>(Context&, const Words&)> run;
  Names names = Names::none;
  bool takes_file = false;  // An operand is the name of a file, which may be of any bytes.
};

const std::vector<Command>& commands();

// A command of scontrol that has no meaning here: it is refused by name.
struct RefusedCommand {
  std::vector<std::string> words;  // {"show", "federation"}
  std::string why;                 // and what to do in its place
};
const std::vector<RefusedCommand>& refused_commands();

cli::OptionTable options(Context& context);
const cli::Manual& manual();

// Runs the command that `words` begin with, ignoring case. Returns invalid_argument with a
// suggestion if there is no such command.
Result<int> dispatch(Context& context, const Words& words);

// Reads commands, one per line, until the end of input or `quit`. On a terminal, lines have
// editing, history and completion, and the exit status is that of the last failed command. From a
// pipe or file, the first failure ends the run and its line number is reported.
int interact(Context& context);

// Adds the jobs that a word names: "12,13", "jobid=12", or all of a name by "name=x".
Status add_jobs(const std::string& word, api::JobSelector& jobs);

// The command functions, by subject.
Result<int> show_jobs(Context& context, const Words& operands);
Result<int> show_steps(Context& context, const Words& operands);
Result<int> show_nodes(Context& context, const Words& operands);
Result<int> show_partitions(Context& context, const Words& operands);
Result<int> show_reservations(Context& context, const Words& operands);
Result<int> show_licenses(Context& context, const Words& operands);
Result<int> wait_for_start(Context& context, const Words& operands);
Result<int> create(Context& context, const Words& operands);
Result<int> remove(Context& context, const Words& operands);
Result<int> show_networks(Context& context, const Words& operands);
Result<int> show_daemons(Context& context, const Words& operands);
Result<int> show_completing(Context& context, const Words& operands);
Result<int> list_processes(Context& context, const Words& operands);
Result<int> list_jobs_here(Context& context, const Words& operands);
Result<int> list_steps_here(Context& context, const Words& operands);
Result<int> show_plugins(Context& context, const Words& operands);
Result<int> show_config(Context& context, const Words& operands);
Result<int> show_host_names(Context& context, const Words& operands);
Result<int> show_host_list(Context& context, const Words& operands);
Result<int> show_sorted_host_list(Context& context, const Words& operands);
Result<int> print_output(Context& context, const Words& operands);
Result<int> notify(Context& context, const Words& operands);
Result<int> write_script(Context& context, const Words& operands);
Result<int> test_submit_hook(Context& context, const Words& operands);
Result<int> act_on_jobs(Context& context, api::JobAction::Kind kind, const Words& operands);
Result<int> wait_until_drained(Context& context, const std::string& nodes);
Result<int> show_node_history(Context& context, const std::string& nodes);
Result<int> reboot_nodes(Context& context, const Words& operands);
Result<int> cancel_reboot(Context& context, const Words& operands);
Result<int> delete_nodes(Context& context, const Words& operands);
Result<int> act_on_nodes(Context& context, api::UpdateNode::Kind kind, const Words& operands);
Result<int> update(Context& context, const Words& operands);
Result<int> send_node_update(Context& context, const api::UpdateNode& update);
Result<int> reconfigure(Context& context, const Words& operands);
Result<int> top(Context& context, const Words& operands);
Result<int> examine(Context& context, const Words& operands);
Result<int> ping(Context& context, const Words& operands);
Result<int> show_version(Context& context, const Words& operands);
Result<int> help(Context& context, const Words& operands);
Result<int> set_log_level(Context& context, const Words& operands);
Result<int> shut_down(Context& context, const Words& operands);
Result<int> check_config(Context& context, const Words& operands);
Result<int> show_topology(Context& context, const Words& operands);

}  // namespace ares::actl
