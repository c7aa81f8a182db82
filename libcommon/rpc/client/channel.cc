#include "rpc/client/channel.h"

#include <absl/synchronization/mutex.h>
#include <arpa/inet.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <cstdlib>
#include <utility>

// gRPC's callback threads poll for one second and then, if there was no event, sleep for 100 ms.
// During the sleep they process no events, so the first call after a pause is delayed by up to that
// time, in a controller and again in a node. gRPC has no option for it, so the linker replaces the
// sleep (libcommon/CMakeLists.txt). The only other caller is gRPC's start in the first second after
// boot, which waits for the clock to advance. No effect with gRPC as a shared library (tsan).
extern "C" {
void __real_gpr_sleep_until(gpr_timespec);  // NOLINT(bugprone-reserved-identifier)
void __wrap_gpr_sleep_until(gpr_timespec);  // NOLINT(bugprone-reserved-identifier)
void __wrap_gpr_sleep_until(gpr_timespec until) {
  if (gpr_now(GPR_CLOCK_MONOTONIC).tv_sec <= 1) __real_gpr_sleep_until(until);
}
}

namespace ares::rpc {
namespace {

bool is_number(const std::string& host, int family) {
  unsigned char buffer[sizeof(in6_addr)];
  return inet_pton(family, host.c_str(), buffer) == 1;
}

struct CodePair {
  ErrorCode ours;
  grpc::StatusCode grpc;
};
// If several ErrorCodes map to one gRPC code, the first is used for the reverse direction.
constexpr CodePair kCodes[] = {
    {ErrorCode::invalid_argument, grpc::StatusCode::INVALID_ARGUMENT},
    {ErrorCode::not_found, grpc::StatusCode::NOT_FOUND},
    {ErrorCode::permission_denied, grpc::StatusCode::PERMISSION_DENIED},
    {ErrorCode::unauthenticated, grpc::StatusCode::UNAUTHENTICATED},
    {ErrorCode::already_exists, grpc::StatusCode::ALREADY_EXISTS},
    {ErrorCode::failed_precondition, grpc::StatusCode::FAILED_PRECONDITION},
    {ErrorCode::resource_exhausted, grpc::StatusCode::RESOURCE_EXHAUSTED},
    {ErrorCode::unavailable, grpc::StatusCode::UNAVAILABLE},
    {ErrorCode::stale, grpc::StatusCode::ABORTED},
    {ErrorCode::data_loss, grpc::StatusCode::DATA_LOSS},
    {ErrorCode::internal, grpc::StatusCode::INTERNAL},
    // Created by gRPC, never by our server: it is unknown whether the request arrived.
    {ErrorCode::unavailable, grpc::StatusCode::DEADLINE_EXCEEDED},
    {ErrorCode::unavailable, grpc::StatusCode::CANCELLED},
};

// gRPC nests causes: "failed to connect to all addresses; last error: UNKNOWN: unix:/x: No such
// file or directory". The last cause is the useful one.
std::string last_cause(const std::string& text) {
  const std::size_t colon = text.rfind(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

}  // namespace

void prepare_libraries() {
  static const bool once = [] {
    // Debian's Abseil has lock-order deadlock detection enabled, which takes 5 % of a call.
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    if (std::getenv("GRPC_VERBOSITY")) return true;
    gpr_set_log_function([](gpr_log_func_args*) {});
    google::protobuf::SetLogHandler(nullptr);
    return true;
  }();
  static_cast<void>(once);
}

std::string grpc_target(const Address& address) {
  if (address.kind == Address::Kind::unix_socket) return "unix:" + address.path;
  const std::string port = ":" + std::to_string(address.port);
  if (is_number(address.host, AF_INET)) return "ipv4:" + address.host + port;
  if (is_number(address.host, AF_INET6)) return "ipv6:[" + address.host + "]" + port;
  return "dns:" + address.host + port;
}

std::shared_ptr<grpc::Channel> make_channel(const Address& address, Purpose purpose) {
  prepare_libraries();
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  args.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  args.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetInt(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, 1 << 30);  // long job listings
  args.SetInt(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1);
  args.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "ares");
  // Bounds the delay after which a restarted controller is noticed.
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  if (purpose == Purpose::node_link) {
    args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
    args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  }
  return grpc::CreateCustomChannel(grpc_target(address), grpc::InsecureChannelCredentials(), args);
}

grpc::Status to_status(const Error& error) {
  for (const CodePair& pair : kCodes)
    if (pair.ours == error.code) return {pair.grpc, error.message};
  return {grpc::StatusCode::INTERNAL, error.message};
}

Error to_error(const grpc::Status& status, const std::string& peer) {
  const std::string& text = status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
      return {ErrorCode::unavailable,
              "the controller at " + peer + " is unavailable (" + last_cause(text) + ")"};
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return {ErrorCode::unavailable, "the controller at " + peer + " did not answer in time"};
    case grpc::StatusCode::CANCELLED:
      return {ErrorCode::unavailable, "the call to the controller at " + peer + " was broken off"};
    case grpc::StatusCode::UNIMPLEMENTED:
      return {ErrorCode::failed_precondition,
              "what listens at " + peer + " is not an Ares controller, or is of another version"};
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      if (text.find("larger than max") != std::string::npos)
        return {ErrorCode::invalid_argument,
                "the request is larger than the controller accepts: " + text};
      break;
    default: break;
  }
  for (const CodePair& pair : kCodes)
    if (pair.grpc == status.error_code()) return {pair.ours, text};
  return {ErrorCode::internal, "the call to " + peer + " failed: " + text};
}

}  // namespace ares::rpc
