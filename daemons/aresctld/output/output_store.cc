#include "aresctld/output/output_store.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "proto/convert.h"

namespace ares::aresctld {
namespace {

// More than nodes send before they are answered, unless there are very many.
constexpr std::size_t kMostBytes = std::size_t{128} << 20;
// No job prints more; the database adds sizes up as signed numbers.
constexpr std::uint64_t kMostOffset = std::uint64_t{1} << 60;
constexpr std::chrono::seconds kLookAgain{1};  // at deadlines

struct Place {
  store::OutputKey key;
  UserId owner;
};

// Where the part belongs; none: to no attempt that this node runs now.
std::optional<Place> place_of(const ClusterState& state, const std::string& node,
                              const api::OutputPart& part) {
  const auto attempt = proto::from_api(part.attempt());
  if (!attempt || part.offset() > kMostOffset) return std::nullopt;
  const Job* job = state.jobs.find(attempt->job);
  if (!job || job->attempt != attempt->attempt || !job->allocation ||
      job->allocation->fence != Fence(part.fence()))
    return std::nullopt;
  std::uint32_t rank = 0;
  for (const NodeShare& share : job->allocation->nodes) {
    const Node* of = state.nodes.find(share.node);
    if (of && of->name == node) return Place{{job->key, job->attempt, rank}, job->spec->uid};
    ++rank;
  }
  return std::nullopt;
}

}  // namespace

void OutputStore::start() {
  thread_ = std::thread([this] { run(); });
}

void OutputStore::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void OutputStore::add(const std::string& node, api::OutputPart part, Answer answer) {
  const Lock lock(mutex_);
  if (stopping_) return;
  if (bytes_ + part.data().size() > kMostBytes) return;
  bytes_ += part.data().size();
  parts_.push_back({node, std::move(part), std::move(answer)});
  wake_.notify_all();
}

OutputStore::Ticket OutputStore::await(JobKey job, std::chrono::seconds most,
                                       std::function<void()> more) {
  const Lock lock(mutex_);
  waiters_.emplace(++last_ticket_, Waiter{job, Steady::now() + most, std::move(more)});
  return last_ticket_;
}

bool OutputStore::cancel(Ticket ticket) {
  const Lock lock(mutex_);
  return waiters_.erase(ticket) > 0;
}

void OutputStore::call(const std::function<bool(const Waiter&)>& which) {
  std::vector<std::function<void()>> called;
  {
    const Lock lock(mutex_);
    for (auto it = waiters_.begin(); it != waiters_.end();) {
      if (which(it->second)) {
        called.push_back(std::move(it->second.more));
        it = waiters_.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (const auto& more : called) more();
}

void OutputStore::run() {
  for (;;) {
    std::optional<Waiting> next;
    {
      Lock lock(mutex_);
      wake_.wait_for(lock, kLookAgain,
                     [this]() ARES_REQUIRES(mutex_) { return stopping_ || !parts_.empty(); });
      if (stopping_) break;
      if (!parts_.empty()) {
        next = std::move(parts_.front());
        parts_.pop_front();
        bytes_ -= next->part.data().size();
      }
    }
    if (next) store(*next);
    call([now = Steady::now()](const Waiter& waiter) { return waiter.until <= now; });
  }
  call([](const Waiter&) { return true; });
  const Lock lock(mutex_);
  parts_.clear();  // with the sessions that they hold
}

void OutputStore::store(const Waiting& waiting) {
  const api::OutputPart& part = waiting.part;
  api::OutputStored answer;
  *answer.mutable_attempt() = part.attempt();
  answer.set_fence(part.fence());
  const View view = views_.read();
  const auto place = place_of(*view.state, waiting.node, part);
  if (!place) {
    // Nothing waits for it: the node may forget it.
    answer.set_size(part.offset() + part.data().size());
    answer.set_ended(part.ended());
    return waiting.answer(answer);
  }
  const auto stored = writer_.append(place->key, place->owner, part.offset(), part.data(),
                                     part.ended(), config_.read()->retention.job_output_limit);
  const std::string warning = stored ? "" : stored.error().message;
  if (!warning.empty() && warning != last_warning_)
    spdlog::warn("output of jobs cannot be stored: {}", warning);
  last_warning_ = warning;
  if (!stored) return;
  answer.set_size(stored->size);
  answer.set_ended(stored->ended);
  waiting.answer(answer);
  call([&](const Waiter& waiter) { return waiter.job == place->key.job; });
}

}  // namespace ares::aresctld
