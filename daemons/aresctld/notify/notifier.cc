#include "aresctld/notify/notifier.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "aresctld/notify/sender_process.h"
#include "model/job/mail.h"
#include "notify/message/message.h"

namespace ares::aresctld {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kTryAgain = 75;  // EX_TEMPFAIL of sysexits.h

}  // namespace

Notifier::Notifier(std::function<std::shared_ptr<const config::Config>()> config, SenderSite site)
    : Notifier(std::move(config), std::move(site), Bounds{}) {}

Notifier::Notifier(std::function<std::shared_ptr<const config::Config>()> config, SenderSite site,
                   Bounds bounds)
    : config_(std::move(config)), site_(std::move(site)), bounds_(bounds), queue_(bounds.queue) {}

Notifier::~Notifier() {
  stop();
}

void Notifier::start() {
  {
    const Lock lock(mutex_);
    config_seen_ = config_();
  }
  for (std::size_t i = 0; i < bounds_.queue.sent_at_once; ++i)
    threads_.emplace_back([this] { run(); });
}

void Notifier::post(std::vector<core::Notice> notices) {
  const SteadyTime now = Clock::now();
  // A mail server is given one recipient at a time, so that each has an outcome of its own.
  const bool one_by_one = !config_()->notify.smtp.server.empty();
  bool report_full = false;
  {
    const Lock lock(mutex_);
    if (stopping_) return;
    const auto add = [&](const core::Notice& notice, std::string hook) ARES_REQUIRES(mutex_) {
      if (queue_.add({notice, std::move(hook), ++last_number_, now, 0, {}})) return;
      report_full = report_full || dropped_ == 0;
      ++dropped_;
    };
    const auto add_mail = [&](core::Notice notice, std::string address) ARES_REQUIRES(mutex_) {
      notice.address = std::move(address);
      add(notice, "");
    };
    for (const core::Notice& notice : notices) {
      // Checked at submission already, but here it becomes an argument of a program.
      if (const Status good = check_mail_user(notice.address); !good) {
        spdlog::warn("no message about job {}: {}", notice.key.job.value(), good.error().message);
        continue;
      }
      const Recipients recipients = recipients_of(notice.address);
      std::string together;
      for (const std::string& address : recipients.addresses) {
        if (one_by_one)
          add_mail(notice, address);
        else
          together += (together.empty() ? "" : ",") + address;
      }
      if (!together.empty()) add_mail(notice, together);
      for (const std::string& webhook : recipients.webhooks) add(notice, webhook);
    }
  }
  wake_.notify_all();
  if (report_full)
    spdlog::warn(
        "too many messages about jobs wait to be sent ({} of one user or {} for one target); more "
        "are dropped until there is room again",
        bounds_.queue.of_user, bounds_.queue.of_target);
}

