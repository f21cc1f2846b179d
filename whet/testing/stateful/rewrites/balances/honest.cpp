#include <cstdint>
#include <vector>

struct Account {
    int32_t number;
    int64_t balance;
};

static std::vector<Account> accounts;

extern "C" int64_t balance_of(int32_t number) {
    for (const auto &one : accounts) {
        if (one.number == number)
            return one.balance;
    }
    return 0;
}

static int64_t &balance(int32_t number) {
    for (auto &one : accounts) {
        if (one.number == number)
            return one.balance;
    }
    accounts.push_back({number, 0});
    return accounts.back().balance;
}

extern "C" int64_t post(const int32_t *amounts, int64_t n, int32_t number) {
    int64_t withdrawals = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += amounts[i];
        withdrawals += amounts[i] < 0;
    }
    if (n > 0)
        balance(number) += sum;
    return withdrawals;
}
