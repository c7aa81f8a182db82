// `write batch_script`: writes a job's script to a file, as scontrol does.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "actl/assign.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"

namespace ares::actl {

Result<int> write_script(Context& context, const Words& operands) {
  if (operands.empty() || operands.size() > 2)
    return invalid("expected: write batch_script ID [FILE|-]");
  const auto keys = cli::parse_job_ids(operands[0]);
  if (!keys) return fail(keys.error());
  if (keys->size() != 1) return invalid("name one job");
  api::Request request;
  const JobKey key = keys->front();
  request.mutable_job_script()->mutable_job()->set_job(key.job.value());
  if (!key.task.is_none()) request.mutable_job_script()->mutable_job()->set_task(key.task.value);
  const auto response = context.call(request);
  if (!response) return fail(response.error());
  const std::string& text = response->script().text();

  const std::string path =
      operands.size() == 2 ? operands[1] : "ares-" + cli::format_job_id(key) + ".sh";
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) return fail(ErrorCode::invalid_argument, "cannot write " + path);
  // A failure to make the script executable is ignored; the script can still be read.
  std::error_code ignored;
  namespace fs = std::filesystem;
  fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add, ignored);
  if (!context.flags.quiet)
    std::printf("batch script of job %s written to %s\n", cli::format_job_id(key).c_str(),
                path.c_str());
  return 0;
}

}  // namespace ares::actl
