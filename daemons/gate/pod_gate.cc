#include "gate/pod_gate.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "exec/kubernetes/gate/gate_text.h"
#include "gate/log_pipe.h"
#include "gate/script.h"
#include "os/fd.h"
#include "os/file.h"

namespace ares::gate {
namespace {

using kubernetes::GateGo;
using kubernetes::GateResult;
using kubernetes::GateSettings;
using kubernetes::GateSignal;

// Changes of the folder are told at once; this is for file systems that do not tell them.
constexpr int kLookAgainMs = 1000;

// Commands of Ares that need aresd beside the job.
constexpr const char* kNotInPods[] = {"arun", "srun", "aalloc", "salloc"};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

GateResult ended(GateResult::End end, std::string why) {
  GateResult result;
  result.end = end;
  result.why = std::move(why);
  return result;
}

int exit_code(const GateResult& result) {
  switch (result.end) {
    case GateResult::End::exited: return result.code;
    case GateResult::End::signalled: return 128 + result.signal;
    case GateResult::End::not_started: return kNotStarted;
    case GateResult::End::never_ran: return kNeverRan;
    case GateResult::End::ran_before: return kRanBefore;
  }
  return kNotStarted;
}

// Signals and changed annotations, one after the other.
class Inputs {
 public:
  static Result<Inputs> open(const std::string& pod) {
    Inputs inputs;
    ::sigemptyset(&inputs.handled_);
    for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) ::sigaddset(&inputs.handled_, signal);
    ::sigprocmask(SIG_BLOCK, &inputs.handled_, nullptr);
    inputs.signals_.reset(::signalfd(-1, &inputs.handled_, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!inputs.signals_) return fail(os::errno_error("cannot wait for signals"));
    inputs.changes_.reset(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (inputs.changes_)
      ::inotify_add_watch(inputs.changes_.get(), pod.c_str(),
                          IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE);
    return inputs;
  }

  // Waits for something new, also from a log; returns whether the pod is told to end.
  bool wait(const LogPipe* log = nullptr) {
    pollfd waited[] = {{signals_.get(), POLLIN, 0},
                       {changes_.get(), POLLIN, 0},
                       {log ? log->source() : -1, POLLIN, 0},
                       {log ? log->target() : -1, POLLOUT, 0}};
    (void)::poll(waited, std::size(waited), kLookAgainMs);
    char skipped[4096];
    while (::read(changes_.get(), skipped, sizeof skipped) > 0) {
    }
    bool is_told_to_end = false;
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (info.ssi_signo != SIGCHLD) is_told_to_end = true;
    return is_told_to_end;
  }
  const sigset_t& handled() const { return handled_; }

 private:
  os::Fd signals_, changes_;
  sigset_t handled_{};
};

// The go of this attempt; none as long as it has not come.
std::optional<GateGo> read_go(const Places& places, Fence fence) {
  const Result<std::string> text = os::read_file(places.pod + "/go");
  if (!text || text->empty()) return std::nullopt;
  Result<GateGo> go = kubernetes::decode_go(*text);
  if (!go || go->fence != fence) return std::nullopt;
  return std::move(*go);
}

std::optional<GateSignal> read_signal(const std::string& path) {
  const Result<std::string> text = os::read_file(path);
  if (!text || text->empty()) return std::nullopt;
  const Result<GateSignal> signal = kubernetes::decode_signal(*text);
  return signal ? std::optional(*signal) : std::nullopt;
}

// Passes on what was not passed on before.
class Signals {
 public:
  explicit Signals(const Places& places) : places_(places) {}
  void pass_on(const Script& script) {
    for (std::size_t i = 0; i < std::size(kFiles); ++i) {
      const auto told = read_signal(places_.pod + kFiles[i]);
      if (!told || told->number <= passed_[i]) continue;
      passed_[i] = told->number;
      script.signal(told->signal, told->script_only);
      // Stopped processes would get the SIGTERM only when they are continued.
      if (told->signal == SIGTERM && i == kFromAgent) script.signal(SIGCONT, false);
    }
  }

