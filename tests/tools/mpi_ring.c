/* An MPI program that says what its ranks see: run by tests of process managers under MPICH and Open MPI.
 *
 *   mpi_ring             each rank prints "rank R of N, L here, sum S, ring T": L ranks share its node, S is the sum of
 *                        1 to N by MPI_Allreduce, T a token that went round all ranks, each of which added 1
 *   mpi_ring abort       rank 1 calls MPI_Abort with 7; the others wait in a barrier
 *   mpi_ring leave       rank 1 ends without MPI_Finalize; the others wait in a barrier
 *   mpi_ring kill        rank 1 is killed by SIGKILL; the others wait in a barrier
 *   mpi_ring spawn       each rank prints "spawn refused" if MPI_Comm_spawn fails
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  int rank, size, here, sum, token = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(mode, "abort") == 0) {
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(mode, "leave") == 0) {
    if (rank == 1) _exit(3);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(mode, "kill") == 0) {
    if (rank == 1) kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(mode, "spawn") == 0) {
    MPI_Comm children;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int refused = MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                                       MPI_ERRCODES_IGNORE) != MPI_SUCCESS;
    printf("spawn %s\n", refused ? "refused" : "done");
  } else {
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    const int mine = rank + 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    if (rank == 0) {
      token = 1;
      MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    }
    MPI_Recv(&token, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank != 0) {
      ++token;
      MPI_Send(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
    }
    printf("rank %d of %d, %d here, sum %d, ring %d\n", rank, size, here, sum, token);
    MPI_Comm_free(&node);
  }
  MPI_Finalize();
  return 0;
}
