// Tests: ainfo/columns, ainfo/load_columns, ainfo/rows, ainfo/row, ainfo/reservations
// How ainfo prints the replies of the controller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ainfo/query.h"
#include "ainfo/reservations.h"
#include "proto/table.h"

namespace ares::ainfo {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Answer cluster() {
  Answer c;
  c.nodes.set_cluster("test");
  api::Partition* main = c.partitions.add_partitions();
  main->set_name("main");
  main->set_is_default(true);
  main->set_up(true);
  api::Partition* gpu = c.partitions.add_partitions();
  gpu->set_name("gpu");
  gpu->set_max_time(3600);
  gpu->set_max_nodes(2);
  const char* states[] = {"IDLE", "MIXED", "IDLE", "DRAINED", "DOWN*"};
  for (int i = 0; i < 5; ++i) {
    api::Node* node = c.nodes.add_nodes();
    node->set_name("n" + std::to_string(i == 4 ? 10 : i + 1));
    node->set_state(states[i]);
    node->set_cpus(i == 2 ? 8 : 4);
    node->set_cpus_allocated(i == 1 ? 3 : 0);
    node->set_memory(4000LL << 20);
    node->add_partitions("main");
    if (i < 2) node->add_partitions("gpu");
  }
  c.nodes.mutable_nodes(3)->set_reason("fan");
  c.nodes.mutable_nodes(3)->set_reason_by("1001");
  c.nodes.mutable_nodes(3)->set_reason_user("alice");
  return c;
}

std::string info(const std::vector<std::string>& words = {}, const Answer& answer = cluster(),
                 unsigned terminal = 0) {
  Query query;
  const cli::OptionTable table = options(query);
  const auto parsed = cli::parse_options(table, words);
  if (!parsed) return parsed.error().message;
  if (Status applied = cli::apply_options(parsed->given); !applied) return applied.error().message;
  const auto fields = fields_of(query);
  if (!fields) return fields.error().message;
  // Only fields that the query requests are sent.
  Answer sent = answer;
  sent.nodes.clear_nodes();
  proto::TableWriter writer(api::Node::default_instance(), *fields);
  for (const api::Node& node : answer.nodes.nodes()) writer.add(node);
  const api::Table wire = writer.take();
  EXPECT_TRUE(proto::read_table<api::Node>(
      wire, [&](const api::Node& node) { *sent.nodes.add_nodes() = node; }));
  const auto text = print(query, sent, terminal);
  return text ? *text : text.error().message;
}

TEST(Info, EqualNodesShareALine) {
  EXPECT_EQ(info(),
            "PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\n"
            "main*        up  infinite     1   mix n2\n"
            "main*        up  infinite     2  idle n[1,3]\n"
            "main*        up  infinite     1 drain n4\n"
            "main*        up  infinite     1 down* n10\n"
            "gpu        down   1:00:00     1   mix n2\n"
            "gpu        down   1:00:00     1  idle n1\n");
}

TEST(Info, SummaryReasonsAndFilters) {
  EXPECT_THAT(info({"-s"}), HasSubstr("main*        up  infinite        1/2/2/5 n[1-4,10]\n"));
  EXPECT_EQ(info({"-h", "-t", "idle", "-o", "%R %D %N"}), "main 2 n[1,3]\ngpu 1 n1\n");
  EXPECT_EQ(info({"-h", "-d", "-o", "%N"}), "n10\n");
  EXPECT_EQ(info({"-h", "-t", "no_respond", "-o", "%N"}), "n10\n");
  EXPECT_EQ(info({"-h", "-R", "-o", "%E %u %U %N"}), "fan alice alice(1001) n4\n");
  EXPECT_EQ(info({"-h", "-o", "%P %C"}), "main* 3/13/8/24\ngpu 3/5/0/8\n");
  EXPECT_EQ(info({"-t", "sleepy"}), "--states: Invalid node state specified: sleepy");
}

TEST(Info, DifferentSizesShowTheMinimumUnlessExact) {
  EXPECT_EQ(info({"-h", "-p", "main", "-t", "idle", "-o", "%R %c %m %N"}),
            "main 4+ 4000 n[1,3]\ngpu 4 4000 n1\n");
  EXPECT_EQ(info({"-h", "-e", "-t", "idle", "-o", "%R %c %N"}), "main 4 n1\nmain 8 n3\ngpu 4 n1\n");
}

TEST(Info, NodeFormatHasALineForEachNode) {
  EXPECT_EQ(
      info({"-h", "-N", "-o", "%N %R %t"}),
      "n1 main idle\nn1 gpu idle\nn2 main mix\nn2 gpu mix\nn3 main idle\nn4 main drain\nn10 main "
      "down*\n");
  EXPECT_EQ(info({"-h", "-t", "idle", "-o", "%n"}), "n1\nn3\n") << "host names are never folded";
}

TEST(Info, NodesAreCountedOnceWhereNoPartitionIsShown) {
  EXPECT_EQ(info({"-h", "-o", "%C"}), "3/13/8/24\n");
  EXPECT_EQ(info({"-h", "-t", "idle", "-o", "%D"}), "2\n");
  EXPECT_EQ(info({"-h", "-o", "%D %t %N"}), "1 mix n2\n2 idle n[1,3]\n1 drain n4\n1 down* n10\n");
  EXPECT_EQ(info({"-h", "-N", "-o", "%N"}), "n1\nn2\nn3\nn4\nn10\n");
  EXPECT_EQ(info({"-h", "-t", "idle", "-o", "%D %a"}), "2 up\n1 down\n")
      << "the columns of a partition separate partitions";
}

TEST(Info, StatesAreMarked) {
  Answer c = cluster();
  c.nodes.mutable_nodes(0)->set_planned(true);
  c.nodes.mutable_nodes(1)->set_state("COMPLETING");
  EXPECT_EQ(info({"-h", "-o", "%t %N"}, c), "comp n2\nidle- n1\nidle n3\ndrain n4\ndown* n10\n");
  EXPECT_EQ(info({"-h", "-t", "comp", "-o", "%T"}, c), "completing\n");
}

TEST(Info, SortsByAnyColumn) {
  EXPECT_EQ(info({"-h", "-o", "%R %t %D", "-S", "-D,R"}),
            "main idle 2\ngpu mix 1\ngpu idle 1\nmain mix 1\nmain drain 1\nmain down* 1\n");
  EXPECT_EQ(info({"-h", "-o", "%R", "-S", "#P"}), "main\ngpu\n") << "the configuration's order";
  EXPECT_THAT(info({"-S", "?"}), StartsWith("cannot sort by \"?\""));
}

TEST(Info, ColumnsAreChosenByNameAndUnknownOnesRefused) {
  EXPECT_EQ(info({"-h", "-O", "partitionname:6,size:.12"}),
            "main    1-infinite\ngpu            1-2\n");
  EXPECT_EQ(info({"-o", "%w"}),
            "format: %w (Weight) is not supported: Ares has nothing of the kind");
  EXPECT_EQ(info({"-O", "Memry"}), "unknown field \"Memry\"; did you mean \"Memory\"?");
}

TEST(Info, LayoutOfNodesAndLimitsOfPartitions) {
  Answer c = cluster();
  api::Node& node = *c.nodes.mutable_nodes(0);
  node.set_sockets(2);
  node.set_cores_per_socket(8);
  node.set_threads_per_core(1);
  c.partitions.mutable_partitions(1)->set_max_cpus_per_node(3);
  EXPECT_EQ(info({"-h", "-N", "-p", "gpu", "-o", "%n %X %Y %Z %z %B"}, c),
            "n1 2 8 1 2:8:1 UNLIMITED\nn1 2 8 1 2:8:1 3\n"
            "n2 n/a n/a n/a n/a UNLIMITED\nn2 n/a n/a n/a n/a 3\n"
            "n3 n/a n/a n/a n/a UNLIMITED\nn4 n/a n/a n/a n/a UNLIMITED\n"
            "n10 n/a n/a n/a n/a UNLIMITED\n");
  EXPECT_EQ(info({"-h", "-t", "idle", "-o", "%z %N"}, c), "2:8:1 n1\nn/a n3\n")
      << "nodes that differ do not share a line";
}

TEST(Info, LoadAndFreeMemoryOfMachines) {
  Answer c = cluster();
  EXPECT_EQ(info({"-o", "%O %e"}, c), "CPU_LOAD FREE_MEM\nN/A N/A\n");
  const std::uint32_t loads[] = {1207, 5, 90};
  for (int i = 0; i < 3; ++i) {
    c.nodes.mutable_nodes(i)->set_cpu_load(loads[i]);
    c.nodes.mutable_nodes(i)->set_free_memory((i == 1 ? 12000LL : 512LL) << 20);
  }
  EXPECT_EQ(info({"-h", "-N", "-o", "%n %O %e"}, c),
            "n1 12.07 512\nn2 0.05 12000\nn3 0.90 512\nn4 N/A N/A\nn10 N/A N/A\n");
  EXPECT_EQ(info({"-h", "-o", "%t %O %e %N"}, c),
            "mix 0.05 12000 n2\nidle 0.90+ 512 n[1,3]\ndrain N/A N/A n4\ndown* N/A N/A n10\n");
  EXPECT_EQ(info({"-h", "-t", "idle,drain", "-o", "%e"}, c), "512+\n") << "one has not told it";
  EXPECT_EQ(info({"-h", "-e", "-t", "idle", "-o", "%O %N"}, c), "12.07 n1\n0.90 n3\n");
  EXPECT_EQ(info({"-h", "-o", "%n", "-S", "O"}, c), "n2\nn3\nn1\nn4\nn10\n")
      << "by number; what is not known is last";
  EXPECT_EQ(info({"-h", "-o", "%n", "-S", "-FreeMem"}, c), "n4\nn10\nn2\nn1\nn3\n");
  EXPECT_EQ(info({"-h", "-t", "mix", "-O", "CPUsLoad:6,FreeMem:.8"}, c), "0.05     12000\n");
}

TEST(Info, NodesNameTheirActiveReservations) {
  api::Reservations all;
  const auto add = [&](const char* name, const char* state, const char* nodes) {
    api::Reservation& one = *all.add_reservations();
    one.set_name(name);
    one.set_state(state);
    one.set_nodes(nodes);
    one.set_start(1'900'000'000'000'000);
    one.set_end(1'900'000'000'000'000 + std::int64_t{90'000'000'000});
  };
  add("later", "INACTIVE", "n[1-4]");
  add("maint", "ACTIVE", "n[2-3]");
  add("weekly", "ACTIVE", "n3");
  Answer c = cluster();
  c.reserved = reserved_nodes(all);
  EXPECT_EQ(info({"-h", "-N", "-o", "%n|%i"}, c), "n1|\nn2|maint\nn3|maint,weekly\nn4|\nn10|\n");
  setenv("TZ", "UTC", 1);
  tzset();
  EXPECT_EQ(list_reservations(all, true),
            "RESV_NAME     STATE           START_TIME             END_TIME    DURATION  NODELIST\n"
            "later      INACTIVE  2030-03-17T17:46:40  2030-03-18T18:46:40  1-01:00:00  n[1-4]\n"
            "maint        ACTIVE  2030-03-17T17:46:40  2030-03-18T18:46:40  1-01:00:00  n[2-3]\n"
            "weekly       ACTIVE  2030-03-17T17:46:40  2030-03-18T18:46:40  1-01:00:00  n3\n");
  Query query;
  const cli::OptionTable table = options(query);
  const auto parsed = cli::parse_options(table, std::vector<std::string>{"-o", "%i"});
  ASSERT_TRUE(parsed && cli::apply_options(parsed->given));
  EXPECT_TRUE(shows_reservations(query));
  EXPECT_FALSE(shows_reservations(Query()));
  EXPECT_THAT(info({"-T", "-N"}), HasSubstr("mutually exclusive"));
}

TEST(Info, RefusedColumnsHaveAReason) {
  for (const cli::Unsupported& row : columns().unsupported) {
    EXPECT_FALSE(row.why.empty()) << row.name;
    for (const auto& column : columns().supported)
      EXPECT_TRUE((!row.letter || column.letter != row.letter) && column.name != row.name)
          << row.name;
  }
}

TEST(Info, StatesAreColouredOnRequest) {
  EXPECT_THAT(info({"-h", "-o", "%t %N", "--color=always"}),
              HasSubstr("\033[32midle\033[0m n[1,3]\n"));
  EXPECT_THAT(info({"-h", "-o", "%t %N"}), Not(HasSubstr("\033")));
}

TEST(Info, JsonHasPartitionsAndNodes) {
  Query query;
  const std::string text = print_json(query, cluster());
  EXPECT_THAT(text, StartsWith("{\n  \"partitions\": [\n    {\n      \"name\": \"main\","));
  EXPECT_THAT(text, HasSubstr("\n  \"nodes\": [\n    {\n      \"name\": \"n1\","));
  EXPECT_NE(text.find("\"cluster\": \"test\",\n  \"meta\": {\"plugin\": {\"type\": \"ares\", "
                      "\"name\": \"ainfo\"}"),
            std::string::npos);
}

TEST(Info, TenThousandNodesAreGrouped) {
  Answer big;
  api::Partition* main = big.partitions.add_partitions();
  main->set_name("main");
  for (int i = 1; i <= 10'000; ++i) {
    api::Node* node = big.nodes.add_nodes();
    node->set_name("n" + std::to_string(i));
    node->set_state(i % 2 ? "IDLE" : "MIXED");
    node->set_address("10.0.0." + std::to_string(i));
    node->add_partitions("main");
  }
  EXPECT_THAT(info({"-h", "-o", "%t %D"}, big), testing::StrEq("mix 5000\nidle 5000\n"));
  const std::string each = info({"-h", "-o", "%o"}, big);
  EXPECT_EQ(std::count(each.begin(), each.end(), '\n'), 10'000);
}

}  // namespace
}  // namespace ares::ainfo
