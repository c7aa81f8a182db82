#include "aresstepd/restore.h"

#include "checkpoint/store.h"
#include "node/environment.h"
#include "os/file.h"

namespace ares::stepd {

Result<std::string> find_checkpoint(const LaunchSpec& launch,
                                    const std::function<void(const std::string&)>& complain) {
  if (!launch.spec->checkpoint) return std::string();
  if (const Status made = os::make_directories(node::checkpoint_directory(launch), 0700); !made)
    return fail(made.error().code,
                "cannot make the directory of --checkpoint: " + made.error().message);
  for (const Checkpoint& one : launch.checkpoints) {
    const auto manifest = checkpoint::verify(one.uri, one.manifest);
    if (manifest) return one.uri;
    complain("checkpoint " + std::to_string(one.sequence) +
             " is not used: " + manifest.error().message);
  }
  if (!launch.checkpoints.empty())
    complain("none of the committed checkpoints can be used: the job begins from its start");
  return std::string();
}

}  // namespace ares::stepd
