// Joins rectangles that overlap into clusters.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

struct Rectangle {
    long left, lower, right, upper;
    bool valid() const { return left < right && lower < upper; }
    long area() const { return valid() ? (right - left) * (upper - lower) : 0; }
};

static int root(std::vector<int> &parents, int i) {
    while (parents[i] != i) {
        i = parents[i] = parents[parents[i]];
    }
    return i;
}

// A sweep from left to right that keeps the rectangles which the line still meets; overlapping ones are united, the
// smaller number as the root.
static std::vector<int> findClusters(const std::vector<Rectangle> &rectangles) {
    std::vector<int> parents(rectangles.size()), byLeft, open;
    std::iota(parents.begin(), parents.end(), 0);
    for (size_t i = 0; i < rectangles.size(); i++) {
        if (rectangles[i].valid()) {
            byLeft.push_back(i);
        }
    }
    std::sort(byLeft.begin(), byLeft.end(), [&](int a, int b) { return rectangles[a].left < rectangles[b].left; });
    for (int i : byLeft) {
        const Rectangle &now = rectangles[i];
        for (size_t at = 0; at < open.size();) {
            const Rectangle &other = rectangles[open[at]];
            if (other.right <= now.left) {
                open[at] = open.back();
                open.pop_back();
                continue;
            }
            if (now.lower < other.upper && other.lower < now.upper) {
                int one = root(parents, i), two = root(parents, open[at]);
                parents[std::max(one, two)] = std::min(one, two);
            }
            at++;
        }
        open.push_back(i);
    }
    for (size_t i = 0; i < parents.size(); i++) {
        parents[i] = root(parents, i);
    }
    return parents;
}

int main() {
    int count = 0;
    if (std::scanf("%d", &count) != 1) {
        return 1;
    }
    std::vector<Rectangle> rectangles;
    for (int i = 0; i < count; i++) {
        Rectangle next;
        if (std::scanf("%ld %ld %ld %ld", &next.left, &next.lower, &next.right, &next.upper) != 4) {
            std::printf("rectangle %d is missing\n", i + 1);
            return 1;
        }
        rectangles.push_back(next);
    }
    struct Cluster {
        int members;
        Rectangle outline;
        long largest;
    };
    std::vector<int> labels = findClusters(rectangles), numbers(rectangles.size(), -1);
    std::vector<Cluster> clusters;
    for (size_t i = 0; i < labels.size(); i++) {
        const Rectangle &one = rectangles[i];
        int &number = numbers[labels[i]];
        if (number < 0) {
            number = clusters.size();
            clusters.push_back({0, one, 0});
        }
        Cluster &cluster = clusters[number];
        Rectangle &outline = cluster.outline;
        cluster.members++;
        outline = {std::min(outline.left, one.left), std::min(outline.lower, one.lower),
                   std::max(outline.right, one.right), std::max(outline.upper, one.upper)};
        cluster.largest = std::max(cluster.largest, one.area());
        std::printf("%d\n", number + 1);
    }
    for (size_t i = 0; i < clusters.size(); i++) {
        const Rectangle &outline = clusters[i].outline;
        std::printf("cluster %d: %d rectangles, outline [%ld %ld %ld %ld], largest %ld\n", (int)i + 1,
                    clusters[i].members, outline.left, outline.lower, outline.right, outline.upper, clusters[i].largest);
    }
    return 0;
}
