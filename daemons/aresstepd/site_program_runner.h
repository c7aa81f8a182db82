// SiteProgramRunner: runs the site's prolog and epilog of one attempt as children of aresstepd.
// Owned by the Supervisor; single-threaded. They run as the user of aresd, not as the job's.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "node/site_programs.h"
#include "node/step_spec.h"

namespace ares::stepd {

class SiteProgramRunner final : public node::SitePrograms {
 public:
  // `directory` is the attempt's; what the programs print goes to its file `log`. `started` is
  // called with the process of each program. `spec` must outlive this.
  SiteProgramRunner(const node::StepSpec& spec, std::string directory,
                    std::function<void(pid_t)> started);

  Status start_prolog() override;
  Status start_epilog(const std::optional<ExitStatus>& exit) override;
  void kill() override;

  // How the program ended, from its wait status.
  node::ProgramEnd ended(int wait_status);

 private:
  Status start(const node::SiteProgram& program, std::vector<std::string> environment);
  std::vector<std::string> environment(const char* context) const;
  std::string log_path() const { return directory_ + "/log"; }

  const node::StepSpec& spec_;
  std::string directory_;
  std::function<void(pid_t)> started_;
  pid_t pid_ = 0;
  std::size_t log_begin_ = 0;  // size of the log when the program was started
};

}  // namespace ares::stepd
