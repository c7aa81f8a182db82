#include "model/job/text_check.h"

#include <algorithm>

#include "model/job/mail.h"

namespace ares {
namespace {

constexpr std::size_t kMaxName = 1024;
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxList = 100'000;

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string out(text.substr(0, kShown));
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  if (text.size() > kShown) out += "...";
  return "\"" + out + "\"";
}

Status check(std::string_view field, std::string_view text, std::size_t most) {
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (text.size() > most) {
    return fail(ErrorCode::invalid_argument, std::string(field) + " " + quoted(text) + " has " +
                                                 std::to_string(text.size()) + " bytes; at most " +
                                                 std::to_string(most) + " are allowed");
  }
  if (std::any_of(text.begin(), text.end(), control)) {
    return fail(ErrorCode::invalid_argument,
                std::string(field) + " " + quoted(text) + " holds a control character");
  }
  if (!is_utf8(text)) {
    return fail(ErrorCode::invalid_argument,
                std::string(field) + " " + quoted(text) + " is not valid UTF-8");
  }
  return {};
}

struct Field {
  std::string_view name;
  std::string JobSpec::*member;
  std::size_t most;
};
constexpr Field kFields[] = {
    {"job name", &JobSpec::name, kMaxName},
    {"user name", &JobSpec::user, kMaxName},
    {"account", &JobSpec::account, kMaxName},
    {"QOS", &JobSpec::qos, kMaxName},
    {"wckey", &JobSpec::wckey, kMaxName},
    {"comment", &JobSpec::comment, kMaxPath},
    {"submission directory", &JobSpec::submit_dir, kMaxPath},
    {"working directory", &JobSpec::work_dir, kMaxPath},
    {"input file", &JobSpec::std_in, kMaxPath},
    {"output file", &JobSpec::std_out, kMaxPath},
    {"error file", &JobSpec::std_err, kMaxPath},
    {"submission host", &JobSpec::submit_host, kMaxName},
    {"time zone", &JobSpec::submit_zone, kMaxName},
    {"script name", &JobSpec::command, kMaxPath},
    {"mail address", &JobSpec::mail_user, kMaxName},
    {"preference", &JobSpec::prefer, kMaxName},
};

struct List {
  std::string_view name;
  std::vector<std::string> JobSpec::*member;
};
constexpr List kLists[] = {
    {"partition", &JobSpec::partitions},         {"required node", &JobSpec::required_nodes},
    {"excluded node", &JobSpec::excluded_nodes}, {"feature", &JobSpec::features},
    {"reservation", &JobSpec::reservations},
};

}  // namespace

Status check_plain(std::string_view field, std::string_view text) {
  return check(field, text, kMaxPath);
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char lead = byte(i);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(i + k) & 0xc0) != 0x80) return false;
    }
    // Overlong forms, surrogates and code points above U+10FFFF.
    if (lead == 0xe0 && byte(i + 1) < 0xa0) return false;
    if (lead == 0xed && byte(i + 1) >= 0xa0) return false;
    if (lead == 0xf0 && byte(i + 1) < 0x90) return false;
    if (lead == 0xf4 && byte(i + 1) >= 0x90) return false;
    i += length;
  }
  return true;
}

Status check_text(const JobSpec& spec) {
  if (spec.name.empty()) return fail(ErrorCode::invalid_argument, "the job has no name");
  for (const Field& f : kFields) {
    if (Status s = check(f.name, spec.*f.member, f.most); !s) return s;
  }
  for (const List& l : kLists) {
    if ((spec.*l.member).size() > kMaxList)
      return fail(ErrorCode::invalid_argument, "too many of: " + std::string(l.name));
    for (const std::string& text : spec.*l.member) {
      if (Status s = check(l.name, text, kMaxName); !s) return s;
    }
  }
  // A user name that is not a mail address is an error only if the job asks for mail.
  if (spec.mail_types != 0 || !spec.mail_user.empty()) {
    if (Status s = check_mail_user(mail_address(spec)); !s) return s;
  }
  std::vector<const std::vector<GpuRequest>*> requests{&spec.gpus_per_node, &spec.gpus_total,
                                                       &spec.gpus_per_task};
  for (const GpuAlternative& alternative : spec.gpu_alternatives)
    requests.push_back(&alternative.gpus);
  for (const auto* gpus : requests) {
    for (const GpuRequest& gpu : *gpus) {
      if (Status s = check("GPU type", gpu.type, kMaxName); !s) return s;
    }
  }
  if (spec.gang) {
    if (Status s = check("gang", spec.gang->name, kMaxName); !s) return s;
  }
  for (const LicenseRequest& license : spec.licenses) {
    if (Status s = check("licence", license.name, kMaxName); !s) return s;
  }
  for (const std::string& argument : spec.arguments) {
    if (argument.find('\0') != std::string::npos || !is_utf8(argument)) {
      return fail(ErrorCode::invalid_argument,
                  "script argument " + quoted(argument) + " is not valid UTF-8 text");
    }
  }
  return {};
}

}  // namespace ares
