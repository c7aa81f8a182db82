// Credentials: what a client shows to its API server now. Reads a token file again each minute, runs the program of an exec plugin
// when its last answer has expired, and reads the kubeconfig again after the server has refused the login. Never waits.
// Owned by the ApiClient; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "exec/kubernetes/api/login/access.h"
#include "exec/kubernetes/api/login/credential_program.h"
#include "exec/kubernetes/api/login/exec_credential.h"

namespace ares::kubernetes {

// What Credentials need of the world.
struct CredentialParts {
  std::function<Result<ServerAccess>()> load;  // reads the kubeconfig or the service account
  ReadFile read_file;
  std::function<Time()> wall_now;
  std::function<BootTime()> boot_now;
};

class Credentials {
 public:
  enum class State {
    ready,    // login() may be used
    waiting,  // for a program, without a login that is still valid; ask again after dispatch()
    failed,   // problem() says why; it is tried again after a while
  };

  // Errors are those of `load`.
  static Result<std::unique_ptr<Credentials>> open(CredentialParts parts);

  const ServerAccess& access() const { return access_; }

  // To be called before each request.
  State prepare();
  const Login& login() const { return login_; }
  const Error& problem() const { return problem_; }

  // Counts the logins. reload() with the number of the one that the server has refused does nothing if there is a newer one.
  std::uint64_t generation() const { return generation_; }
  void reload(std::uint64_t refused);
  // Reads the authorities again that the server is verified with. Whether they have changed.
  bool reload_authority();

  // -1: nothing to wait for. May change with each call of prepare(), reload() and dispatch().
  int event_fd() const { return program_ ? program_->event_fd() : -1; }
  std::optional<BootTime> next_deadline() const;
  void dispatch();

 private:
  explicit Credentials(CredentialParts parts) : parts_(std::move(parts)) {}
  void set(Login login);
  void read_token_file(const TokenFile& file);
  void start_program(const ExecPlugin& plugin);
  void fail_for_now(Error error);
  Login login_of_access(std::string token) const;
  bool has_valid_login() const;

  CredentialParts parts_;
  ServerAccess access_;
  Login login_;
  Error problem_;
  std::uint64_t generation_ = 0;
  bool has_login_ = false;
  std::optional<BootTime> read_again_at_;  // the token file
  std::optional<Time> expires_at_;         // the login of the program
  std::optional<Time> renew_at_;           // after four fifths of its time
  std::optional<BootTime> failed_until_;
  std::unique_ptr<CredentialProgram> program_;
};

}  // namespace ares::kubernetes
