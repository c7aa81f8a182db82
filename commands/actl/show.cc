#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "actl/command.h"
#include "actl/describe.h"
#include "base/hostlist.h"
#include "cli/jobs/past_jobs.h"
#include "cli/output/colour.h"
#include "cli/output/json.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"
#include "model/job/job.h"

namespace ares::actl {
namespace {

// Host names contain no characters that JSON must escape; expand_hostlist() has checked that.
void print_list(const cli::Document& form, const std::vector<std::string>& names) {
  const std::string quote = names.empty() ? "" : "\"";
  cli::print_document(form, "[" + quote + cli::join(names, "\", \"") + quote + "]\n");
}

// Number of waiting jobs, of those named on the command line, that are explained. Each explanation
// costs scheduler passes.
constexpr int kExplained = 20;

std::optional<api::Explanation> explain(Context& context, const api::Job& job) {
  if (parse_job_state(job.state()) != JobState::pending) return std::nullopt;
  api::Request request;
  *request.mutable_explain_job()->mutable_job() = job.key();
  auto response = context.call(std::move(request));
  if (!response)
    // The job has ended since, or the controller is busy; the rest of the listing is still printed.
    return std::nullopt;
  return std::move(*response->mutable_explanation());
}

// `key`: of its state, which may be coloured.
void put_described(const Context& context, std::string text, std::string_view key) {
  if (cli::colours_on(context.flags.colour)) text = with_coloured_state(std::move(text), key);
  std::fputs(text.c_str(), stdout);
}

// What accounting has of the jobs that the answer misses. not_found: one that it does not have either.
Result<std::vector<api::AccountingRow>> past_rows(Context& context, const api::Jobs& jobs) {
  auto past = cli::read_past_jobs_of([&](const api::Request& page) { return context.call(page); },
                                     jobs.missing());
  if (!past) {
    const Error unknown = cli::unknown_job(cli::key_of(jobs.missing(0)));
    return fail(unknown.code,
                unknown.message + "; accounting does not answer: " + past.error().message);
  }
  if (!past->unknown.empty()) return tl::unexpected(cli::unknown_job(past->unknown.front()));
  return std::move(past->rows);
}

}  // namespace

std::string with_coloured_state(std::string text, std::string_view key) {
  // Behind a blank, or the blanks of a new line.
  const std::string before = " " + std::string(key) + "=";
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return text;
  const std::size_t begin = at + before.size();
  const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
  const std::string word = text.substr(begin, end - begin);
  std::string coloured;
  // "IDLE+DRAIN" is in the colour of a node out of service.
  cli::put_coloured(word, word.ends_with("+DRAIN") ? "DRAINED" : word, coloured);
  return text.replace(begin, end - begin, coloured);
}

Result<int> show_jobs(Context& context, const Words& operands) {
  api::Request request;
  request.mutable_list_jobs()->set_skip_missing(!operands.empty());
  request.mutable_list_jobs()->set_details(true);
  for (const std::string& word : operands) {
    const auto keys = cli::parse_job_ids(word);
    if (!keys) return fail(keys.error());
    cli::add_refs(request.mutable_list_jobs()->mutable_jobs(), *keys);
  }
  auto response = context.call_for_all(request);
  if (!response) return fail(response.error());
  remove_divided_arrays(*response->mutable_jobs());
  const auto past = past_rows(context, response->jobs());
  if (!past) return fail(past.error());
  if (context.flags.document) {
    for (const api::AccountingRow& row : *past)
      *response->mutable_jobs()->add_jobs() = cli::job_of(row);
    cli::print_document(context.flags.document, cli::to_json(response->jobs()));
    return 0;
  }
  const Time now{Duration(response->jobs().now())};
  for (const api::AccountingRow& row : *past)
    put_described(context, describe(row, now, context.flags.one_line), "JobState");
  int explained = operands.empty() ? kExplained : 0;
  for (const api::Job& job : response->jobs().jobs()) {
    std::optional<api::Explanation> why;
    if (explained < kExplained && (why = explain(context, job))) ++explained;
    put_described(
        context,
        describe(job, now, context.flags.one_line, context.flags.details, why ? &*why : nullptr),
        "JobState");
  }
  if (response->jobs().jobs().empty() && past->empty() && !context.flags.quiet)
    std::puts("No jobs in the system");
  return 0;
}

Result<int> show_nodes(Context& context, const Words& operands) {
  const std::string list = cli::join(operands, ",");
  if (const auto names = expand_hostlist(list); !names) return fail(names.error());
  if (context.flags.history) return show_node_history(context, list);
  api::Request request;
  request.mutable_list_nodes()->set_nodes(list);
  const auto response = context.call_for_all(request);
  if (!response) return fail(response.error());
  if (context.flags.document) {
    cli::print_document(context.flags.document, cli::to_json(response->nodes()));
    return 0;
  }
  for (const api::Node& node : response->nodes().nodes())
    put_described(context, describe(node, context.flags.one_line), "State");
  return 0;
}

Result<int> show_partitions(Context& context, const Words& operands) {
  api::Request request;
  request.mutable_list_partitions();
  for (const std::string& word : operands)
    for (const std::string& name : cli::split(word, ','))
      request.mutable_list_partitions()->add_names(name);
  const auto response = context.call(request);
  if (!response) return fail(response.error());
  if (context.flags.document) {
    cli::print_document(context.flags.document, cli::to_json(response->partitions()));
    return 0;
  }
  api::Request members;
  members.mutable_list_nodes();
  const auto nodes = context.call_for_all(members);
  if (!nodes) return fail(nodes.error());
  for (const api::Partition& partition : response->partitions().partitions())
    std::fputs(describe(partition, nodes->nodes(), context.flags.one_line).c_str(), stdout);
  return 0;
}

Result<int> show_reservations(Context& context, const Words& operands) {
  api::Request request;
  request.mutable_list_reservations();
  for (const std::string& word : operands)
    for (const std::string& name : cli::split(word, ','))
      request.mutable_list_reservations()->add_names(name);
  const auto response = context.call(request);
  if (!response) return fail(response.error());
  const api::Reservations& all = response->reservations();
  if (context.flags.document) {
    cli::print_document(context.flags.document, cli::to_json(all));
    return 0;
  }
  for (const api::Reservation& one : all.reservations())
    std::fputs(describe(one, context.flags.one_line).c_str(), stdout);
  if (all.reservations().empty() && !context.flags.quiet)
    std::puts("No reservations in the system");
  return 0;
}

Result<int> show_licenses(Context& context, const Words& operands) {
  api::Request request;
  request.mutable_list_licenses();
  for (const std::string& word : operands)
    for (const std::string& name : cli::split(word, ','))
      request.mutable_list_licenses()->add_names(name);
  const auto response = context.call(request);
  if (!response) return fail(response.error());
  const api::Licenses& all = response->licenses();
  if (context.flags.document) {
    cli::print_document(context.flags.document, cli::to_json(all));
    return 0;
  }
  for (const api::Licenses::License& one : all.licenses())
    std::fputs(describe(one, context.flags.one_line).c_str(), stdout);
  if (all.licenses().empty() && !context.flags.quiet) std::puts("No licenses configured in Ares.");
  return 0;
}

Result<int> show_plugins(Context& context, const Words& operands) {
  if (!operands.empty()) return fail(ErrorCode::invalid_argument, "show plugins takes no argument");
  api::Request request;
  request.mutable_list_plugins();
  const auto response = context.call(request);
  if (!response) return fail(response.error());
  const api::Plugins& all = response->plugins();
  if (context.flags.document) {
    cli::print_document(context.flags.document, cli::to_json(all));
    return 0;
  }
  for (const api::Plugins::Plugin& one : all.plugins())
    std::fputs(describe(one, context.flags.one_line).c_str(), stdout);
  if (all.plugins().empty() && !context.flags.quiet) std::puts("No plugins in the scheduler");
  return 0;
}

Result<int> show_config(Context& context, const Words& operands) {
  if (!operands.empty()) return fail(ErrorCode::invalid_argument, "show config takes no argument");
  api::Request request;
  request.mutable_show_config();
  const auto response = context.call(request);
  if (!response) return fail(response.error());
  const std::string& yaml = response->config().yaml();
  if (context.flags.document)
    cli::print_document(context.flags.document, cli::to_json(response->config()));
  else
    std::fputs(yaml.c_str(), stdout);
  return 0;
}

Result<int> show_host_names(Context& context, const Words& operands) {
  std::string list = cli::join(operands, ",");
  if (list.empty()) {
    const char* of_job = std::getenv("ARES_JOB_NODELIST");
    if (!of_job || !*of_job)
      return fail(ErrorCode::invalid_argument,
                  "name a host list, such as n[1-4]; ARES_JOB_NODELIST is not set");
    list = of_job;
  }
  const auto names = expand_hostlist(list);
  if (!names) return fail(names.error());
  if (context.flags.document)
    print_list(context.flags.document, *names);
  else
    for (const std::string& name : *names) std::printf("%s\n", name.c_str());
  return 0;
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// n2 before n10.
bool precedes(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [](std::string_view text, std::size_t& at) {
      while (at + 1 < text.size() && text[at] == '0' && is_digit(text[at + 1])) ++at;
      const std::size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string_view x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

void sort_names(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end(), precedes);
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

Result<int> print_host_list(Context& context, const Words& operands, bool sorted) {
  auto names = expand_hostlist(cli::join(operands, ","));
  if (!names) return fail(names.error());
  if (sorted) sort_names(*names);
  if (names->empty()) return fail(ErrorCode::invalid_argument, "name the hosts");
  if (context.flags.document)
    print_list(context.flags.document, {compress_hostlist(*names)});
  else
    std::printf("%s\n", compress_hostlist(*names).c_str());
  return 0;
}

}  // namespace

Result<int> show_host_list(Context& context, const Words& operands) {
  return print_host_list(context, operands, false);
}

Result<int> show_sorted_host_list(Context& context, const Words& operands) {
  return print_host_list(context, operands, true);
}

}  // namespace ares::actl
