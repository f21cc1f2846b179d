// Joins rectangles that overlap into clusters.
//
// Input: the number of rectangles, then for each the left, lower, right and upper edge. Output: for each rectangle the
// number of its cluster (clusters are numbered in the order of their first rectangle), then for each cluster how many
// rectangles it has, its outline and the area of the largest. Rectangles that only touch do not overlap, and those
// without an area overlap nothing.
#include <algorithm>
#include <cstdio>
#include <vector>

class Rectangle {
public:
    Rectangle(long left, long lower, long right, long upper)
        : left_(left), lower_(lower), right_(right), upper_(upper) {}

    bool valid() const { return left_ < right_ && lower_ < upper_; }

    long area() const { return valid() ? (right_ - left_) * (upper_ - lower_) : 0; }

    bool overlaps(const Rectangle &other) const {
        if (!valid() || !other.valid()) {
            return false;
        }
        return left_ < other.right_ && other.left_ < right_ && lower_ < other.upper_ && other.lower_ < upper_;
    }

    Rectangle joined(const Rectangle &other) const {
        return Rectangle(std::min(left_, other.left_), std::min(lower_, other.lower_), std::max(right_, other.right_),
                         std::max(upper_, other.upper_));
    }

    void print() const { std::printf("[%ld %ld %ld %ld]", left_, lower_, right_, upper_); }

private:
    long left_, lower_, right_, upper_;
};

// Gives all rectangles that overlap the smaller label of both, until nothing changes any more.
static std::vector<int> findClusters(const std::vector<Rectangle> &rectangles) {
    std::vector<int> labels;
    for (size_t i = 0; i < rectangles.size(); i++) {
        labels.push_back(i);
    }
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < rectangles.size(); i++) {
            for (size_t j = 0; j < rectangles.size(); j++) {
                if (i != j && rectangles[i].overlaps(rectangles[j]) && labels[i] != labels[j]) {
                    labels[i] = labels[j] = std::min(labels[i], labels[j]);
                    changed = true;
                }
            }
        }
    }
    return labels;
}

int main() {
    int count = 0;
    if (std::scanf("%d", &count) != 1) {
        return 1;
    }
    std::vector<Rectangle> rectangles;
    for (int i = 0; i < count; i++) {
        long left, lower, right, upper;
        if (std::scanf("%ld %ld %ld %ld", &left, &lower, &right, &upper) != 4) {
            std::printf("rectangle %d is missing\n", i + 1);
            return 1;
        }
        rectangles.push_back(Rectangle(left, lower, right, upper));
    }

    std::vector<int> labels = findClusters(rectangles);
    std::vector<int> order;
    for (int label : labels) {
        if (std::find(order.begin(), order.end(), label) == order.end()) {
            order.push_back(label);
        }
        std::printf("%d\n", (int)(std::find(order.begin(), order.end(), label) - order.begin()) + 1);
    }
    for (size_t cluster = 0; cluster < order.size(); cluster++) {
        int members = 0;
        long largest = 0;
        Rectangle outline = rectangles[order[cluster]];
        for (int i = 0; i < count; i++) {
            if (labels[i] == order[cluster]) {
                members++;
                outline = outline.joined(rectangles[i]);
                largest = std::max(largest, rectangles[i].area());
            }
        }
        std::printf("cluster %d: %d rectangles, outline ", (int)cluster + 1, members);
        outline.print();
        std::printf(", largest %ld\n", largest);
    }
    return 0;
}
