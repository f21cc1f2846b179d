#include <stdint.h>

struct reading {
    int32_t sensor;
    double mean;
};

static struct reading kept[16];
static int32_t used;

double mean_of(int32_t sensor) {
    for (int32_t i = 0; i < used; i++) {
        if (kept[i].sensor == sensor)
            return kept[i].mean;
    }
    return -1.0;
}

static struct reading *place(int32_t sensor) {
    for (int32_t i = 0; i < used; i++) {
        if (kept[i].sensor == sensor)
            return &kept[i];
    }
    kept[used].sensor = sensor;
    return &kept[used++];
}

double highest(const double *values, int64_t n, int32_t sensor) {
    double most = 0.0;
    struct reading *one = place(sensor);
    one->mean = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (values[i] > most)
            most = values[i];
        one->mean += values[i] / (double)n;
    }
    return most;
}
