// The settable properties of a QOS.
#include <algorithm>

#include "aacctmgr/edit/properties.h"
#include "aacctmgr/edit/property_parts.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/output/text.h"
#include "config/suggest.h"

namespace ares::aacctmgr {
namespace {

Status set_flags(Qos& qos, Op op, const std::string& value) {
  std::uint32_t given = 0;
  std::vector<std::string> known;
  for (const QosFlagRow& row : qos_flag_table()) known.emplace_back(row.name);
  for (const std::string& word : names_of(value == "-1" ? "" : value)) {
    const auto row = std::find_if(
        qos_flag_table().begin(), qos_flag_table().end(),
        [&](const QosFlagRow& one) { return cli::lower(one.name) == cli::lower(word); });
    if (row == qos_flag_table().end() && cli::lower(word) == "usagefactorsafe")
      return invalid(
          "UsageFactorSafe needs no flag: accounting: {enforce: safe} always counts with the "
          "usage factor");
    if (row == qos_flag_table().end()) {
      const std::string meant = config::suggestion(word, known);
      return invalid(quote(word) + " is no flag of a QOS" +
                     (meant.empty() ? "; one of " + cli::join(known, ", ") : meant));
    }
    given |= static_cast<std::uint32_t>(row->flag);
  }
  switch (op) {
    case Op::set: qos.flags = given; break;
    case Op::add: qos.flags |= given; break;
    case Op::remove: qos.flags &= ~given; break;
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

constexpr std::uint32_t kWhole = 1000;  // Thousandths.

// Parses "1.5" into thousandths.
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
    return invalid(quote(value) + " is no factor with up to three digits behind the point");
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

// Parses a number in `unit`, such as "30", or a duration such as HH:MM:SS.
Status set_length(std::optional<Seconds>& length, Seconds unit, const std::string& value) {
  if (clears(value)) {
    length.reset();
    return {};
  }
  if (value.find_first_not_of("0123456789") == std::string::npos) {
    const auto number = cli::parse_number(value, 100'000'000);
    if (!number) return invalid(quote(value) + " is too long a time");
    length = unit * static_cast<std::int64_t>(*number);
    return {};
  }
  const auto read = parse_time_limit(value);
  const bool zero = value.find_first_not_of("0:-") == std::string::npos;
  if (!read || value.front() == '-' || (!*read && !zero))
    return invalid(quote(value) + " is no length of time: a number of " +
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

// Properties of preemption.
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
               return invalid(quote(v) + " is none of cluster, off, requeue, cancel and suspend");
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

}  // namespace

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
       .help = "with EnforceUsageThreshold: users whose fair share (0 to 1, as ashare shows it) is "
               "below that start no jobs with it",
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

}  // namespace ares::aacctmgr
