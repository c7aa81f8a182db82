#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "aacctmgr/edit/properties.h"
#include "aacctmgr/file/tree_file.h"
#include "aacctmgr/selection.h"
#include "config/yaml_tree.h"

namespace ares::aacctmgr {
namespace {

// Writes a word in quotes only where the parser would otherwise read it differently.
std::string word(const std::string& text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto plain = [&](char c) {
    return letter(c) || std::string_view(" _.@+/=:,-").find(c) != std::string_view::npos;
  };
  constexpr std::string_view kMeaning[] = {"null", "true", "false", "yes", "no",
                                           "on",   "off",  "y",     "n"};
  std::string lower = text;
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const bool good =
      !text.empty() && letter(text.front()) && text.back() != ' ' && text.back() != ':' &&
      std::all_of(text.begin(), text.end(), plain) && text.find(": ") == std::string::npos &&
      std::find(std::begin(kMeaning), std::end(kMeaning), lower) == std::end(kMeaning);
  return good ? text : config::quote_yaml(text);
}

class Dump {
 public:
  explicit Dump(const Records& records) : records_(records) {
    each_of<Account>(records, RecordKind::account,
                     [&](const Account& account) { below_[account.parent].push_back(&account); });
    each_of<Association>(records, RecordKind::association,
                         [&](const Association& one) { within_[one.key.account].push_back(&one); });
    each_of<Wckey>(records, RecordKind::wckey,
                   [&](const Wckey& one) { wckeys_[one.key.user].push_back(one.key.name); });
  }

  std::string run(const std::string& cluster) {
    line(0, "cluster: " + word(cluster));
    if (records_.empty()) return std::move(out_);
    line(0, "qos:");
    each_of<Qos>(records_, RecordKind::qos, [&](const Qos& qos) {
      head(1, qos.name, own(qos).empty());
      put(2, own(qos));
    });
    line(0, "accounts:");
    for (const Account* account : below_[""]) put_account(1, *account);
    bool any = false;
    each_of<User>(records_, RecordKind::user, [&](const User& user) {
      if (!std::exchange(any, true)) line(0, "users:");
      put_user(user);
    });
    return std::move(out_);
  }

 private:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  void line(std::size_t depth, const std::string& text) {
    out_.append(2 * depth, ' ').append(text).append("\n");
  }
  void head(std::size_t depth, const std::string& name, bool empty) {
    line(depth, word(name) + (empty ? ": {}" : ":"));
  }
  // `first` is the prefix of the first line; the following lines get blanks of the same width.
  void put(std::size_t depth, const Pairs& pairs, const std::string& first = {}) {
    bool begun = false;
    for (const auto& [name, value] : pairs)
      line(depth, (std::exchange(begun, true) ? std::string(first.size(), ' ') : first) + name +
                      ": " + word(value));
  }

  // The properties that differ from their defaults.
  static Pairs own(const AccountingRecord& record) {
    Pairs pairs;
    for (const Property& property : properties(key_of(record).kind))
      if (std::string value = property.get(record); !value.empty() && property.name != "parent")
        pairs.emplace_back(property.name, std::move(value));
    return pairs;
  }

  void put_account(std::size_t depth, const Account& account) {
    const auto users = within_.find(account.name);
    const auto children = below_.find(account.name);
    const Pairs pairs = own(account);
    head(depth, account.name, pairs.empty() && users == within_.end() && children == below_.end());
    put(depth + 1, pairs);
    if (users != within_.end()) {
      line(depth + 1, "users:");
      for (const Association* one : users->second) {
        Pairs entry = {{"user", one->key.user}};
        if (!one->key.partition.empty()) entry.emplace_back("partition", one->key.partition);
        for (auto& pair : own(*one)) entry.push_back(std::move(pair));
        put(depth + 2, entry, "- ");
      }
    }
    if (children == below_.end()) return;
    line(depth + 1, "accounts:");
    for (const Account* child : children->second) put_account(depth + 2, *child);
  }

  void put_user(const User& user) {
    const Pairs pairs = own(user);
    const auto keys = wckeys_.find(user.name);
    head(1, user.name, pairs.empty() && keys == wckeys_.end());
    put(2, pairs);
    if (keys == wckeys_.end()) return;
    std::string list;
    for (const std::string& key : keys->second) list += (list.empty() ? "" : ",") + key;
    put(2, {{"wckeys", list}});
  }

  const Records& records_;
  std::map<std::string, std::vector<const Account*>> below_;       // by parent
  std::map<std::string, std::vector<const Association*>> within_;  // by account
  std::map<std::string, std::vector<std::string>> wckeys_;         // by user
  std::string out_;
};

}  // namespace

std::string dump_text(const Snapshot& snapshot) {
  return "# Accounts, users and QOS, as aacctmgr dump writes them: aacctmgr load FILE makes the "
         "cluster's like these.\n" +
         Dump(snapshot.records).run(snapshot.cluster);
}

}  // namespace ares::aacctmgr
