// Parses mail options: types and recipient.
#include "cli/values/spec_values.h"
#include "model/job/mail.h"

namespace ares::cli {

Status set_mail_types(api::JobSpec& spec, const std::string& text) {
  const auto types = parse_mail_types(text);
  if (!types) return fail(types.error());
  spec.set_mail_types(format_mail_types(*types));
  return {};
}

Status set_mail_user(api::JobSpec& spec, const std::string& text) {
  // Any text, as in Slurm: a bad address costs the mail and not the job. See warnings_about().
  spec.set_mail_user(text);
  return {};
}

}  // namespace ares::cli
