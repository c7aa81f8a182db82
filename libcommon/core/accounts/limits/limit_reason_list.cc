#include "core/accounts/limits/limit_reason_list.h"

#include <algorithm>

#include "core/accounts/limits/limit_reasons.h"
#include "model/accounts/accounts.h"

namespace ares::core {
namespace {

// One TRES of each kind that has a word of its own in reasons, and what it is called.
struct Amount {
  std::string_view tres, title;
};
constexpr Amount kAmounts[] = {{"cpu", "CPUs"},          {"mem", "memory"},
                               {"node", "nodes"},        {"gres/gpu", "GPUs"},
                               {"license/", "licences"}, {"billing", "billing units"}};

std::string meaning(const LimitRow& row, std::string_view title, bool of_qos) {
  std::string text = "waits because of the limit " + std::string(row.name);
  if (!title.empty()) text += " on " + std::string(title);
  text += of_qos ? " of its QOS, or of that of its partition" : " of its account or user";
  return text + " (" + std::string(row.help) + ")";
}

void add(const LimitRow& row, const Amount& amount, bool of_qos, std::vector<LimitReason>& all) {
  std::string name = reason_name(row.kind, amount.tres, of_qos);
  const bool known = std::any_of(all.begin(), all.end(),
                                 [&](const LimitReason& other) { return other.name == name; });
  if (name.empty() || known) return;
  all.push_back({std::move(name), meaning(row, amount.title, of_qos)});
}

}  // namespace

const std::vector<LimitReason>& limit_reasons() {
  static const std::vector<LimitReason> list = [] {
    std::vector<LimitReason> all;
    for (const LimitRow& row : limit_table()) {
      const bool each = row.unit == LimitUnit::tres || row.unit == LimitUnit::tres_minutes;
      for (const bool of_qos : {false, true}) {
        if (of_qos ? !row.qos : !row.association) continue;
        if (!each) add(row, {}, of_qos, all);
        for (const Amount& amount : kAmounts)
          if (each) add(row, amount, of_qos, all);
      }
    }
    return all;
  }();
  return list;
}

std::string_view meaning_of_limit(std::string_view reason) {
  for (const LimitReason& one : limit_reasons())
    if (one.name == reason) return one.meaning;
  return {};
}

}  // namespace ares::core
