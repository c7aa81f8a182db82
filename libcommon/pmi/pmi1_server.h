// The server of PMI-1, the protocol with which programs of MPICH, MVAPICH and Intel MPI find each other,
// for the ranks of one step on one node. Pure: bytes in, lines out. Owned by the step's daemon, which
// holds the connections and exchanges contributions with the step's other nodes; one thread.
//
// Bytes come from user programs. Lines, keys, values and their number are bounded. A line is answered
// by at most one line of kMostLine bytes, so a daemon that reads from a rank only while it has
// written what the rank was answered needs bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pmi/contribution.h"
#include "pmi/pmi1_line.h"
#include "pmi/task_map.h"

namespace ares::pmi {

// To be written to the connection of a local rank.
struct Reply {
  std::uint32_t rank = 0;
  std::string line;  // with its end
};

// The step is to be ended. After it the server answers nothing.
struct Abort {
  std::uint32_t rank = 0;  // which asked for it, or is to blame; a fence names the first local one
  int exit_code = 1;
  std::string message;  // fit for a terminal
};

struct Outcome {
  std::vector<Reply> replies;
  // All local ranks wait in a barrier: to be sent to the step's first node, which collects one of each
  // node and gives all of them to on_fence() of each, in the order of nodes.
  std::optional<std::string> contribution;
  std::optional<Abort> abort;
};

class Pmi1Server {
 public:
  // Keys of all ranks together, with what they cost.
  static constexpr std::size_t kMostKeptBytes = 64 << 20;

  // `space` names the step among all that its programs may see: letters, digits, '.', '_', '-'; at most
  // kMostSpaceName. invalid_argument for another name and for a wrong map.
  static Result<Pmi1Server> create(TaskMap map, std::string space);

  // What a local rank sent, in pieces of any size.
  Outcome on_bytes(std::uint32_t rank, std::string_view bytes);

  // The rank's connection is closed. A rank that began and did not finalize would let the others wait
  // for ever, so that ends the step. A daemon that knows the exit status of the rank reports that.
  Outcome on_closed(std::uint32_t rank);

  // The contributions of all nodes to the barrier in which the local ranks wait.
  Outcome on_fence(std::span<const std::string> contributions);

 private:
  struct Client {
    std::string partial;            // of a line
    bool in_spawn = false;          // the lines of such a command follow
    std::uint32_t spawns_left = 0;  // commands that belong to the current one and follow
    bool active = false;            // between init and finalize
    bool waiting = false;           // in a barrier
  };
  struct Call;  // one line of one rank
  using Handler = void (Pmi1Server::*)(Call&);
  struct Row;
  static const Row kRows[];

  Pmi1Server(TaskMap map, std::string space);
  Client* client(std::uint32_t rank);
  Abort end(std::uint32_t rank, int exit_code, std::string message);
  void on_line(std::uint32_t rank, Client& from, std::string_view line, Outcome& out);
  void on_spawn_line(std::uint32_t rank, Client& from, std::string_view line, Outcome& out);

  void init(Call& call);
  void get_maxes(Call& call);
  void get_appnum(Call& call);
  void get_space(Call& call);
  void get_universe_size(Call& call);
  void put(Call& call);
  void get(Call& call);
  void barrier(Call& call);
  void finalize(Call& call);
  void abort(Call& call);
  void refuse_names(Call& call);

  TaskMap map_;
  std::string space_;
  std::vector<Client> clients_;  // of the local ranks, in their order
  KeyValues kept_;               // what get() sees
  std::size_t kept_bytes_ = 0;
  KeyValues added_;  // by local ranks since the last fence
  std::size_t added_bytes_ = 0;
  std::uint64_t fence_ = 0;  // the next one
  std::size_t waiting_ = 0;
  bool ended_ = false;
};

}  // namespace ares::pmi
