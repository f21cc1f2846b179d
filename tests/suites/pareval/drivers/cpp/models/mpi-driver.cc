#include <mpi.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>

class Context;
Context *init();
void compute(Context *ctx);
void best(Context *ctx);
bool validate(Context *ctx);
void reset(Context *ctx);
void destroy(Context *ctx);

static double seconds(Context *ctx, void (*work)(Context *)) {
    double total = 0;
    for (int i = 0; i < 5; i++) {
        auto start = std::chrono::steady_clock::now();
        work(ctx);
        total += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        reset(ctx);
    }
    return total / 5;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Context *ctx = init();
    int valid = validate(ctx), all = 0;
    MPI_Allreduce(&valid, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) std::printf("Validation: %s\n", all ? "PASS" : "FAIL");
    if (all) {
        double time = seconds(ctx, compute);
        if (rank == 0) std::printf("Time: %.12f\nBestSequential: %.12f\n", time, seconds(ctx, best));
    }
    destroy(ctx);
    MPI_Finalize();
}
