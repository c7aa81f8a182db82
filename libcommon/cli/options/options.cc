#include "cli/options/options.h"

#include <algorithm>

#include "base/printable.h"
#include "cli/output/text.h"
#include "config/suggest.h"

namespace ares::cli {
namespace {

bool requires_argument(const Option& option) {
  return !option.argument.empty() && !option.argument.starts_with('[');
}

const Option* find_long(const OptionTable& table, const std::string& name) {
  for (const Option& option : table.options)
    if ((!option.name.empty() && option.name == name) ||
        std::find(option.aliases.begin(), option.aliases.end(), name) != option.aliases.end())
      return &option;
  return nullptr;
}

bool has_prefix(const std::string& name, const std::string& prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix);
}

// The options that a shortened name may stand for; also those that are not supported, so that a name
// never means something else than in other batch systems.
struct Abbreviated {
  std::vector<const Option*> options;
  std::vector<std::string> names;  // of all, with dashes
};

Abbreviated expand(const OptionTable& table, const std::string& prefix) {
  Abbreviated found;
  if (prefix.empty()) return found;
  for (const Option& option : table.options) {
    bool matches = has_prefix(option.name, prefix);
    for (const std::string& alias : option.aliases) matches = matches || has_prefix(alias, prefix);
    if (!matches) continue;
    found.options.push_back(&option);
    found.names.push_back("--" + option.name);
  }
  for (const Unsupported& row : table.unsupported)
    if (has_prefix(row.name, prefix)) found.names.push_back("--" + row.name);
  return found;
}

const Option* find_letter(const OptionTable& table, char letter) {
  for (const Option& option : table.options)
    if (option.letter == letter) return &option;
  return nullptr;
}

std::string refusal_of(const Unsupported& row) {
  return row.why.empty() ? " yet" : ": " + row.why;
}

std::string unknown_long(const OptionTable& table, const std::string& name) {
  for (const Unsupported& row : table.unsupported)
    if (row.name == name) return "--" + name + " is not supported" + refusal_of(row);
  if (std::find(table.keys.begin(), table.keys.end(), name) != table.keys.end())
    return "unknown option --" + name + "; write " + name + "=VALUE without dashes";
  std::vector<std::string> names;
  for (const Option& option : table.options)
    if (!option.name.empty()) names.push_back("--" + option.name);
  return "unknown option " + excerpt("--" + name) + config::suggestion("--" + name, names);
}

// The option of a long name, which may be shortened as long as only one option begins like this.
Result<const Option*> resolve_long(const OptionTable& table, const std::string& name) {
  if (const Option* exact = find_long(table, name)) return exact;
  const auto exact_row = std::find_if(table.unsupported.begin(), table.unsupported.end(),
                                      [&](const Unsupported& row) { return row.name == name; });
  if (exact_row != table.unsupported.end() ||
      std::find(table.keys.begin(), table.keys.end(), name) != table.keys.end())
    return invalid(unknown_long(table, name));
  const Abbreviated found = expand(table, name);
  if (found.names.empty()) return invalid(unknown_long(table, name));
  if (found.names.size() > 1) {
    std::string list;
    for (const std::string& one : found.names) list += (list.empty() ? "" : ", ") + one;
    return invalid("option --" + name + " is ambiguous: it may be " + list);
  }
  if (found.options.empty()) return invalid(unknown_long(table, found.names.front().substr(2)));
  return found.options.front();
}

std::string unknown_letter(const OptionTable& table, char letter) {
  for (const Unsupported& row : table.unsupported)
    if (row.letter == letter)
      return std::string("-") + letter + (row.name.empty() ? "" : " (--" + row.name + ")") +
             " is not supported" + refusal_of(row);
  return "unknown option " + excerpt(std::string{'-', letter}) + "; --help lists the options";
}

// Parses the words in one pass; each function consumes the words of one option.
class OptionParser {
 public:
  OptionParser(const OptionTable& table, std::span<const std::string> words, Source source,
               const std::string& where)
      : table_(table), words_(words), source_(source), where_(where) {}

  Result<Parsed> run() {
    bool options_end = false;
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      Status taken;
      if (options_end || word.size() < 2 || word[0] != '-') {
        parsed_.operands.push_back(word);
        options_end = options_end || table_.stop_at_operand;
      } else if (word == "--") {
        options_end = true;
      } else if (word[1] == '-') {
        taken = take_long(word.substr(2));
      } else {
        taken = take_letters(word);
      }
      if (!taken) return fail(taken.error().code, where_ + taken.error().message);
    }
    return std::move(parsed_);
  }

 private:
  Status take_long(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const Result<const Option*> found = resolve_long(table_, name);
    if (!found) return fail(found.error());
    const Option* option = *found;
    if (equals != std::string::npos) {
      if (option->argument.empty()) return invalid("--" + name + " takes no value");
      return add(*option, text.substr(equals + 1));
    }
    if (!requires_argument(*option)) return add(*option, "");
    return take_next(*option);
  }

