#include "exec/mock/simulated_tree.h"

#include <algorithm>
#include <charconv>
#include <csignal>

namespace ares::exec {
namespace {

// Signals whose default action does not end or stop a process, of those that jobs commonly get.
bool is_harmless(int signal) {
  return signal == 0 || signal == SIGCONT || signal == SIGCHLD || signal == SIGURG ||
         signal == SIGWINCH;
}

}  // namespace

void SimulatedTree::open_gate() {
  runs_until_ = now_ + left_;
}

void SimulatedTree::end(int code, int signal) {
  if (ended_ || announced_) return;
  runs_until_.reset();
  ended_ = ExitStatus{};
  ended_->code = code;
  ended_->signal = signal;
}

// A simulated job is its script alone.
void SimulatedTree::signal(std::int32_t signal, node::SignalTo to) {
  if (to == node::SignalTo::others) return;
  if (!is_harmless(signal) && signal != SIGSTOP) end(0, signal);
}

bool SimulatedTree::freeze() {
  if (runs_until_) left_ = std::max(Duration::zero(), Duration(*runs_until_ - now_));
  runs_until_.reset();
  return true;
}

void SimulatedTree::thaw() {
  if (!ended_ && !announced_) runs_until_ = now_ + left_;
}

void SimulatedTree::kill_all() {
  end(0, SIGKILL);
  killed_ = true;
}

std::optional<BootTime> SimulatedTree::due() const {
  if (ended_ || killed_) return now_;
  return runs_until_;
}

void SimulatedTree::announce(node::StepMachine& machine, node::Moment now) {
  now_ = now.boot;
  if (runs_until_ && *runs_until_ <= now.boot) end(exit_code_, 0);
  if (ended_ && !announced_) {
    announced_ = true;
    const ExitStatus exit = *ended_;
    ended_.reset();
    machine.task_ended(exit, {}, now);  // calls kill_all()
  }
  if (killed_ && announced_ && !machine.finished()) {
    killed_ = false;
    machine.tree_gone({}, false, now);
  }
}

std::optional<Duration> first_sleep(std::string_view script) {
  constexpr std::string_view kWord = "sleep ";
  while (!script.empty()) {
    const std::size_t end = script.find('\n');
    std::string_view line = script.substr(0, end);
    script = end == std::string_view::npos ? std::string_view() : script.substr(end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(kWord)) continue;
    line.remove_prefix(kWord.size());
    double seconds = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), seconds);
    if (error == std::errc() && seconds >= 0)
      return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  }
  return std::nullopt;
}

}  // namespace ares::exec
