#include "notify/send/send.h"

#include <curl/curl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <memory>

#include "base/printable.h"
#include "notify/send/mail_text.h"
#include "notify/send/replies.h"
#include "notify/send/signature.h"
#include "os/file.h"

namespace ares::notify {
namespace {

constexpr long kConnectTimeout = 10;
constexpr std::size_t kMostAnswer = 4096;  // of which one line is shown

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, FreeList>;

void append(List& list, const std::string& line) {
  if (curl_slist* const longer = curl_slist_append(list.get(), line.c_str())) {
    (void)list.release();
    list.reset(longer);
  }
}

// Something at this site prevents all messages to that server.
Outcome later(std::string text) {
  return {Outcome::Kind::later, true, Seconds(0), std::move(text)};
}

Result<std::string> secret_in(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return fail(os::errno_error(path));
  if ((found.st_uid != 0 && found.st_uid != ::geteuid()) || (found.st_mode & 077) != 0)
    return fail(ErrorCode::permission_denied,
                path +
                    ": other users can read or change it; it must belong to root or to the "
                    "controller's user, with mode 0600");
  auto text = os::read_file(path);
  if (!text) return fail(text.error());
  std::string line = text->substr(0, text->find_first_of("\r\n"));
  if (line.empty()) return fail(ErrorCode::failed_precondition, path + ": its first line is empty");
  return line;
}

// One transfer. Its texts outlive it. The handle is never cleaned up: that would wait for the answer of a mail server to QUIT, after the mail
// was taken. The process ends soon.
class Transfer {
 public:
  Transfer()
      : easy_(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_easy_init() : nullptr) {}

  explicit operator bool() const { return easy_ != nullptr; }

  template <class Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(easy_, option, value);
  }