void Notifier::stop() {
  {
    const Lock lock(mutex_);
    if (!stopping_) stop_deadline_ = Clock::now() + bounds_.stop_timeout;
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  const Lock lock(mutex_);
  if (queue_.waiting() > 0)
    spdlog::warn("{} messages about jobs were not sent: stopping", queue_.waiting());
  queue_.clear();
}

void Notifier::run() {
  for (;;) {
    std::optional<Delivery> next;
    {
      Lock lock(mutex_);
      for (;;) {
        const SteadyTime now = Clock::now();
        if (stopping_ && now >= stop_deadline_) return;
        look_at_config();
        drop_expired();
        next = queue_.take(now);
        if (next) break;
        const auto due = queue_.next_due();
        // What is paused is not waited for. What another thread sends now is its own matter.
        if (stopping_ && (!due || *due > now)) return;
        // Again soon, because a changed configuration may end a pause.
        constexpr std::chrono::seconds kLook{1};
        if (due)
          wake_.wait_until(lock, std::min<SteadyTime>(*due, now + kLook));
        else
          wake_.wait(lock);
      }
    }
    const auto config = config_();
    std::string target;
    const Result result = send(*next, *config, target);
    finish(*std::move(next), result, *config, target);
  }
}

// What was wrong may have been mended.
void Notifier::look_at_config() {
  auto config = config_();
  if (config == config_seen_) return;
  config_seen_ = std::move(config);
  queue_.retry_now();
}

void Notifier::drop_expired() {
  const config::NotifyConfig& rules = config_seen_->notify;
  const auto expired = queue_.expire({rules.retry_after, rules.give_up_after}, Clock::now());
  for (const Delivery& delivery : expired)
    spdlog::warn(
        "gave up on a message about job {} to {}", delivery.notice.key.job.value(),
        delivery.webhook.empty() ? delivery.notice.address : "webhook " + delivery.webhook);
}

// `target`: its name, for logs.
Notifier::Result Notifier::send(const Delivery& delivery, const config::Config& config,
                                std::string& target) {
  const auto command = sender_command(delivery, config, site_);
  if (!command) return {Result::Kind::dropped, {}, command.error().message};
  target = command->target;
  if (command->words.empty()) return {Result::Kind::dropped, {}, ""};  // the site wants no mail
  return run_command(*command);
}

Notifier::Result Notifier::run_command(const SenderCommand& command) {
  using Kind = Result::Kind;
  const auto failed = [](std::string text) {
    return Result{Kind::failed, {true, Seconds(0)}, std::move(text)};
  };
  auto process = SenderProcess::start(
      command.words, command.input,
      command.is_notify ? SenderProcess::Output::kept : SenderProcess::Output::ignored);
  if (!process) {
    const bool is_missing = process.error().code == ErrorCode::not_found;
    // Without a mail program mail is dropped at once. ares-notify may be replaced at this moment.
    if (is_missing) note_start(command.words[0], process.error().message);
    if (is_missing && !command.is_notify) return {Kind::dropped, {}, ""};
    return failed("cannot run " + command.words[0] + ": " + process.error().message);
  }
  note_start(command.words[0], "");

  const milliseconds most = command.is_notify ? bounds_.notify_timeout : bounds_.timeout;
  const SteadyTime killed_at = Clock::now() + most;
  for (;;) {
    const SteadyTime deadline = until(killed_at);
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    // Check again regularly, because stop() may have shortened the deadline.
    constexpr milliseconds kLook{200};
    if (process->wait(std::clamp(left, milliseconds{0}, kLook))) break;
    if (Clock::now() < deadline) continue;
    if (deadline < killed_at) {
      process->detach();
      return {Kind::dropped, {}, ""};
    }
    process->kill();
    const std::string text =
        "took longer than " + std::to_string(most.count()) + " ms and was killed";
    return command.is_notify ? failed(text) : Result{Kind::dropped, {}, text};
  }
  if (!command.is_notify) {
    if (process->exit_code() == kTryAgain) return {Kind::failed, {}, "exited with 75"};
    const std::string how = process->failure();
    return {how.empty() ? Kind::sent : Kind::dropped, {}, how};
  }
  const auto outcome = notify::outcome_from_json(process->output());
  if (const std::string how = process->failure(); !how.empty() || !outcome)
    return failed("ares-notify gave no answer" + (how.empty() ? "" : ": it " + how));
  switch (outcome->kind) {
    case notify::Outcome::Kind::delivered: return {};
    case notify::Outcome::Kind::refused: return {Kind::dropped, {}, outcome->text};
    case notify::Outcome::Kind::later: break;
  }
  return {Kind::failed, {outcome->of_server, outcome->wait}, outcome->text};
}

void Notifier::finish_for_good(const Delivery& delivery, const Result& result,
                               const std::string& place) {
  bool is_well_again = false;
  {
    const Lock lock(mutex_);
    if (result.kind == Result::Kind::sent)
      is_well_again = queue_.sent(delivery);
    else
      queue_.dropped(delivery);
  }
  if (!result.text.empty())
    spdlog::warn("{}: no message about job {} to {}: {}", place, delivery.notice.key.job.value(),
                 delivery.webhook.empty() ? delivery.notice.address : delivery.notice.user,
                 result.text);
  if (is_well_again) spdlog::info("{} takes messages again", place);
}

void Notifier::finish(Delivery delivery, const Result& result, const config::Config& config,
                      const std::string& target) {
  const std::string place = target.empty() ? "webhook " + delivery.webhook : target;
  if (result.kind != Result::Kind::failed) {
    finish_for_good(delivery, result, place);
  } else {
    const auto job = delivery.notice.key.job.value();
    DeliveryQueue::AfterFailure after;
    {
      const Lock lock(mutex_);
      after = queue_.failed(std::move(delivery), result.failure,
                            {config.notify.retry_after, config.notify.give_up_after}, Clock::now());
    }
    if (after.gave_up)
      spdlog::warn("{}: gave up on a message about job {}: {}", place, job, result.text);
    if (after.is_news)
      spdlog::warn("{} takes no messages: {}; trying again in {} s", place, result.text,
                   after.pause.count());
    else if (!after.gave_up)
      spdlog::debug("{}: message about job {}: {}; trying again in {} s", place, job, result.text,
                    after.pause.count());
  }
  std::uint64_t dropped = 0;
  {
    const Lock lock(mutex_);
    if (queue_.is_half_empty()) dropped = std::exchange(dropped_, 0);
  }
  wake_.notify_all();
  if (dropped > 0)
    spdlog::warn("{} messages about jobs were dropped; there is room again", dropped);
}

// The process's own deadline, or that of stop() if it is earlier.
SteadyTime Notifier::until(SteadyTime own) {
  const Lock lock(mutex_);
  return stopping_ ? std::min(own, stop_deadline_) : own;
}

// Logs a problem with starting a program once; "": it was started.
void Notifier::note_start(const std::string& program, const std::string& problem) {
  {
    const Lock lock(mutex_);
    const auto known = unusable_.find(program);
    if (problem.empty()) {
      if (known != unusable_.end()) unusable_.erase(known);
      return;
    }
    if (known != unusable_.end() && known->second == problem) return;
    unusable_[program] = problem;
  }
  spdlog::warn("cannot run {}: {}; it sends no message until that is mended", program, problem);
}

}  // namespace ares::aresctld
