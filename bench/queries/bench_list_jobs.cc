// bench_list_jobs: the cost of listing a long queue inside the controller, and of formatting it in aqueue,
// without the network. Items per second are jobs; the counter `bytes` is the size of the messages.
#include <benchmark/benchmark.h>

#include <string>

#include "aqueue/query.h"
#include "aqueue/report.h"
#include "aresctld/query/queries.h"
#include "proto/table.h"

namespace ares {
namespace {

constexpr std::uint32_t kJobs = 10'000;
constexpr Time kNow{Duration(1'900'000'000'000'000)};

aresctld::View long_queue(bool same_names) {
  ClusterState state;
  Partition main;
  main.name = "main";
  main.default_time = Seconds(3600);
  state.partitions.set("main", main);
  PendingInfos pending;
  for (std::uint32_t i = 1; i <= kJobs; ++i) {
    auto spec = std::make_shared<JobSpec>();
    spec->name = same_names ? "train" : "train-" + std::to_string(i);
    spec->user = "user" + std::to_string(i % 20);
    spec->uid = UserId(1000 + i % 20);
    spec->account = "physics";
    spec->qos = "normal";
    spec->partitions = {"main"};
    spec->work_dir = "/home/" + spec->user + "/runs/" + std::to_string(i);
    spec->command = "/home/" + spec->user + "/train.sh";
    spec->submit_host = "login1.example.org";
    Job job;
    job.key = {JobId(i), {}};
    job.own_id = JobId(i);
    job.spec = std::move(spec);
    job.priority = i % 7;
    job.submitted = kNow - Seconds(i);
    state.pending.set(job.key, Lsn(i));
    pending.set(job.key, PendingInfo{Reason::priority, {}, {}, {}});
    const auto job_key = job.key;
    state.jobs.set(job_key, std::move(job));
  }
  return {std::make_shared<ClusterState>(std::move(state)),
          std::make_shared<PendingInfos>(std::move(pending))};
}

api::ListJobs request_of(const aqueue::Query& query) {
  api::ListJobs request = aqueue::filter_of(query, 0);
  const auto report = aqueue::make_report(query, 0);
  for (const std::uint32_t field : (*report)->fields()) request.add_fields(field);
  return request;
}

// Reads all pages, as aqueue does.
std::vector<api::Jobs> read(const aresctld::View& view, api::ListJobs request) {
  const Policy policy;
  std::vector<api::Jobs> pages;
  do {
    pages.push_back(*aresctld::list_jobs(view, policy, request, kNow));
    *request.mutable_after() = pages.back().next();
  } while (pages.back().has_next());
  return pages;
}

aqueue::Query query_of(bool json) {
  aqueue::Query query;
  if (json) query.listing.document.form = cli::DocumentForm::json;
  return query;
}

void serve(benchmark::State& run, bool json, bool same_names) {
  const aresctld::View view = long_queue(same_names);
  const api::ListJobs request = request_of(query_of(json));
  std::size_t bytes = 0;
  for ([[maybe_unused]] auto _ : run) {
    bytes = 0;
    for (const api::Jobs& page : read(view, request)) bytes += page.SerializeAsString().size();
  }
  run.SetItemsProcessed(run.iterations() * kJobs);
  run.counters["bytes"] = static_cast<double>(bytes);
}

void print(benchmark::State& run, bool json) {
  const aqueue::Query query = query_of(json);
  std::vector<std::string> pages;
  for (const api::Jobs& page : read(long_queue(true), request_of(query)))
    pages.push_back(page.SerializeAsString());
  std::size_t bytes = 0;
  for ([[maybe_unused]] auto _ : run) {
    const auto report = aqueue::make_report(query, 0);
    api::Jobs page;
    bytes = 0;
    for (const std::string& text : pages) {
      if (!page.ParseFromString(text) || !aqueue::add_rows(page, **report))
        return run.SkipWithError("a page cannot be read");
      bytes += (*report)->ready().size();
    }
    bytes += (*report)->finish(page, false).size();
  }
  run.SetItemsProcessed(run.iterations() * kJobs);
  run.counters["bytes"] = static_cast<double>(bytes);
}

void serve_listing(benchmark::State& run) {
  serve(run, false, true);
}
void serve_listing_of_unlike_names(benchmark::State& run) {
  serve(run, false, false);
}
void serve_json(benchmark::State& run) {
  serve(run, true, true);
}
void print_listing(benchmark::State& run) {
  print(run, false);
}
void print_json(benchmark::State& run) {
  print(run, true);
}

void serve_one_job(benchmark::State& run) {
  const aresctld::View view = long_queue(true);
  api::ListJobs request = request_of(query_of(false));
  request.add_jobs()->set_job(kJobs / 2);
  for ([[maybe_unused]] auto _ : run) benchmark::DoNotOptimize(read(view, request));
}

BENCHMARK(serve_listing)->Unit(benchmark::kMillisecond);
BENCHMARK(serve_listing_of_unlike_names)->Unit(benchmark::kMillisecond);
BENCHMARK(serve_json)->Unit(benchmark::kMillisecond);
BENCHMARK(serve_one_job)->Unit(benchmark::kMicrosecond);
BENCHMARK(print_listing)->Unit(benchmark::kMillisecond);
BENCHMARK(print_json)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ares

BENCHMARK_MAIN();
