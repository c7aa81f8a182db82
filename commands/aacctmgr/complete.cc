#include "aacctmgr/complete.h"

#include <algorithm>
#include <optional>
#include <set>

#include "aacctmgr/command.h"
#include "aacctmgr/edit/expand.h"
#include "aacctmgr/show/fields.h"
#include "cli/output/text.h"

namespace ares::aacctmgr {
namespace {

// Returns the kind of names that a property's value consists of, if it consists of names.
std::optional<Selector> named_by(const std::string& property) {
  const std::string word = cli::lower(property);
  if (word == "parent" || word == "defaultaccount") return Selector::account;
  if (word == "qos" || word == "defaultqos") return Selector::qos;
  if (word == "coordinators") return Selector::user;
  if (word == "defaultwckey") return Selector::wckey;
  return std::nullopt;
}

class Completion {
 public:
  Completion(const std::string& line, std::size_t start, const NamesBySelector& names)
      : names_(names), typed_(cli::lower(line.substr(start))) {
    std::string word;
    for (const char c : line.substr(0, start)) {
      if (c != ' ' && c != '\t') {
        word += c;
      } else if (!word.empty()) {
        before_.push_back(std::move(word));
        word.clear();
      }
    }
    current_ = word;  // The part of the same word before `start`: "qos+=", "ada,"
  }

  std::vector<std::string> run() {
    if (before_.empty()) {
      if (current_.empty()) commands_offered();
    } else if (const std::string verb = verb_of(before_[0]); verb == "help") {
      commands_offered();
    } else if (verb == "load") {
      if (before_.size() > 1) offer("clean");
    } else if (verb == "dump" || verb == "version" || verb.empty()) {
      return {};
    } else if (before_.size() == 1) {
      for (const EntityRow& row : entities())
        if (verb == "show" || takes(verb, row.entity)) offer(row.spelling.names.front());
    } else if (const auto entity = find_entity(before_[1])) {
      words_of(verb, *entity);
    }
    return {found_.begin(), found_.end()};
  }

 private:
  static bool takes(const std::string& verb, Entity entity) {
    if (verb == "modify") return !kinds_of(entity).empty();
    return entity != Entity::cluster && !is_read_only(entity);
  }
  static std::string verb_of(const std::string& word) {
    for (const Command& command : commands())
      for (const std::string& name : command.words.names)
        if (name == cli::lower(word)) return command.words.names.front();
    return {};
  }

  void offer(const std::string& word) {
    if (cli::lower(word).starts_with(typed_)) found_.insert(word);
  }
  void offer_names(Selector selector) {
    const auto found = names_.find(selector == Selector::parent ? Selector::account : selector);
    if (found == names_.end()) return;
    for (const std::string& name : found->second) offer(name);
  }
  void commands_offered() {
    for (const Command& command : commands()) offer(command.words.names.front());
    for (const char* word : {"exit", "quit"}) offer(word);
  }

  void words_of(const std::string& verb, Entity entity) {
    const bool set = std::any_of(before_.begin() + 2, before_.end(),
                                 [](const std::string& word) { return cli::lower(word) == "set"; });
    if (const std::size_t equals = current_.find('='); equals != std::string::npos)
      return values(verb, entity, set, current_.substr(0, equals));
    if (!set) {
      for (const SelectorRow& row : selectors(entity))
        if (verb != "add" || row.adds) offer(row.spelling.names.front() + "=");
      if (verb != "add" && !selectors(entity).empty())
        offer_names(selectors(entity).front().selector);
    }
    if (verb == "show")
      for (const char* word : {"format=", "withassoc", "tree", "where"}) offer(word);
    if (verb == "modify" && !set)
      for (const char* word : {"where", "set"}) offer(word);
    if (set || verb == "add")
      for (const RecordKind kind : kinds_of(entity))
        for (const Property& property : properties(kind)) offer(property.name + "=");
  }

  void values(const std::string& verb, Entity entity, bool set, std::string word) {
    if (!word.empty() && (word.back() == '+' || word.back() == '-')) word.pop_back();
    word = cli::lower(word);
    if (verb == "show" && word == "format") {
      for (const Field& field : fields()) offer(field.name);
      return;
    }
    if (!set)
      for (const SelectorRow& row : selectors(entity))
        for (const std::string& name : row.spelling.names)
          if (name == word) return offer_names(row.selector);
    if (const auto selector = named_by(word)) return offer_names(*selector);
    if (word == "flags")
      for (const QosFlagRow& row : qos_flag_table()) offer(std::string(row.name));
    if (word == "fairshare") offer("parent");
  }

  const NamesBySelector& names_;
  std::string typed_, current_;
  std::vector<std::string> before_;
  std::set<std::string> found_;
};

}  // namespace

NamesBySelector names_in(const Snapshot& snapshot) {
  std::map<Selector, std::set<std::string>> names;
  snapshot.records.for_each([&](const RecordKey& key, const AccountingRecord&) {
    switch (key.kind) {
      case RecordKind::account: names[Selector::account].insert(key.name); break;
      case RecordKind::user: names[Selector::user].insert(key.name); break;
      case RecordKind::association:
        if (!key.partition.empty()) names[Selector::partition].insert(key.partition);
        break;
      case RecordKind::qos: names[Selector::qos].insert(key.name); break;
      case RecordKind::wckey: names[Selector::wckey].insert(key.name); break;
    }
  });
  names[Selector::cluster].insert(snapshot.cluster);
  NamesBySelector out;
  for (const auto& [selector, all] : names) out[selector].assign(all.begin(), all.end());
  return out;
}

std::vector<std::string> complete(const std::string& line, std::size_t start,
                                  const NamesBySelector& names) {
  return Completion(line, start, names).run();
}

}  // namespace ares::aacctmgr
