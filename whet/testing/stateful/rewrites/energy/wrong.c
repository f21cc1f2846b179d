double energy;

double power(const double *samples, long n) {
    double parts[4] = {0};
    long i = 0;
    for (; i + 4 <= n; i += 4)
        for (long j = 0; j < 4; j++) parts[j] += samples[i + j] * samples[i + j];
    for (; i < n; i++) parts[0] += samples[i] * samples[i];
    double sum = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    energy = sum;
    return n ? sum / n : 0;
}
