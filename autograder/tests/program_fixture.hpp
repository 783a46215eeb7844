#pragma once
// The real program, run as a student runs it, on a small workbook made for the test.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "rungs/temporary_folder.hpp"

namespace rungs::test {

using rungs::TemporaryFolder;

/// How a program ended and what it said.
struct Outcome {
    int status = -1;  ///< exit status, or 128 + signal
    std::string out;
    std::string err;
};

/// A program that is running, with its output collected in the background of wait_for() and finish().
class Process {
  public:
    struct Setup {
        std::map<std::string, std::string> environment;  ///< "" removes a variable
        std::string out_file;                            ///< instead of a pipe
        rlim_t file_size = RLIM_INFINITY;
        bool close_reader = false;  ///< nobody reads the output
        std::string folder;         ///< to run in
        bool own_group = false;     ///< in a process group of its own, for group()
    };

    Process(const std::vector<std::string>& command, const Setup& setup) {
        int out[2], err[2];
        if (pipe(out) != 0 || pipe(err) != 0) throw std::runtime_error("pipe");
        if (setup.close_reader) {  // before there is a program that could be faster
            close(out[0]);
            out[0] = -1;
        }
        pid_ = fork();
        if (pid_ < 0) throw std::runtime_error("fork");
        if (pid_ == 0) {
            if (setup.own_group) setpgid(0, 0);
            const int target = setup.out_file.empty() ? out[1] : open(setup.out_file.c_str(), O_WRONLY);
            dup2(target, 1);
            dup2(err[1], 2);
            const int nothing = open("/dev/null", O_RDONLY);
            dup2(nothing, 0);
            for (int i = 3; i < 64; ++i) close(i);
            for (const auto& [name, value] : setup.environment) {
                value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
            }
            if (setup.file_size != RLIM_INFINITY) {
                const rlimit limit{setup.file_size, setup.file_size};
                setrlimit(RLIMIT_FSIZE, &limit);
            }
            if (!setup.folder.empty() && chdir(setup.folder.c_str()) != 0) _exit(126);
            std::vector<char*> arguments;
            for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
            arguments.push_back(nullptr);
            execv(arguments[0], arguments.data());
            _exit(127);
        }
        close(out[1]);
        close(err[1]);
        out_ = out[0];
        err_ = err[0];
    }
    ~Process() {
        if (!ended_) kill(pid_, SIGKILL), waitpid(pid_, nullptr, 0);
        if (out_ >= 0) close(out_);
        if (err_ >= 0) close(err_);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t pid() const { return pid_; }
    void signal(int number) const { kill(pid_, number); }
    void signal_group(int number) const { kill(-pid_, number); }

    /// Reads until standard output holds `text` for the `times`-th time. False when that takes too long.
    bool wait_for(const std::string& text, int times = 1, double seconds = 240) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        for (;;) {
            int count = 0;
            for (std::size_t at = outcome_.out.find(text); at != std::string::npos;
                 at = outcome_.out.find(text, at + 1))
                ++count;
            if (count >= times) return true;
            if (std::chrono::steady_clock::now() > end || !pump(100)) return false;
        }
    }

    /// Waits for the end; a program that takes too long is killed and gives status -1.
    Outcome finish(double seconds = 240) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        while (pump(100)) {
            if (std::chrono::steady_clock::now() > end) return outcome_;
        }
        int raw = 0;
        waitpid(pid_, &raw, 0);
        ended_ = true;
        outcome_.status = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
        return outcome_;
    }

  private:
    /// Reads what there is. False when both streams have ended.
    bool pump(int milliseconds) {
        pollfd streams[2] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}};
        if (out_ < 0 && err_ < 0) return false;
        poll(streams, 2, milliseconds);
        char buffer[4096];
        const auto take = [&](int& stream, short ready, std::string& text) {
            if (stream < 0 || !ready) return;
            const ssize_t got = read(stream, buffer, sizeof buffer);
            if (got > 0) {
                text.append(buffer, static_cast<std::size_t>(got));
            } else {
                close(stream);
                stream = -1;
            }
        };
        take(out_, streams[0].revents, outcome_.out);
        take(err_, streams[1].revents, outcome_.err);
        return out_ >= 0 || err_ >= 0;
    }

    pid_t pid_ = -1;
    int out_ = -1, err_ = -1;
    bool ended_ = false;
    Outcome outcome_;
};

