#include "areport/fields.h"

#include <algorithm>

#include "areport/names.h"
#include "base/timespec.h"

namespace ares::areport {
namespace {

using TextOf = std::string (*)(const Line&, const Setting&);
using AmountOf = std::int64_t (*)(const Line&);

// A field with a text.
Field text(const char* name, const char* key, const char* help, TextOf of) {
  return {name, key, help, true, [of](const Line& line, const Setting& setting) {
            std::string shown = of(line, setting);
            return Cell{shown, shown};
          }};
}

// JSON has the amount in TRES-seconds, rounded for parts of a GPU.
Cell amount_cell(std::int64_t amount, const Line& line, const Setting& setting) {
  const std::int64_t one = unit_scale(line.tres);
  return Cell{amount_text(amount, line.capacity, *setting.unit, one), (amount + one / 2) / one};
}

// A field with TRES-seconds, in the requested unit.
Field amount(const char* name, const char* key, const char* help, AmountOf of) {
  return {name, key, help, false, [of](const Line& line, const Setting& setting) {
            return amount_cell(of(line), line, setting);
          }};
}

// The parts of what there was, which are rounded so that they add up to it.
enum Part : std::size_t { kAllocated, kDown, kDrained, kReserved, kIdle };

Field part(const char* name, const char* key, const char* help, Part which) {
  return {name, key, help, false, [which](const Line& line, const Setting& setting) {
            const std::vector<std::int64_t> parts = {line.used, line.down, line.drained,
                                                     line.reserved, line.idle};
            const std::int64_t one = unit_scale(line.tres);
            const std::int64_t length = std::max<std::int64_t>(setting.unit->seconds, 1) * one;
            return Cell{amount_text(rounded_parts(parts, length)[which], parts[which],
                                    line.capacity, *setting.unit),
                        rounded_parts(parts, one)[which]};
          }};
}

Field count(const char* name, const char* key, const char* help, AmountOf of) {
  return {name, key, help, false, [of](const Line& line, const Setting&) {
            return Cell{std::to_string(of(line)), of(line)};
          }};
}

Field moment(const char* name, const char* key, const char* help, AmountOf of) {
  return {name, key, help, true, [of](const Line& line, const Setting&) {
            return Cell{format_local_time(Time(Duration(of(line)))), of(line)};
          }};
}

std::string account_text(const Line& line, const Setting& setting) {
  return setting.tree ? std::string(line.depth, ' ') + line.account : line.account;
}

// "12.34", rounded to the nearest.
std::string cost_text(std::int64_t millionths) {
  const std::int64_t cents = (millionths + 5'000) / 10'000;
  const std::string rest = std::to_string(cents % 100);
  return std::to_string(cents / 100) + (rest.size() < 2 ? ".0" : ".") + rest;
}

std::int64_t total(const Line& line) {
  return line.used + line.down + line.drained + line.reserved + line.idle;
}

}  // namespace

const std::vector<Field>& fields() {
  static const std::vector<Field> table = {
      text("Cluster", "cluster", "The cluster's name.",
           [](auto&, auto& setting) { return setting.cluster; }),
      text("TRESName", "tres", "What is counted: cpu, mem (in MiB), node, billing, gres/gpu.",
           [](auto& line, auto&) { return line.tres; }),
      {"Account", "account", "The account; its line without a user holds the sum of all below it.",
       true,
       [](auto& line, auto& setting) {
         return Cell{account_text(line, setting), line.account};
       }},
      text("Login", "user", "The user.", [](auto& line, auto&) { return line.user; }),
      text("QOS", "qos", "The quality of service.", [](auto& line, auto&) { return line.qos; }),
      text("WCKey", "wckey", "What the work was for; empty: the job did not say.",
           [](auto& line, auto&) { return line.wckey; }),
      text("Name", "reservation", "The reservation.",
           [](auto& line, auto&) { return line.reservation; }),
      moment("Start", "start", "From when the reservation was on, within the report's time.",
             [](auto& line) { return line.start; }),
      moment("End", "end", "Until when it was.", [](auto& line) { return line.end; }),
      text("Nodes", "nodes", "The reservation's nodes.",
           [](auto& line, auto&) { return line.nodes; }),
      part("Allocated", "allocated", "Held by jobs.", kAllocated),
      part("Down", "down", "Of what no job held: on nodes that were down or had not registered.",
           kDown),
      part("PlannedDown", "planned_down",
           "Of what no job held: on nodes that were drained, or in a reservation for maintenance.",
           kDrained),
      part("Reserved", "reserved", "Of what no job held: kept by other reservations.", kReserved),
      part("Idle", "idle", "The rest.", kIdle),
      amount("Reported", "reported",
             "All there was: the sum of Allocated, Down, PlannedDown, Reserved and Idle, which are "
             "rounded so that they add up to it.",
             total),
      amount(
          "OverCommitted", "over_committed",
          "Held beyond what there was, as a node is that two jobs share: the sum over all users is "
          "Allocated and this.",
          [](auto& line) { return line.over; }),
      amount("Used", "used", "Held by jobs.", [](auto& line) { return line.used; }),
      count("JobCount", "jobs", "Jobs, each attempt of one counted.",
            [](auto& line) { return static_cast<std::int64_t>(line.jobs); }),
      amount(
          "Consumed", "consumed",
          "Used by the processes: CPU time; of memory the most on any node, on each node, as long "
          "as the job ran.",
          [](auto& line) { return line.consumed; }),
      {"Cost", "cost", "What was held, at the prices of ares.yaml; in JSON in millionths.", false,
       [](auto& line, auto&) {
         return Cell{cost_text(line.cost), line.cost};
       }},
      {"Efficiency", "efficiency", "Consumed as a share of Used.", false,
       [](auto& line, auto&) {
         const std::string share = percent_text(line.consumed, line.used);
         return Cell{share, share};
       }},
  };
  return table;
}

Field size_field(const std::vector<std::uint64_t>& sizes, std::size_t at, bool jobs) {
  const std::string name = at == sizes.size()
                               ? ">=" + std::to_string(sizes.empty() ? 0 : sizes.back()) + " CPUs"
                               : std::to_string(at == 0 ? 0 : sizes[at - 1]) + "-" +
                                     std::to_string(sizes[at] - 1) + " CPUs";
  const std::string key = "from_" + std::to_string(at == 0 ? 0 : sizes[at - 1]);
  return {name, key, "", false, [at, jobs](const Line& line, const Setting& setting) {
            if (jobs) {
              const auto number = static_cast<std::int64_t>(line.jobs_by_size[at]);
              return Cell{std::to_string(number), number};
            }
            return amount_cell(line.by_size[at], line, setting);
          }};
}

Result<std::vector<SelectedField>> parse_fields(const std::string& list,
                                                const std::vector<std::uint64_t>& sizes,
                                                bool jobs) {
  std::vector<SelectedField> chosen;
  for (const std::string& item : cli::split(list, ',')) {
    const std::size_t percent = item.find('%');
    const std::string name(cli::trim(item.substr(0, percent)));
    int width = 0;
    if (percent != std::string::npos) {
      auto number = cli::parse_integer(item.substr(percent + 1), -1000, 1000);
      if (!number) return fail(number.error());
      width = static_cast<int>(*number);
    }
    if (cli::lower(name) == "sizes") {
      for (std::size_t at = 0; at <= sizes.size(); ++at)
        chosen.push_back({size_field(sizes, at, jobs), width});
      continue;
    }
    const auto field = find_name(
        name, fields(), [](const Field& f) { return f.name; }, "field");
    if (!field) return fail(field.error());
    chosen.push_back({**field, width});
  }
  return chosen;
}

}  // namespace ares::areport
