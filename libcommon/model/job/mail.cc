#include "model/job/mail.h"
#include "base/printable.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace ares {
namespace {

struct TypeName {
  std::string_view name;
  std::uint32_t types = 0;
  std::string_view refused = {};  // the reason, for types that are not supported
};

constexpr std::uint32_t bit(MailType type) {
  return static_cast<std::uint32_t>(type);
}

// In output order. Names of several types follow; they are accepted as input only.
constexpr TypeName kTypes[] = {
    {"BEGIN", bit(MailType::begin)},
    {"END", bit(MailType::end)},
    {"FAIL", bit(MailType::fail)},
    {"REQUEUE", bit(MailType::requeue)},
    {"INVALID_DEPEND", bit(MailType::invalid_dependency)},
    {"TIME_LIMIT", bit(MailType::time_limit)},
    {"TIME_LIMIT_90", bit(MailType::time_limit_90)},
    {"TIME_LIMIT_80", bit(MailType::time_limit_80)},
    {"TIME_LIMIT_50", bit(MailType::time_limit_50)},
    {"ARRAY_TASKS", bit(MailType::array_tasks)},
    {"ALL", bit(MailType::begin) | bit(MailType::end) | bit(MailType::fail) |
                bit(MailType::requeue) | bit(MailType::invalid_dependency)},
    {"NONE", 0},
    {"STAGE_OUT", 0, "is not supported yet: there are no burst buffers"},
};

struct TimeShare {
  std::uint32_t percent;
  MailType type;
};
constexpr TimeShare kShares[] = {
    {50, MailType::time_limit_50}, {80, MailType::time_limit_80}, {90, MailType::time_limit_90}};

constexpr std::size_t kMostAddress = 254;
constexpr std::string_view kWebhook = "webhook:";

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

bool letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Calls each(item) for the items between commas, until one is refused.
template <class Each>
Status each_item(std::string_view text, Each&& each) {
  for (;;) {
    const std::size_t comma = text.find(',');
    if (Status good = each(text.substr(0, comma)); !good) return good;
    if (comma == std::string_view::npos) return {};
    text.remove_prefix(comma + 1);
  }
}

Status check_webhook_name(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return letter_or_digit(c) || c == '.' || c == '_' || c == '-';
  });
  if (!name.empty() && plain) return {};
  return invalid(quote(name) + " is not the name of a webhook; write " + std::string(kWebhook) +
                 "NAME");
}

}  // namespace

Result<std::uint32_t> parse_mail_types(std::string_view text) {
  std::uint32_t types = 0;
  bool none = false;
  const Status read = each_item(text, [&](std::string_view item) -> Status {
    const std::string word = upper(item);
    const auto* row = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeName& t) { return t.name == word; });
    if (item.empty()) return invalid("an empty item in the list of mail types");
    if (row == std::end(kTypes)) {
      return invalid("unknown mail type " + quote(item) +
                     "; use NONE, BEGIN, END, FAIL, REQUEUE, ALL, INVALID_DEPEND, TIME_LIMIT, "
                     "TIME_LIMIT_90, TIME_LIMIT_80, TIME_LIMIT_50 or ARRAY_TASKS");
    }
    if (!row->refused.empty())
      return invalid("the mail type " + std::string(row->name) + " " + std::string(row->refused));
    none = none || row->types == 0;
    types |= row->types;
    return {};
  });
  if (!read) return fail(read.error());
  if (none && types != 0) return invalid("the mail type NONE goes with no other");
  return types;
}

std::string format_mail_types(std::uint32_t types) {
  std::string out;
  for (const TypeName& row : kTypes) {
    if (std::popcount(row.types) != 1 || (types & row.types) == 0) continue;
    out += out.empty() ? "" : ",";
    out += row.name;
  }
  return out;
}

Status check_mail_user(std::string_view address) {
  constexpr std::string_view kOthers = "._-+=%@";
  if (address.empty()) return invalid("the mail address is empty");
  if (address.size() > kMostAddress)
    return invalid("the mail address has " + std::to_string(address.size()) + " bytes; at most " +
                   std::to_string(kMostAddress) + " are allowed");
  return each_item(address, [&](std::string_view one) -> Status {
    if (one.starts_with(kWebhook)) return check_webhook_name(one.substr(kWebhook.size()));
    if (one.empty()) return invalid("an empty mail address in " + quote(address));
    if (!letter_or_digit(one.front()) && one.front() != '_')
      return invalid("the mail address " + quote(one) + " does not begin with a letter or digit");
    for (const char c : one) {
      if (letter_or_digit(c) || kOthers.find(c) != std::string_view::npos) continue;
      return invalid("the mail address " + quote(one) + " holds " + quote(std::string_view(&c, 1)) +
                     "; letters, digits and " + std::string(kOthers) + " are allowed");
    }
    return {};
  });
}

Recipients recipients_of(std::string_view address) {
  Recipients all;
  const auto take = [&](std::string_view one) -> Status {
    const bool is_webhook = one.starts_with(kWebhook);
    std::vector<std::string>& list = is_webhook ? all.webhooks : all.addresses;
    std::string name(is_webhook ? one.substr(kWebhook.size()) : one);
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(std::move(name));
    return {};
  };
  (void)each_item(address, take);
  return all;
}

std::uint32_t next_time_share(const JobSpec& spec, std::uint32_t above) {
  for (const TimeShare& share : kShares)
    if (share.percent > above && wants_mail(spec, share.type)) return share.percent;
  return 0;
}

}  // namespace ares
