// Values of the model with every field set at random, to test conversions.
// Owned by the test; one thread.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "model/engine/node_message.h"
#include "model/job/job.h"

namespace ares::testing {

class RandomWire {
 public:
  explicit RandomWire(std::uint64_t seed) : random_(seed) {}

  std::uint64_t number(std::uint64_t below = ~0ull) { return random_() % below; }
  bool flag() { return number(2) == 1; }
  std::uint32_t u32() { return static_cast<std::uint32_t>(random_()); }
  std::uint32_t count() { return static_cast<std::uint32_t>(number(1000)); }
  std::int32_t i32() { return static_cast<std::int32_t>(random_()); }
  Bytes bytes() { return Bytes(static_cast<std::int64_t>(number(1ull << 50))); }
  Seconds seconds() { return Seconds(static_cast<std::int64_t>(number(1ull << 32))); }
  Time time() { return Time(Duration(1 + static_cast<std::int64_t>(number(1ull << 51)))); }

  std::string word() {
    std::string text;
    for (std::uint64_t n = 1 + number(20); n > 0; --n)
      text += static_cast<char>('!' + number('~' - '!'));
    return text;
  }
  // Any bytes that a path may have, UTF-8 or not.
  std::string path() {
    std::string text = "/";
    for (std::uint64_t n = number(40); n > 0; --n) {
      const char c = static_cast<char>(0x20 + number(0xe0));
      text += c == 0x7f ? 'x' : c;
    }
    return text;
  }
  std::string argument() {
    std::string text;
    for (std::uint64_t n = number(30); n > 0; --n) text += static_cast<char>(1 + number(255));
    return text;
  }
  BlobId digest() {
    BlobId id;
    for (auto& byte : id) byte = static_cast<std::uint8_t>(random_());
    return id;
  }
  template <class Make>
  auto list(Make make, std::uint64_t most = 4) {
    std::vector<decltype(make())> all;
    for (std::uint64_t n = number(most + 1); n > 0; --n) all.push_back(make());
    return all;
  }
  template <class Make>
  auto maybe(Make make) {
    std::optional<decltype(make())> value;
    if (flag()) value = make();
    return value;
  }
  std::vector<std::string> words() {
    return list([this] { return word(); });
  }

  JobKey job_key() {
    return {JobId(1 + number(1ull << 60)),
            flag() ? TaskIndex{} : TaskIndex{static_cast<std::uint32_t>(number(1 << 20))}};
  }
  AttemptKey attempt_key() { return {job_key(), AttemptNo(1 + count())}; }
  Fence fence() { return Fence(1 + number(1ull << 60)); }

  GpuRequest gpu_request() { return {flag() ? "" : word(), count(), count()}; }
  LicenseRequest license() { return {word(), count()}; }
  Dependency dependency() {
    const auto kind = static_cast<DependencyKind>(number(6));
    if (kind == DependencyKind::singleton) return {kind, {}, seconds()};
    return {kind, job_key(), seconds()};
  }
  IntervalSet tasks() {
    IntervalSet set;
    for (std::uint64_t n = 1 + number(6); n > 0; --n) {
      const std::uint32_t first = count();
      set.insert(first, first + static_cast<std::uint32_t>(number(50)));
    }
    return set;
  }

