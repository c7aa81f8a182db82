#include "actl/complete.h"

#include <algorithm>
#include <set>

#include "actl/update_keys.h"
#include "cli/output/text.h"

namespace ares::actl {
namespace {

// A subject of `update`: its keywords and its properties.
struct Subject {
  std::vector<std::string> words;
  Names names;
  std::vector<std::pair<std::string, std::string>> properties;  // Name and argument.
};

template <class Target>
Subject subject_of(std::vector<std::string> words, Names names, const Keys<Target>& keys) {
  Subject subject{std::move(words), names, {}};
  for (const Key<Target>& row : keys.rows) subject.properties.emplace_back(row.name, row.argument);
  return subject;
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> all = {
      subject_of({"jobid", "job"}, Names::jobs, job_keys()),
      subject_of({"stepid", "step"}, Names::none, step_keys()),
      subject_of({"nodename", "node"}, Names::nodes, node_keys()),
      subject_of({"partitionname", "partition"}, Names::partitions, partition_keys()),
      subject_of({"reservationname", "reservation"}, Names::reservations, reservation_keys())};
  return all;
}

// Returns the three words for "up|down|drain"; empty if the argument is not a list of choices.
std::vector<std::string> choices(const std::string& argument) {
  if (argument.find('|') == std::string::npos) return {};
  return cli::split(argument, '|');
}

class Completion {
 public:
  Completion(const std::string& line, std::size_t start, const NameSource& source)
      : source_(source), typed_(line.substr(start)) {
    std::string word;
    for (const char c : line.substr(0, start)) {
      if (c == ' ' || c == '\t') {
        if (!word.empty()) before_.push_back(std::move(word));
        word.clear();
      } else {
        word += c;
      }
    }
    current_ = word;  // The part of the same word before `start`: "state=", "n1,"
  }

  std::vector<std::string> run() {
    const std::string property = current_.substr(0, current_.find('='));
    const bool value = current_.find('=') != std::string::npos;
    if (!before_.empty() && cli::lower(before_[0]) == "update") {
      value ? values(cli::lower(property)) : properties();
    } else if (!value) {
      words_and_operands();
    }
    return {found_.begin(), found_.end()};
  }

 private:
  void offer(const std::string& word) {
    if (cli::lower(word).starts_with(cli::lower(typed_))) found_.insert(word);
  }
  void offer_names(Names names) {
    if (names == Names::none) return;
    for (const std::string& name : source_(names)) offer(name);
  }

  // The next word of every command that begins with this line, and the names that one of them takes
  // as operands.
  void words_and_operands() {
    for (const Command& command : commands()) {
      const std::size_t given = before_.size();
      bool same = true;
      for (std::size_t i = 0; i < std::min(given, command.words.size()); ++i)
        same = same && cli::lower(before_[i]) == command.words[i];
      if (!same) continue;
      if (given < command.words.size() && current_.empty()) offer(command.words[given]);
      if (given >= command.words.size()) offer_names(command.names);
    }
    if (before_.empty())
      for (const char* word : {"exit", "quit"}) offer(word);
  }

  const Subject* subject() const {
    for (const std::string& word : before_)
      for (const Subject& one : subjects())
        for (const std::string& name : one.words)
          if (cli::lower(word.substr(0, word.find('='))) == name) return &one;
    return nullptr;
  }

  void properties() {
    const Subject* of = subject();
    if (!of) {
      for (const Subject& one : subjects()) offer(one.words.front() + "=");
      return;
    }
    for (const auto& [name, argument] : of->properties) offer(name + "=");
  }

  void values(const std::string& property) {
    for (const Subject& one : subjects())
      if (std::find(one.words.begin(), one.words.end(), property) != one.words.end() && !subject())
        return offer_names(one.names);
    const Subject* of = subject();
    if (!of) return;
    if (property == "partition") return offer_names(Names::partitions);
    if (property.ends_with("nodelist") || property == "nodes") return offer_names(Names::nodes);
    if (property == "dependency") return offer_names(Names::jobs);
    for (const auto& [name, argument] : of->properties)
      if (cli::lower(name) == property)
        for (const std::string& choice : choices(argument)) offer(choice);
  }

  const NameSource& source_;
  std::string typed_, current_;
  std::vector<std::string> before_;
  std::set<std::string> found_;
};

}  // namespace

std::vector<std::string> complete(const std::string& line, std::size_t start,
                                  const NameSource& names) {
  return Completion(line, start, names).run();
}

}  // namespace ares::actl
