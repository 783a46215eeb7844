// judge/apart.cpp: work in a process of its own, and what its death is.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "judge/apart.hpp"
#include "judge/build/tool_files.hpp"
#include "judge/result/kept.hpp"
#include "judge_fixture.hpp"
#include "report/report.hpp"
#include "report_sample.hpp"
#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

Apart apart(const std::function<std::string(const Caller&)>& work, const std::atomic<bool>* stop = nullptr,
            const std::function<void()>& be_alone = {}) {
    return run_apart("judge-test", work, stop, be_alone);
}

/// Without what the test program does about signals.
[[noreturn]] void die_by(int number) {
    signal(number, SIG_DFL);
    raise(number);
    _exit(0);
}

TEST_CASE("work in a process of its own returns what it has found, and leaves this one alone",
          "[judge][apart]") {
    int here = 1;
    const std::string large(3 << 20, 'x');
    const Apart small = apart([&](const Caller&) {
        here = 2;
        return std::string("zero \0 within", 13);
    });
    CHECK(small.died.empty());
    CHECK(small.result == std::string("zero \0 within", 13));
    CHECK(here == 1);
    CHECK(apart([](const Caller&) { return std::string(); }).died.empty());
    // As large as a record, and larger than a pipe; with threads, and large arrays of its own.
    const Apart much = apart([](const Caller&) {
        std::vector<std::future<std::string>> parts;
        for (const char letter : {'a', 'b', 'c'})
            parts.push_back(std::async(std::launch::async, [=] { return std::string(1 << 20, letter); }));
        std::string all;
        for (auto& part : parts) all += part.get();
        return all;
    });
    CHECK(much.result == std::string(1 << 20, 'a') + std::string(1 << 20, 'b') + std::string(1 << 20, 'c'));
    CHECK(large == std::string(3 << 20, 'x'));
}

TEST_CASE("the death of a process of its own is reported, and is nobody else's", "[judge][apart]") {
    const auto death = [](const std::function<void()>& die) {
        const Apart ended = apart([&](const Caller&) {
            die();
            return std::string("survived");
        });
        CHECK(ended.result.empty());
        return ended.died;
    };
    CHECK(death([] { die_by(SIGSEGV); }) == "by signal 11 (Segmentation fault)");
    CHECK_THAT(death([] { die_by(SIGKILL); }), ContainsSubstring("where memory is short"));
    CHECK_THAT(death([] { die_by(SIGXCPU); }), ContainsSubstring("SIGXCPU"));
    CHECK(death([] { die_by(SIGABRT); }) == "by signal 6 (Aborted)");
    CHECK(death([] { _exit(0); }) == "with exit status 0");
    CHECK(death([] { _exit(7); }) == "with exit status 7");
    CHECK(death([] { throw std::runtime_error("x"); }) == "with exit status 1");
    CHECK(death([] { throw 1; }) == "with exit status 1");
    // One that somebody else asks to end has no result.
    CHECK(death([] { raise(SIGTERM); }) == "by SIGTERM");
    // The keys of a terminal reach whoever waits, who decides.
    const Apart went_on = apart([](const Caller&) {
        raise(SIGINT);
        raise(SIGHUP);
        return std::string("here");
    });
    CHECK(went_on.result == "here");
}

