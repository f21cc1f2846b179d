// Plans the jobs of a workshop in which the most urgent waiting job goes to the machine that is free first.
#include <algorithm>
#include <functional>
#include <iostream>
#include <queue>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

struct Job {
    std::string name;
    long arrival, minutes;
    int priority;
};

int main() {
    std::ios::sync_with_stdio(false);
    int machines = 0;
    std::string line;
    std::getline(std::cin, line);
    std::istringstream(line) >> machines;
    std::vector<Job> jobs;
    std::istringstream fields;
    while (std::getline(std::cin, line)) {
        fields.clear();
        fields.str(line);
        Job job;
        if (fields >> job.name >> job.arrival >> job.minutes >> job.priority) jobs.push_back(std::move(job));
    }
    if (machines <= 0) {
        std::cout << "no machines\n";
        return 0;
    }
    std::stable_sort(jobs.begin(), jobs.end(), [](const Job &a, const Job &b) { return a.arrival < b.arrival; });

    std::vector<long> load(machines, 0);
    using Machine = std::pair<long, int>;
    std::priority_queue<Machine, std::vector<Machine>, std::greater<>> free;
    for (int m = 0; m < machines; m++) free.emplace(0, m);
    using Waiting = std::pair<int, size_t>;  // priority, and the place in the order of arrival
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    long waited = 0;
    size_t next = 0;
    while (next < jobs.size() || !waiting.empty()) {
        auto [now, machine] = free.top();
        free.pop();
        if (waiting.empty()) now = std::max(now, jobs[next].arrival);
        for (; next < jobs.size() && jobs[next].arrival <= now; next++) waiting.emplace(jobs[next].priority, next);
        const Job &job = jobs[waiting.top().second];
        waiting.pop();
        free.emplace(now + job.minutes, machine);
        load[machine] += job.minutes;
        waited += now - job.arrival;
        std::cout << job.name << " on " << machine + 1 << " from " << now << " to " << now + job.minutes << '\n';
    }
    const long done = jobs.size();
    std::cout << done << " of " << done << " jobs, mean wait " << (done ? waited / done : 0) << '\n';
    for (int m = 0; m < machines; m++) std::cout << "machine " << m + 1 << ": " << load[m] << '\n';
    return 0;
}
