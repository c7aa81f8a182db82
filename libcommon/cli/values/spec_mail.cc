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
  if (Status good = check_mail_user(text); !good) return good;
  spec.set_mail_user(text);
  return {};
}

}  // namespace ares::cli
