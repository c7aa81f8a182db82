// aacctmgr's commands: a verb each; matching, help, the manual page and completion come from the same table.
// Owned by aacctmgr's main thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "aacctmgr/edit/records.h"
#include "aacctmgr/line.h"
#include "base/result.h"
#include "cli/options/frame.h"
#include "proto/gen/api.pb.h"

namespace ares::aacctmgr {

using Words = cli::Words;

// Options that a single line may set when commands come one a line.
struct Flags {
  bool immediate = false;
  bool no_header = false;
  bool parsable = false;
  bool parsable2 = false;
  bool read_only = false;
  bool quiet = false;
  bool json = false;
  bool dry_run = false;
  bool check = false;
  std::string format;
};

// What every command may need. The connection is made at first use.
class Context {
 public:
  cli::CommonOptions common;
  Flags flags;
  bool script = false;  // commands come from standard input, so nobody can be asked there

  Result<api::Response> call(api::Request request,
                             cli::RetryPolicy policy = cli::RetryPolicy::query);
  // All records, page by page.
  Result<Snapshot> records(cli::RetryPolicy policy = cli::RetryPolicy::query);
  // Shows what would change, asks, and sends it: 0, or 1 where it was not wanted.
  Result<int> change(const Snapshot& before, const Records& after);

  // Whether it is to be done: asks, unless -i says so. invalid_argument where nobody can be asked.
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

// Runs the command that `words` begin with. invalid_argument, with a suggestion, when there is none.
Result<int> dispatch(Context& context, const Words& words);

Result<int> show(Context& context, const Words& operands);
Result<int> dump(Context& context, const Words& operands);
Result<int> load(Context& context, const Words& operands);
Result<int> archive(Context& context, const Words& operands);
Result<int> reset_usage(Context& context, const Words& operands);
Result<int> rebuild_usage(Context& context, const Words& operands);

}  // namespace ares::aacctmgr
