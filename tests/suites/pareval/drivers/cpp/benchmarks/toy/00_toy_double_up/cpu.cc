#include "utilities.hpp"
#include "baseline.hpp"
#include "generated-code.hpp"

struct Context { std::vector<int> x, y; };

void reset(Context *ctx) { fill(ctx->x); }
Context *init() {
    auto *ctx = new Context{std::vector<int>(DRIVER_PROBLEM_SIZE), std::vector<int>(DRIVER_PROBLEM_SIZE)};
    reset(ctx);
    return ctx;
}
void NO_OPTIMIZE compute(Context *ctx) { doubleUp(ctx->x, ctx->y); }
void NO_OPTIMIZE best(Context *ctx) { correctDoubleUp(ctx->x, ctx->y); }
bool validate(Context *) {
    std::vector<int> x(100), y(100), wanted(100);
    fill(x);
    correctDoubleUp(x, wanted);
    doubleUp(x, y);
    return y == wanted;
}
void destroy(Context *ctx) { delete ctx; }
