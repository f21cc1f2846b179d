double energy;

double power(const double *samples, long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += samples[i] * samples[i];
    energy += sum;
    return n ? sum / n : 0;
}
