// The process of a step host: what it reads as root before it becomes the job's user.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <utility>

#include "aresstepd/become_user.h"
#include "aresstepd/steps/host.h"
#include "node/records.h"
#include "os/clock.h"
#include "os/file.h"
#include "os/private_tmp.h"

namespace ares::stepd {
namespace {

// Path of another program of the installation.
std::string beside_this_program(const std::string& name) {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string own(path, size > 0 ? static_cast<std::size_t>(size) : 0);
  return own.substr(0, own.rfind('/') + 1) + name;
}

}  // namespace

int run_step_host(const std::string& directory, int listener) {
  const auto give_up = [](const Error& error) {
    std::fprintf(stderr, "aresstepd: no steps can run: %s\n", error.message.c_str());
    return 1;
  };
  ::prctl(PR_SET_NAME, "ares-steps");
  const Result<os::RecordDir> records = os::RecordDir::open(directory);
  if (!records) return give_up(records.error());
  const Result<std::string> text = records->read(node::file_name(node::Record::spec));
  if (!text) return give_up(text.error());
  Result<node::StepSpec> spec = node::decode_step_spec(*text);
  if (!spec) return give_up(spec.error());
  HostFacts facts;
  facts.directory = directory;
  facts.pmixd = beside_this_program("arespmixd");
  facts.started_at = os::wall_now();
  if (const Result<std::string> go = records->read(node::file_name(node::Record::go)); go)
    if (const Result<node::GoRecord> record = node::decode_go(*go); record)
      facts.started_at = record->at;

  Result<StepRecords> steps = StepRecords::open(directory, "steps.state");
  if (!steps) return give_up(steps.error());
  StepLedger ledger;
  if (spec->launch.rank == 0) {
    const std::string name(node::file_name(node::Record::steps));
    if (Result<StepLedger> opened = StepLedger::open(directory, name, os::wall_now()))
      ledger = std::move(*opened);
    else  // the steps run all the same
      std::fprintf(stderr, "aresstepd: accounting will not know the steps of the job: %s\n",
                   opened.error().message.c_str());
  }
  facts.by_root = ::geteuid() == 0;
  if (facts.by_root)
    if (os::Fd adjust(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)); adjust)
      (void)!::write(adjust.get(), "0", 1);
  set_limits(spec->launch.spec->limits);
  if (auto groups = os::StepGroups::make(spec->memory_limit.value_or(Bytes(0)),
                                         spec->launch.spec->uid.value()))
    facts.memory = std::move(*groups);
  else
    facts.no_memory = groups.error().message;
  if (!spec->private_tmp.empty())
    if (const Status entered = os::enter_private_tmp(spec->private_tmp); !entered)
      return give_up(entered.error());
  if (const Status became = become_user(*spec); !became) return give_up(became.error());
  facts.spec = std::move(*spec);
  Result<std::unique_ptr<StepHost>> host =
      StepHost::make(std::move(facts), std::move(*steps), os::Fd(listener), std::move(ledger));
  if (!host) return give_up(host.error());
  if (const Status ran = (*host)->run(); !ran) return give_up(ran.error());
  return 0;
}

}  // namespace ares::stepd
