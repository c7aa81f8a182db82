// FrameLink: frames over one connected stream socket, with what waits to be sent. Owned by the step
// host; one thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "aresstepd/steps/reactor.h"
#include "os/fd.h"
#include "steps/frame.h"

namespace ares::stepd {

class FrameLink {
 public:
  struct Events {
    std::function<void(const steps::Frame&)> received;
    // The other side is gone, or does not speak the protocol. Called once, not from within a call.
    std::function<void(const std::string& why)> closed;
    // The amount that waits has gone above a bound, or below it again.
    std::function<void(bool congested)> congested;
  };

  // `received`: bytes that were read from the socket before.
  FrameLink(os::Fd socket, Reactor& reactor, Events events, std::string_view received = {});
  ~FrameLink();
  FrameLink(const FrameLink&) = delete;
  FrameLink& operator=(const FrameLink&) = delete;

  void send(const steps::Frame& frame) { send(frame.kind, frame.number, frame.payload); }
  void send(steps::FrameKind kind, std::uint32_t number, std::string_view payload);
  // Ignores what comes from now on. `closed` follows when the other side has closed the connection, as it
  // does after it has got everything.
  void close_when_sent();
  // Reads nothing while `pause`, so that the other side has to wait.
  void pause_reading(bool pause);
  bool congested() const { return congested_; }
  int fd() const { return socket_.get(); }

 private:
  void ready(std::uint32_t events);
  void read_frames();
  void take_frames();
  void write_waiting();
  void end_sending();
  void update();
  void fail(const std::string& why);

  os::Fd socket_;
  Reactor& reactor_;
  Events events_;
  steps::FrameReader reader_;
  std::string waiting_;
  std::size_t sent_ = 0;  // of `waiting_`
  bool paused_ = false;
  bool closing_ = false;
  bool congested_ = false;
  bool failed_ = false;
  std::uint32_t watched_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ares::stepd