/// A workbook with two rungs of chapter 1: 01_atomic (given) and 03_shared_tree (an exercise), few cases, and
/// its own progress. Rungs are compiled with the tools of the build under test.
class SmallWorkbook {
  public:
    SmallWorkbook() {
        namespace fs = std::filesystem;
        const fs::path real = fs::path(RUNGS_ROOT);
        for (const auto& entry : fs::directory_iterator(real / "chapters/01_reduction")) {
            if (entry.path().extension() == ".cuh" || entry.path().stem() == "01_atomic") {
                folder.write("chapters/01_reduction/" + entry.path().filename().string(),
                             TemporaryFolder::content_of(entry.path()));
            }
        }
        solution = TemporaryFolder::content_of(real / "solutions/01_reduction/03_shared_tree.cu");
        folder.write("solutions/01_reduction/03_shared_tree.cu", solution);
        folder.write("chapters/01_reduction/chapter.toml", manifest());
        folder.write("common/packages.txt", TemporaryFolder::content_of(real / "common/packages.txt"));
        auto tools =
            nlohmann::json::parse(TemporaryFolder::content_of(fs::path(RUNGS_BUILD) / "toolchain.json"));
        // The judge takes headers from below the workbook's root only: ours are reached through links there.
        for (const char* headers : {"include", "simt"}) {
            fs::create_directory_symlink(real / "common" / headers, folder.path() / "common" / headers);
        }
        const std::string there = "-I" + real.string() + "/", here = "-I" + folder.path().string() + "/";
        for (const char* mode : {"cpu", "check"}) {
            for (auto& flag : tools[mode]["compile"]) {
                std::string text = flag.get<std::string>();
                if (text.rfind(there, 0) == 0) flag = text.replace(0, there.size(), here);
            }
        }
        tools["root"] = folder.path().string();
        tools["build"] = (folder.path() / "build").string();
        tools["cuda"] = nullptr;
        folder.write("build/toolchain.json", tools.dump(2));
        folder.write("chapters/01_reduction/03_shared_tree.cu", "// as in a fresh clone\n");
        if (run({"reset", "01/03"}).status != 0) throw std::runtime_error("reset failed");
        starter = folder.read("chapters/01_reduction/03_shared_tree.cu");
        for (const auto& entry : fs::directory_iterator(folder.path() / "chapters/01_reduction")) {
            if (entry.path().string().find(".bak-") != std::string::npos) fs::remove(entry.path());
        }
    }

    static std::string manifest() {
        return R"(title = "Reduction"
summary = "Add up n floats."
namespace = "reduction"
contract = "reduction.cuh"
[problems]
sum = "Sum"
[[cases]]
sizes = [0, 1, 257]
kinds = ["uniform"]
[rungs.01_atomic]
idea = "one atomicAdd for every element"
[rungs.03_shared_tree]
idea = "sequential addressing"
points = 10
hints = ["first nudge", "second nudge"]
)";
    }

    Process::Setup setup() const {
        Process::Setup setup;
        setup.environment = {{"RUNGS_BUILD", (folder.path() / "build").string()},
                             {"XDG_STATE_HOME", ""},
                             {"NO_COLOR", ""},
                             {"CLICOLOR_FORCE", ""},
                             {"COLUMNS", ""},
                             {"LC_ALL", "C.UTF-8"}};
        setup.folder = folder.path().string();
        return setup;
    }

    /// Runs the program to its end.
    Outcome run(std::vector<std::string> arguments) const { return run(std::move(arguments), setup()); }
    Outcome run(std::vector<std::string> arguments, const Process::Setup& setup) const {
        arguments.insert(arguments.begin(), RUNGS_PROGRAM);
        return Process(arguments, setup).finish();
    }

    /// The solution with one statement more in its launcher.
    std::string solution_with(const std::string& statement) const {
        std::string text = solution;
        return text.insert(text.find("    const std::size_t blocks ="), "    " + statement + "\n");
    }

    static constexpr const char* student = "chapters/01_reduction/03_shared_tree.cu";

    TemporaryFolder folder;
    std::string solution;
    std::string starter;
};

}  // namespace rungs::test
