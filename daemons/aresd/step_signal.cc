#include "aresd/step_signal.h"

#include <sys/socket.h>

#include "node/records.h"
#include "os/file.h"
#include "os/sockets/local_socket.h"
#include "steps/account.h"
#include "steps/frame.h"
#include "steps/socket_name.h"

namespace ares::aresd {

Status signal_step(const std::string& spool, const SignalStep& message) {
  const std::string directory = spool + "/jobs/" + node::directory_name(message.attempt);
  // If no host runs, the supervisor starts one, which then knows no such step.
  Result<os::Fd> host = os::connect_in(directory, steps::kSocketName, false);
  if (!host) return fail(host.error());
  std::string bytes;
  steps::append_frame(bytes, {steps::FrameKind::cancel, 0,
                              encode(steps::StepCancel{message.step, message.signal, message.by})});
  if (::send(host->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(bytes.size()))
    return fail(os::errno_error("cannot signal a step in " + directory));
  return {};
}

}  // namespace ares::aresd
