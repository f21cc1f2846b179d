#include "utilities.hpp"
#include "generated-code.hpp"
#include "baseline.hpp"

struct Context { std::vector<Number> x; volatile int count; };

static void renew(std::vector<Number> &x) {
    for (auto &one : x) one.value = rand() % 1000;
}
void reset(Context *ctx) { renew(ctx->x); }
Context *init() {
    auto *ctx = new Context{std::vector<Number>(DRIVER_PROBLEM_SIZE), 0};
    reset(ctx);
    return ctx;
}
void NO_OPTIMIZE compute(Context *ctx) { ctx->count = countEven(ctx->x); }
void NO_OPTIMIZE best(Context *ctx) { ctx->count = correctCountEven(ctx->x); }
bool validate(Context *) {
    std::vector<Number> x(100);
    renew(x);
    return countEven(x) == correctCountEven(x);
}
void destroy(Context *ctx) { delete ctx; }
