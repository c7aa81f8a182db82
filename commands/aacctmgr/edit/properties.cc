#include "aacctmgr/edit/properties.h"

#include <algorithm>
#include <limits>

#include "aacctmgr/edit/limits_text.h"
#include "aacctmgr/edit/property_parts.h"
#include "cli/output/text.h"

namespace ares::aacctmgr {
namespace {

Terms& terms_of(Record& record) {
  if (auto* account = std::get_if<Account>(&record)) return account->terms;
  return std::get<Association>(record).terms;
}
const Terms& terms_of(const Record& record) {
  return terms_of(const_cast<Record&>(record));
}

Limits& limits_of(Record& record) {
  if (auto* qos = std::get_if<Qos>(&record)) return qos->limits;
  return terms_of(record).limits;
}

std::string limit_argument(LimitUnit unit) {
  switch (unit) {
    case LimitUnit::count: return "N";
    case LimitUnit::minutes: return "TIME";
    case LimitUnit::tres: return "TRES=N,...";
    case LimitUnit::tres_minutes: return "TRES=MINUTES,...";
  }
  return "N";
}

Property fairshare() {
  return {
      .name = "fairshare",
      .aliases = {"shares", "share"},
      .argument = "N|parent",
      .help = "its share among its siblings; parent: that of the account above, together with it",
      .usual = "1",
      .list = false,
      .set = [](Record& record, Op, const std::string& value) -> Status {
        std::optional<std::uint32_t>& shares = terms_of(record).shares;
        if (clears(value)) {
          shares = 1;
        } else if (cli::lower(value) == "parent") {
          shares.reset();
        } else {
          const auto number =
              cli::parse_integer(value, 0, std::numeric_limits<std::uint32_t>::max());
          if (!number) return invalid(number.error().message + ", nor parent");
          shares = static_cast<std::uint32_t>(*number);
        }
        return {};
      },
      .get =
          [](const Record& record) {
            const auto& shares = terms_of(record).shares;
            return !shares ? "parent" : *shares == 1 ? "" : std::to_string(*shares);
          }};
}

std::vector<Property> common_terms() {
  return {fairshare(),
          {.name = "priority",
           .aliases = {},
           .argument = "N",
           .help = "what jobs get for the association in their priority",
           .usual = "0",
           .list = false,
           .set = [](Record& r, Op, const std::string& v) -> Status {
             return set_priority(terms_of(r).priority, v);
           },
           .get = [](const Record& r) { return priority_text(terms_of(r).priority); }},
          {.name = "qos",
           .aliases = {"qoslevel"},
           .argument = "NAMES",
           .help = "with which QOS jobs may run; none: as the account above says. += and -= change "
                   "the list that is in force",
           .usual = {},
           .list = true,
           .set = [](Record& r, Op op, const std::string& v) -> Status {
             change_list(terms_of(r).qos, op, v == "-1" ? "" : v);
             return {};
           },
           .get = [](const Record& r) { return cli::join(terms_of(r).qos, ","); }},
          {.name = "defaultqos",
           .aliases = {"defqos"},
           .argument = "NAME",
           .help = "the QOS of jobs that name none",
           .usual = {},
           .list = false,
           .set = [](Record& r, Op, const std::string& v) -> Status {
             terms_of(r).default_qos = v == "-1" ? "" : v;
             return {};
           },
           .get = [](const Record& r) { return terms_of(r).default_qos; }}};
}

std::vector<Property> account_rows() {
  std::vector<Property> rows = {
      text_of("parent", {}, "ACCOUNT", "the account above it", &Account::parent),
      text_of("description", {}, "TEXT", "what it is", &Account::description),
      text_of("organization", {}, "TEXT", "the organization that it belongs to",
              &Account::organization),
      {.name = "coordinators",
       .aliases = {},
       .argument = "USERS",
       .help = "users who administer it and what is below",
       .usual = {},
       .list = true,
       .set = [](Record& r, Op op, const std::string& v) -> Status {
         change_list(std::get<Account>(r).coordinators, op, v);
         return {};
       },
       .get = [](const Record& r) { return cli::join(std::get<Account>(r).coordinators, ","); }}};
  for (Property& row : common_terms()) rows.push_back(std::move(row));
  add_limits(rows, false);
  return rows;
}

std::vector<Property> user_rows() {
  return {text_of("defaultaccount", {"defaultacct"}, "ACCOUNT",
                  "the account of jobs that name none", &User::default_account),
          text_of("defaultwckey", {}, "WCKEY", "the wckey of jobs that name none",
                  &User::default_wckey)};
}

std::vector<Property> association_rows() {
  std::vector<Property> rows = common_terms();
  add_limits(rows, false);
  return rows;
}

}  // namespace

bool clears(const std::string& value) {
  return value.empty() || value == "-1";
}

void change_list(std::vector<std::string>& list, Op op, const std::string& value) {
  const std::vector<std::string> given = names_of(value);
  if (op == Op::set) list = given;
  if (op == Op::remove)
    std::erase_if(list, [&](const std::string& name) {
      return std::binary_search(given.begin(), given.end(), name);
    });
  if (op != Op::add) return;
  list.insert(list.end(), given.begin(), given.end());
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

Status set_priority(std::uint32_t& priority, const std::string& value) {
  if (clears(value)) {
    priority = 0;
    return {};
  }
  const auto number = cli::parse_integer(value, 0, std::numeric_limits<std::uint32_t>::max());
  if (!number) return fail(number.error());
  priority = static_cast<std::uint32_t>(*number);
  return {};
}

std::string priority_text(std::uint32_t priority) {
  return priority == 0 ? "" : std::to_string(priority);
}

// Adds every spelling that find_limit() accepts as an alias, so that prefixes of these spellings
// match too.
void add_limits(std::vector<Property>& rows, bool qos) {
  for (const LimitRow& row : limit_table()) {
    if (!(qos ? row.qos : row.association)) continue;
    rows.push_back({.name = std::string(row.name),
                    .aliases = {},
                    .argument = limit_argument(row.unit),
                    .help = std::string(row.help),
                    .usual = {},
                    .list = false,
                    .set = [&row](Record& r, Op, const std::string& v) -> Status {
                      return set_limit(limits_of(r), row, v);
                    },
                    .get =
                        [&row](const Record& r) {
                          return limit_text(limits_of(const_cast<Record&>(r)), row.kind);
                        }});
  }
}

std::vector<std::string> names_of(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string& piece : cli::split(text, ','))
    if (const std::string_view name = cli::trim(piece); !name.empty()) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const std::vector<Property>& properties(RecordKind kind) {
  static const std::vector<Property> accounts = account_rows(), users = user_rows(),
                                     associations = association_rows(), qos = qos_rows(), wckeys;
  switch (kind) {
    case RecordKind::account: return accounts;
    case RecordKind::user: return users;
    case RecordKind::association: return associations;
    case RecordKind::qos: return qos;
    case RecordKind::wckey: return wckeys;
  }
  return wckeys;
}

const Property* find_property(RecordKind kind, std::string_view word) {
  const LimitRow* limit = find_limit(word);
  const std::string typed = cli::lower(limit ? limit->name : word);
  const Property* begun = nullptr;
  bool several = false;
  for (const Property& row : properties(kind)) {
    const std::string name = cli::lower(row.name);
    bool begins = name.starts_with(typed);
    if (name == typed) return &row;
    for (const std::string& alias : row.aliases) {
      if (alias == typed) return &row;
      begins = begins || alias.starts_with(typed);
    }
    if (!begins || typed.empty()) continue;
    several = several || begun;
    begun = &row;
  }
  return several ? nullptr : begun;
}

Status set_property(const Property& property, AccountingRecord& record, Op op,
                    const std::string& value) {
  if (op != Op::set && !property.list)
    return invalid(property.name + " takes =, not " + (op == Op::add ? "+=" : "-="));
  if (Status done = property.set(record, op, value); !done) {
    const std::string& message = done.error().message;
    return fail(done.error().code, message.starts_with(property.name + ":")
                                       ? message
                                       : property.name + ": " + message);
  }
  return {};
}

AccountingRecord blank_record(const RecordKey& key) {
  switch (key.kind) {
    case RecordKind::account: {
      Account account;
      account.name = key.name;
      return account;
    }
    case RecordKind::user: {
      User user;
      user.name = key.name;
      return user;
    }
    case RecordKind::association: {
      Association association;
      association.key = {key.name, key.user, key.partition};
      return association;
    }
    case RecordKind::qos: {
      Qos qos;
      qos.name = key.name;
      return qos;
    }
    case RecordKind::wckey: break;
  }
  Wckey wckey;
  wckey.key = {key.name, key.user};
  return wckey;
}

}  // namespace ares::aacctmgr