 private:
  static constexpr const char* kFiles[] = {"/signal", "/warning"};
  static constexpr std::size_t kFromAgent = 1;
  const Places& places_;
  std::uint64_t passed_[std::size(kFiles)] = {};
};

// Of any number of starts of the container, one gets true.
Result<bool> claim(const std::string& state) {
  const std::string path = state + "/started";
  const os::Fd made(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444));
  if (made) return true;
  if (errno == EEXIST) return false;
  return fail(os::errno_error("cannot create " + path));
}

// Takes the place of the start, so that a container that is started again runs nothing: only then "never ran" is certain.
GateResult never_ran(const Places& places, std::string why) {
  GateResult result = ended(GateResult::End::never_ran, std::move(why));
  const Result<bool> is_ours = claim(places.state);
  if (is_ours && !*is_ours)
    return ended(GateResult::End::ran_before, "another process of the pod runs the script");
  result.is_sealed = is_ours.has_value();
  return result;
}

void leave_message(const Places& places, const std::string& text) {
  // Not replaced: the kubelet has mounted this very file.
  const os::Fd file(::open(places.result.c_str(), O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0644));
  if (file) (void)!::write(file.get(), text.data(), text.size());
}

std::string other_boot(const Places& places, const GateGo& go) {
  if (go.boot_id.empty()) return {};
  const Result<std::string> here = os::read_file(places.boot_id);
  if (!here || first_line(*here) == go.boot_id) return {};
  return "the go was given for another boot of the node, or for another machine of its name";
}

// Waits until the agent has, or will find, all that was printed. It runs with the node, so this takes a second or two, and longer only
// while the agent is away.
void finish(LogPipe& log, Inputs& inputs) {
  for (log.close(); log.carry(); (void)inputs.wait(&log)) {
  }
}

GateResult run_script(const Places& places, const GateSettings& settings, const GateGo& go,
                      Inputs& inputs) {
  std::optional<LogPipe> log;
  if (settings.sends_output) {
    Result<LogPipe> opened = LogPipe::open(places.pod + "/output", places.log);
    if (!opened) return ended(GateResult::End::not_started, opened.error().message);
    log.emplace(std::move(*opened));
  }
  Result<Script> script = Script::start({.settings = settings,
                                         .go = go,
                                         .job = places.job,
                                         .state = places.state,
                                         .blocked = inputs.handled(),
                                         .output = log ? log->script_end() : -1});
  if (!script) return ended(GateResult::End::not_started, script.error().message);
  if (log) log->started();
  Signals signals(places);
  for (;;) {
    if (std::optional<GateResult> result = script->look()) {
      if (!log) return *result;
      // If this is killed before all is told, the result is there already.
      leave_message(places, kubernetes::encode(*result));
      finish(*log, inputs);
      return *result;
    }
    signals.pass_on(*script);
    if (log) (void)log->carry();
    if (inputs.wait(log ? &*log : nullptr)) script->signal(SIGTERM, false);
  }
}

GateResult wait_and_run(const Places& places) {
  if (::access((places.state + "/started").c_str(), F_OK) == 0)
    return ended(GateResult::End::ran_before,
                 "the container was started again; the script is not run a second time");
  Result<std::string> text = os::read_file(places.job + "/settings");
  Result<GateSettings> settings = text ? kubernetes::decode_settings(*text) : fail(text.error());
  if (!settings) return never_ran(places, settings.error().message);
  Result<Inputs> inputs = Inputs::open(places.pod);
  if (!inputs) return never_ran(places, inputs.error().message);

  std::optional<GateGo> go;
  while (!(go = read_go(places, settings->fence)))
    if (inputs->wait()) return never_ran(places, "ended before its go");
  if (const std::string why = other_boot(places, *go); !why.empty())
    return ended(GateResult::End::ran_before, why);
  const Result<bool> is_ours = claim(places.state);
  if (!is_ours) return ended(GateResult::End::never_ran, is_ours.error().message);
  if (!*is_ours)
    return ended(GateResult::End::ran_before, "another process of the pod runs the script");
  if (settings->runs_script) return run_script(places, *settings, *go, *inputs);
  while (!inputs->wait()) {
  }
  return ended(GateResult::End::exited, "");
}

Status install(const std::string& folder) {
  Result<std::string> program = os::read_file("/proc/self/exe");
  if (!program) return fail(program.error());
  const std::string gate = folder + "/" + kubernetes::kGateProgram;
  if (Status copied = os::publish_file(gate, *program, 0555); !copied) return copied;
  const std::string names = folder + "/" + kubernetes::kGateNames;
  if (::mkdir(names.c_str(), 0755) < 0 && errno != EEXIST)
    return fail(os::errno_error("cannot make " + names));
  for (const char* name : kNotInPods) {
    const std::string link = names + "/" + name;
    if (::symlink(("../" + std::string(kubernetes::kGateProgram)).c_str(), link.c_str()) < 0 &&
        errno != EEXIST)
      return fail(os::errno_error("cannot make " + link));
  }
  return {};
}

Status check_directory(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) < 0) return fail(os::errno_error("cannot mount " + path));
  if (!S_ISDIR(about.st_mode)) return fail(os::errno_error("cannot mount " + path, ENOTDIR));
  if (::access(path.c_str(), X_OK) < 0) return fail(os::errno_error("cannot mount " + path));
  return {};
}

}  // namespace

int run(const Places& places) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // where the container shares its processes with others
  const GateResult result = wait_and_run(places);
  leave_message(places, kubernetes::encode(result));
  return exit_code(result);
}

bool is_not_in_pods(std::string_view name) {
  return std::find(std::begin(kNotInPods), std::end(kNotInPods), name) != std::end(kNotInPods);
}

int explain(std::string_view name) {
  std::fprintf(
      stderr,
      "%.*s: steps and allocations do not work in pods of Kubernetes: start the program itself, "
      "by mpirun or torchrun with $ARES_HOSTFILE on several nodes, or submit the job with "
      "--container-per-rank; see ares-kubernetes(7)\n",
      static_cast<int>(name.size()), name.data());
  return kNotInPod;
}

int prepare(const std::string& folder, const std::vector<std::string>& directories,
            const Places& places) {
  const auto give_up = [&](const Error& error, int code) {
    std::fprintf(stderr, "ares-gate: %s\n", error.message.c_str());
    leave_message(places, error.message);
    return code;
  };
  for (const std::string& directory : directories)
    if (Status good = check_directory(directory); !good)
      return give_up(good.error(), kubernetes::kGateRefused);
  const Status installed = install(folder);
  return installed ? 0 : give_up(installed.error(), 1);
}

}  // namespace ares::gate
