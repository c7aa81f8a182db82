#include <set>

#include "aacctmgr/edit/properties.h"
#include "aacctmgr/file/tree_file.h"
#include "aacctmgr/selection.h"
#include "base/printable.h"
#include "cli/output/text.h"
#include "config/suggest.h"
#include "config/yaml_tree.h"

namespace ares::aacctmgr {
namespace {

using config::Entry;
using config::Value;

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  Result<Snapshot> run(const std::string& text) {
    const auto tree = config::parse_yaml(text, name_);
    if (!tree) return fail(tree.error());
    if (Status read = top(*tree); !read) return fail(read.error());
    return std::move(snapshot_);
  }

 private:
  Status invalid(int line, const std::string& why) const {
    return fail(ErrorCode::invalid_argument, name_ + ":" + std::to_string(line) + ": " + why);
  }
  Status need(const Value& value, Value::Kind kind, int line, const std::string& what) const {
    if (value.kind == kind || (value.kind == Value::Kind::null && kind != Value::Kind::scalar))
      return {};
    return invalid(line, excerpt(what) + (kind == Value::Kind::map    ? " is a map: NAME: {...}"
                                          : kind == Value::Kind::list ? " is a list"
                                                                      : " is one value"));
  }

  Status top(const Value& tree) {
    if (Status ok = need(tree, Value::Kind::map, 1, "the file"); !ok) return ok;
    for (const Entry& entry : tree.entries) {
      Status read;
      if (entry.key == "cluster")
        snapshot_.cluster = entry.value.text;
      else if (entry.key == "qos")
        read = each(entry, [&](const Entry& one) { return plain(RecordKind::qos, one); });
      else if (entry.key == "accounts")
        read = each(entry, [&](const Entry& one) { return account(one, {}); });
      else if (entry.key == "users")
        read = each(entry, [&](const Entry& one) { return user(one); });
      else
        read = invalid(entry.line, "unknown " + quote(entry.key) +
                                       "; there are cluster, qos, accounts and users");
      if (!read) return read;
    }
    return {};
  }

  template <class Take>
  Status each(const Entry& entry, Take&& take) {
    if (Status ok = need(entry.value, Value::Kind::map, entry.line, entry.key); !ok) return ok;
    for (const Entry& one : entry.value.entries)
      if (Status taken = take(one); !taken) return taken;
    return {};
  }

  Status set(AccountingRecord& record, const Entry& entry) {
    const RecordKind kind = key_of(record).kind;
    const Property* property = find_property(kind, entry.key);
    if (!property || entry.key == "parent") {
      std::vector<std::string> names;
      for (const Property& one : properties(kind)) names.push_back(one.name);
      return invalid(entry.line, describe(key_of(record)) + ": unknown " + quote(entry.key) +
                                     config::suggestion(entry.key, names));
    }
    std::string value = entry.value.text;
    if (entry.value.kind == Value::Kind::list) {
      std::vector<std::string> items;
      for (const Value& item : entry.value.items) items.push_back(item.text);
      value = cli::join(items, ",");
    } else if (entry.value.kind == Value::Kind::map) {
      std::vector<std::string> items;
      for (const Entry& item : entry.value.entries)
        items.push_back(item.key + "=" + item.value.text);
      value = cli::join(items, ",");
    }
    if (has_control(value))
      return invalid(entry.line, excerpt(entry.key) + ": the value holds a control character");
    if (Status done = set_property(*property, record, Op::set, value); !done)
      return invalid(entry.line, describe(key_of(record)) + ": " + done.error().message);
    return {};
  }

  Status keep(AccountingRecord record, int line) {
    const RecordKey key = key_of(record);
    const bool has_user = key.kind == RecordKind::association || key.kind == RecordKind::wckey;
    if (key.name.empty() || (has_user && key.user.empty())) return invalid(line, "a name is empty");
    if (snapshot_.records.find(key)) return invalid(line, describe(key) + " is there twice");
    snapshot_.records.set(key, std::move(record));
    return {};
  }

