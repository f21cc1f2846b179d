#include <cstdio>
#include <iostream>
#include <string>

class Account {
public:
    long balance = 0, turnover = 0;

    void move(const std::string &kind, long amount) {
        for (long i = 0; i < amount; i++) {
            if (kind == "in") balance += 1;
            if (kind == "out") balance -= 1;
        }
        turnover += amount;
    }
};

int main() {
    Account account;
    std::string kind;
    long amount;
    while (std::cin >> kind >> amount) account.move(kind, amount);
    std::printf("%ld %ld\n", account.balance, account.turnover);
}