  CURLcode perform(const std::string& ca_file, std::chrono::seconds most) {
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_CONNECTTIMEOUT, kConnectTimeout);
    set(CURLOPT_TIMEOUT, static_cast<long>(most.count()));
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_WRITEFUNCTION, &take_answer);
    set(CURLOPT_WRITEDATA, &answer_);
    set(CURLOPT_HEADERFUNCTION, &take_line);
    set(CURLOPT_HEADERDATA, &refusal_);
    if (!ca_file.empty()) {
      set(CURLOPT_CAINFO, ca_file.c_str());
      set(CURLOPT_CAPATH, nullptr);  // and no others
    }
    return curl_easy_perform(easy_);
  }

  long code() const {
    long code = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
  std::string header(const char* name) const {
    curl_header* found = nullptr;
    return curl_easy_header(easy_, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK ? found->value
                                                                                   : "";
  }
  const std::string& answer() const { return answer_; }
  // The last reply of a mail server that was a refusal.
  const std::string& refusal() const { return refusal_; }
  std::string error(CURLcode code) const {
    return printable(error_[0] ? error_.data() : curl_easy_strerror(code));
  }

 private:
  static std::size_t take_answer(char* data, std::size_t, std::size_t size, void* to) {
    std::string& answer = *static_cast<std::string*>(to);
    answer.append(data, std::min(size, kMostAnswer - answer.size()));
    return size;
  }

  CURL* const easy_;
  // libcurl says QUIT after a refusal: what counts is the reply before.
  static std::size_t take_line(char* data, std::size_t, std::size_t size, void* to) {
    const std::string_view line(data, size);
    if (line.starts_with('4') || line.starts_with('5'))
      static_cast<std::string*>(to)->assign(
          line.substr(0, std::min(line.find_first_of("\r\n"), kMostAnswer)));
    return size;
  }

  std::array<char, CURL_ERROR_SIZE> error_{};
  std::string answer_;
  std::string refusal_;
};

struct Upload {
  std::string_view rest;
};

std::size_t give(char* to, std::size_t, std::size_t room, void* from) {
  std::string_view& rest = static_cast<Upload*>(from)->rest;
  const std::size_t count = std::min(room, rest.size());
  std::memcpy(to, rest.data(), count);
  rest.remove_prefix(count);
  return count;
}

long use_of(Tls tls) {
  switch (tls) {
    case Tls::none: return CURLUSESSL_NONE;
    case Tls::if_offered: return CURLUSESSL_TRY;
    case Tls::required: break;
  }
  return CURLUSESSL_ALL;
}

Outcome send(const Mail& mail) {
  Transfer transfer;
  if (!transfer) return later("libcurl cannot be used");
  std::string password;
  if (!mail.user.empty()) {
    if (mail.password_file.empty()) return later("smtp.user is given without a password_file");
    auto secret = secret_in(mail.password_file);
    if (!secret) return later(secret.error().message);
    password = std::move(*secret);
    transfer.set(CURLOPT_USERNAME, mail.user.c_str());
    transfer.set(CURLOPT_PASSWORD, password.c_str());
  }
  const std::string text = internet_message(mail);
  const std::string from = "<" + mail.from + ">";
  Upload upload{text};
  List to;
  for (const std::string& address : mail.to) append(to, "<" + address + ">");
  const std::string url = mail.server + "/" + mail.helo;  // libcurl greets with the path
  transfer.set(CURLOPT_URL, url.c_str());
  transfer.set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  // A password is never sent without TLS.
  transfer.set(CURLOPT_USE_SSL, mail.user.empty() ? use_of(mail.tls) : long{CURLUSESSL_ALL});
  transfer.set(CURLOPT_MAIL_FROM, from.c_str());
  transfer.set(CURLOPT_MAIL_RCPT, to.get());
  transfer.set(CURLOPT_UPLOAD, 1L);
  transfer.set(CURLOPT_READFUNCTION, &give);
  transfer.set(CURLOPT_READDATA, &upload);
  const CURLcode code = transfer.perform(mail.ca_file, kLongestMail);
  if (code == CURLE_OK) return {};
  // So end transfers in which the server refused MAIL, RCPT or DATA, or the text after it. Before these it speaks of the session.
  const bool of_message =
      code == CURLE_SEND_ERROR || (code == CURLE_WEIRD_SERVER_REPLY && upload.rest.empty());
  const long reply = transfer.code();
  if (reply < 400) return smtp_outcome(0, false, transfer.error(code));
  return smtp_outcome(reply, of_message, transfer.refusal());
}

Outcome send(const Webhook& hook) {
  Transfer transfer;
  if (!transfer) return later("libcurl cannot be used");
  List headers;
  append(headers, "Content-Type: application/json");
  append(headers, "Expect:");  // which costs a round trip
  append(headers, "X-Ares-Event: " + hook.event);
  append(headers, "X-Ares-Delivery: " + hook.delivery);
  if (!hook.token_file.empty()) {
    auto token = secret_in(hook.token_file);
    if (!token) return later(token.error().message);
    append(headers, "Authorization: Bearer " + *token);
  }
  if (!hook.secret_file.empty()) {
    auto secret = secret_in(hook.secret_file);
    if (!secret) return later(secret.error().message);
    append(headers, "X-Ares-Signature: " + signature(*secret, hook.body));
  }
  transfer.set(CURLOPT_URL, hook.url.c_str());
  transfer.set(CURLOPT_PROTOCOLS_STR, "http,https");
  transfer.set(CURLOPT_PROXY, hook.proxy.c_str());  // empty: none
  transfer.set(CURLOPT_HTTPHEADER, headers.get());
  transfer.set(CURLOPT_USERAGENT, "ares-notify/" ARES_VERSION);
  transfer.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(hook.body.size()));
  transfer.set(CURLOPT_POSTFIELDS, hook.body.c_str());
  const CURLcode code = transfer.perform(hook.ca_file, kLongestRequest);
  if (code != CURLE_OK) return later(transfer.error(code));
  return http_outcome(transfer.code(), transfer.header("Retry-After"), transfer.answer(),
                      static_cast<std::int64_t>(std::time(nullptr)));
}

}  // namespace

Outcome send(const Message& message) {
  return std::visit([](const auto& one) { return send(one); }, message);
}

}  // namespace ares::notify
