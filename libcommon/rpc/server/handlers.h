// What the server hands on to its owner: calls with a way back, and sessions of node daemons.
// Handlers run on threads of the server, many at once, and must not block.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "model/engine/request.h"

namespace ares::api {
class NodeDown;
class NodeUp;
class Request;
class Response;
}  // namespace ares::api

namespace ares::rpc {

// The way back to a caller. Any thread; dropped without an answer, it answers `internal` by itself.
class Responder {
 public:
  virtual ~Responder() = default;
  // The first answer counts, later ones are ignored.
  virtual void send(api::Response response) = 0;
  // The caller has hung up or run out of time: a long poll may stop.
  virtual bool abandoned() const = 0;
  // "unix" or "ipv4:127.0.0.1:4711", for audit.
  virtual const std::string& peer() const = 0;

  void refuse(Error error);  // send() of a failure
};

// The session of one aresd, which may speak for several nodes (each message names its node).
class NodeSession {
 public:
  virtual ~NodeSession() = default;
  // Any thread; keeps order. Ignored once the session has ended. A node that does not drain its
  // queue is disconnected: it is told everything owed again when it comes back.
  virtual void send(api::NodeDown message) = 0;
  // The node sees `reason` in its log; detached() follows.
  virtual void close(const std::string& reason) = 0;
  virtual const Principal& principal() const = 0;
  virtual const std::string& peer() const = 0;
};

// For each session: attached once, then received any number of times, then detached once; never two
// at the same time. Until received() returns, nothing more is read from that node.
class AttachHandler {
 public:
  virtual ~AttachHandler() = default;
  virtual void attached(std::shared_ptr<NodeSession> session) = 0;
  virtual void received(std::shared_ptr<NodeSession> session, api::NodeUp message) = 0;
  virtual void detached(std::shared_ptr<NodeSession> session) = 0;
};

using CallHandler =
    std::function<void(Principal who, api::Request request, std::shared_ptr<Responder> responder)>;

}  // namespace ares::rpc
