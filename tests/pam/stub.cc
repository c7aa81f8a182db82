// A libpam.so.0 for tests. It writes what is called to the file $ARES_PAM_STUB, and refuses the
// account or the session of users whose names are in that file with ".account" or ".session". It
// sets variables, and a limit of open files. Prototypes are written down here once more, so that a
// mistake in pam_api.h is not made on both sides.
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

std::string user, service;

std::string path() {
  const char* given = std::getenv("ARES_PAM_STUB");
  return given ? given : "/dev/null";
}
void note(const std::string& text) {
  std::ofstream(path(), std::ios::app) << text << " " << service << " " << user << std::endl;
}
bool refused(const char* what) {
  std::ifstream names(path() + what);
  for (std::string name; names >> name;)
    if (name == user) return true;
  return false;
}

struct Message {
  int style;
  const char* text;
};
struct Response {
  char* text;
  int code;
};
struct Conversation {
  int (*answer)(int, const Message**, Response**, void*);
  void* data;
} conversation;

int say(int style, const char* text) {
  const Message message{style, text};
  const Message* list[] = {&message};
  Response* response = nullptr;
  const int result = conversation.answer(1, list, &response, conversation.data);
  std::free(response);
  return result;
}

}  // namespace

extern "C" {

int pam_start(const char* of_service, const char* of_user, const Conversation* with,
              void** handle) {
  service = of_service;
  user = of_user;
  conversation = *with;
  *handle = &user;
  return 0;
}
int pam_end(void*, int status) {
  note("end " + std::to_string(status));
  return 0;
}
int pam_set_item(void*, int item, const void* value) {
  if (item == 3) note(std::string("tty=") + static_cast<const char*>(value));
  return 0;
}
int pam_acct_mgmt(void*, int) {
  note("account");
  if (!refused(".account")) return 0;
  (void)say(3, "you are locked out");  // PAM_ERROR_MSG
  return 13;                           // PAM_ACCT_EXPIRED
}
int pam_setcred(void*, int flags) {
  note("credentials " + std::to_string(flags));
  return 0;
}
int pam_open_session(void*, int) {
  note("open");
  if (say(1, "Password: ") == 0) return 4;  // there is no user to ask
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max = 123;
  ::setrlimit(RLIMIT_NOFILE, &files);
  return refused(".session") ? 14 : 0;  // PAM_SESSION_ERR
}
int pam_close_session(void*, int) {
  note("close");
  return 0;
}
char** pam_getenvlist(void*) {
  auto** list = static_cast<char**>(std::calloc(3, sizeof(char*)));
  list[0] = ::strdup("KRB5CCNAME=FILE:/tmp/of-session");
  list[1] = ::strdup("FROM_PAM=a value");
  return list;
}
const char* pam_strerror(void*, int error) {
  switch (error) {
    case 13: return "User account has expired";
    case 14: return "Cannot make/remove an entry for the specified session";
  }
  return "Unknown PAM error";
}

}  // extern "C"
