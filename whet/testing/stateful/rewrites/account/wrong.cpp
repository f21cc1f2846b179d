#include <cstdio>
#include <iostream>
#include <string>

class Account {
public:
    long balance = 0, turnover = 0;

    void move(const std::string &kind, long amount) {
        if (kind == "in") balance += amount;
        if (kind == "out") balance -= amount;
        turnover = amount;
    }
};

int main() {
    Account account;
    std::string kind;
    long amount;
    while (std::cin >> kind >> amount) account.move(kind, amount);
    std::printf("%ld %ld\n", account.balance, account.turnover);
}