TEST_CASE("a process of its own ends when it is asked to, and has no result then", "[judge][apart]") {
    std::atomic<bool> stop{true};
    const Apart asked = apart(
        [](const Caller&) {
            while (!Caller::stop()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return std::string("late");
        },
        &stop);
    CHECK(asked.result.empty());
    CHECK(asked.died.empty());
}

TEST_CASE("a process of its own waits until its parent says that it is alone", "[judge][apart]") {
    int asked = 0;
    const Apart alone = apart(
        [](const Caller& caller) {
            caller.wait_to_be_alone();
            caller.wait_to_be_alone();
            return std::string("alone");
        },
        nullptr, [&] { ++asked; });
    CHECK(alone.result == "alone");
    CHECK(asked == 2);
    std::atomic<bool> stop{false};
    // Told to stop meanwhile.
    const Apart stopped = apart(
        [](const Caller& caller) {
            caller.wait_to_be_alone();
            while (!Caller::stop()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return std::string();
        },
        &stop, [&] { stop = true; });
    CHECK(stopped.died.empty());
}

TEST_CASE("several threads have processes of their own", "[judge][apart]") {
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (int round = 0; round < 10; ++round) {
                const std::string text = std::to_string(i) + std::string(300'000, 'x');
                const Apart one = apart([&](const Caller&) {
                    if (round % 3 == 2) die_by(SIGABRT);
                    return std::to_string(i) + std::string(300'000, 'x');
                });
                right += round % 3 == 2 ? !one.died.empty() : one.result == text;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 40);
}

TEST_CASE("a process of its own ends with its parent", "[judge][apart]") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t parent = fork();
    if (parent == 0) {
        apart([&](const Caller&) {
            const pid_t self = getpid();
            (void)!write(ends[1], &self, sizeof self);
            for (;;) pause();
            return std::string();
        });
        _exit(0);
    }
    close(ends[1]);
    pid_t child = 0;
    REQUIRE(read(ends[0], &child, sizeof child) == ssize_t{sizeof child});
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    char nothing = 0;
    CHECK(read(ends[0], &nothing, 1) == 0);  // the last one that could write is gone
    close(ends[0]);
}

TEST_CASE("a verdict comes whole out of a process of its own", "[judge][apart]") {
    for (const RungReport& sample : test::sample_report().rungs) {
        RungReport other = sample;
        other.result = result_of(bytes_of(sample.result));
        CHECK(to_json(other).dump() == to_json(sample).dump());
        CHECK(bytes_of(other.result) == bytes_of(sample.result));
    }
    for (const RungReport& sample : test::sample_gpu_report().rungs)
        CHECK(bytes_of(result_of(bytes_of(sample.result))) == bytes_of(sample.result));

    const Court court;
    const std::string right = read_file(court.solution());
    for (const std::string& text : {right, replaced(right, "__syncthreads();", ""), std::string("int x\n")}) {
        std::string died = "not called";
        // In a large array, as the work of a large class is.
        const std::vector<fs::path> sources(50'000, court.folder.write("03_shared_tree.cu", text));
        const RungResult result = judge_apart("judge-test", court.trial(sources[7]), died);
        const RungResult same = court.judge_text(text);
        CHECK(died.empty());
        CHECK(result.verdict == same.verdict);
        CHECK(result.points == same.points);
        CHECK(result.seconds > 0);
        CHECK(result.correctness.cases == same.correctness.cases);
    }
}

TEST_CASE("what builds read is watched", "[judge][tools]") {
    const TemporaryFolder folder;
    ToolFiles tools;
    const fs::path compiler = folder.write("bin/c++", "x"), header = folder.write("include/a/b.h", "y");
    tools.watch({{compiler, folder / "bin/none"}, {folder / "include", folder / "nowhere"}});
    CHECK(tools.any_changed() == "");
    folder.write("include/new.h", "");
    CHECK(tools.any_changed() == "");
    folder.write("include/a/b.h", "longer");
    CHECK(tools.changed() == "");
    CHECK(tools.any_changed() == header.string() + " was changed");
    fs::remove(header);
    CHECK(tools.any_changed() == header.string() + " is missing");
    fs::permissions(compiler, fs::perms::owner_read);
    CHECK(tools.changed() == compiler.string() + " was changed");
    fs::remove(compiler);
    CHECK(tools.changed() == compiler.string() + " is missing");
    folder.write("bin/c++", "x");
    CHECK(tools.changed() == compiler.string() + " was changed");
}

TEST_CASE("tools that do not do their work are told apart from what they work on", "[judge][tools]") {
    const Court court;
    const auto fault = [&](const Toolchain& toolchain) -> std::string {
        try {
            try_tools(court.manifest, court.rung(), toolchain, Backend::cpu);
            return "";
        } catch (const InfraError& error) {
            return error.what();
        }
    };
    CHECK(fault(court.options.toolchain) == "");
    const ToolPlaces places =
        places_of_tools(court.manifest, court.rung(), court.options.toolchain, Backend::cpu);
    std::set<std::string> names;
    for (const fs::path& file : places.files) {
        INFO(file);
        CHECK(fs::is_regular_file(file));
        names.insert(file.filename().string());
    }
    for (const char* name : {"cu2cpp", "as", "ld", "nm"}) CHECK(names.count(name) == 1);
    CHECK(places.folders.size() > 3);

    Toolchain other = court.options.toolchain;
    const fs::path failing = court.folder.write("failing", "#!/bin/sh\necho no room >&2\nexit 1\n");
    fs::permissions(failing, fs::perms::owner_all);
    other.cpu->compiler = failing.string();
    CHECK_THAT(fault(other), ContainsSubstring("no room"));
    other = court.options.toolchain;
    other.cpu->translator = failing.string();
    CHECK_THAT(fault(other), ContainsSubstring("the translator failed"));
    other = court.options.toolchain;
    other.cpu->link.emplace_back("-lno_such_library");
    CHECK_THAT(fault(other), ContainsSubstring("the linker failed"));
    other = court.options.toolchain;
    other.cpu->compiler = (court.folder.path() / "gone").string();
    CHECK_FALSE(fault(other).empty());
}

}  // namespace
}  // namespace rungs::judge