  JobSpec job_spec() {
    JobSpec s;
    s.name = word();
    s.uid = UserId(u32());
    s.gid = GroupId(u32());
    s.user = word();
    s.account = word();
    s.qos = word();
    s.wckey = word();
    s.comment = word() + "\n\t" + word();
    s.partitions = words();
    s.min_nodes = u32();
    s.max_nodes = u32();
    s.tasks = u32();
    s.cpus_per_task = u32();
    s.cpu_thousandths_per_task = u32();
    s.tasks_per_node = u32();
    s.memory_per_node = maybe([this] { return bytes(); });
    s.memory_per_cpu = maybe([this] { return bytes(); });
    s.gpus_per_node = list([this] { return gpu_request(); });
    s.gpus_total = list([this] { return gpu_request(); });
    s.gpus_per_task = list([this] { return gpu_request(); });
    s.gpu_alternatives = list([this] {
      return GpuAlternative{list([this] { return gpu_request(); }), u32()};
    });
    s.alternatives_per = static_cast<GpusPer>(number(3));
    s.cpus_per_gpu = u32();
    s.memory_per_gpu = maybe([this] { return bytes(); });
    s.tmp_disk = bytes();
    s.node_counts = maybe([this] { return tasks(); });
    s.exclusive = flag();
    s.exclusive_user = flag();
    s.required_nodes = words();
    s.excluded_nodes = words();
    s.features = words();
    s.prefer = word();
    s.switches = u32();
    s.switches_wait = maybe([this] { return seconds(); });
    s.segment = u32();
    s.reservations = words();
    s.gpu_constraint = {static_cast<GpuShape>(number(5)), u32()};
    s.licenses = list([this] { return license(); });
    s.any_license = flag();
    s.time_min = maybe([this] { return seconds(); });
    s.deadline = maybe([this] { return time(); });
    s.any_dependency = flag();
    s.time_limit = maybe([this] { return seconds(); });
    s.begin = maybe([this] { return time(); });
    s.dependencies = list([this] { return dependency(); });
    s.kill_on_invalid_dependency = flag();
    s.priority = maybe([this] { return u32(); });
    s.nice = i32();
    s.hold = flag();
    s.requeue = flag();
    s.array = maybe([this] { return tasks(); });
    s.array_throttle = u32();
    s.script = flag() ? digest() : BlobId{};
    s.environment = flag() ? digest() : BlobId{};
    s.arguments = list([this] { return argument(); });
    s.submit_dir = path();
    s.work_dir = path();
    s.std_in = path();
    s.std_out = path();
    s.std_err = path();
    s.open_mode = flag() ? OpenMode::append : OpenMode::truncate;
    s.umask = static_cast<std::uint32_t>(number(01000));
    s.limits = list([this] {
      return ResourceLimit{static_cast<std::int32_t>(number(16)), random_()};
    });
    s.submit_host = word();
    s.submit_zone = word();
    s.command = path();
    s.submit_line = word() + " \"" + word() + "\"";
    s.overcommit = flag();
    s.extra = "{\"a\": \"" + word() + "\"}";
    if (flag()) s.container = container();
    s.mail_types = static_cast<std::uint32_t>(number(1u << 10));
    s.mail_user = flag() ? "" : word();
    if (flag())
      s.binding = JobBinding{"nomultithread", 0, "verbose", "local", "closest", "block:*:cyclic"};
    else if (flag())
      s.binding = JobBinding{"",         2,        "verbose,mask_cpu:0x3,0xc*2", "prefer,map_mem:1",
                             "single:2", "plane=4"};
    s.expedite = flag();
    s.spare_nodes = u32();
    if (flag())
      s.checkpoint = CheckpointRequest{"/" + word(), static_cast<std::uint32_t>(1 + number(16))};
    s.warning =
        WarningSignal{static_cast<std::int32_t>(1 + number(64)), Seconds(number(65536)), flag()};
    if (flag()) s.gang = GangRequest{word(), u32(), u32(), maybe([this] { return seconds(); })};
    return s;
  }

  ContainerRequest container() {
    ContainerRequest c;
    if (flag())
      c.image = "registry:5000/" + std::string(1, static_cast<char>('a' + number(26))) + ":1";
    c.mounts = list([this] { return ContainerMount{"/" + word(), "/" + word(), flag()}; });
    if (flag()) c.work_dir = "/" + word();
    if (flag()) c.variables = {"PATH", "_x1"};
    c.is_per_rank = flag();
    if (flag()) c.pod_template = "{\"kind\": \"Pod\"}";
    c.space = word();
    c.service_account = word();
    return c;
  }
  Checkpoint checkpoint() {
    Checkpoint c;
    c.sequence = 1 + number(1u << 20);
    c.attempt = AttemptNo(u32());
    c.manifest = digest();
    c.size = bytes();
    c.uri = "/" + word();
    c.at = time();
    return c;
  }

