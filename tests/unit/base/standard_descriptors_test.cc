#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ares {
namespace {

// What a child says that calls it with these descriptors closed: the next descriptor that it opens.
int next_descriptor(std::initializer_list<int> closed) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int fd : closed) ::close(fd);
    open_standard_descriptors();
    for (int fd = 0; fd <= STDERR_FILENO; ++fd)
      if (::fcntl(fd, F_GETFD) < 0) ::_exit(100 + fd);
    ::_exit(::open("/dev/null", O_RDONLY));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StandardDescriptors, ThoseThatAreClosedAreOpenedAndNoOthers) {
  const int usual = next_descriptor({});
  EXPECT_GT(usual, STDERR_FILENO);
  EXPECT_EQ(next_descriptor({STDOUT_FILENO}), usual);
  EXPECT_EQ(next_descriptor({STDIN_FILENO, STDERR_FILENO}), usual);
  EXPECT_EQ(next_descriptor({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}), usual);
}

}  // namespace
}  // namespace ares
