#include "aresctld/plugins/plugin_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace ares::aresctld {
namespace {

// A separate stack for the handler, because a plugin may have exhausted the thread's stack.
constexpr std::size_t kHandlerStack = 64 << 10;

struct Fatal {
  int signal;
  const char* name;
};
constexpr std::array kFatal = {Fatal{SIGSEGV, "SIGSEGV"}, Fatal{SIGBUS, "SIGBUS"},
                               Fatal{SIGFPE, "SIGFPE"}, Fatal{SIGILL, "SIGILL"},
                               Fatal{SIGABRT, "SIGABRT"}};

// Global, because a signal handler has no other access. Written by the thread that calls plugins.
struct CurrentCall {
  std::atomic<int> file{-1};
  std::atomic<pid_t> thread{0};  // 0 = no thread is in a plugin
  std::atomic<const char*> mark{nullptr};
  std::atomic<std::size_t> mark_size{0};
  std::atomic<std::uint64_t> call{0};  // number of the call
};
static_assert(std::atomic<const char*>::is_always_lock_free);
CurrentCall g_current_call;

// The alternate signal stack of the calling thread, until the thread ends. An existing one is kept.
class HandlerStack {
 public:
  HandlerStack() {
    stack_t known{};
    if (::sigaltstack(nullptr, &known) == 0 && (known.ss_flags & SS_DISABLE) == 0) return;
    memory_ = std::make_unique<char[]>(kHandlerStack);
    const stack_t stack{memory_.get(), 0, kHandlerStack};
    ::sigaltstack(&stack, nullptr);
  }
  ~HandlerStack() {
    if (!memory_) return;
    const stack_t none{nullptr, SS_DISABLE, 0};
    ::sigaltstack(&none, nullptr);
  }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
};

pid_t this_thread() {
  static thread_local const pid_t id = static_cast<pid_t>(::syscall(SYS_gettid));
  return id;
}

// Writes "MARK CAUSE SECONDS\n" to the file and syncs it. Async-signal-safe.
void record(const char* cause) noexcept {
  std::array<char, 24> digits;
  std::size_t at = digits.size();
  digits[--at] = '\n';
  for (auto seconds = static_cast<std::uint64_t>(::time(nullptr)); seconds > 0; seconds /= 10)
    digits[--at] = static_cast<char>('0' + seconds % 10);
  digits[--at] = ' ';
  iovec parts[] = {{const_cast<char*>(g_current_call.mark.load()), g_current_call.mark_size.load()},
                   {const_cast<char*>(" "), 1},
                   {const_cast<char*>(cause), std::strlen(cause)},
                   {digits.data() + at, digits.size() - at}};
  const int file = g_current_call.file.load();
  if (::writev(file, parts, 4) > 0) ::fsync(file);
}

// Records the signal if it was raised in a plugin; in any case the default action follows.
void on_fatal(int signal) {
  if (g_current_call.thread.load() == static_cast<pid_t>(::syscall(SYS_gettid))) {
    for (const Fatal& row : kFatal)
      if (row.signal == signal) record(row.name);
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // delivered when this handler returns
}

}  // namespace

Result<std::shared_ptr<PluginGuard>> PluginGuard::start(const std::string& file, Seconds limit) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (opened < 0)
    return fail(ErrorCode::failed_precondition,
                "cannot open " + file + ": " + std::strerror(errno));
  return std::shared_ptr<PluginGuard>(new PluginGuard(opened, limit));
}

PluginGuard::PluginGuard(int file, Seconds limit) : file_(file), limit_(limit) {
  g_current_call.file = file;
  struct sigaction action {};
  action.sa_handler = on_fatal;
  action.sa_flags = SA_ONSTACK;
  for (const Fatal& row : kFatal) ::sigaction(row.signal, &action, nullptr);
  watchdog_ = std::thread([this] { watch(); });
}

PluginGuard::~PluginGuard() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  watchdog_.join();
  for (const Fatal& row : kFatal) ::signal(row.signal, SIG_DFL);
  g_current_call.file = -1;
  ::close(file_);
}

void PluginGuard::enter(const std::string& mark) noexcept {
  static thread_local const HandlerStack stack;
  g_current_call.mark = mark.data();
  g_current_call.mark_size = mark.size();
  ++g_current_call.call;
  g_current_call.thread = this_thread();
}

void PluginGuard::leave() noexcept {
  g_current_call.thread = 0;
}

// Adds up the time of one call in limited steps: time while the process is stopped does not count.
void PluginGuard::watch() {
  using Steady = std::chrono::steady_clock;
  const auto pause = std::clamp<Steady::duration>(limit_ / 8, std::chrono::milliseconds(50),
                                                  std::chrono::seconds(1));
  std::uint64_t call = 0;
  Steady::duration seen{};
  auto before = Steady::now();
  Lock lock(mutex_);
  while (!stopped_.wait_for(lock, pause, [this]() ARES_REQUIRES(mutex_) { return stopping_; })) {
    const auto now = Steady::now();
    const auto passed = std::min(now - before, 2 * pause);
    before = now;
    const bool in_call = g_current_call.thread.load() != 0;
    seen = in_call && call == g_current_call.call.load() ? seen + passed : Steady::duration{};
    call = g_current_call.call.load();
    if (seen < limit_) continue;
    record("hang");
    spdlog::critical(
        "stopping: a call to the scheduler plugin {} has not come back for {} s; the next start "
        "sets "
        "it aside",
        std::string_view(g_current_call.mark.load(), g_current_call.mark_size.load()),
        std::chrono::duration_cast<std::chrono::seconds>(limit_).count());
    spdlog::shutdown();
    _exit(3);
  }
}

}  // namespace ares::aresctld
