#include "model/job/text_check.h"

#include <utility>

#include "base/printable.h"
#include "model/job/spec_table.h"

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

// How a title reads in front of one text, where that differs from "its required nodes cannot be changed".
constexpr std::pair<std::string_view, std::string_view> kOneOf[] = {
    {"name", "job name"},
    {"required nodes", "required node"},
    {"excluded nodes", "excluded node"},
    {"features", "feature"},
};
std::string_view one_of(std::string_view title) {
  for (const auto& [all, one] : kOneOf)
    if (all == title) return one;
  return title;
}

constexpr std::size_t most_bytes(TextKind kind) {
  return kind == TextKind::path || kind == TextKind::prose ? kMaxPath : kMaxName;
}

// One overload for each type of field that has texts of its own; a request of containers and a binding were checked by those that
// read them.
template <class Other>
Status check_field(const Other&, std::string_view, TextKind) {
  return {};
}

Status check_field(const std::string& text, std::string_view title, TextKind kind) {
  return check(one_of(title), text, most_bytes(kind));
}

Status check_argument(const std::string& argument, std::string_view title) {
  if (argument.find('\0') == std::string::npos && is_utf8(argument)) return {};
  return fail(ErrorCode::invalid_argument,
              std::string(title) + " " + quote(argument) + " is not valid UTF-8 text");
}

Status check_field(const std::vector<std::string>& texts, std::string_view title, TextKind kind) {
  const bool any = kind == TextKind::argument;
  if (!any && texts.size() > kMaxList)
    return fail(ErrorCode::invalid_argument, "too many of: " + std::string(one_of(title)));
  for (const std::string& text : texts)
    if (Status s = any ? check_argument(text, title) : check(one_of(title), text, kMaxName); !s)
      return s;
  return {};
}

Status check_field(const std::vector<GpuRequest>& gpus, std::string_view, TextKind) {
  for (const GpuRequest& gpu : gpus)
    if (Status s = check("GPU type", gpu.type, kMaxName); !s) return s;
  return {};
}

Status check_field(const std::vector<GpuAlternative>& all, std::string_view title, TextKind kind) {
  for (const GpuAlternative& one : all)
    if (Status s = check_field(one.gpus, title, kind); !s) return s;
  return {};
}

Status check_field(const std::vector<LicenseRequest>& licenses, std::string_view, TextKind) {
  for (const LicenseRequest& license : licenses)
    if (Status s = check("licence", license.name, kMaxName); !s) return s;
  return {};
}

Status check_field(const BoxedString& text, std::string_view title, TextKind kind) {
  return check_field(text.get(), title, kind);
}

template <class T>
Status check_field(const BoxedVector<T>& list, std::string_view title, TextKind kind) {
  return check_field(list.get(), title, kind);
}

Status check_field(const Boxed<GangRequest>& gang, std::string_view title, TextKind) {
  return gang ? check(title, gang->name, kMaxName) : Status{};
}

}  // namespace

Status check_plain(std::string_view field, std::string_view text) {
  return check(field, text, kMaxPath);
}

Status check_text(const JobSpec& spec) {
  if (spec.name.empty()) return fail(ErrorCode::invalid_argument, "the job has no name");
#define ARES_SPEC_FIELD(member, api_name, storage_name, text, title, change, line) \
  if (Status s = check_field(spec.member, title, TextKind::text); !s) return s;
#include "model/job/spec_fields.def"
  return {};
}

}  // namespace ares