  AttemptReport report() {
    AttemptReport r;
    r.attempt = attempt_key();
    r.fence = fence();
    r.phase = static_cast<AttemptPhase>(number(6));
    r.ran_since = maybe([this] { return time(); });
    r.ended_at = maybe([this] { return time(); });
    r.exit = {.code = i32(), .signal = i32(), .out_of_memory = flag(), .timed_out = flag()};
    r.usage = {.user_cpu = seconds(),
               .system_cpu = seconds(),
               .max_rss = bytes(),
               .disk_read = bytes(),
               .disk_written = bytes()};
    r.detail = path();
    r.node_problem = flag() ? path() : "";
    if (flag()) r.steps = list([this] { return step(); });
    r.checkpoints = list([this] { return checkpoint(); });
    if (flag()) r.restored = Restored{AttemptNo(u32()), random_(), u32()};
    return r;
  }
  StepRecord step() {
    StepRecord s;
    s.number = static_cast<std::int64_t>(number(100)) - 1;
    s.name = word();
    s.state = static_cast<StepState>(number(5));
    s.exit_code = i32();
    s.exit_signal = i32();
    s.cancelled_by = maybe([this] { return UserId(u32()); });
    s.started = time();
    s.ended = maybe([this] { return time(); });
    s.steps = u32();
    s.tasks = u32();
    s.cpus = u32();
    s.nodes = u32();
    s.node_list = word();
    s.user_cpu = seconds();
    s.system_cpu = seconds();
    s.max_rss = bytes();
    s.sum_rss = bytes();
    s.max_rss_node = word();
    s.disk_read = bytes();
    s.disk_written = bytes();
    return s;
  }
  AttemptUse use() {
    return {attempt_key(),
            {.user_cpu = seconds(),
             .system_cpu = seconds(),
             .max_rss = bytes(),
             .disk_read = bytes(),
             .disk_written = bytes()},
            bytes(),
            u32(),
            list([this] { return step(); })};
  }
  Inventory inventory() {
    Inventory i;
    i.cpus = u32();
    i.memory = bytes();
    for (std::uint64_t n = number(9), index = 0; n > 0; --n, index += 1 + number(3))
      i.gpus.push_back({GpuIndex(static_cast<std::uint16_t>(index)), word(),
                        list([this] { return u32(); }), bytes()});
    i.features = words();
    if (flag()) i.gpu_topology = GpuTopology(word() + "\n\t" + word());
    if (flag()) i.cpu_layout = SharedText(word());
    if (flag()) i.max_attempts = u32();
    if (flag()) i.tmp_disk = bytes();
    if (flag()) i.cpu_thousandths = u32();
    return i;
  }
  FromNode from_node(std::size_t kind) {
    FromNode m{.node = word(), .incarnation = random_(), .body = {}};
    switch (kind) {
      case 0:
        m.body = Register{.name = word(),
                          .incarnation_tag = word(),
                          .incarnation = random_(),
                          .inventory = inventory(),
                          .can_freeze = flag(),
                          .version = word(),
                          .highest_epoch = Epoch(random_()),
                          .highest_lsn = Lsn(random_()),
                          .attempts = list([this] { return report(); }),
                          .position = flag() ? position() : JournalPosition{},
                          .enforced = word(),
                          .clock = maybe([this] { return time(); }),
                          .fault = path(),
                          .joins = flag(),
                          .step_port = static_cast<std::uint16_t>(random_()),
                          .machine_gone = flag()};
        break;
      case 1:
        m.body = Heartbeat{.sequence = random_(),
                           .attempts = list([this] { return report(); }),
                           .used = list([this] { return use(); }),
                           .clock = maybe([this] { return time(); }),
                           .fault = path(),
                           .machine_gone = flag(),
                           .load = {.cpu_load = maybe([this] { return u32(); }),
                                    .free_memory = maybe([this] { return bytes(); })}};
        break;
      case 2: m.body = Progress{report()}; break;
      default:
        m.body = LaunchRefused{
            .attempt = attempt_key(), .fence = fence(), .node_fault = flag(), .cause = path()};
    }
    return m;
  }

