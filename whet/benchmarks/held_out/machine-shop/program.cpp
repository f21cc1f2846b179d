// Plans the jobs of a workshop in which the most urgent waiting job goes to the machine that is free first.
//
// Input: the number of machines, then a line a job: name, arrival, minutes, priority (the smaller the more urgent). Output:
// a line a job in the order in which they start: name, machine, start, end; then the mean wait and each machine's load.
// Of equally urgent jobs the one that arrived first goes first, then the one that stands first in the input.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

struct Job {
    std::string name;
    long arrival, minutes;
    int priority;
    int place;
};

bool moreUrgent(Job a, Job b) {
    if (a.priority != b.priority) return a.priority < b.priority;
    if (a.arrival != b.arrival) return a.arrival < b.arrival;
    return a.place < b.place;
}

bool earlier(Job a, Job b) {
    if (a.arrival != b.arrival) return a.arrival < b.arrival;
    return a.place < b.place;
}

int main() {
    int machines = 0;
    std::string line;
    std::getline(std::cin, line);
    std::istringstream(line) >> machines;
    std::vector<Job> jobs;
    while (std::getline(std::cin, line)) {
        std::istringstream fields(line);
        Job job;
        if (fields >> job.name >> job.arrival >> job.minutes >> job.priority) {
            job.place = jobs.size();
            jobs.push_back(job);
        }
    }
    if (machines <= 0) {
        std::cout << "no machines" << std::endl;
        return 0;
    }
    std::sort(jobs.begin(), jobs.end(), earlier);

    std::vector<long> freeAt(machines, 0), load(machines, 0);
    std::vector<Job> waiting;
    long waited = 0;
    int done = 0, total = jobs.size();
    while (!jobs.empty() || !waiting.empty()) {
        int machine = 0;
        for (int m = 1; m < machines; m++) {
            if (freeAt[m] < freeAt[machine]) machine = m;
        }
        long now = freeAt[machine];
        if (waiting.empty() && jobs[0].arrival > now) now = jobs[0].arrival;
        while (!jobs.empty() && jobs[0].arrival <= now) {
            waiting.push_back(jobs[0]);
            jobs.erase(jobs.begin());
        }
        std::sort(waiting.begin(), waiting.end(), moreUrgent);
        Job job = waiting.front();
        waiting.erase(waiting.begin());
        freeAt[machine] = now + job.minutes;
        load[machine] += job.minutes;
        waited += now - job.arrival;
        done++;
        std::cout << job.name << " on " << machine + 1 << " from " << now << " to " << now + job.minutes << std::endl;
    }
    std::cout << done << " of " << total << " jobs, mean wait " << (done > 0 ? waited / done : 0) << std::endl;
    for (int m = 0; m < machines; m++) {
        std::cout << "machine " << m + 1 << ": " << load[m] << std::endl;
    }
    return 0;
}
