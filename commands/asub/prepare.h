// From options and scripts to jobs that can be sent: the way is the same for one job and for many.
// Owned by asub's main thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "asub/script.h"
#include "asub/submission.h"
#include "base/result.h"

namespace ares::asub {

// One job, ready to be sent.
struct PreparedJob {
  api::JobSpec spec;
  std::string script;
  std::string environment;
  std::size_t line = 0;  // of the file that describes it, 1-based
};

// What all jobs of one call share, found once.
class SubmitContext {
 public:
  // not_found where the current folder is gone.
  static Result<SubmitContext> capture();

  const std::string& directory() const { return directory_; }
  // As environment_for(), remembered by list.
  Result<std::string> environment(const std::string& export_list);
  // Limits, umask, host and zone.
  void add_to(api::JobSpec& spec) const { spec.MergeFrom(common_); }

 private:
  std::string directory_;
  api::JobSpec common_;
  std::vector<std::string> variables_;
  std::map<std::string, std::string> environments_;
};

// Finds and checks the script, applies the options of all places in their order of precedence, and fills in the rest. `given`
// is what the user wrote for this job: it is applied once before, for --wrap says what the script is. `operands` are the
// script's name and its arguments.
Result<PreparedJob> prepare(Submission& wanted, const cli::OptionTable& table,
                            std::span<const cli::GivenOption> given,
                            const std::vector<std::string>& operands, SubmitContext& context);

}  // namespace ares::asub
