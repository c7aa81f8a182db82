// bench_submit: durable submissions over one connection with a bounded number in flight.
// Prints one JSON line: number of submissions and failures, total time, and latency of a request.
//
//   bench_submit CONFIG COUNT IN_FLIGHT [BATCH]     jobs are submitted held, so that only submission is measured;
//   with BATCH above 1 each request has this many jobs
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "config/config.h"
#include "proto/gen/api.pb.h"
#include "rpc/client/client.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr char kVariables[] = "PATH=/usr/bin:/bin\0HOME=/";  // each ends with a NUL
const std::string kEnvironment(kVariables, sizeof kVariables);

void fill(ares::api::JobSpec* spec) {
  spec->set_name("bench");
  spec->set_min_nodes(1);
  spec->set_max_nodes(1);
  spec->set_tasks(1);
  spec->set_cpus_per_task(1);
  spec->set_hold(true);
  spec->set_submit_dir("/tmp");
  spec->set_work_dir("/tmp");
  spec->set_std_out("/dev/null");
  spec->set_umask(022);
  spec->set_command("bench");
}

ares::api::Request make_request(const std::string& script, std::size_t jobs) {
  ares::api::Request request;
  request.set_request_id(ares::rpc::new_request_id());
  if (jobs == 1) {
    auto* submit = request.mutable_submit();
    submit->set_script(script);
    submit->set_environment(kEnvironment);
    fill(submit->mutable_spec());
    return request;
  }
  auto* submit = request.mutable_submit_many();
  submit->add_scripts(script);
  submit->add_environments(kEnvironment);
  for (std::size_t i = 0; i < jobs; ++i) fill(submit->add_items()->mutable_spec());
  return request;
}

// Keeps `in_flight` requests of `batch` jobs in flight until `count` requests have been answered.
class Run {
 public:
  Run(ares::rpc::Client& client, std::string script, std::size_t count, std::size_t batch)
      : client_(client),
        script_(std::move(script)),
        count_(count),
        batch_(batch),
        latencies_(count) {}

  void operator()(std::size_t in_flight) {
    for (std::size_t i = 0; i < in_flight; ++i) next();
    ares::Lock lock(mutex_);
    all_done_.wait(lock, [&]() ARES_REQUIRES(mutex_) { return answered_ == count_; });
  }

  std::size_t failed() {
    const ares::Lock lock(mutex_);
    return failed_;
  }
  std::string first_error() {
    const ares::Lock lock(mutex_);
    return first_error_;
  }
  std::vector<double> sorted_latencies_ms() {
    const ares::Lock lock(mutex_);
    std::sort(latencies_.begin(), latencies_.end());
    return latencies_;
  }

 private:
  void next() {
    std::size_t number = 0;
    {
      const ares::Lock lock(mutex_);
      if (started_ == count_) return;
      number = started_++;
    }
    const auto begin = Clock::now();
    client_.call_async(
        make_request(script_, batch_),
        [this, number, begin](ares::Result<ares::api::Response> response) {
          {
            const ares::Lock lock(mutex_);
            latencies_[number] =
                std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
            if (!response && failed_++ == 0) first_error_ = response.error().message;
            if (++answered_ == count_) all_done_.notify_one();
          }
          next();
        });
  }

  ares::rpc::Client& client_;
  const std::string script_;
  const std::size_t count_;
  const std::size_t batch_;
  ares::Mutex mutex_;
  ares::Condition all_done_;
  std::size_t started_ ARES_GUARDED_BY(mutex_) = 0;
  std::size_t answered_ ARES_GUARDED_BY(mutex_) = 0;
  std::size_t failed_ ARES_GUARDED_BY(mutex_) = 0;
  std::string first_error_ ARES_GUARDED_BY(mutex_);
  std::vector<double> latencies_ ARES_GUARDED_BY(mutex_);
};

// 0 if the text is not a whole number.
std::size_t number(const char* text) {
  std::size_t value = 0;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  return read.ec == std::errc() && read.ptr == end ? value : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 3 ? number(argv[2]) : 0;
  const std::size_t in_flight = argc > 3 ? number(argv[3]) : 0;
  const std::size_t batch = argc > 4 ? number(argv[4]) : 1;
  if (argc > 5 || count == 0 || in_flight == 0 || batch == 0) {
    std::fprintf(stderr, "usage: bench_submit CONFIG COUNT IN_FLIGHT [BATCH]\n");
    return 2;
  }
  const auto config = ares::config::load_client(argv[1]);
  if (!config) {
    std::fprintf(stderr, "bench_submit: %s\n", config.error().message.c_str());
    return 1;
  }
  const std::size_t requests = (count + batch - 1) / batch;
  ares::rpc::ClientOptions options;
  options.addresses = config->connect;
  options.munge_socket = config->munge_socket;
  options.server_uid = config->controller_uid;
  auto client = ares::rpc::Client::open(std::move(options));
  if (!client) {
    std::fprintf(stderr, "bench_submit: %s\n", client.error().message.c_str());
    return 1;
  }
  Run run(*client, "#!/bin/sh\ntrue\n", requests, batch);
  const auto begin = Clock::now();
  run(in_flight);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto latencies = run.sorted_latencies_ms();
  const auto at = [&](double q) {
    return latencies[static_cast<std::size_t>(q * static_cast<double>(latencies.size() - 1))];
  };
  std::printf(
      "{\"submissions\": %zu, \"batch\": %zu, \"in_flight\": %zu, \"failed\": %zu, \"seconds\": "
      "%.4f, "
      "\"per_second\": %.1f, \"p50_ms\": %.3f, "
      "\"p95_ms\": %.3f, \"p99_ms\": %.3f}\n",
      requests * batch, batch, in_flight, run.failed(), seconds,
      static_cast<double>(requests * batch) / seconds, at(0.5), at(0.95), at(0.99));
  if (run.failed() > 0) std::fprintf(stderr, "bench_submit: %s\n", run.first_error().c_str());
  return run.failed() == 0 ? 0 : 1;
}
