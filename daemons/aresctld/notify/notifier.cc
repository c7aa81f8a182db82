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
  for (std::size_t i = 0; i < bounds_.processes; ++i) threads_.emplace_back([this] { run(); });
}

void Notifier::post(std::vector<core::Notice> notices) {
  const SteadyTime now = Clock::now();
  bool report_full = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    const auto add = [&](const core::Notice& notice, const std::string& webhook) {
      if (!queue_.add({notice, webhook, ++last_number_, now, 0}))
        report_full = report_full || !std::exchange(full_reported_, true);
    };
    for (const core::Notice& notice : notices) {
      // Checked at submission already, but here it becomes an argument of a program.
      if (const Status good = check_mail_user(notice.address); !good) {
        spdlog::warn("no message about job {}: {}", notice.key.job.value(), good.error().message);
        continue;
      }
      const Recipients recipients = recipients_of(notice.address);
      if (!recipients.addresses.empty()) {
        core::Notice mail = notice;
        mail.address.clear();
        for (const std::string& address : recipients.addresses)
          mail.address += (mail.address.empty() ? "" : ",") + address;
        add(mail, "");
      }
      for (const std::string& webhook : recipients.webhooks) add(notice, webhook);
    }
  }
  wake_.notify_all();
  if (report_full)
    spdlog::warn(
        "too many messages about jobs wait to be sent ({} of one user, {} in all); more are "
        "dropped "
        "until there is room again",
        bounds_.queue.per_user, bounds_.queue.waiting);
}

void Notifier::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) stop_deadline_ = Clock::now() + bounds_.stop_timeout;
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  if (queue_.waiting() > 0)
    spdlog::warn("{} messages about jobs were not sent: stopping", queue_.waiting());
  queue_.clear();
}

void Notifier::run() {
  for (;;) {
    std::optional<Delivery> next;
    {
      std::unique_lock lock(mutex_);
      for (;;) {
        const SteadyTime now = Clock::now();
        if (stopping_ && now >= stop_deadline_) return;
        next = queue_.take(now);
        if (next) break;
        const auto due = queue_.next_due();
        // What is paused is not waited for. What another thread sends now is its own matter.
        if (stopping_ && (!due || *due > now)) return;
        if (due)
          wake_.wait_until(lock, *due);
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

// `target`: its name, for logs.
Notifier::Result Notifier::send(const Delivery& delivery, const config::Config& config,
                                std::string& target) {
  const auto command = sender_command(delivery, config, site_);
  if (!command) return {true, {}, command.error().message};
  target = command->target;
  if (command->words.empty()) return {};
  return run_command(*command);
}

Notifier::Result Notifier::run_command(const SenderCommand& command) {
  auto process = SenderProcess::start(
      command.words, command.input,
      command.is_notify ? SenderProcess::Output::kept : SenderProcess::Output::ignored);
  if (!process) {
    warn_once("cannot run " + command.words[0] + ": " + process.error().message);
    // Without a mail program mail is dropped at once. ares-notify belongs to the controller: it may be replaced at this moment.
    return {!command.is_notify, {true, Seconds(0)}, ""};
  }
  warn_once("");

  const SteadyTime killed_at = Clock::now() + bounds_.timeout;
  for (;;) {
    const SteadyTime deadline = until(killed_at);
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    // Check again regularly, because stop() may have shortened the deadline.
    constexpr milliseconds kLook{200};
    if (process->wait(std::clamp(left, milliseconds{0}, kLook))) break;
    if (Clock::now() < deadline) continue;
    if (deadline < killed_at) {
      process->detach();
      return {};
    }
    process->kill();
    const std::string text =
        "took longer than " + std::to_string(bounds_.timeout.count()) + " ms and was killed";
    return {!command.is_notify, {true, Seconds(0)}, text};
  }
  if (!command.is_notify) {
    if (process->exit_code() == kTryAgain) return {false, {}, "exited with 75"};
    return {true, {}, process->failure()};
  }
  const auto outcome = notify::outcome_from_json(process->output());
  if (!process->failure().empty() || !outcome)
    return {false,
            {true, Seconds(0)},
            "ares-notify gave no answer" +
                (process->failure().empty() ? "" : ": it " + process->failure())};
  if (outcome->kind == notify::Outcome::Kind::later)
    return {false, {outcome->of_server, outcome->wait}, outcome->text};
  return {true, {}, outcome->text};
}

void Notifier::finish(Delivery delivery, const Result& result, const config::Config& config,
                      const std::string& target) {
  const auto job = delivery.notice.key.job.value();
  const std::string place = target.empty() ? "webhook " + delivery.webhook : target;
  if (result.is_over) {
    bool is_well_again = false;
    {
      const std::lock_guard lock(mutex_);
      is_well_again = queue_.sent(delivery);
      if (queue_.is_half_empty()) full_reported_ = false;
    }
    wake_.notify_all();
    if (!result.text.empty())
      spdlog::warn("{}: no message about job {} to {}: {}", place, job,
                   delivery.webhook.empty() ? delivery.notice.address : delivery.notice.user,
                   result.text);
    else if (is_well_again)
      spdlog::info("{} takes messages again", place);
    return;
  }
  DeliveryQueue::AfterFailure after;
  {
    const std::lock_guard lock(mutex_);
    after = queue_.failed(std::move(delivery), result.failure,
                          {config.notify.retry_after, config.notify.give_up_after}, Clock::now());
  }
  wake_.notify_all();
  if (after.gave_up)
    spdlog::warn("{}: gave up on a message about job {}: {}", place, job, result.text);
  else if (after.is_news)
    spdlog::warn("{} takes no messages: {}; trying again in {} s", place, result.text,
                 after.pause.count());
  else
    spdlog::debug("{}: message about job {}: {}; trying again in {} s", place, job, result.text,
                  after.pause.count());
}

// The process's own deadline, or that of stop() if it is earlier.
SteadyTime Notifier::until(SteadyTime own) {
  const std::lock_guard lock(mutex_);
  return stopping_ ? std::min(own, stop_deadline_) : own;
}

// Logs the same problem only once in a row; "" resets it.
void Notifier::warn_once(const std::string& problem) {
  {
    const std::lock_guard lock(mutex_);
    if (last_warning_ == problem) return;
    last_warning_ = problem;
  }
  if (!problem.empty()) spdlog::warn("{}; no message is sent until that is mended", problem);
}

}  // namespace ares::aresctld
