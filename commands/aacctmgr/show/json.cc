// Listings as JSON.
#include <map>
#include <set>

#include "aacctmgr/edit/properties.h"
#include "aacctmgr/show/rows.h"
#include "cli/output/json.h"
#include "cli/output/text.h"
#include "core/accounts/check.h"

namespace ares::aacctmgr {
namespace {

std::string json_string(std::string_view text) {
  std::string out;
  cli::put_json_text(text, out);
  return out;
}

std::string list(const std::vector<std::string>& names) {
  std::vector<std::string> items;
  for (const std::string& name : names) items.push_back(json_string(name));
  return "[" + cli::join(items, ", ") + "]";
}

std::string seconds(const std::optional<Seconds>& length) {
  return length ? std::to_string(length->count()) : "null";
}

std::string limits(const Limits& all) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < all.size();) {
    const LimitRow& row = row_of(all[i].kind);
    std::string value = std::to_string(all[i].value);
    if (all[i].tres.empty()) {
      ++i;
    } else {
      std::vector<std::string> amounts;
      for (const LimitKind kind = all[i].kind; i < all.size() && all[i].kind == kind; ++i)
        amounts.push_back(json_string(all[i].tres) + ": " + std::to_string(all[i].value));
      value = "{" + cli::join(amounts, ", ") + "}";
    }
    items.push_back(json_string(row.name) + ": " + value);
  }
  return "{" + cli::join(items, ", ") + "}";
}

using Pairs = std::vector<std::pair<std::string_view, std::string>>;

std::string object(const Pairs& pairs) {
  std::vector<std::string> items;
  for (const auto& [name, value] : pairs) items.push_back(json_string(name) + ": " + value);
  return "{" + cli::join(items, ", ") + "}";
}

void add_terms(const Terms& terms, Pairs& out) {
  out.emplace_back("shares", terms.shares ? std::to_string(*terms.shares) : json_string("parent"));
  out.emplace_back("priority", std::to_string(terms.priority));
  out.emplace_back("default_qos", json_string(terms.default_qos));
  out.emplace_back("qos", list(terms.qos));
  out.emplace_back("limits", limits(terms.limits));
}

std::string text_of(const Account& a) {
  Pairs out = {{"name", json_string(a.name)},
               {"id", std::to_string(a.id.value())},
               {"parent", json_string(a.parent)},
               {"description", json_string(a.description)},
               {"organization", json_string(a.organization)},
               {"coordinators", list(a.coordinators)}};
  add_terms(a.terms, out);
  return object(out);
}
std::string text_of(const Association& a) {
  Pairs out = {{"account", json_string(a.key.account)},
               {"user", json_string(a.key.user)},
               {"partition", json_string(a.key.partition)},
               {"id", std::to_string(a.id.value())}};
  add_terms(a.terms, out);
  return object(out);
}
std::string text_of(const User& u) {
  return object({{"name", json_string(u.name)},
                 {"default_account", json_string(u.default_account)},
                 {"default_wckey", json_string(u.default_wckey)}});
}
std::string text_of(const Qos& q) {
  std::vector<std::string> flags;
  for (const QosFlagRow& row : qos_flag_table())
    if (q.has(row.flag)) flags.emplace_back(row.name);
  return object(
      {{"name", json_string(q.name)},
       {"id", std::to_string(q.id.value())},
       {"description", json_string(q.description)},
       {"priority", std::to_string(q.priority)},
       {"flags", list(flags)},
       {"usage_factor_thousandths", std::to_string(q.usage_factor)},
       {"limit_factor_thousandths", std::to_string(q.limit_factor)},
       {"usage_threshold_thousandths", std::to_string(q.usage_threshold)},
       {"preempt", list(q.preempts)},
       {"preempt_mode", q.preempt_mode ? json_string(to_string(*q.preempt_mode)) : "null"},
       {"preempt_exempt_seconds", seconds(q.preempt_exempt)},
       {"grace_seconds", seconds(q.grace)},
       {"limits", limits(q.limits)}});
}
std::string text_of(const Wckey& w) {
  return object({{"name", json_string(w.key.name)}, {"user", json_string(w.key.user)}});
}

class Sections {
 public:
  template <class R>
  void add(const char* section, const R* record) {
    if (record && seen_.insert(record).second) sections_[section].push_back(text_of(*record));
  }
  void add_text(const char* section, const std::string& text) {
    sections_[section].push_back(json_string(text));
  }

  std::string text(const Snapshot& snapshot) const {
    std::string out = "{\n  \"cluster\": " + json_string(snapshot.cluster) +
                      ",\n  \"enforce\": " + json_string(snapshot.enforce);
    for (const char* name :
         {"accounts", "associations", "users", "qos", "wckeys", "tres", "problems"}) {
      const auto found = sections_.find(name);
      if (found == sections_.end()) continue;
      out +=
          std::string(",\n  \"") + name + "\": [\n    " + cli::join(found->second, ",\n    ") + "]";
    }
    return out + "\n}\n";
  }

 private:
  std::map<std::string, std::vector<std::string>> sections_;
  std::set<const void*> seen_;
};

}  // namespace

std::string json_of(const Snapshot& snapshot, const Rows& rows) {
  Sections sections;
  std::set<const User*> made;
  for (const User& user : rows.extra_users) made.insert(&user);
  for (const Row& row : rows.rows) {
    sections.add("accounts", row.account);
    sections.add("associations", row.association);
    if (row.user && !made.contains(row.user)) sections.add("users", row.user);
    sections.add("qos", row.qos);
    sections.add("wckeys", row.wckey);
    if (row.text.empty()) continue;
    const bool tres = core::is_limited_tres(row.text);
    sections.add_text(tres ? "tres" : "problems", row.text);
  }
  return sections.text(snapshot);
}

}  // namespace ares::aacctmgr
