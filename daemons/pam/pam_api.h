// The part of libpam that ares-pam calls: types, numbers and entry points as the Open Group and
// Linux-PAM document them, declared here because its headers are not needed to build anything else.
// Plain declarations.
#pragma once

namespace ares::pam {

struct Handle;  // never defined

struct Message {
  int style;
  const char* text;
};
struct Response {
  char* text;
  int code;  // unused, 0
};
struct Conversation {
  int (*answer)(int count, const Message** messages, Response** responses, void* data);
  void* data;
};

inline constexpr int kSuccess = 0;
inline constexpr int kConversationFailed = 19;  // PAM_CONV_ERR
// Styles of messages; others ask for an answer.
inline constexpr int kError = 3;
inline constexpr int kInformation = 4;
inline constexpr int kTerminal = 3;   // PAM_TTY
inline constexpr int kEstablish = 2;  // of credentials
inline constexpr int kDelete = 4;

// Entry points by their names without "pam_".
struct Api {
  int (*start)(const char* service, const char* user, const Conversation*, Handle**);
  int (*end)(Handle*, int status);
  int (*set_item)(Handle*, int item, const void* value);
  int (*acct_mgmt)(Handle*, int flags);
  int (*setcred)(Handle*, int flags);
  int (*open_session)(Handle*, int flags);
  int (*close_session)(Handle*, int flags);
  char** (*getenvlist)(Handle*);
  const char* (*strerror)(Handle*, int error);
};

}  // namespace ares::pam
