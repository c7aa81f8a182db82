#include "aresstepd/restore/restore.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "aresstepd/restore/fetch_program.h"
#include "checkpoint/file/store.h"
#include "checkpoint/uri.h"
#include "node/checkpoint_fields.h"
#include "node/job_files.h"
#include "os/fd.h"
#include "os/file.h"

namespace ares::stepd {
namespace {

std::string temporary_place(const std::vector<std::string>& variables) {
  constexpr std::string_view kName = "TMPDIR=/";
  for (const std::string& variable : variables)
    if (variable.starts_with(kName)) return variable.substr(kName.size() - 1);
  return "/tmp";
}

Result<std::string> make_temporary(const LaunchSpec& launch,
                                   const std::vector<std::string>& variables) {
  std::string path = temporary_place(variables) + "/ares-checkpoint-" +
                     std::to_string(launch.own_id.value()) + "-XXXXXX";
  if (!::mkdtemp(path.data()))
    return fail(os::errno_error("cannot make a directory for a checkpoint in " +
                                temporary_place(variables)));
  return path;
}

void remove(const std::string& temporary) {
  std::error_code ignored;
  if (!temporary.empty()) std::filesystem::remove_all(temporary, ignored);
}

}  // namespace

Result<Restore> find_checkpoint(const LaunchSpec& launch, const std::vector<std::string>& variables,
                                const std::string& fetcher,
                                const std::function<void(const std::string&)>& complain) {
  if (!launch.spec->checkpoint) return Restore{};
  const std::string place = node::checkpoint_directory(launch);
  if (checkpoint::scheme_of(place).empty())
    if (const Status made = checkpoint::file::FileStore().prepare(place); !made)
      return fail(made.error().code,
                  "cannot make the directory of --checkpoint: " + made.error().message);
  Restore restore;
  for (const Checkpoint& one : launch.checkpoints) {
    Status usable;
    if (checkpoint::scheme_of(one.uri).empty()) {
      const auto manifest = checkpoint::file::FileStore().verify(one.uri, one.manifest);
      if (manifest) {
        restore.directory = one.uri;
        restore.sequence = one.sequence;
        return restore;
      }
      usable = fail(manifest.error());
    } else {
      if (restore.temporary.empty()) {
        Result<std::string> made = make_temporary(launch, variables);
        if (!made) return fail(made.error());
        restore.temporary = std::move(*made);
      }
      restore.directory = restore.temporary + "/" + std::string(checkpoint::name_of(one.uri));
      usable = run_fetch(fetcher,
                         {"--quiet", "--sha256=" + node::hex_of(one.manifest), "fetch", one.uri,
                          restore.directory},
                         variables, complain);
      if (usable) {
        restore.sequence = one.sequence;
        return restore;
      }
      // It may well be intact. To begin from an older one would throw work away.
      if (usable.error().code != ErrorCode::data_loss) {
        remove(restore.temporary);
        return fail(usable.error().code, "cannot look at checkpoint " +
                                             std::to_string(one.sequence) + ": " +
                                             usable.error().message);
      }
    }
    ++restore.passed_over;
    complain("checkpoint " + std::to_string(one.sequence) +
             " is not used: " + usable.error().message);
  }
  if (!launch.checkpoints.empty())
    complain("none of the committed checkpoints can be used: the job begins from its start");
  remove(restore.temporary);
  return Restore{{}, {}, 0, restore.passed_over};
}

}  // namespace ares::stepd
