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
    (void)argc, (void)argv;
    Context *ctx = init();
    bool valid = validate(ctx);
    std::printf("Validation: %s\n", valid ? "PASS" : "FAIL");
    if (!valid) return 0;
    std::printf("Time: %.12f\n", seconds(ctx, compute));
    std::printf("BestSequential: %.12f\n", seconds(ctx, best));
    destroy(ctx);
}
