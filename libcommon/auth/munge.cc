#include "auth/munge.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include <munge.h>

namespace ares::auth {
namespace {

struct Context {
  munge_ctx_t ctx = munge_ctx_create();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { munge_ctx_destroy(ctx); }
};

// libmunge writes with writev(): a munged that closes the connection, because too many are open, would
// end a command by SIGPIPE.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  ~WithoutSigpipe() {
    const timespec now{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

struct Meaning {
  munge_err_t munge;
  ErrorCode code;
  std::string_view text;  // what is wrong and what to do
};

constexpr Meaning kMeanings[] = {
    {EMUNGE_BAD_LENGTH, ErrorCode::invalid_argument, "it is longer than munged accepts"},
    {EMUNGE_SOCKET, ErrorCode::unavailable,
     "munged does not answer; start the munge service on this machine, or correct "
     "auth.munge_socket"},
    {EMUNGE_TIMEOUT, ErrorCode::unavailable, "munged does not answer in time"},
    {EMUNGE_BAD_CRED, ErrorCode::unauthenticated, "it is not a munge credential"},
    {EMUNGE_BAD_VERSION, ErrorCode::unauthenticated,
     "its version is unknown here; the munge packages of the machines differ too much"},
    {EMUNGE_BAD_CIPHER, ErrorCode::unauthenticated, "it is damaged or of another munge version"},
    {EMUNGE_BAD_MAC, ErrorCode::unauthenticated, "it is damaged or of another munge version"},
    {EMUNGE_BAD_ZIP, ErrorCode::unauthenticated, "it is damaged or of another munge version"},
    {EMUNGE_BAD_REALM, ErrorCode::unauthenticated, "its security realm is unknown here"},
    {EMUNGE_CRED_INVALID, ErrorCode::unauthenticated,
     "it is forged or damaged; check that both machines have the same munge.key"},
    {EMUNGE_CRED_EXPIRED, ErrorCode::unauthenticated,
     "it has expired; check that the clocks of both machines agree"},
    {EMUNGE_CRED_REWOUND, ErrorCode::unauthenticated,
     "it was made in the future; check that the clocks of both machines agree"},
    {EMUNGE_CRED_REPLAYED, ErrorCode::unauthenticated, "it was used before"},
    {EMUNGE_CRED_UNAUTHORIZED, ErrorCode::unauthenticated,
     "it was made for another user to open; check controller.user in ares.yaml"},
};

tl::unexpected<Error> explain(std::string_view what, munge_err_t error, munge_ctx_t ctx) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.munge != error) continue;
    std::string text(what);
    text += ": ";
    text += meaning.text;
    if (const char* detail = munge_ctx_strerror(ctx); error == EMUNGE_SOCKET && detail)
      text.append(" (").append(detail).append(")");
    return fail(meaning.code, std::move(text));
  }
  return fail(ErrorCode::internal, std::string(what) + ": " + munge_strerror(error));
}

munge_err_t use_socket(munge_ctx_t ctx, const std::string& socket) {
  if (socket.empty()) return EMUNGE_SUCCESS;
  return munge_ctx_set(ctx, MUNGE_OPT_SOCKET, socket.c_str());
}

}  // namespace

Result<std::string> munge_encode(std::string_view payload, const std::string& socket,
                                 std::optional<UserId> only_for) {
  constexpr std::string_view kWhat = "cannot make a credential";
  const Context context;
  if (!context.ctx) return fail(ErrorCode::resource_exhausted, "out of memory");
  munge_err_t error = use_socket(context.ctx, socket);
  if (error == EMUNGE_SUCCESS && only_for)
    error = munge_ctx_set(context.ctx, MUNGE_OPT_UID_RESTRICTION,
                          static_cast<uid_t>(only_for->value()));
  char* text = nullptr;
  const WithoutSigpipe without_sigpipe;
  if (error == EMUNGE_SUCCESS)
    error = ::munge_encode(&text, context.ctx, payload.data(), static_cast<int>(payload.size()));
  const std::unique_ptr<char, Free> owned(text);
  if (error != EMUNGE_SUCCESS) return explain(kWhat, error, context.ctx);
  return std::string(text);
}

Result<Decoded> munge_decode(const std::string& credential, const std::string& socket) {
  constexpr std::string_view kWhat = "credential refused";
  if (credential.empty())
    return fail(ErrorCode::unauthenticated, "credential refused: there is none");
  const Context context;
  if (!context.ctx) return fail(ErrorCode::resource_exhausted, "out of memory");
  munge_err_t error = use_socket(context.ctx, socket);
  if (error != EMUNGE_SUCCESS) return explain(kWhat, error, context.ctx);
  void* data = nullptr;
  int size = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  const WithoutSigpipe without_sigpipe;
  error = ::munge_decode(credential.c_str(), context.ctx, &data, &size, &uid, &gid);
  const std::unique_ptr<void, Free> owned(data);  // set for some refused credentials as well
  if (error != EMUNGE_SUCCESS) return explain(kWhat, error, context.ctx);

  Decoded decoded;
  decoded.uid = UserId(uid);
  decoded.gid = GroupId(gid);
  if (data && size > 0) {
    decoded.payload.assign(static_cast<const char*>(data), static_cast<std::size_t>(size));
    explicit_bzero(data, static_cast<std::size_t>(size));  // the payload may be a session key
  }
  in_addr address{};
  char host[INET_ADDRSTRLEN] = "";
  if (munge_ctx_get(context.ctx, MUNGE_OPT_ADDR4, &address) == EMUNGE_SUCCESS)
    inet_ntop(AF_INET, &address, host, sizeof host);
  decoded.host = host;
  return decoded;
}

}  // namespace ares::auth
