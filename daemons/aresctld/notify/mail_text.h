// The text of a mail about a job.
// Pure except for the process's time zone; any thread.
#pragma once

#include <string>

#include "core/job/effects/notices.h"

namespace ares::aresctld {

struct MailText {
  std::string subject;  // one line, at most about 200 bytes
  std::string body;
};

// Every line begins with a fixed label, whatever the job's texts contain: some mail programs
// execute lines that begin with ~.
MailText mail_text(const core::Notice& notice);

}  // namespace ares::aresctld
