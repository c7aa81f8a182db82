#include "exec/kubernetes/api/login/credentials.h"

#include <utility>

#include "base/printable.h"

namespace ares::kubernetes {
namespace {

constexpr Duration kTokenFileAge = std::chrono::seconds(60);
constexpr Duration kProgramTime = std::chrono::seconds(60);
constexpr Duration kPauseAfterFailure = std::chrono::seconds(5);

std::string_view without_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace

Result<std::unique_ptr<Credentials>> Credentials::open(CredentialParts parts) {
  auto access = parts.load();
  if (!access) return fail(access.error());
  std::unique_ptr<Credentials> self(new Credentials(std::move(parts)));
  self->access_ = std::move(*access);
  return self;
}

void Credentials::set(Login login) {
  failed_until_.reset();
  problem_ = {};
  if (has_login_ && login == login_) return;
  login_ = std::move(login);
  has_login_ = true;
  ++generation_;
}

Login Credentials::login_of_access(std::string token) const {
  return {std::move(token), access_.client_certificate_pem, access_.client_key_pem};
}

void Credentials::fail_for_now(Error error) {
  problem_ = std::move(error);
  failed_until_ = parts_.boot_now() + kPauseAfterFailure;
}

void Credentials::read_token_file(const TokenFile& file) {
  const BootTime now = parts_.boot_now();
  if (read_again_at_ && now < *read_again_at_) return;
  const auto text = parts_.read_file(file.path);
  const std::string_view token = text ? without_space(*text) : std::string_view();
  if (!text) return fail_for_now(text.error());
  if (!is_token(token))
    return fail_for_now(
        {ErrorCode::failed_precondition, file.path + ": it does not contain one token"});
  read_again_at_ = now + kTokenFileAge;
  set(login_of_access(std::string(token)));
}

void Credentials::start_program(const ExecPlugin& plugin) {
  auto program = CredentialProgram::start(plugin, exec_info(plugin, access_),
                                          parts_.boot_now() + kProgramTime);
  if (!program) return fail_for_now(program.error());
  program_ = std::move(*program);
}

Credentials::State Credentials::prepare() {
  if (program_) return has_valid_login() ? State::ready : State::waiting;
  const bool is_pausing = failed_until_ && parts_.boot_now() < *failed_until_;
  if (!is_pausing) {
    if (const auto* token = std::get_if<Token>(&access_.token)) {
      if (!has_login_) set(login_of_access(token->token));
    } else if (const auto* file = std::get_if<TokenFile>(&access_.token)) {
      read_token_file(*file);
    } else if (const auto* plugin = std::get_if<ExecPlugin>(&access_.token)) {
      const bool is_due = renew_at_ && parts_.wall_now() >= *renew_at_;
      if (!has_login_ || is_due) start_program(*plugin);
      if (program_ && !has_valid_login()) return State::waiting;
    } else if (!has_login_) {
      set(login_of_access(""));
    }
  }
  // A token file that cannot be read for a moment does not make its last token worthless.
  return has_valid_login() ? State::ready : State::failed;
}

bool Credentials::has_valid_login() const {
  return has_login_ && !(expires_at_ && parts_.wall_now() >= *expires_at_);
}

void Credentials::reload(std::uint64_t refused) {
  if (refused != generation_) return;
  if (program_) {  // which renews the login that was refused
    has_login_ = false;
    return;
  }
  // The old login stays in use if the file cannot be read now.
  if (auto access = parts_.load()) {
    access_ = std::move(*access);
  } else {
    problem_ = access.error();
    return;
  }
  login_ = {};
  has_login_ = false;
  read_again_at_.reset();
  renew_at_.reset();
  expires_at_.reset();
  failed_until_.reset();
  (void)prepare();
}

bool Credentials::reload_authority() {
  const auto access = parts_.load();
  if (!access || access->ca_pem == access_.ca_pem) return false;
  access_.ca_pem = access->ca_pem;
  return true;
}

std::optional<BootTime> Credentials::next_deadline() const {
  if (program_) return program_->deadline();
  return failed_until_;
}

void Credentials::dispatch() {
  if (failed_until_ && parts_.boot_now() >= *failed_until_) failed_until_.reset();
  if (!program_) return;
  auto output = program_->poll(parts_.boot_now());
  if (!output) return;
  program_.reset();
  if (!*output) return fail_for_now(output->error());
  const auto& plugin = std::get<ExecPlugin>(access_.token);
  auto credential = parse_exec_credential(**output, plugin.api_version);
  if (!credential) return fail_for_now(credential.error());
  Login login = std::move(credential->login);
  if (login.certificate_pem.empty()) {
    login.certificate_pem = access_.client_certificate_pem;
    login.key_pem = access_.client_key_pem;
  }
  const Time now = parts_.wall_now();
  if (credential->expires_at && *credential->expires_at <= now)
    return fail_for_now(
        {ErrorCode::failed_precondition, "the credential program " + quote(plugin.command) +
                                             " gave a login that has expired already"});
  expires_at_ = credential->expires_at;
  renew_at_.reset();
  if (expires_at_) renew_at_ = now + (*expires_at_ - now) / 5 * 4;
  set(std::move(login));
}

}  // namespace ares::kubernetes
