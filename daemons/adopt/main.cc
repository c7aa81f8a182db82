// ares-adopt: a check at the login to a node, run by pam_exec of the login service, as root.
#include <getopt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "adopt/adopt.h"
#include "exec/baremetal/file_spool.h"
#include "os/clock.h"

namespace {

using ares::ErrorCode;
using ares::fail;
using ares::Result;
using ares::Status;

// Of a machine whose ares.yaml does not say otherwise.
std::string default_spool() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string_view name(host);
  return "/var/spool/ares/" + std::string(name.substr(0, name.find('.')));
}

Result<std::string> parse_arguments(int argc, char** argv) {
  constexpr option kOptions[] = {{"spool", required_argument, nullptr, 's'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {"version", no_argument, nullptr, 'V'},
                                 {nullptr, 0, nullptr, 0}};
  std::string spool = default_spool();
  for (int c; (c = ::getopt_long(argc, argv, "", kOptions, nullptr)) != -1;) {
    switch (c) {
      case 's': spool = optarg; break;
      case 'h':
        std::puts(
            "usage: ares-adopt [--spool DIR]\n"
            "Run by pam_exec(8) when a user logs in to a node: refuses users without a running "
            "job there, and\n"
            "puts the session into the control groups of the job. DIR is the spool of the node's "
            "aresd. See\n"
            "ares-adopt(8).");
        std::exit(0);
      case 'V': std::puts("ares-adopt " ARES_VERSION); std::exit(0);
      default: return fail(ErrorCode::invalid_argument, "see ares-adopt --help");
    }
  }
  if (optind < argc)
    return fail(ErrorCode::invalid_argument, std::string("unexpected argument ") + argv[optind]);
  return spool;
}

Status check_login(const std::string& spool) {
  const char* user = std::getenv("PAM_USER");
  if (!user || *user == '\0')
    return fail(ErrorCode::invalid_argument,
                "PAM_USER is not set; it is run by pam_exec, see ares-adopt(8)");
  const char* type = std::getenv("PAM_TYPE");
  if (std::string_view(user) == "root" || (type && std::string_view(type) == "close_session"))
    return {};
  if (::geteuid() != 0) return fail(ErrorCode::permission_denied, "it has to run as root");
  const Result<std::string> boot_id = ares::os::boot_id();
  if (!boot_id) return fail(boot_id.error());
  const auto records = ares::exec::FileSpool::share(spool);
  if (const auto listed = records->list(); !listed) return fail(listed.error());
  // pam_exec starts this program from the process that becomes, or starts, the session.
  return ares::adopt::adopt(*records, user, *boot_id, ::getppid());
}

}  // namespace

int main(int argc, char** argv) {
  const Result<std::string> spool = parse_arguments(argc, argv);
  const Status status = spool ? check_login(*spool) : fail(spool.error());
  if (status) return 0;
  // The option stdout of pam_exec shows it to the user.
  std::printf("access denied by ares-adopt: %s\n", status.error().message.c_str());
  return 1;
}
