// A PAM session of a user, by the libpam of the machine. Owned by main(); one thread. It closes the
// session at its end.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pam/pam_api.h"

namespace ares::pam {

class Session {
 public:
  // Loads the library, has the account checked and opens the session. permission_denied: a module
  // refuses; not_found: there is no library. What modules tell is written to standard error.
  static Result<Session> open(const std::string& service, const std::string& user,
                              const std::string& library = "libpam.so.0");
  Session(Session&& other) noexcept;
  Session& operator=(Session&&) = delete;
  ~Session();

  // "NAME=value", as modules set them.
  std::vector<std::string> environment() const;

 private:
  explicit Session(const Api& api) : api_(api) {}
  Status begin(const std::string& service, const std::string& user);
  Status failed(const char* what, int error);

  Api api_{};
  Handle* handle_ = nullptr;
  bool has_credentials_ = false, is_open_ = false;
  int last_ = kSuccess;
};

}  // namespace ares::pam
