#include "rpc/client/link_stream.h"

#include <utility>

#include "rpc/client/channel.h"
#include "rpc/wire/envelope.h"
#include "rpc/wire/message_batch.h"

namespace ares::rpc {

LinkStream::LinkStream(const Address& address, auth::SessionKey key, Limits limits,
                       std::function<void(api::NodeDown)> on_message,
                       std::function<void()> on_connected)
    : peer_(to_string(address)),
      key_(key),
      on_message_(std::move(on_message)),
      on_connected_(std::move(on_connected)),
      channel_(make_channel(address, Purpose::node_link)),
      stub_(api::Ares::NewStub(channel_)),
      queue_(limits.messages, limits.bytes) {}

void LinkStream::start(std::string credential) {
  stub_->async()->Attach(&context_, this);
  AddHold();  // writes start outside of gRPC's callbacks; the hold is removed when reading ends
  {
    const Lock lock(mutex_);
    out_.set_credential(std::move(credential));
    put_sealed(&out_, key_, auth::Direction::node_up, 0, ++sent_, first_payload<api::NodeUp>());
    writing_ = true;
    StartWrite(&out_);
  }
  StartRead(&in_);
  StartCall();
}

Error LinkStream::wait(std::chrono::milliseconds timeout) {
  Lock lock(mutex_);
  if (!changed_.wait_for(lock, timeout,
                         [this]() ARES_REQUIRES(mutex_) { return done_ || connected_; }))
    give_up({ErrorCode::unavailable, "the controller at " + peer_ + " did not answer in time"});
  changed_.wait(lock, [this]() ARES_REQUIRES(mutex_) { return done_; });
  return end_;
}

void LinkStream::send(std::string payload) {
  const Lock lock(mutex_);
  if (!connected_ || read_ended_ || gave_up_) return;
  if (!queue_.push(std::move(payload)))
    return give_up({ErrorCode::unavailable,
                    "the controller at " + peer_ + " does not read what is sent to it"});
  write_next();
}

bool LinkStream::was_connected() const {
  const Lock lock(mutex_);
  return connected_;
}

void LinkStream::OnReadDone(bool ok) {
  if (ok && handle_message()) return StartRead(&in_);
  {
    const Lock lock(mutex_);
    read_ended_ = true;
    queue_.clear();
  }
  RemoveHold();
}

// Handles what was received; false ends the session. The first message authenticates the server.
bool LinkStream::handle_message() {
  const bool first = received_ == 0;
  const bool in_order = in_.sequence() == ++received_;
  const auto sealed = auth::verify_seal(key_, auth::Direction::node_down, 0, in_.sequence(),
                                        in_.payload(), in_.mac());
  const auto deliver = [&](api::NodeDown message) {
    first ? begin_session(message.reads_batches()) : on_message_(std::move(message));
  };
  if (in_order && sealed && for_each_message<api::NodeDown>(in_.payload(), deliver)) return true;
  const Lock lock(mutex_);
  give_up({ErrorCode::unauthenticated, "a message from " + peer_ +
                                           " is not what the controller sent: lost, changed on "
                                           "its way, or from another sender"});
  return false;
}

void LinkStream::begin_session(bool server_reads_batches) {
  {
    const Lock lock(mutex_);
    connected_ = true;
    batches_ = server_reads_batches;
    changed_.notify_all();
  }
  on_connected_();
}

void LinkStream::OnWriteDone(bool ok) {
  const Lock lock(mutex_);
  writing_ = false;
  if (ok) write_next();  // on failure reading fails as well and ends the session
}

void LinkStream::OnDone(const grpc::Status& status) {
  const Lock lock(mutex_);
  if (!gave_up_)
    end_ = status.ok()
               ? Error{ErrorCode::unavailable, "the controller at " + peer_ + " closed the session"}
               : to_error(status, peer_);
  done_ = true;
  changed_.notify_all();
}

void LinkStream::write_next() {
  if (writing_ || read_ended_ || queue_.empty()) return;
  writing_ = true;
  out_.Clear();
  put_sealed(&out_, key_, auth::Direction::node_up, 0, ++sent_,
             batches_ ? pop_batch<api::NodeUp>(queue_) : queue_.pop());
  StartWrite(&out_);
}

void LinkStream::give_up(Error error) {
  if (gave_up_ || done_) return;
  gave_up_ = true;
  end_ = std::move(error);
  context_.TryCancel();
}

}  // namespace ares::rpc
