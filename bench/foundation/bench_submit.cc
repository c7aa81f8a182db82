// bench_submit: durable submissions over one connection with a bounded number in flight.
// Prints one JSON line: how many were acknowledged, in what time, and the latency of a single one.
//
//   bench_submit CONFIG COUNT IN_FLIGHT [SCRIPT]     jobs are submitted held, so that only
//   submission is measured
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "config/config.h"
#include "proto/gen/api.pb.h"
#include "rpc/client.h"

namespace {

using Clock = std::chrono::steady_clock;

ares::api::Request make_request(const std::string& script) {
  ares::api::Request request;
  request.set_request_id(ares::rpc::new_request_id());
  auto* submit = request.mutable_submit();
  submit->set_script(script);
  submit->set_environment(std::string("PATH=/usr/bin:/bin\0HOME=/\0", 24));
  auto* spec = submit->mutable_spec();
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
  return request;
}

// Keeps `in_flight` submissions under way until `count` have been answered.
class Run {
 public:
  Run(ares::rpc::Client& client, std::string script, std::size_t count)
      : client_(client), script_(std::move(script)), count_(count), latencies_(count) {}

  void operator()(std::size_t in_flight) {
    for (std::size_t i = 0; i < in_flight; ++i) next();
    std::unique_lock lock(mutex_);
    all_done_.wait(lock, [&] { return answered_ == count_; });
  }

  std::size_t failed() const { return failed_; }
  const std::string& first_error() const { return first_error_; }
  std::vector<double> sorted_latencies_ms() {
    std::sort(latencies_.begin(), latencies_.end());
    return latencies_;
  }

 private:
  void next() {
    std::size_t number = 0;
    {
      std::lock_guard lock(mutex_);
      if (started_ == count_) return;
      number = started_++;
    }
    const auto begin = Clock::now();
    client_.call_async(
        make_request(script_), [this, number, begin](ares::Result<ares::api::Response> response) {
          {
            std::lock_guard lock(mutex_);
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
  std::mutex mutex_;
  std::condition_variable all_done_;
  std::size_t started_ = 0, answered_ = 0, failed_ = 0;
  std::string first_error_;
  std::vector<double> latencies_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_submit CONFIG COUNT IN_FLIGHT\n");
    return 2;
  }
  const auto config = ares::config::load_client(argv[1]);
  if (!config) {
    std::fprintf(stderr, "bench_submit: %s\n", config.error().message.c_str());
    return 1;
  }
  const std::size_t count = std::strtoul(argv[2], nullptr, 10);
  const std::size_t in_flight = std::strtoul(argv[3], nullptr, 10);
  ares::rpc::ClientOptions options;
  options.addresses = config->connect;
  options.munge_socket = config->munge_socket;
  options.server_uid = config->controller_uid;
  auto client = ares::rpc::Client::open(std::move(options));
  if (!client) {
    std::fprintf(stderr, "bench_submit: %s\n", client.error().message.c_str());
    return 1;
  }
  Run run(*client, "#!/bin/sh\ntrue\n", count);
  const auto begin = Clock::now();
  run(in_flight);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto latencies = run.sorted_latencies_ms();
  const auto at = [&](double q) {
    return latencies[static_cast<std::size_t>(q * static_cast<double>(latencies.size() - 1))];
  };
  std::printf(
      "{\"submissions\": %zu, \"in_flight\": %zu, \"failed\": %zu, \"seconds\": %.4f, "
      "\"per_second\": %.1f, \"p50_ms\": %.3f, "
      "\"p95_ms\": %.3f, \"p99_ms\": %.3f}\n",
      count, in_flight, run.failed(), seconds, static_cast<double>(count) / seconds, at(0.5),
      at(0.95), at(0.99));
  if (run.failed() > 0) std::fprintf(stderr, "bench_submit: %s\n", run.first_error().c_str());
  return run.failed() == 0 ? 0 : 1;
}
