#include "ainfo/query.h"

#include <algorithm>
#include <array>

#include "ainfo/rows.h"
#include "base/hostlist.h"
#include "cli/text.h"

namespace ares::ainfo {
namespace {

struct StateWord {
  const char* word;
  std::string_view states;  // separated by blanks
};
constexpr std::array<StateWord, 13> kWords = {
    {{"idle", "IDLE"},
     {"mix", "MIXED"},
     {"mixed", "MIXED"},
     {"alloc", "ALLOCATED"},
     {"allocated", "ALLOCATED"},
     {"drain", "DRAINED DRAINING"},
     {"drained", "DRAINED"},
     {"draining", "DRAINING"},
     {"drng", "DRAINING"},
     {"down", "DOWN"},
     {"unk", "UNKNOWN"},
     {"unknown", "UNKNOWN"},
     {"all", "IDLE MIXED ALLOCATED DRAINED DRAINING DOWN UNKNOWN"}}};

const StateWord* find_word(const std::string& word) {
  for (const StateWord& row : kWords)
    if (word == row.word) return &row;
  return nullptr;
}

// Numbers inside names in their order: n2 before n10.
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

}  // namespace

cli::OptionTable options(Query& q) {
  cli::OptionTable table;
  table.environment_prefix = "AINFO_";
  table.options = {
      {'p', "partition", "NAMES", "Only these partitions.", cli::set_list(q.partitions)},
      {'n', "nodes", "NODES", "Only these nodes, such as n[1-3].",
       [&q](const std::string& value) -> Status {
         const auto names = expand_hostlist(value);
         if (!names) return fail(names.error());
         q.nodes = value;
         return {};
       }},
      {'t',
       "states",
       "STATES",
       "Only nodes in these states: idle, mix, alloc, drain, drained, draining, down, unknown.",
       [&q](const std::string& value) -> Status {
         q.states.clear();
         for (const std::string& word : cli::split(cli::lower(value), ',')) {
           if (!find_word(word))
             return fail(ErrorCode::invalid_argument, "Invalid node state specified: " + word);
           q.states.push_back(word);
         }
         return {};
       },
       {"state"}},
      {'s', "summarize", "", "One line for each partition, with counts.", cli::set_flag(q.summary)},
      {'N', "Node", "", "One line for each node and partition.", cli::set_flag(q.each_node)},
      {'l', "long", "", "More columns.", cli::set_flag(q.long_format)},
      {'R', "list-reasons", "", "Why nodes are drained or down, who said so and when.",
       cli::set_flag(q.reasons)},
      {'r', "responding", "", "Only nodes that answer.", cli::set_flag(q.responding)},
      {'d',
       "dead",
       "",
       "Only nodes that do not answer.",
       cli::set_flag(q.dead),
       {},
       {"responding"}},
      {'o', "format", "FORMAT", "Columns to print; see FORMAT.", cli::set_text(q.format)},
      {'h', "noheader", "", "No header.", cli::set_flag(q.no_header)},
      {0, "json", "", "Everything that is known, as JSON.", cli::set_flag(q.json)},
  };
  table.unbuilt = {{'O', "Format"},
                   {'i', "iterate"},
                   {'S', "sort"},
                   {'e', "exact", false},
                   {'T', "reservation", false},
                   {'a', "all", false},
                   {'M', "clusters"},
                   {'v', "verbose", false},
                   {0, "hide", false},
                   {0, "yaml", false},
                   {0, "future", false},
                   {'F', "future", false},
                   {0, "federation", false},
                   {0, "local", false},
                   {0, "noconvert", false}};
  cli::add_common_options(table, q.common, 0);
  return table;
}

std::string format_of(const Query& q) {
  if (!q.format.empty()) return q.format;
  if (q.reasons) return q.long_format ? "%20E %12u %19H %6t %N" : "%20E %9u %19H %N";
  if (q.summary) return "%#P %.5a %.10l %.16F %N";
  if (q.each_node)
    return q.long_format ? "%#N %.6D %#P %.11T %4c %.8m %#G %f %E" : "%#N %.6D %#P %6t";
  if (q.long_format) return "%#P %.5a %.10l %.6D %.11T %4c %.8m %#G %N";
  return "%#P %.5a %.10l %.6D %.6t %N";
}

std::vector<const api::Node*> select(const Query& q, const api::Nodes& nodes) {
  std::vector<const api::Node*> out;
  for (const api::Node& node : nodes.nodes()) {
    const bool silent = node.state().ends_with('*');
    const std::string state =
        silent ? node.state().substr(0, node.state().size() - 1) : node.state();
    const bool wanted = q.states.empty() ||
                        std::any_of(q.states.begin(), q.states.end(), [&](const std::string& word) {
                          const std::vector<std::string> meant =
                              cli::split(find_word(word)->states, ' ');
                          return std::find(meant.begin(), meant.end(), state) != meant.end();
                        });
    if (!wanted || (q.responding && silent) || (q.dead && !silent) ||
        (q.reasons && node.reason().empty()))
      continue;
    out.push_back(&node);
  }
  std::stable_sort(out.begin(), out.end(), [](const api::Node* a, const api::Node* b) {
    return natural_less(a->name(), b->name());
  });
  return out;
}

Result<std::string> print(const Query& q, const api::Partitions& partitions,
                          const api::Nodes& nodes) {
  const std::string format = format_of(q);
  const bool filtered = !q.states.empty() || !q.nodes.empty() || q.responding || q.dead;
  const Grouping grouping{q.each_node, q.reasons, !filtered && !q.each_node};
  const auto rows = group(format, partitions, select(q, nodes), grouping);
  if (!rows) return fail(rows.error());
  return cli::make_listing(format, columns(), *rows).map([&](const cli::Listing& listing) {
    return cli::layout(listing, !q.no_header);
  });
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "ainfo",
      .summary = "show partitions and nodes",
      .synopsis = {"[OPTIONS]"},
      .description = {"ainfo shows the partitions and how their nodes stand. Nodes of a partition "
                      "that look alike in the columns "
                      "shown share a line. A * behind a state marks nodes that do not answer."},
      .sections = {{"Format",
                    [] {
                      std::vector<std::string> texts = {
                          "A format is text with fields %[.][#][WIDTH]LETTER; a dot aligns to the "
                          "right, # makes the column as "
                          "wide as it needs. The default is \"%#P %.5a %.10l %.6D %.6t %N\". The "
                          "letters are:"};
                      for (std::string& line : cli::describe_columns(columns()))
                        texts.push_back(std::move(line));
                      return texts;
                    }()}},
      .examples = {{"ainfo -N -l", "Every node with what it has."},
                   {"ainfo -R", "Which nodes are out of service, and why."}},
      .see_also = {"aqueue(1)", "actl(1)"}};
  return text;
}

}  // namespace ares::ainfo
