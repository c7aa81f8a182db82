#include "acheckpoint/options.h"

#include <charconv>
#include <optional>

#include "base/printable.h"
#include "node/checkpoint_fields.h"

namespace ares::acheckpoint {
namespace {

constexpr std::size_t kMostFields = 64;
constexpr std::size_t kLongestField = 1000;

template <class T>
std::optional<T> number_of(const std::string& text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

cli::OptionTable options(Wanted& wanted) {
  cli::OptionTable table;
  table.options.push_back(
      {0, "step", "N", "With commit: the step of the computation, shown by list.",
       [&wanted](const std::string& text) -> Status {
         if (!number_of<std::uint64_t>(text))
           return fail(ErrorCode::invalid_argument, quote(text) + " is not a number");
         wanted.step = text;
         return {};
       }});
  table.options.push_back(
      {0, "timeout", "SECONDS",
       "With commit: how long to wait until the controller knows the checkpoint. Default: 30.",
       [&wanted](const std::string& text) -> Status {
         const auto seconds = number_of<std::uint32_t>(text);
         if (!seconds)
           return fail(ErrorCode::invalid_argument, quote(text) + " is not a number of seconds");
         wanted.timeout = Seconds(*seconds);
         return {};
       }});
  table.options.push_back(
      {0, "sha256", "HEX",
       "With verify and fetch: the SHA-256 that MANIFEST.json must have. Without it only the files "
       "are compared with the manifest.",
       [&wanted](const std::string& text) -> Status {
         wanted.digest = node::digest_of(text);
         if (!wanted.digest)
           return fail(ErrorCode::invalid_argument, quote(text) + " is not 64 digits of a SHA-256");
         return {};
       }});
  table.options.push_back({'q', "quiet", "", "Print errors only.", cli::set_flag(wanted.quiet)});
  cli::add_common_options(table, wanted.common);
  return table;
}

cli::Manual manual() {
  return {
      .name = "acheckpoint",
      .summary = "commit, list, verify and fetch the checkpoints of a job",
      .synopsis = {"[OPTIONS] commit DIR [KEY=VALUE...]", "list [DIR|URI]", "verify DIR|URI...",
                   "fetch URI DIR"},
      .description =
          {"Within a job that was submitted with asub --checkpoint, commit makes a directory with "
           "saved state a checkpoint of the job, all at once or not at all. After the controller "
           "has committed it, the next attempt of the job begins from it; older checkpoints than "
           "the job keeps are then removed. DIR may contain directories and regular files only, "
           "and "
           "is gone afterwards. Call commit on the first node of the job, where its batch script "
           "runs.",
           "If ARES_CHECKPOINT_PATH is a directory, DIR must be on the same file system, such as a "
           "directory within it. When commit returns, all files are durable, their SHA-256 is in "
           "the file MANIFEST.json beside them, and the directory has been renamed to its place.",
           "If it is an S3 URI, as s3://BUCKET/PREFIX/JOBID, DIR may be anywhere. Its files are "
           "copied to objects, and the checkpoint counts from the moment when the last object, "
           "MANIFEST.json, is there. The credentials come from AWS_ACCESS_KEY_ID and "
           "AWS_SECRET_ACCESS_KEY, or from a file; see ares-checkpoint(7).",
           "If the controller cannot be reached in time, commit says so on standard error and "
           "succeeds: the node tells the controller as soon as it can, also after the job has "
           "ended.",
           "The node tells the controller of the commits of a job at most once a second. A commit "
           "that has to wait for that says so on standard error, unless --quiet is given.",
           "list shows the checkpoints in DIR or at URI, which is ARES_CHECKPOINT_PATH if none is "
           "given. verify reads all files of a checkpoint and compares them with its manifest. "
           "fetch does the same and leaves the files in DIR, which must not exist: for a job on "
           "several nodes each of which needs them. These need no job and no controller; actl show "
           "job shows which checkpoints the controller knows."},
      .examples = {{"acheckpoint commit $ARES_CHECKPOINT_PATH/new --step 4000 loss=0.13",
                    "Commit what was saved there."},
                   {"acheckpoint list", "Show the checkpoints of this job."},
                   {"acheckpoint verify /scratch/checkpoints/demo/12/000007.2",
                    "Read one and compare it with its manifest."},
                   {"acheckpoint fetch s3://ml/checkpoints/12/000007.2 /tmp/state",
                    "Copy one from S3 and compare it with its manifest."}},
      .exit_status = {{"0", "Done."},
                      {"1",
                       "Refused or failed; a line on standard error says why. What commit refused "
                       "is still there."},
                      {"75",
                       "The S3 server, or the supervisor of the job, could not be reached or did "
                       "not answer. What commit was given may count as a checkpoint or not."}},
      .see_also = {"ares-checkpoint(7)", "asub(1)", "actl(1)"}};
}

Result<std::map<std::string, std::string>> fields_of(const Wanted& wanted,
                                                     const std::vector<std::string>& operands) {
  std::map<std::string, std::string> fields;
  if (!wanted.step.empty()) fields.emplace("step", wanted.step);
  for (const std::string& operand : operands) {
    const std::size_t equals = operand.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(ErrorCode::invalid_argument, quote(operand) + " is not of the form KEY=VALUE");
    if (operand.size() > kLongestField || has_control(operand) || !is_utf8(operand))
      return fail(ErrorCode::invalid_argument,
                  quote(operand) + " is too long, is not UTF-8 or has control characters");
    if (!fields.emplace(operand.substr(0, equals), operand.substr(equals + 1)).second)
      return fail(ErrorCode::invalid_argument,
                  quote(operand.substr(0, equals)) + " is there twice");
  }
  if (fields.size() > kMostFields)
    return fail(ErrorCode::invalid_argument,
                "more than " + std::to_string(kMostFields) + " fields");
  return fields;
}

}  // namespace ares::acheckpoint
