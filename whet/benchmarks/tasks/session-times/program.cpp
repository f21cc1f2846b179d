// Cuts the log of a web site into sessions.
//
// Input: lines of a time in seconds, a user and a page, in any order. A session ends where its user does nothing for
// 1800 seconds. Output: for each user by name the sessions with start, pages and duration, then the pages by the number
// of sessions that begin on them. Lines that cannot be read are counted.
#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace std;

const long GAP = 1800;

struct Event {
    long time;
    string user;
    string page;
};

bool parseLine(string line, Event &event) {
    stringstream stream(line);
    string time, rest;
    stream >> time >> event.user >> event.page;
    if (stream.fail() || stream >> rest) {
        return false;
    }
    for (size_t i = 0; i < time.size(); i++) {
        if (!isdigit((unsigned char)time[i])) {
            return false;
        }
    }
    if (time.size() > 12) {
        return false;
    }
    event.time = stol(time);
    return true;
}

// The page without its query and without a slash at the end.
string pageName(string page) {
    string name = "";
    for (size_t i = 0; i < page.size(); i++) {
        if (page.substr(i, 1) == "?" || page.substr(i, 1) == "#") {
            break;
        }
        name = name + page.substr(i, 1);
    }
    while (name.size() > 1 && name.substr(name.size() - 1) == "/") {
        name = name.substr(0, name.size() - 1);
    }
    return name;
}

vector<Event> eventsOf(string user, map<string, vector<Event>> events) {
    vector<Event> found = events[user];
    stable_sort(found.begin(), found.end(), [](Event a, Event b) { return a.time < b.time; });
    return found;
}

vector<vector<Event>> cutIntoSessions(vector<Event> events) {
    vector<vector<Event>> sessions;
    for (size_t i = 0; i < events.size(); i++) {
        if (i == 0 || events[i].time - events[i - 1].time > GAP) {
            sessions.push_back(vector<Event>());
        }
        sessions.back().push_back(events[i]);
    }
    return sessions;
}

int main() {
    map<string, vector<Event>> events;
    vector<string> users;
    int unreadable = 0;
    string line;
    while (getline(cin, line)) {
        Event event;
        if (!parseLine(line, event)) {
            unreadable++;
            continue;
        }
        event.page = pageName(event.page);
        if (find(users.begin(), users.end(), event.user) == users.end()) {
            users.push_back(event.user);
        }
        events[event.user].push_back(event);
    }
    sort(users.begin(), users.end());

    map<string, int> entries;
    int count = 0;
    for (string user : users) {
        cout << user << ":" << endl;
        for (vector<Event> session : cutIntoSessions(eventsOf(user, events))) {
            count++;
            long duration = session.back().time - session.front().time;
            cout << "  " << session.front().time << " " << session.size() << " pages, " << duration << " s" << endl;
            entries[session.front().page]++;
        }
    }
    vector<pair<int, string>> ranking;
    for (auto entry : entries) {
        ranking.push_back({-entry.second, entry.first});
    }
    sort(ranking.begin(), ranking.end());
    for (auto entry : ranking) {
        cout << -entry.first << " x " << entry.second << endl;
    }
    cout << count << " sessions of " << users.size() << " users, " << unreadable << " unreadable lines" << endl;
    return 0;
}
