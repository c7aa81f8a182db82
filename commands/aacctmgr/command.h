// The commands of aacctmgr. Matching, help, the manual page and completion use one table with one
// row per verb. Owned by aacctmgr's main thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aacctmgr/edit/records.h"
#include "aacctmgr/line.h"
#include "base/result.h"
#include "cli/options/frame.h"
#include "cli/output/document.h"
#include "proto/gen/api.pb.h"

namespace ares::aacctmgr {

using Words = cli::Words;

// Options that an input line may set for itself in the interactive and script modes.
struct Flags {
  bool immediate = false;
  bool no_header = false;
  bool parsable = false;
  bool parsable2 = false;
  bool read_only = false;
  bool quiet = false;
  cli::Document document;
  bool dry_run = false;
  bool check = false;
  std::string format;
};

// State shared by all commands. The connection is opened at first use.
// By this machine; also if that cannot be found out now.
bool is_user_known(const std::string& name);

class Context {
 public:
  cli::CommonOptions common;
  Flags flags;
  bool script = false;  // Commands are read from standard input, so the user cannot be prompted.

  Result<api::Response> call(api::Request request,
                             cli::RetryPolicy policy = cli::RetryPolicy::query);
  // Reads all records, page by page.
  Result<Snapshot> records(cli::RetryPolicy policy = cli::RetryPolicy::query);
  // Prints the changes, asks for confirmation and sends them. Returns 0, or 1 if the user declines.
  Result<int> change(const Snapshot& before, const Records& after);

  // Asks for confirmation unless -i was given. Returns invalid_argument if there is no terminal to
  // ask on.
  Result<bool> confirm();

 private:
  Status send(const std::vector<Change>& changes);
  Status send_in_parts(std::vector<Change> changes, const Records& after, std::size_t& done);
  Status send_all(const Snapshot& before, const Records& after);

  std::optional<rpc::Client> client_;
};

struct Command {
  Spelling words;
  std::string arguments;
  std::string help;
  std::function<Result<int>(Context&, const Words&)> run;
};
const std::vector<Command>& commands();

cli::OptionTable options(Context& context);
const cli::Manual& manual();

// Runs the command that `words` begin with. Returns invalid_argument with a suggestion if there is
// no such command.
Result<int> dispatch(Context& context, const Words& words);

Result<int> show(Context& context, const Words& operands);
Result<int> dump(Context& context, const Words& operands);
Result<int> load(Context& context, const Words& operands);
Result<int> archive(Context& context, const Words& operands);
Result<int> reset_usage(Context& context, const Words& operands);
Result<int> rebuild_usage(Context& context, const Words& operands);

}  // namespace ares::aacctmgr
