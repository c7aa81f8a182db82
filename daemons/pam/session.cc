#include "pam/session.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/printable.h"

namespace ares::pam {
namespace {

// What wants an answer from the user fails: the user is not there.
int answer(int count, const Message** messages, Response** responses, void*) {
  if (count <= 0 || count > 32) return kConversationFailed;
  for (int i = 0; i < count; ++i)
    if (messages[i]->style != kError && messages[i]->style != kInformation)
      return kConversationFailed;
    else if (messages[i]->text)
      std::fprintf(stderr, "ares-pam: %s\n", printable(messages[i]->text).c_str());
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): PAM frees it
  *responses =
      static_cast<Response*>(std::calloc(static_cast<std::size_t>(count), sizeof(Response)));
  return *responses ? kSuccess : kConversationFailed;
}

constexpr Conversation kConversation{answer, nullptr};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<Api> load(const std::string& name) {
  void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char* why = ::dlerror();
    return fail(ErrorCode::not_found,
                "cannot load " + name + ": " + printable(why ? why : "unknown error"));
  }
  Api api{};
  const bool complete =
      find(library, "pam_start", api.start) && find(library, "pam_end", api.end) &&
      find(library, "pam_set_item", api.set_item) &&
      find(library, "pam_acct_mgmt", api.acct_mgmt) && find(library, "pam_setcred", api.setcred) &&
      find(library, "pam_open_session", api.open_session) &&
      find(library, "pam_close_session", api.close_session) &&
      find(library, "pam_getenvlist", api.getenvlist) &&
      find(library, "pam_strerror", api.strerror);
  if (!complete) return fail(ErrorCode::not_found, name + " is not a library of PAM");
  return api;
}

}  // namespace

Status Session::failed(const char* what, int error) {
  last_ = error;
  const char* text = api_.strerror(handle_, error);
  return fail(ErrorCode::permission_denied,
              std::string(what) + ": " + printable(text ? text : std::to_string(error)));
}

Status Session::begin(const std::string& service, const std::string& user) {
  if (const int error = api_.start(service.c_str(), user.c_str(), &kConversation, &handle_);
      error != kSuccess) {
    handle_ = nullptr;
    return fail(ErrorCode::permission_denied, "pam_start: error " + std::to_string(error));
  }
  (void)api_.set_item(handle_, kTerminal, "ares");  // modules that log expect one
  if (const int error = api_.acct_mgmt(handle_, 0); error != kSuccess)
    return failed("the account is refused", error);
  if (const int error = api_.setcred(handle_, kEstablish); error != kSuccess)
    return failed("credentials cannot be established", error);
  has_credentials_ = true;
  if (const int error = api_.open_session(handle_, 0); error != kSuccess)
    return failed("the session cannot be opened", error);
  is_open_ = true;
  return {};
}

Result<Session> Session::open(const std::string& service, const std::string& user,
                              const std::string& library) {
  const Result<Api> api = load(library);
  if (!api) return fail(api.error());
  Session session(*api);
  if (Status begun = session.begin(service, user); !begun) return fail(begun.error());
  return session;
}

Session::Session(Session&& other) noexcept
    : api_(other.api_),
      handle_(std::exchange(other.handle_, nullptr)),
      has_credentials_(other.has_credentials_),
      is_open_(other.is_open_),
      last_(other.last_) {}

Session::~Session() {
  if (!handle_) return;
  if (is_open_) last_ = api_.close_session(handle_, 0);
  if (has_credentials_) (void)api_.setcred(handle_, kDelete);
  (void)api_.end(handle_, last_);
}

std::vector<std::string> Session::environment() const {
  std::vector<std::string> variables;
  char** list = api_.getenvlist(handle_);
  for (char** at = list; at && *at; ++at) {
    variables.emplace_back(*at);
    std::free(*at);
  }
  std::free(list);
  return variables;
}

}  // namespace ares::pam
