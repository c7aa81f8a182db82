// Builds jobs from options and scripts, both for one job and for many. Owned by the command's main thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "submission/script.h"
#include "submission/submission.h"

namespace ares::submission {

// One job, ready to be sent.
struct PreparedJob {
  api::JobSpec spec;
  std::string script;
  std::string environment;
  std::size_t line = 0;  // 1-based line of the file that describes it.
};

// Data that all jobs of one call share, computed once.
class SubmitContext {
 public:
  // Returns not_found if the current folder does not exist any more.
  static Result<SubmitContext> capture();

  const std::string& directory() const { return directory_; }
  const std::vector<std::string>& variables() const { return variables_; }
  // environment_for() with a cache by list.
  Result<std::string> environment(const std::string& export_list);
  // Adds limits, umask, host and time zone.
  void add_to(api::JobSpec& spec) const { spec.MergeFrom(common_); }

 private:
  std::string directory_;
  api::JobSpec common_;
  std::vector<std::string> variables_;
  std::map<std::string, std::string> environments_;
};

// Finds and checks the script, applies the options of all sources in order of precedence, and fills
// in defaults. `given` are the user's options for this job. They are also applied first, because
// --wrap provides the script. `operands` are the script's name and its arguments.
Result<PreparedJob> prepare(Submission& wanted, const cli::OptionTable& table,
                            std::span<const cli::GivenOption> given,
                            const std::vector<std::string>& operands, SubmitContext& context);

}  // namespace ares::submission
