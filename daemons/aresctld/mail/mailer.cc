#include "aresctld/mail/mailer.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "aresctld/mail/mail_program.h"
#include "aresctld/mail/mail_text.h"
#include "model/job/mail.h"

namespace ares::aresctld {

Mailer::Mailer(std::function<std::string()> program) : Mailer(std::move(program), Bounds{}) {}

Mailer::Mailer(std::function<std::string()> program, Bounds bounds)
    : program_(std::move(program)), bounds_(bounds) {}

Mailer::~Mailer() {
  stop();
}

void Mailer::start() {
  for (std::size_t i = 0; i < bounds_.programs; ++i) threads_.emplace_back([this] { run(); });
}

void Mailer::post(std::vector<core::Notice> notices) {
  std::size_t dropped = 0;
  bool report_full = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    for (core::Notice& notice : notices) {
      const auto own = queues_.find(notice.user);
      if (waiting_ >= bounds_.waiting ||
          (own != queues_.end() && own->second.size() >= bounds_.per_user)) {
        ++dropped;
        continue;
      }
      queues_[notice.user].push_back(std::move(notice));
      ++waiting_;
    }
    if (dropped > 0) report_full = !std::exchange(full_reported_, true);
  }
  wake_.notify_all();
  if (report_full)
    spdlog::warn(
        "too many mails wait for the mail program ({} of one user, {} in all); more are dropped "
        "until there is room again",
        bounds_.per_user, bounds_.waiting);
}

void Mailer::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) stop_deadline_ = std::chrono::steady_clock::now() + bounds_.stop_timeout;
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
  if (waiting_ > 0) spdlog::warn("{} mails were not sent: stopping", waiting_);
  queues_.clear();
  waiting_ = 0;
}

core::Notice Mailer::take_next() {
  auto turn = queues_.upper_bound(last_served_user_);
  if (turn == queues_.end()) turn = queues_.begin();
  last_served_user_ = turn->first;
  std::deque<core::Notice>& own = turn->second;
  core::Notice next = std::move(own.front());
  own.pop_front();
  --waiting_;
  // Reset at half of the bounds, so that each overflow is logged once.
  if (own.size() < bounds_.per_user / 2 && waiting_ < bounds_.waiting / 2) full_reported_ = false;
  if (own.empty()) queues_.erase(turn);
  return next;
}

void Mailer::run() {
  for (;;) {
    core::Notice next;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stopping_ || waiting_ > 0; });
      if (waiting_ == 0) return;
      if (stopping_ && std::chrono::steady_clock::now() >= stop_deadline_) return;
      next = take_next();
    }
    send(next);
  }
}

void Mailer::send(const core::Notice& notice) {
  const std::string program = program_();
  if (program.empty()) return;
  // Checked at submission already, but here it becomes an argument of a program.
  if (const Status good = check_mail_user(notice.address); !good)
    return spdlog::warn("no mail about job {}: {}", notice.key.job.value(), good.error().message);
  const MailText text = mail_text(notice);
  auto child = MailProgram::start({program, "-s", text.subject, notice.address}, text.body);
  if (!child) return warn_once("cannot run " + program + ": " + child.error().message);
  warn_once("");

  const auto started = std::chrono::steady_clock::now();
  const Deadline killed_at = started + bounds_.timeout;
  for (;;) {
    const Deadline deadline = until(killed_at);
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    // Check again regularly, because stop() may have shortened the deadline.
    constexpr std::chrono::milliseconds kLook{200};
    if (child->wait(std::clamp(left, std::chrono::milliseconds{0}, kLook))) break;
    if (std::chrono::steady_clock::now() < deadline) continue;
    if (deadline < killed_at) return child->detach();
    child->kill();
    return spdlog::warn("{} took longer than {} ms for the mail about job {} and was killed",
                        program, bounds_.timeout.count(), notice.key.job.value());
  }
  if (const std::string how = child->failure(); !how.empty())
    spdlog::warn("{} {} with the mail about job {} to {}", program, how, notice.key.job.value(),
                 notice.address);
}

// The program's own deadline, or that of stop() if it is earlier.
Mailer::Deadline Mailer::until(Deadline own) {
  const std::lock_guard lock(mutex_);
  return stopping_ ? std::min(own, stop_deadline_) : own;
}

// Logs the same problem only once in a row; "" resets it.
void Mailer::warn_once(const std::string& problem) {
  {
    const std::lock_guard lock(mutex_);
    if (last_warning_ == problem) return;
    last_warning_ = problem;
  }
  if (!problem.empty())
    spdlog::warn("{}; no mail is sent until that is mended (controller.mail_program)", problem);
}

}  // namespace ares::aresctld
