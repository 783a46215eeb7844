// judge/confine/large_blocks.cpp: where the judge's large arrays lie, and that no child has them.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "rungs/catch.hpp"

namespace rungs::judge {
namespace {

constexpr std::size_t large = 1 << 20;

bool is_mapped(const void* address) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    unsigned char resident = 0;
    void* const begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) / page * page);
    return mincore(begin, page, &resident) == 0 || errno != ENOMEM;
}

/// What `run` returns in a child; -1 where that crashes.
int in_a_child(const std::function<int()>& run) {
    const pid_t child = fork();
    if (child == 0) _exit(run());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("no child of the judge has its large arrays") {
    const std::vector<char> small(1000), array(large, 'x');
    CHECK(is_mapped(array.data()));
    CHECK(in_a_child([&] { return is_mapped(array.data()) ? 1 : 0; }) == 0);
    CHECK(in_a_child([&] { return is_mapped(small.data()) ? 1 : 0; }) == 1);
}

TEST_CASE("a child of the judge takes large arrays of its own, and gives back what it has not") {
    auto array = std::make_unique<std::vector<char>>(large, 'x');
    CHECK(in_a_child([&] {
              array.reset();
              const std::vector<char> own(3 * large, 'y');
              return std::count(own.begin(), own.end(), 'y') == 3 * large ? 0 : 1;
          }) == 0);
    CHECK(std::count(array->begin(), array->end(), 'x') == large);
}

TEST_CASE("a large array lies where the last one of its size has been given back") {
    auto first = std::make_unique<char[]>(5 * large);
    const char* const place = first.get();
    const auto other = std::make_unique<char[]>(5 * large);
    CHECK(other.get() != place);
    first.reset();
    first = std::make_unique<char[]>(5 * large - 1);
    CHECK(first.get() == place);
}

TEST_CASE("large arrays of all sizes keep what is written to them, whoever takes them") {
    const auto work = [](unsigned seed, bool& kept) {
        std::mt19937 random(seed);
        std::vector<std::vector<unsigned>> arrays(8);
        for (int round = 0; round < 200; ++round) {
            std::vector<unsigned>& array = arrays[random() % arrays.size()];
            for (const unsigned word : {array.empty() ? 0 : array.front(), array.empty() ? 0 : array.back()})
                kept = kept && word == (array.empty() ? 0 : array.size() ^ seed);
            // Around the least of a large block, and up to 8 MiB.
            const std::size_t words = (std::size_t{1} << (15 + random() % 7)) + random() % 5 - 2;
            std::vector<unsigned>().swap(array);
            array.assign(words, static_cast<unsigned>(words) ^ seed);
        }
    };
    bool kept[4] = {true, true, true, true};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i) threads.emplace_back([&, i] { work(i + 1, kept[i]); });
    for (std::thread& thread : threads) thread.join();
    CHECK((kept[0] && kept[1] && kept[2] && kept[3]));
}

}  // namespace rungs::judge