  LaunchSpec launch() {
    LaunchSpec l;
    l.attempt = attempt_key();
    l.fence = fence();
    l.own_id = JobId(random_());
    l.spec = std::make_shared<const JobSpec>(job_spec());
    l.cluster_name = word();
    l.node_name = word();
    std::vector<std::string> names;
    std::vector<std::uint32_t> cpus, tasks, gpus;
    const bool has_steps = flag(), has_gpus = flag();
    for (std::uint64_t n = 1 + number(5); n > 0; --n) {
      names.push_back("n" + std::to_string(number(12)));
      cpus.push_back(flag() ? 4 : u32());
      tasks.push_back(flag() ? 1 : u32());
      if (has_gpus) gpus.push_back(u32());
      if (has_steps) l.step_addresses.push_back(word());
    }
    l.rank = static_cast<std::uint32_t>(number(names.size()));
    l.layout = std::make_shared<const NodeLayout>(names, cpus, tasks, gpus);
    l.share.cpus = u32();
    l.share.cpu_ids = list([this] { return u32(); });
    l.share.memory = bytes();
    for (std::uint64_t n = number(5); n > 0; --n) {
      l.share.gpus.push_back(GpuIndex(static_cast<std::uint16_t>(random_())));
      l.gpu_types.push_back(word());
    }
    l.share.tasks = u32();
    l.share.incarnation = random_();
    l.share.gpu_part = count();
    l.share.cpu_thousandths = count();
    l.partition = word();
    l.time_limit = maybe([this] { return seconds(); });
    l.restarts = u32();
    l.array_count = maybe([this] { return u32(); });
    l.array_min = maybe([this] { return u32(); });
    l.array_max = maybe([this] { return u32(); });
    l.array_step = maybe([this] { return u32(); });
    l.leased = flag();
    l.kill_wait = seconds();
    if (has_steps) l.step_key = argument() + '\0';
    l.master_port = static_cast<std::uint16_t>(random_());
    l.checkpoints = list([this] { return checkpoint(); });
    if (flag()) l.container_image = word();
    return l;
  }
  JournalPosition position() {
    JournalPosition p{word(), Epoch(random_()), word(), Lsn(random_()), JobId(random_())};
    if (p.history.empty()) p.history = "some";
    return p;
  }
  ToNode to_node(std::size_t kind) {
    ToNode m{.node = word(), .epoch = Epoch(random_()), .body = {}, .position = maybe([this] {
                                                                      return position();
                                                                    })};
    const AttemptKey key = attempt_key();
    const Fence f = fence();
    switch (kind) {
      case 0:
        m.body = Prepare{launch(), std::make_shared<const std::string>(argument() + '\0'),
                         std::make_shared<const std::string>(argument() + '\0')};
        break;
      case 1: m.body = Go{key, f}; break;
      case 2: m.body = Kill{key, f, flag(), maybe([this] { return seconds(); }), flag()}; break;
      case 3:
        m.body = Signal{key, f, Lsn(random_()), static_cast<std::int32_t>(1 + number(64)), flag()};
        break;
      case 4: m.body = SetLimit{key, f, Lsn(random_()), maybe([this] { return seconds(); })}; break;
      case 5: m.body = Forget{key, f}; break;
      case 6: m.body = Welcome{random_(), seconds(), Seconds(1 + count())}; break;
      case 7: m.body = HeartbeatAck{random_()}; break;
      case 8: m.body = SetSuspended{key, f, Lsn(random_()), flag(), seconds()}; break;
      case 9: m.body = Reboot{random_()}; break;
      case 10:
        m.body = SignalStep{
            key, f, Lsn(random_()), u32(), static_cast<std::int32_t>(number(65)), UserId(u32())};
        break;
      case 11: m.body = CheckpointKnown{key, f, random_()}; break;
      default: m.body = Refused{path()};
    }
    return m;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace ares::testing
