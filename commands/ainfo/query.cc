#include "ainfo/query.h"

#include <algorithm>
#include <array>

#include "base/hostlist.h"
#include "base/printable.h"
#include "cli/output/json.h"
#include "cli/output/sorting.h"
#include "cli/output/text.h"

namespace ares::ainfo {
namespace {

struct StateWord {
  const char* word;
  std::string_view states;  // Separated by blanks; "" = no such state exists yet.
};
constexpr std::array<StateWord, 24> kWords = {{{"idle", "IDLE"},
                                               {"mix", "MIXED"},
                                               {"mixed", "MIXED"},
                                               {"alloc", "ALLOCATED"},
                                               {"allocated", "ALLOCATED"},
                                               {"comp", "COMPLETING"},
                                               {"completing", "COMPLETING"},
                                               {"drain", "DRAINED DRAINING"},
                                               {"drained", "DRAINED"},
                                               {"drng", "DRAINING"},
                                               {"draining", "DRAINING"},
                                               {"down", "DOWN"},
                                               {"unk", "UNKNOWN"},
                                               {"unknown", "UNKNOWN"},
                                               {"resv", "RESERVED"},
                                               {"reserved", "RESERVED"},
                                               {"maint", "MAINT"},
                                               {"maintenance", "MAINT"},
                                               {"fail", "FAIL FAILING"},
                                               {"failing", "FAILING"},
                                               {"failg", "FAILING"},
                                               {"reboot", "REBOOT_ISSUED"},
                                               {"no_respond", ""},
                                               {"all",
                                                "IDLE MIXED ALLOCATED COMPLETING RESERVED MAINT "
                                                "REBOOT_ISSUED FAIL FAILING DRAINED DRAINING DOWN "
                                                "UNKNOWN"}}};

const StateWord* find_word(const std::string& word) {
  for (const StateWord& row : kWords)
    if (word == row.word) return &row;
  return nullptr;
}

bool has_state(const Query& q, const api::Node& node) {
  if (q.states.empty()) return true;
  const std::string state = plain_state(node.state());
  return std::any_of(q.states.begin(), q.states.end(), [&](const std::string& word) {
    if (word == "no_respond") return is_silent(node);
    const std::vector<std::string> meant = cli::split(find_word(word)->states, ' ');
    return std::find(meant.begin(), meant.end(), state) != meant.end();
  });
}

// Natural order: n2 before n10.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    std::size_t a_end = i, b_end = j;
    while (a_end < a.size() && digit(a[a_end])) ++a_end;
    while (b_end < b.size() && digit(b[b_end])) ++b_end;
    std::string_view left(a.data() + i, a_end - i), right(b.data() + j, b_end - j);
    while (left.size() > 1 && left[0] == '0') left.remove_prefix(1);
    while (right.size() > 1 && right[0] == '0') right.remove_prefix(1);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
    i = a_end;
    j = b_end;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

// "#P,-t": # means the configuration's order, which lines have anyway.
std::string without_configured_order(const std::string& keys) {
  std::vector<std::string> kept;
  for (const std::string& key : cli::split(keys, ','))
    if (!key.starts_with('#')) kept.push_back(key);
  return cli::join(kept, ",");
}

std::function<Status(const std::string&)> set_states(Query& q) {
  return [&q](const std::string& value) -> Status {
    q.states.clear();
    for (const std::string& word : cli::split(cli::lower(value), ',')) {
      if (!find_word(word))
        return fail(ErrorCode::invalid_argument, "Invalid node state specified: " + excerpt(word));
      q.states.push_back(word);
    }
    return {};
  };
}

std::function<Status(const std::string&)> set_nodes(Query& q) {
  return [&q](const std::string& value) -> Status {
    const auto names = expand_hostlist(value);
    if (!names) return fail(names.error());
    q.nodes = value;
    return {};
  };
}

constexpr const char* kDefault = "%#P %#.a %#.l %#.D %#.t %N";

const char* usual_format(const Query& q) {
  if (q.reasons) return q.long_format ? "%#E %#U %#H %#t %N" : "%#E %#u %#H %N";
  if (q.summary) return "%#P %#.a %#.l %#.F %N";
  if (q.each_node)
    return q.long_format ? "%#N %#.D %#P %#.T %#.c %#.m %#G %#f %E" : "%#N %#.D %#P %t";
  if (q.long_format) return "%#P %#.a %#.l %#.s %#.h %#.g %#.D %#.T %#.c %#.m %#G %N";
  return kDefault;
}

}  // namespace

cli::OptionTable options(Query& q) {
  cli::OptionTable table;
  table.environment_prefix = "AINFO_";
  table.options = {
      {'p', "partition", "NAMES", "Only these partitions.", cli::set_list(q.partitions)},
      {'n', "nodes", "NODES", "Only these nodes, such as n[1-3].", set_nodes(q)},
      {'t',
       "states",
       "STATES",
       "Only nodes in these states: idle, mix, alloc, comp, drain, drained, draining, fail, "
       "failing, "
       "maint, resv, reboot, down, unknown, or no_respond.",
       set_states(q),
       {"state"}},
      {'s', "summarize", "", "One line for each partition, with counts.", cli::set_flag(q.summary)},
      {'N', "Node", "", "One line for each node and partition.", cli::set_flag(q.each_node)},
      {'l', "long", "", "More columns.", cli::set_flag(q.long_format)},
      {'R', "list-reasons", "",
       "Why nodes are out of service, who said so and when. Nodes with the same share a line.",
       cli::set_flag(q.reasons)},
      {'r', "responding", "", "Only nodes that answer.", cli::set_flag(q.responding)},
      {'d',
       "dead",
       "",
       "Only nodes that do not answer.",
       cli::set_flag(q.dead),
       {},
       {"responding"}},
      {'e', "exact", "",
       "Nodes of different sizes do not share a line. Otherwise the least size is shown, with a + "
       "if "
       "others have more.",
       cli::set_flag(q.exact)},
      {'T',
       "reservation",
       "",
       "The reservations, in place of partitions and nodes.",
       cli::set_flag(q.reservations),
       {},
       {"format", "Format", "sort", "partition", "nodes", "states", "summarize", "Node",
        "list-reasons", "responding", "dead"}},
      {'a', "all", "", "All partitions, which is what is shown anyway.",
       [](const std::string&) { return Status(); }},
  };
  cli::add_listing_options(table, q.listing, "",
                           "the configuration's order of partitions, then states");
  table.unsupported = {{'M', "clusters"},    {'v', "verbose", false}, {0, "hide", false},
                       {0, "future", false}, {'F', "future", false},  {0, "federation", false},
                       {0, "local", false},  {0, "noconvert", false}};
  cli::add_common_options(table, q.common, 0);
  return table;
}

Result<std::vector<cli::FormatItem>> format_of(const Query& q) {
  return cli::format_items_of(q.listing, usual_format(q));
}

Result<std::vector<std::uint32_t>> fields_of(const Query& q) {
  auto format_items = format_of(q);
  if (!format_items) return fail(format_items.error());
  const auto listing = cli::Listing<Row>::make(std::move(*format_items), columns());
  if (!listing) return fail(listing.error());
  const auto terms = cli::parse_sort<Row>(without_configured_order(q.listing.sort), columns());
  if (!terms) return fail(terms.error());
  using N = api::Node;
  std::vector<std::uint32_t> all = {N::kNameFieldNumber, N::kStateFieldNumber,
                                    N::kPartitionsFieldNumber};
  if (q.reasons) all.push_back(N::kReasonFieldNumber);
  std::sort(all.begin(), all.end());
  for (const auto* column : listing->columns()) cli::add_needs(*column, all);
  for (const auto& term : *terms) cli::add_needs(*term.column, all);
  return all;
}

bool shows_reservations(const Query& q) {
  const auto is_reservation = [](const auto* column) { return column->name == "Reservation"; };
  auto format_items = format_of(q);
  const auto listing = cli::Listing<Row>::make(std::move(*format_items), columns());
  const auto terms = cli::parse_sort<Row>(without_configured_order(q.listing.sort), columns());
  return std::any_of(listing->columns().begin(), listing->columns().end(), is_reservation) ||
         std::any_of(terms->begin(), terms->end(),
                     [&](const auto& term) { return is_reservation(term.column); });
}

std::vector<const api::Node*> select(const Query& q, const api::Nodes& nodes) {
  std::vector<const api::Node*> out;
  for (const api::Node& node : nodes.nodes()) {
    const bool silent = is_silent(node);
    if (!has_state(q, node) || (q.responding && silent) || (q.dead && !silent) ||
        (q.reasons && node.reason().empty()))
      continue;
    out.push_back(&node);
  }
  std::stable_sort(out.begin(), out.end(), [](const api::Node* a, const api::Node* b) {
    return natural_less(a->name(), b->name());
  });
  return out;
}

Result<std::string> print(const Query& q, const Answer& answer, unsigned terminal) {
  auto format_items = format_of(q);
  if (!format_items) return fail(format_items.error());
  auto listing = cli::Listing<Row>::make(std::move(*format_items), columns());
  if (!listing) return fail(listing.error());
  auto terms = cli::parse_sort<Row>(without_configured_order(q.listing.sort), columns());
  if (!terms) return fail(terms.error());
  const bool filtered = !q.states.empty() || !q.nodes.empty() || q.responding || q.dead;
  const Grouping grouping{q.each_node, q.reasons, !filtered && !q.each_node, q.exact};
  listing->grid().colour_states(cli::colours_on(q.listing.colour));
  cli::Sorter<Row> sorter(std::move(*terms));
  for (const Row& row : group(listing->columns(), answer, select(q, answer.nodes), grouping)) {
    listing->add(row);
    sorter.add(row);
  }
  const auto order = sorter.order();
  return listing->grid().layout(!q.listing.no_header, order,
                                q.listing.has_own_format() ? 0 : terminal);
}

std::string print_json(const Query& q, const Answer& answer) {
  std::string out = "{\n  \"partitions\": [";
  const char* between = "\n    ";
  for (const api::Partition& partition : answer.partitions.partitions()) {
    out += between;
    between = ",\n    ";
    cli::put_json(partition, 2, out);
  }
  out += "\n  ],\n  \"nodes\": [";
  between = "\n    ";
  for (const api::Node* node : select(q, answer.nodes)) {
    out += between;
    between = ",\n    ";
    cli::put_json(*node, 2, out);
  }
  out += "\n  ],\n  \"now\": " + std::to_string(answer.nodes.now()) + ",\n  \"cluster\": ";
  cli::put_json_text(answer.nodes.cluster(), out);
  return out + ",\n  \"meta\": " + cli::json_meta("ainfo") + "\n}\n";
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "ainfo",
      .summary = "show partitions and nodes",
      .synopsis = {"[OPTIONS]"},
      .description = {"ainfo shows the partitions and how their nodes stand. Nodes of a partition "
                      "that look alike in the columns shown share a line. A node of several "
                      "partitions has a line in each, but is listed and counted once if no column "
                      "shows anything of a partition. Behind a state, * marks "
                      "nodes that do not answer, @ those that are to reboot, ^ those that were "
                      "told to, and - those that a waiting job is promised next."},
      .sections = {cli::format_section(quote(kDefault), cli::describe_columns(columns()),
                                       columns().unsupported)},
      .examples = {{"ainfo -N -l", "Every node with what it has."},
                   {"ainfo -T", "The reservations."},
                   {"ainfo -R", "Which nodes are out of service, and why."},
                   {"ainfo -h -t idle -o %n", "The names of idle nodes, one a line."}},
      .see_also = {"aqueue(1)", "actl(1)"}};
  return text;
}

}  // namespace ares::ainfo
