// Commands of scontrol that actl does not have, each with the reason.
#include "actl/command.h"

namespace ares::actl {
namespace {

constexpr const char* kBurstBuffers =
    "there are no burst buffers; jobs copy files in their scripts";
constexpr const char* kOneCluster =
    "a command asks the cluster of its ares.yaml; name another file with --config";
constexpr const char* kLogLevel =
    "set log.level in ares.yaml, and run actl reconfigure: the controller follows at once, aresd "
    "when "
    "it is started again, and jobs run on meanwhile";

}  // namespace

const std::vector<RefusedCommand>& refused_commands() {
  static const std::vector<RefusedCommand> all = {
      {{"abort"},
       "the controller is not ended with an image of its memory; actl shutdown stops it"},
      {{"cluster"}, kOneCluster},
      {{"errnumstr"}, "errors are said in words, and have no numbers"},
      {{"fsdampeningfactor"},
       "fair share has no such factor; the section fairness of ares.yaml(5) has what it has"},
      {{"getent"},
       "jobs find their users by the name service of their node; ask that, with getent(1) there"},
      {{"pidinfo"}, "actl listpids on the node says which job each process is of"},
      {{"power"},
       "nodes are not switched on and off for jobs; actl down takes a node out of service, and "
       "actl "
       "reboot starts it again"},
      {{"schedloglevel"}, kLogLevel},
      {{"setdebugflags"}, kLogLevel},
      {{"takeover"},
       "no controller waits beside another one; start aresctld on the other machine: the database "
       "lets the one that started last write, and the other one stops. See aresctld(8)"},
      {{"token"}, "munge certifies users, and they need no token; see munge(7)"},
      {{"show", "aliases"}, "a node has one name; its address is in actl show node"},
      {{"show", "assoc_mgr"},
       "aacctmgr show association and aacctmgr show qos list limits, ashare what is used"},
      {{"show", "bbstat"}, kBurstBuffers},
      {{"show", "burstbuffer"}, kBurstBuffers},
      {{"show", "dwstat"}, kBurstBuffers},
      {{"show", "federation"}, kOneCluster},
  };
  return all;
}

}  // namespace ares::actl