  Status plain(RecordKind kind, const Entry& entry) {
    AccountingRecord record = blank_record({kind, entry.key, {}, {}});
    if (Status ok = each(entry, [&](const Entry& one) { return set(record, one); }); !ok) return ok;
    return keep(std::move(record), entry.line);
  }

  Status account(const Entry& entry, const std::string& parent) {
    Account blank;
    blank.name = entry.key;
    blank.parent = parent;
    if (parent.empty() && entry.key != kRootAccount)
      return invalid(entry.line, "the one account at the top is root; " + excerpt(entry.key) +
                                     " belongs below its accounts:");
    AccountingRecord record(std::move(blank));
    Status read = each(entry, [&](const Entry& one) -> Status {
      if (one.key == "accounts")
        return each(one, [&](const Entry& child) { return account(child, entry.key); });
      if (one.key == "users") return members(one, entry.key);
      return set(record, one);
    });
    if (!read) return read;
    return keep(std::move(record), entry.line);
  }

  Status members(const Entry& entry, const std::string& account) {
    if (Status ok = need(entry.value, Value::Kind::list, entry.line, "users"); !ok) return ok;
    for (const Value& item : entry.value.items) {
      if (item.kind == Value::Kind::scalar) {  // Only a name.
        AccountingRecord record = blank_record({RecordKind::association, account, item.text, {}});
        if (Status kept = keep(std::move(record), item.line); !kept) return kept;
        continue;
      }
      if (Status ok = need(item, Value::Kind::map, item.line, "a user"); !ok) return ok;
      if (Status read = member(item, account); !read) return read;
    }
    return {};
  }

  Status member(const Value& item, const std::string& account) {
    Association blank;
    blank.key.account = account;
    for (const Entry& one : item.entries) {
      if (one.key == "user") blank.key.user = one.value.text;
      if (one.key == "partition") blank.key.partition = one.value.text;
    }
    if (blank.key.user.empty()) return invalid(item.line, "an entry of users: needs user: NAME");
    AccountingRecord record(std::move(blank));
    for (const Entry& one : item.entries) {
      if (one.key == "user" || one.key == "partition") continue;
      if (Status done = set(record, one); !done) return done;
    }
    return keep(std::move(record), item.line);
  }

  Status user(const Entry& entry) {
    AccountingRecord record = blank_record({RecordKind::user, entry.key, {}, {}});
    Status read = each(entry, [&](const Entry& one) -> Status {
      if (one.key != "wckeys") return set(record, one);
      std::vector<std::string> keys = names_of(one.value.text);
      for (const Value& item : one.value.items)
        for (std::string& key : names_of(item.text)) keys.push_back(std::move(key));
      for (const std::string& key : keys)
        if (Status kept = keep(blank_record({RecordKind::wckey, key, entry.key, {}}), one.line);
            !kept)
          return kept;
      return {};
    });
    if (!read) return read;
    return keep(std::move(record), entry.line);
  }

  const std::string name_;
  Snapshot snapshot_;
};

}  // namespace

Result<Snapshot> parse_tree(const std::string& text, std::string_view name) {
  return Reader(name).run(text);
}

Records merged(const Records& before, const Records& file, bool clean) {
  Records after = before;
  file.for_each([&](const RecordKey& key, const AccountingRecord& record) {
    const AccountingRecord* was = before.find(key);
    if (!was) {
      after.set(key, record);
      return;
    }
    AccountingRecord is = with_identity(record, *was);
    if (is != *was) after.set(key, std::move(is));
  });
  if (!clean) return after;
  before.for_each([&](const RecordKey& key, const AccountingRecord&) {
    const bool stays = (key.kind == RecordKind::account && key.name == kRootAccount) ||
                       (key.kind == RecordKind::qos && key.name == kNormalQos);
    if (!stays && !file.find(key)) after.erase(key);
  });
  return after;
}

}  // namespace ares::aacctmgr
