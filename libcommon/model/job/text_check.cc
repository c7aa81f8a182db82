#include "model/job/text_check.h"

#include "base/printable.h"

namespace ares {
namespace {

constexpr std::size_t kMaxName = 1024;
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxList = 100'000;

Status check(std::string_view field, std::string_view text, std::size_t most) {
  if (text.size() > most) {
    return fail(ErrorCode::invalid_argument, std::string(field) + " " + quote(text) + " has " +
                                                 std::to_string(text.size()) + " bytes; at most " +
                                                 std::to_string(most) + " are allowed");
  }
  if (has_control(text)) {
    return fail(
        ErrorCode::invalid_argument,
        std::string(field) + " " + quote(text) +
            " contains a control character, a line break or a control of bidirectional text");
  }
  if (!is_utf8(text)) {
    return fail(ErrorCode::invalid_argument,
                std::string(field) + " " + quote(text) + " is not valid UTF-8");
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
    {"command line", &JobSpec::submit_line, kMaxPath},
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
                  "script argument " + quote(argument) + " is not valid UTF-8 text");
    }
  }
  return {};
}

}  // namespace ares
