// A small example site, and random ones.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "aacctmgr/edit/expand.h"
#include "aacctmgr/file/tree_file.h"
#include "base/random.h"
#include "cli/output/text.h"
#include "core/accounts/check.h"

namespace ares::aacctmgr {

inline void put(Records& records, AccountingRecord record) {
  const RecordKey key = key_of(record);
  records.set(key, std::move(record));
}

inline Account account(std::string name, std::string parent) {
  Account made;
  made.name = std::move(name);
  made.parent = std::move(parent);
  return made;
}
inline Association member(std::string user, std::string in, std::string partition = {}) {
  Association made;
  made.key = {std::move(in), std::move(user), std::move(partition)};
  return made;
}
inline User user(std::string name, std::string default_account) {
  User made;
  made.name = std::move(name);
  made.default_account = std::move(default_account);
  return made;
}
inline Qos qos(std::string name) {
  Qos made;
  made.name = std::move(name);
  return made;
}

// root > science > physics (ada, bob), biology (bob, also for partition gpu); QOS high.
inline Snapshot site() {
  Snapshot snapshot;
  snapshot.cluster = "c";
  snapshot.enforce = "limits";
  add_roots(snapshot.records);
  put(snapshot.records, qos("high"));
  put(snapshot.records, account("science", "root"));
  Account physics = account("physics", "science");
  physics.coordinators = {"ada"};
  physics.terms.qos = {"high", "normal"};
  physics.terms.default_qos = "high";
  put(snapshot.records, physics);
  put(snapshot.records, account("biology", "science"));
  put(snapshot.records, user("ada", "physics"));
  put(snapshot.records, user("bob", "physics"));
  put(snapshot.records, member("ada", "physics"));
  put(snapshot.records, member("bob", "physics"));
  put(snapshot.records, member("bob", "biology"));
  put(snapshot.records, member("bob", "biology", "gpu"));
  put(snapshot.records, Wckey{{"key", "bob"}, {}, {}});
  return snapshot;
}

// Parses "modify user where name=ada set fairshare=3" and applies it to the site.
inline Result<Records> after(const Snapshot& snapshot, const std::string& text) {
  const std::vector<std::string> words = cli::split(text, ' ');
  const Verb verb = words[0] == "add"      ? Verb::add
                    : words[0] == "modify" ? Verb::modify
                                           : Verb::remove;
  const auto entity = find_entity(words[1]);
  if (!entity) return fail(entity.error());
  const auto line = parse_line(std::span(words).subspan(2));
  if (!line) return fail(line.error());
  const auto edit = parse_edit(verb, *entity, *line);
  if (!edit) return fail(edit.error());
  return expand(snapshot, *edit);
}

// The first error of the engine's check of these records.
inline std::string reference_error(const Records& records) {
  std::string said;
  records.for_each([&](const RecordKey&, const AccountingRecord& record) {
    if (const Status ok = core::check_record(records, record); !ok && said.empty())
      said = ok.error().message;
  });
  return said;
}

Records random_tree(Random& random);  // valid records of a few accounts, users and QOS

}  // namespace ares::aacctmgr