  Status take_letters(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const Option* option = find_letter(table_, word[i]);
      if (!option) return invalid(unknown_letter(table_, word[i]));
      if (option->argument.empty()) {
        if (Status added = add(*option, ""); !added) return added;
        continue;
      }
      std::string rest = word.substr(i + 1);
      if (rest.empty() && requires_argument(*option)) return take_next(*option);
      // Accepts the common mistake -n=4 as -n 4.
      if (rest.starts_with('=')) rest.erase(0, 1);
      return add(*option, rest);
    }
    return {};
  }

  Status take_next(const Option& option) {
    if (at_ == words_.size())
      return invalid(display_name(option) + " needs a value (" + option.argument + ")");
    return add(option, words_[at_++]);
  }

  Status add(const Option& option, std::string value) {
    const std::string name = display_name(option);
    if (source_ == Source::directive && !option.directive)
      return invalid(name + " cannot stand in a script");
    if (!option.any_text && has_control(value))
      return invalid(name + ": the value holds a control character");
    if (!option.any_text && !is_utf8(value))
      return invalid(name + ": the value " + quote(value) + " is not valid UTF-8");
    parsed_.given.push_back({&option, std::move(value), source_, where_});
    return {};
  }

  const OptionTable& table_;
  std::span<const std::string> words_;
  Source source_;
  const std::string& where_;
  std::size_t at_ = 0;
  Parsed parsed_;
};

}  // namespace

std::string display_name(const Option& option) {
  return option.name.empty() ? std::string("-") + option.letter : "--" + option.name;
}

std::string environment_name(const OptionTable& table, const Option& option) {
  if (!option.variable.empty()) return option.variable;
  std::string name = table.environment_prefix + upper(option.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Result<Parsed> parse_options(const OptionTable& table, std::span<const std::string> words,
                             Source source, const std::string& where) {
  return OptionParser(table, words, source, where).run();
}

Result<std::vector<GivenOption>> options_from_environment(const OptionTable& table,
                                                          const GetEnvironment& get) {
  std::vector<GivenOption> given;
  if (table.environment_prefix.empty()) return given;
  for (const Option& option : table.options) {
    if (!option.environment || option.name.empty()) continue;
    const std::string name = environment_name(table, option);
    const char* found = get(name.c_str());
    if (!found) continue;
    const std::string value = found;
    if (option.argument.empty()) {
      const std::string word = lower(value);
      if (word.empty() || word == "0" || word == "no" || word == "false") continue;
      given.push_back({&option, "", Source::environment, name + ": "});
      continue;
    }
    if (!option.any_text && has_control(value))
      return invalid(name + ": the value holds a control character");
    if (!option.any_text && !is_utf8(value))
      return invalid(name + ": the value " + quote(value) + " is not valid UTF-8");
    given.push_back({&option, value, Source::environment, name + ": "});
  }
  return given;
}

Status apply_options(std::span<const GivenOption> given) {
  std::vector<const GivenOption*> order;
  for (const GivenOption& one : given) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](const GivenOption* a, const GivenOption* b) {
    return a->source < b->source;
  });

  for (const GivenOption* one : order) {
    bool overridden = false;
    for (const GivenOption* other : order) {
      const bool contradicts =
          std::find(one->option->excludes.begin(), one->option->excludes.end(),
                    other->option->name) != one->option->excludes.end() ||
          std::find(other->option->excludes.begin(), other->option->excludes.end(),
                    one->option->name) != other->option->excludes.end();
      if (!contradicts) continue;
      if (other->source == one->source)
        return invalid(one->where + display_name(*one->option) + " and " +
                       display_name(*other->option) + " are mutually exclusive; give one of them");
      overridden = overridden || other->source > one->source;
    }
    if (overridden) continue;
    if (Status applied = one->option->apply(one->value); !applied)
      return fail(applied.error().code,
                  one->where + display_name(*one->option) + ": " + applied.error().message);
  }
  return {};
}

std::function<Status(const std::string&)> set_flag(bool& flag, bool value) {
  return [&flag, value](const std::string&) -> Status {
    flag = value;
    return {};
  };
}

std::function<Status(const std::string&)> set_text(std::string& text) {
  return [&text](const std::string& value) -> Status {
    text = value;
    return {};
  };
}

std::function<Status(const std::string&)> set_list(std::vector<std::string>& list) {
  return [&list](const std::string& value) -> Status {
    list.clear();
    for (std::string& piece : split(value, ',')) {
      if (piece.empty()) return invalid(quote(value) + " has an empty item");
      list.push_back(std::move(piece));
    }
    return {};
  };
}

}  // namespace ares::cli
