#include "aacctmgr/properties.h"

#include <algorithm>
#include <limits>

#include "aacctmgr/limits_text.h"
#include "base/duration.h"
#include "cli/text.h"
#include "config/suggest.h"

namespace ares::aacctmgr {
namespace {

using Record = AccountingRecord;

tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

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

bool clears(const std::string& value) {
  return value.empty() || value == "-1";
}

void change_list(std::vector<std::string>& list, Op op, const std::string& value) {
  const std::vector<std::string> given = names_of(value);
  if (op == Op::set) list = given;
  if (op == Op::take)
    std::erase_if(list, [&](const std::string& name) {
      return std::binary_search(given.begin(), given.end(), name);
    });
  if (op != Op::add) return;
  list.insert(list.end(), given.begin(), given.end());
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// A text of a record of type R.
template <class R>
Property text_of(std::string name, std::vector<std::string> aliases, std::string argument,
                 std::string help, std::string R::*member) {
  return {.name = std::move(name),
          .aliases = std::move(aliases),
          .argument = std::move(argument),
          .help = std::move(help),
          .usual = {},
          .list = false,
          .set = [member](Record& record, Op, const std::string& value) -> Status {
            std::get<R>(record).*member = value;
            return {};
          },
          .get = [member](const Record& record) { return std::get<R>(record).*member; }};
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
          if (!number) return bad(number.error().message + ", nor parent");
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
           .help = "with which QOS jobs may run; none: as the account above says",
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

std::string limit_argument(LimitUnit unit) {
  switch (unit) {
    case LimitUnit::count: return "N";
    case LimitUnit::minutes: return "TIME";
    case LimitUnit::tres: return "TRES=N,...";
    case LimitUnit::tres_minutes: return "TRES=MINUTES,...";
  }
  return "N";
}

// The spellings that find_limit() knows beside the name, so that each is also found by how it begins.
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

std::vector<Property> account_rows() {
  std::vector<Property> rows = {
      text_of("parent", {}, "ACCOUNT", "the account above it", &Account::parent),
      text_of("description", {}, "TEXT", "what it is", &Account::description),
      text_of("organization", {}, "TEXT", "to whom it belongs", &Account::organization),
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

Status set_flags(Qos& qos, Op op, const std::string& value) {
  std::uint32_t given = 0;
  std::vector<std::string> known;
  for (const QosFlagRow& row : qos_flag_table()) known.emplace_back(row.name);
  for (const std::string& word : names_of(value == "-1" ? "" : value)) {
    const auto row = std::find_if(
        qos_flag_table().begin(), qos_flag_table().end(),
        [&](const QosFlagRow& one) { return cli::lower(one.name) == cli::lower(word); });
    if (row == qos_flag_table().end() && cli::lower(word) == "usagefactorsafe")
      return bad(
          "UsageFactorSafe needs no flag: accounting: {enforce: safe} always counts with the "
          "usage factor");
    if (row == qos_flag_table().end()) {
      const std::string meant = config::suggestion(word, known);
      return bad("\"" + word + "\" is no flag of a QOS" +
                 (meant.empty() ? "; one of " + cli::join(known, ", ") : meant));
    }
    given |= static_cast<std::uint32_t>(row->flag);
  }
  switch (op) {
    case Op::set: qos.flags = given; break;
    case Op::add: qos.flags |= given; break;
    case Op::take: qos.flags &= ~given; break;
  }
  return {};
}

std::string known_flags() {
  std::vector<std::string> known;
  for (const QosFlagRow& row : qos_flag_table()) known.emplace_back(row.name);
  return cli::join(known, ", ");
}

std::string flags_text(const Qos& qos) {
  std::vector<std::string> names;
  for (const QosFlagRow& row : qos_flag_table())
    if (qos.has(row.flag)) names.emplace_back(row.name);
  return cli::join(names, ",");
}

constexpr std::uint32_t kWhole = 1000;  // thousandths

// "1.5" in thousandths.
Status set_factor(std::uint32_t& factor, const std::string& value) {
  if (clears(value)) {
    factor = kWhole;
    return {};
  }
  const std::size_t dot = value.find('.');
  std::string digits = dot == std::string::npos ? "" : value.substr(dot + 1);
  const bool fits = digits.size() <= 3 && (dot == std::string::npos || !digits.empty());
  digits.resize(3, '0');
  const auto whole = cli::parse_number(value.substr(0, dot), 1'000'000);
  const auto rest = cli::parse_number(digits, 999);
  if (!whole || !rest || !fits)
    return bad("\"" + value + "\" is no factor with up to three digits behind the point");
  factor = static_cast<std::uint32_t>(*whole * kWhole + *rest);
  return {};
}

std::string factor_text(std::uint32_t factor) {
  if (factor == kWhole) return "";
  std::string text = std::to_string(factor / kWhole);
  if (factor % kWhole == 0) return text;
  std::string rest = std::to_string(kWhole + factor % kWhole).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  return text + "." + rest;
}

// "30" in the unit given, or HH:MM:SS and the like.
Status set_length(std::optional<Seconds>& length, Seconds unit, const std::string& value) {
  if (clears(value)) {
    length.reset();
    return {};
  }
  if (value.find_first_not_of("0123456789") == std::string::npos) {
    const auto number = cli::parse_number(value, 100'000'000);
    if (!number) return bad("\"" + value + "\" is too long a time");
    length = unit * static_cast<std::int64_t>(*number);
    return {};
  }
  const auto read = parse_time_limit(value);
  const bool zero = value.find_first_not_of("0:-") == std::string::npos;
  if (!read || value.front() == '-' || (!*read && !zero))
    return bad("\"" + value + "\" is no length of time: a number of " +
               (unit == Seconds{1} ? "seconds" : "minutes") + ", or as 1:30:00");
  length = read->value_or(Seconds{0});
  return {};
}

Property length_of(std::string name, Seconds unit, std::string help,
                   std::optional<Seconds> Qos::*member) {
  return {.name = std::move(name),
          .aliases = {},
          .argument = "TIME",
          .help = std::move(help),
          .usual = {},
          .list = false,
          .set = [=](Record& r, Op, const std::string& v) -> Status {
            return set_length(std::get<Qos>(r).*member, unit, v);
          },
          .get =
              [=](const Record& r) {
                const auto& length = std::get<Qos>(r).*member;
                return length ? format_duration(*length) : "";
              }};
}

// What becomes of running jobs where others need their place.
std::vector<Property> preemption_rows() {
  return {{.name = "preempt",
           .aliases = {},
           .argument = "NAMES",
           .help = "QOS whose running jobs make room for its own, in partitions of the same tier",
           .usual = {},
           .list = true,
           .set = [](Record& r, Op op, const std::string& v) -> Status {
             change_list(std::get<Qos>(r).preempts, op, v == "-1" ? "" : v);
             return {};
           },
           .get = [](const Record& r) { return cli::join(std::get<Qos>(r).preempts, ","); }},
          {.name = "preemptmode",
           .aliases = {},
           .argument = "cluster|off|requeue|cancel|suspend",
           .help = "what becomes of its running jobs then; cluster: what their partition says",
           .usual = "cluster",
           .list = false,
           .set = [](Record& r, Op, const std::string& v) -> Status {
             std::optional<PreemptMode>& mode = std::get<Qos>(r).preempt_mode;
             mode.reset();
             if (clears(v) || cli::lower(v) == "cluster") return {};
             const auto at =
                 std::find(kPreemptModeNames.begin(), kPreemptModeNames.end(), cli::lower(v));
             if (at == kPreemptModeNames.end())
               return bad("\"" + v + "\" is none of cluster, off, requeue, cancel and suspend");
             mode = static_cast<PreemptMode>(at - kPreemptModeNames.begin());
             return {};
           },
           .get =
               [](const Record& r) {
                 const auto& mode = std::get<Qos>(r).preempt_mode;
                 return mode ? std::string(to_string(*mode)) : "";
               }},
          length_of("preemptexempttime", Seconds{60},
                    "for so long its jobs run before they can be preempted; a number is minutes",
                    &Qos::preempt_exempt),
          length_of("gracetime", Seconds{1},
                    "from SIGTERM to SIGKILL when its jobs are preempted; a number is seconds",
                    &Qos::grace)};
}

std::vector<Property> qos_rows() {
  std::vector<Property> rows = {
      text_of("description", {}, "TEXT", "what it is for", &Qos::description),
      {.name = "priority",
       .aliases = {},
       .argument = "N",
       .help = "what its jobs get for the QOS in their priority",
       .usual = "0",
       .list = false,
       .set = [](Record& r, Op, const std::string& v) -> Status {
         return set_priority(std::get<Qos>(r).priority, v);
       },
       .get = [](const Record& r) { return priority_text(std::get<Qos>(r).priority); }},
      {.name = "flags",
       .aliases = {},
       .argument = "FLAGS",
       .help = known_flags(),
       .usual = {},
       .list = true,
       .set = [](Record& r, Op op, const std::string& v) -> Status {
         return set_flags(std::get<Qos>(r), op, v);
       },
       .get = [](const Record& r) { return flags_text(std::get<Qos>(r)); }},
      {.name = "usagefactor",
       .aliases = {},
       .argument = "FACTOR",
       .help = "what usage is multiplied by before it is charged: 0.5, 2",
       .usual = "1",
       .list = false,
       .set = [](Record& r, Op, const std::string& v) -> Status {
         return set_factor(std::get<Qos>(r).usage_factor, v);
       },
       .get = [](const Record& r) { return factor_text(std::get<Qos>(r).usage_factor); }},
      {.name = "limitfactor",
       .aliases = {},
       .argument = "FACTOR",
       .help = "GrpTRES, MaxTRESPerJob and MaxTRESPerNode of accounts and users are so many times "
               "as wide for its jobs",
       .usual = "1",
       .list = false,
       .set = [](Record& r, Op, const std::string& v) -> Status {
         return set_factor(std::get<Qos>(r).limit_factor, v);
       },
       .get = [](const Record& r) { return factor_text(std::get<Qos>(r).limit_factor); }},
      {.name = "usagethreshold",
       .aliases = {},
       .argument = "SHARE",
       .help = "with EnforceUsageThreshold: nobody starts jobs with it whose fair share (0 to 1, "
               "as ashare shows it) is below that",
       .usual = "0",
       .list = false,
       .set = [](Record& r, Op, const std::string& v) -> Status {
         std::uint32_t& threshold = std::get<Qos>(r).usage_threshold;
         if (!clears(v)) return set_factor(threshold, v);
         threshold = 0;
         return {};
       },
       .get =
           [](const Record& r) {
             const std::uint32_t threshold = std::get<Qos>(r).usage_threshold;
             return threshold == 0 ? "" : threshold == kWhole ? "1" : factor_text(threshold);
           }}};
  for (Property& row : preemption_rows()) rows.push_back(std::move(row));
  add_limits(rows, true);
  return rows;
}

}  // namespace

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
    return bad(property.name + " takes =, not " + (op == Op::add ? "+=" : "-="));
  if (Status done = property.set(record, op, value); !done) {
    const std::string& said = done.error().message;
    return fail(done.error().code,
                said.starts_with(property.name + ":") ? said : property.name + ": " + said);
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
