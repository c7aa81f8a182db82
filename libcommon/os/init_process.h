// The first process of a pid namespace: forks the task, reaps orphans, forwards signals, and stops
// everything when its timer expires. With that timer it is the second guardian of a lease: it acts even
// if no other process runs. When it ends, all processes of the namespace end.
//
// run_init() is called in a forked child of a single-threaded process, which uses the packets.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "os/namespace.h"

namespace ares::os {

struct InitPacket {
  enum What : char {
    // To init:
    start_task = 'f',  // `value` is 1 if init guards a lease; the order of the task follows
    signal_all = 's',
    signal_task = 't',
    signal_others = 'o',  // all but the task
    stop_all = 'q',       // answered by `stopped`
    start_beside = 'b',   // with a descriptor: the process beside the task gets it
    // From init:
    entered = 'r',        // `value` is 0, or Entered::error of enter_namespace()
    task_ended = 'e',     // `value` is its wait status
    beside_ended = 'd',   // the same of the process beside the task
    stopped = 'a',        // the answer to `stop_all`
    timer_stopped = 'l',  // the timer expired, and everything is stopped
  };
  What what{};
  int value = 0;
};

// With `patience`: false if the other end has not taken it by then; errno is EAGAIN. Else it waits for the other end.
bool send_packet(int fd, InitPacket::What what, int value = 0,
                 std::optional<std::chrono::milliseconds> patience = std::nullopt);
// None if there is no packet (with MSG_DONTWAIT) or the other end is closed.
std::optional<InitPacket> receive_packet(int fd, int flags);
std::optional<InitPacket> wait_for_packet(int fd, int timeout_ms);
// InitPacket::start_task. `order` is passed to the task; at most PATH_MAX bytes.
bool send_start(int fd, bool guards_lease, const std::string& order);
// InitPacket::start_beside. False if init does not take it now.
bool send_start_beside(int fd, int passed);

struct InitDuties {
  NamespaceKind kind = NamespaceKind::none;
  Ipc ipc = Ipc::own;
  NamespaceOwner owner{};
  int control = -1;       // socket to the supervisor; init exits when it is closed
  int stop_timer = -1;    // timerfd that the supervisor sets
  std::vector<int> task;  // descriptors that only the task keeps
};

// What runs in the processes that init forks, each with the order of the task.
struct InitBodies {
  std::function<void(const std::string& order)> task;            // at start_task
  std::function<void(const std::string& order, int fd)> beside;  // at start_beside
};

[[noreturn]] void run_init(const InitDuties& duties, const InitBodies& bodies);

}  // namespace ares::os
