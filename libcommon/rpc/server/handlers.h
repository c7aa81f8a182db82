// Interfaces between the server and its owner: calls with a responder, sessions of node daemons.
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

// Sends the answer of a call. Any thread. If destroyed without an answer it sends `internal`.
class Responder {
 public:
  virtual ~Responder() = default;
  // The first answer is sent, later ones are ignored.
  virtual void send(api::Response response) = 0;
  // The caller has disconnected or reached its deadline: a long poll may stop.
  virtual bool abandoned() const = 0;
  // "unix" or "ipv4:127.0.0.1:4711", for audit.
  virtual const std::string& peer() const = 0;

  void refuse(Error error);  // send() of a failure

  // Whether the answer may have parts before it: a call by Stream.
  virtual bool takes_parts() const { return false; }
  // Sends a part. `taken` runs once, on any thread, this one included: true when the caller's side has taken
  // it, which may be long after; false: the call has ended. The next part may be sent then.
  using Taken = std::function<void(bool)>;
  virtual void send_part(api::Response part, Taken taken);
};

// The session of one aresd, which may represent several nodes (each message names its node).
class NodeSession {
 public:
  virtual ~NodeSession() = default;
  // Any thread; keeps order. Ignored after the end of the session. A node that does not read its
  // queue is disconnected; after it has reconnected, all pending effects are sent again.
  virtual void send(api::NodeDown message) = 0;
  // Ends the session; the node logs `reason`. detached() follows.
  virtual void close(const std::string& reason) = 0;
  virtual const Principal& principal() const = 0;
  virtual const std::string& peer() const = 0;
};

// For each session: attached() once, then received() any number of times, then detached() once, not
// concurrently. The next message of a node is read only after received() has returned.
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
