// What a mail about a job says.
// Pure but for the process's time zone; any thread.
#pragma once

#include <string>

#include "core/job/effects/notices.h"

namespace ares::aresctld {

struct MailText {
  std::string subject;  // one line, at most some 200 bytes
  std::string body;
};

// No line begins with anything but a label of ours, whatever the job's texts hold: some mail programs take a line that begins with ~
// for a command to them.
MailText mail_text(const core::Notice& notice);

}  // namespace ares::aresctld
