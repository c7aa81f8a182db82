#include "exec/kubernetes/api/object_watch.h"

#include <algorithm>
#include <utility>

namespace ares::kubernetes {
namespace {

// The server ends a watch itself; if it does not, the connection is dead.
constexpr Seconds kLate{30};

}  // namespace

ObjectWatch::ObjectWatch(ApiClient& client, WatchScope scope, const WatchSettings& settings,
                         std::uint64_t seed, Reflector::Observer observer,
                         std::function<BootTime()> now)
    : client_(client),
      scope_(std::move(scope)),
      settings_(settings),
      reflector_(settings.reflector, seed, std::move(observer)),
      now_(std::move(now)) {
  plan(reflector_.begin());
}

ObjectWatch::~ObjectWatch() {
  if (call_ != 0) client_.cancel(call_);
}

void ObjectWatch::plan(Reflector::Step step) {
  at_ = now_() + step.delay;
  const bool is_now = step.delay == Duration{};
  next_ = std::move(step);
  if (is_now) perform();
}

void ObjectWatch::plan_later(Reflector::Step step, Duration at_least) {
  step.delay = std::max(step.delay, at_least);
  plan(std::move(step));
}

void ObjectWatch::dispatch() {
  if (at_ && now_() >= *at_) perform();
}

void ObjectWatch::perform() {
  at_.reset();
  const Reflector::Step step = *std::exchange(next_, std::nullopt);
  if (const auto* page = std::get_if<Reflector::ListStep>(&step.what)) return list(*page);
  watch(std::get<Reflector::WatchStep>(step.what));
}

ApiRequest ObjectWatch::request_of(Call call) const {
  // Not behind what the agent has to write: what is written next depends on what has happened.
  ApiRequest request{.call = call, .turn = Turn::urgent};
  request.target.space = scope_.space;
  if (!scope_.label_selector.empty())
    request.query.emplace_back("labelSelector", scope_.label_selector);
  if (!scope_.field_selector.empty())
    request.query.emplace_back("fieldSelector", scope_.field_selector);
  return request;
}

void ObjectWatch::list(const Reflector::ListStep& step) {
  ApiRequest request = request_of(scope_.list);
  if (step.limit != 0) request.query.emplace_back("limit", std::to_string(step.limit));
  if (!step.continue_token.empty()) request.query.emplace_back("continue", step.continue_token);
  request.most_of_answer = settings_.most_of_page;
  request.is_single = true;
  call_ = client_.call(std::move(request), [this](ApiResult result) {
    call_ = 0;
    if (result) return plan(reflector_.take_page(result->body));
    const ApiFailure& failure = result.error();
    plan_later(reflector_.list_failed(failure.failure, failure.error.message), failure.delay);
  });
}

void ObjectWatch::watch(const Reflector::WatchStep& step) {
  ApiRequest request = request_of(scope_.watch);
  request.query.emplace_back("resourceVersion", step.resource_version);
  request.query.emplace_back("allowWatchBookmarks", "true");
  request.query.emplace_back("timeoutSeconds", std::to_string(step.timeout.count()));
  request.timeout = std::chrono::milliseconds(step.timeout + kLate);
  request.idle_timeout = settings_.idle_timeout;
  request.is_single = true;
  began_ = now_();
  call_ = client_.call(
      std::move(request),
      [this](ApiResult result) {
        call_ = 0;
        const Duration lasted = now_() - began_;
        if (result) return plan(reflector_.watch_ended(Failure::none, "", lasted));
        const ApiFailure& failure = result.error();
        // Silence says nothing about the version: the watch goes on from there.
        plan_later(reflector_.watch_ended(failure.is_silence && lasted >= settings_.idle_timeout
                                              ? Failure::none
                                              : failure.failure,
                                          failure.error.message, lasted),
                   failure.delay);
      },
      [this](std::string_view bytes) {
        auto next = reflector_.take_bytes(bytes);
        if (!next) return;
        client_.cancel(std::exchange(call_, 0));
        plan(std::move(*next));
      });
}

}  // namespace ares::kubernetes
