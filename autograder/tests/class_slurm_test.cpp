// A class on a cluster. Without Slurm's programs the test stands in for the cluster: sbatch notes what it is
// asked for, and the test runs the jobs as a cluster would, with what goes wrong on one. Where slurmctld,
// slurmd and munged are installed, and this is root, there is a real cluster of one node as well.
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "graded_class.hpp"

using namespace rungs;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;

namespace {

/// Commands that note what they are asked, and say what the test wants.
struct NotedCluster {
    explicit NotedCluster(const GradedClass& made) : all(made) {
        put("sbatch",
            "[ ! -f refuse ] || { cat refuse >&2; exit 1; }\n"
            "number=$(($(ls | grep -c '^job-') + 1))\n"
            "for word; do printf '%s\\n' \"$word\"; done >job-$number\n"
            "echo \"$number;rungs\"\n");
        put("squeue", "[ ! -f queue ] || cat queue\n");
    }

    void put(const std::string& name, const std::string& script) const {
        const fs::path file =
            all.folder.write("cluster/bin/" + name, "#!/bin/sh\ncd \"${0%/*}/..\"\n" + script);
        fs::permissions(file, fs::perms::owner_all);
    }
    Process::Setup setup() const {
        Process::Setup setup = all.setup();
        setup.environment["PATH"] = (all.folder / "cluster/bin").string() + ":/usr/bin:/bin";
        return setup;
    }
    Outcome grade(const std::string& out, std::vector<std::string> more = {}) const {
        return all.run(all.grade(out, std::move(more)), setup());
    }
    std::vector<std::string> job(int number) const {
        std::istringstream lines(all.folder.read("cluster/job-" + std::to_string(number)));
        std::vector<std::string> words;
        for (std::string line; std::getline(lines, line);) words.push_back(line);
        return words;
    }
    /// Starts what job `number` is, as task `task`; 0: as the report.
    std::unique_ptr<Process> start(int number, int task, Process::Setup setup) const {
        std::vector<std::string> words = job(number), command{"/bin/sh"};
        const auto script =
            std::find_if(words.begin(), words.end(), [](const std::string& word) { return word[0] == '/'; });
        command.insert(command.end(), script, words.end());
        setup.environment["SLURM_ARRAY_TASK_ID"] = task > 0 ? std::to_string(task) : "7";
        setup.environment["SLURM_CPUS_ON_NODE"] = "1";
        return std::make_unique<Process>(command, setup);
    }
    std::unique_ptr<Process> start(int number, int task) const { return start(number, task, setup()); }

    const GradedClass& all;
};

std::string run_name(const GradedClass& all, const std::string& out) {
    return Json::parse(all.folder.read(out + "/slurm/run.json")).at("name");
}

/// A disk that has room for hardly anything at first.
class SmallDisk {
  public:
    explicit SmallDisk(const fs::path& place)
        : place_(place), there_(mount("tmpfs", place.c_str(), "tmpfs", 0, "size=4k") == 0) {}
    ~SmallDisk() {
        if (there_) umount2(place_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    bool is_there() const { return there_; }
    void make_room() const { CHECK(mount("tmpfs", place_.c_str(), "tmpfs", MS_REMOUNT, "size=50m") == 0); }

  private:
    fs::path place_;
    bool there_;
};

/// What a run says of a class, whatever the way there was.
void check_whole(const GradedClass& all, const std::string& out) {
    CHECK(all.folder.read(out + "/projection.txt") == all.folder.read("plain/projection.txt"));
    CHECK(count_records(all.folder / out) == count_records(all.folder / "plain"));
    CHECK_FALSE(fs::exists(all.folder / (out + "/slurm/run.json")));
    CHECK_FALSE(fs::exists(all.folder / (out + "/lock")));
}

}  // namespace

TEST_CASE("a class is submitted as an array with a report behind it", "[class][slurm]") {
    const GradedClass all;
    all.fill(3);
    REQUIRE(all.graded("plain").status == 1);
    const NotedCluster cluster(all);
    const Outcome submitted =
        cluster.grade("graded", {"--slurm", "--tasks", "2", "--", "--partition=short", "-t", "60"});
    CAPTURE(submitted.out, submitted.err);
    REQUIRE(submitted.status == 0);
    CHECK_THAT(submitted.out, ContainsSubstring("6 to judge, by job 1: 2 tasks called rungs-"));
    CHECK(count_records(all.folder / "graded") == 0);
    const std::string name = run_name(all, "graded");
    const std::string logs = (all.folder / ("graded/slurm/" + name)).string();
    const std::vector<std::string> common{"--parsable",
                                          "--job-name=" + name,
                                          "--requeue",
                                          "--open-mode=append",
                                          "--chdir=" + (all.folder / "graded").string(),
                                          "--comment=./rungs grade --slurm"};
    std::vector<std::string> array = common, after = common;
    array.insert(array.end(), {"--array=1-2", "--output=" + logs + "/task-%a.log", "--partition=short", "-t",
                               "60", logs + "/job.sh"});
    after.insert(after.end(), {"--dependency=afterany:1", "--output=" + logs + "/report.log",
                               "--partition=short", "-t", "60", logs + "/job.sh", "0"});
    CHECK(cluster.job(1) == array);
    CHECK(cluster.job(2) == after);

    SECTION("tasks side by side, then the report") {
        const auto first = cluster.start(1, 1), second = cluster.start(1, 2);
        for (const auto& task : {first.get(), second.get()}) {
            const Outcome outcome = task->finish();
            CAPTURE(outcome.out, outcome.err);
            CHECK(outcome.status == 0);
            CHECK_THAT(outcome.out, ContainsSubstring("3 to judge"));
        }
        CHECK(count_records(all.folder / "graded") == 7);
        const Outcome last = cluster.start(2, 0)->finish();
        CAPTURE(last.out, last.err);
        CHECK(last.status == 0);
        CHECK_THAT(last.out, ContainsSubstring("report of " + name + ": 0 to judge"));
        CHECK_THAT(last.out, ContainsSubstring("8 students: 7 graded, 0 open, 1 missing"));
        check_whole(all, "graded");
        // A job that was held back finds nothing to do, and a second start neither.
        CHECK_THAT(cluster.start(1, 2)->finish().out, ContainsSubstring("nothing is left to do"));
        CHECK_THAT(cluster.grade("graded", {"--slurm"}).out, ContainsSubstring("7 have a record already"));
        CHECK_FALSE(fs::exists(all.folder / "cluster/job-3"));
        check_whole(all, "graded");
    }
    SECTION("a task that is killed and queued again goes on; two of one number wait for each other") {
        const auto first = cluster.start(1, 1);
        REQUIRE(first->wait_for("judged"));
        first->signal(SIGKILL);
        CHECK(first->finish().status == 128 + SIGKILL);
        const int before = count_records(all.folder / "graded");
        CHECK(before > 0);
        const auto again = cluster.start(1, 1);
        REQUIRE(again->wait_for("task 1 of"));
        const auto twin = cluster.start(1, 1);
        REQUIRE(twin->wait_for("waiting for process " + std::to_string(again->pid())));
        // The array seems over: Slurm does not know of what is still running.
        const auto report = cluster.start(2, 0);
        REQUIRE(report->wait_for("waiting for process"));
        CHECK_THAT(cluster.grade("graded").err, ContainsSubstring("is being graded by task-1 of " + name));
        CHECK(again->finish().status == 0);
        CHECK(twin->finish().status == 0);
        const Outcome last = report->finish();  // of what no task has done
        CAPTURE(last.out, last.err);
        CHECK(last.status == 0);
        check_whole(all, "graded");
    }
    SECTION("SIGTERM, as of scancel, a time limit or a requeue, leaves what goes on") {
        const auto first = cluster.start(1, 1);
        REQUIRE(first->wait_for("judged"));
        first->signal(SIGTERM);
        const Outcome stopped = first->finish();
        CHECK(stopped.status == 128 + SIGTERM);
        CHECK_THAT(stopped.out, ContainsSubstring("were judged and are kept"));
        CHECK(cluster.start(1, 2)->finish().status == 0);
        CHECK(cluster.start(1, 1)->finish().status == 0);
        CHECK(cluster.start(2, 0)->finish().status == 0);
        check_whole(all, "graded");
    }
    SECTION(
        "what the cluster has forgotten or cancelled is seen by the next start, which does what is missing") {
        CHECK(cluster.start(1, 2)->finish().status == 0);
        fs::remove(all.folder / "graded/slurm" / name / "task-2.log");
        all.folder.write("cluster/queue",
                         "PENDING (Resources)\nPENDING (launch failed requeued held)\nRUNNING (None)\n");
        const Outcome queued = cluster.grade("graded", {"--slurm"});
        CHECK(queued.status == 3);
        CHECK_THAT(queued.err,
                   ContainsSubstring("is not over: 1 PENDING (Resources), 1 PENDING (launch failed requeued "
                                     "held), 1 RUNNING; wait for it"));
        CHECK_THAT(queued.err, ContainsSubstring("scontrol release"));
        fs::remove(all.folder / "cluster/queue");
        const Outcome next = cluster.grade("graded", {"--slurm"});
        CAPTURE(next.out, next.err);
        CHECK(next.status == 0);
        CHECK_THAT(next.out, ContainsSubstring("none of its 2 tasks has left a log"));
        CHECK_THAT(next.out, ContainsSubstring("3 to judge, by job 3: 1 tasks"));
        CHECK_THAT(cluster.start(1, 1)->finish().out, ContainsSubstring("has taken its place"));
        CHECK(cluster.start(3, 1)->finish().status == 0);
        const Outcome here = cluster.grade("graded");  // its report was never started
        CHECK(here.status == 1);
        check_whole(all, "graded");
    }
    SECTION("a node that would grade otherwise does not") {
        std::string manifest = SmallWorkbook::manifest();
        manifest.replace(manifest.find("points = 10"), 11, "points = 20");
        all.folder.write("chapters/01_reduction/chapter.toml", manifest);
        for (const int task : {1, 0}) {
            const Outcome other = cluster.start(task == 0 ? 2 : 1, task)->finish();
            CHECK(other.status == 3);
            CHECK_THAT(other.err, ContainsSubstring("the workbook's 01_reduction is "));
        }
        CHECK(count_records(all.folder / "graded") == 0);
    }
}

TEST_CASE("what keeps a class from a cluster is said, and nothing is lost", "[class][slurm]") {
    const GradedClass all;
    const NotedCluster cluster(all);
    Process::Setup bare = all.setup();
    bare.environment["PATH"] = "/nowhere";
    const Outcome missing = all.run(all.grade("graded", {"--slurm"}), bare);
    CHECK(missing.status == 3);
    CHECK_THAT(missing.err, ContainsSubstring("sbatch is not on PATH"));
    CHECK(cluster.grade("graded", {"--tasks", "2"}).status == 2);
    CHECK(cluster.grade("graded", {"--", "--partition=short"}).status == 2);
    for (const char* own : {"--array=1-9", "-d", "--output=x", "-W", "--wrap=x"}) {
        CAPTURE(own);
        const Outcome refused = cluster.grade("graded", {"--slurm", "--", own});
        CHECK(refused.status == 3);
        CHECK_THAT(refused.err,
                   ContainsSubstring(std::string("option ") + own + " is set by --slurm itself"));
    }
    all.folder.write("cluster/refuse", "sbatch: error: invalid partition specified: short\n");
    const Outcome refused = cluster.grade("graded", {"--slurm", "--", "--partition=short"});
    CHECK(refused.status == 3);
    CHECK_THAT(refused.err,
               ContainsSubstring("sbatch refused: sbatch: error: invalid partition specified: short"));
    CHECK_FALSE(fs::exists(all.folder / "graded/slurm/run.json"));
    fs::remove(all.folder / "cluster/refuse");
    // The array was taken, its report was not.
    cluster.put("sbatch",
                "case \"$*\" in *--dependency*) echo 'QOSMaxSubmitJobPerUserLimit' >&2; exit 1;; esac\n"
                "for word; do printf '%s\\n' \"$word\"; done >job-1\necho 1\n");
    const Outcome half = cluster.grade("graded", {"--slurm"});
    CHECK(half.status == 3);
    CHECK_THAT(half.err,
               ContainsSubstring("QOSMaxSubmitJobPerUserLimit\n  the tasks run, but nothing comes after"));
    CHECK(cluster.start(1, 1)->finish().status == 0);
    CHECK(cluster.grade("graded").status == 1);
    CHECK(count_records(all.folder / "graded") == 4);
    CHECK(cluster.all.run({"grade", "class", "--out", "graded", "--task", "rungs-x/one"}).status == 2);
}

namespace {

/// The distribution's slurmctld, slurmd and munged.
class RealCluster {
  public:
    RealCluster() {
        // TemporaryFolder has a blank in its name, which the configuration of Slurm cannot have.
        std::string name = "/tmp/rungs-slurm-XXXXXX";
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
        folder_ = name;
        const Outcome outcome = script({"start", name, std::to_string(free_port())});
        why_not_ = outcome.out + outcome.err;
        status_ = outcome.status;
    }
    ~RealCluster() {
        script({"stop", folder_.string()});
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    RealCluster(const RealCluster&) = delete;
    RealCluster& operator=(const RealCluster&) = delete;

    int status() const { return status_; }
    const std::string& why_not() const { return why_not_; }
    void put_down(const std::string& daemon) const { do_with("kill", daemon); }
    void put_up(const std::string& daemon) const { do_with("run", daemon); }

    Process::Setup setup(const GradedClass& all) const {
        Process::Setup setup = all.setup();
        setup.environment["SLURM_CONF"] = (folder_ / "slurm.conf").string();
        return setup;
    }
    Outcome command(const GradedClass& all, const std::vector<std::string>& words) const {
        std::string line = "exec";
        for (const std::string& word : words) line += " '" + word + "'";
        return Process({"/bin/sh", "-c", line}, setup(all)).finish(60);
    }
    /// What squeue tells of a run, a line for each job: STATE NUMBER.
    std::string queue(const GradedClass& all, const std::string& name) const {
        return command(all, {"squeue", "--noheader", "--array", "--name=" + name, "--format=%T %i %r"}).out;
    }
    void wait_until(const std::string& what, const std::function<bool()>& holds, double seconds = 120) const {
        CAPTURE(what);
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        while (!holds()) {
            REQUIRE(std::chrono::steady_clock::now() < end);
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }

  private:
    static int free_port() {
        // Two in a row, which are free now.
        for (int attempt = 0; attempt < 100; ++attempt) {
            const int sockets[2] = {socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0)};
            sockaddr_in address{};
            address.sin_family = AF_INET;
            socklen_t size = sizeof address;
            bool both = bind(sockets[0], reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                        getsockname(sockets[0], reinterpret_cast<sockaddr*>(&address), &size) == 0;
            const int port = ntohs(address.sin_port);
            address.sin_port = htons(static_cast<std::uint16_t>(port + 1));
            both = both && bind(sockets[1], reinterpret_cast<sockaddr*>(&address), size) == 0;
            close(sockets[0]);
            close(sockets[1]);
            if (both) return port;
        }
        throw std::runtime_error("no free ports");
    }
    Outcome script(std::vector<std::string> words) const {
        words.insert(words.begin(), std::string(RUNGS_ROOT) + "/autograder/tests/slurm_cluster.sh");
        Process::Setup setup;
        setup.own_group = true;
        // Its daemons keep what they print to open.
        std::string line = "exec";
        for (const std::string& word : words) line += " '" + word + "'";
        const std::string log = (folder_ / "script.log").string();
        const Outcome outcome = Process({"/bin/sh", "-c", line + " >'" + log + "' 2>&1"}, setup).finish(90);
        return {outcome.status, TemporaryFolder::content_of(log), outcome.err};
    }
    void do_with(const std::string& verb, const std::string& daemon) const {
        const Outcome outcome = script({verb, folder_.string(), daemon});
        CAPTURE(verb, daemon, outcome.out);
        REQUIRE(outcome.status == 0);
    }

    fs::path folder_;
    int status_ = -1;
    std::string why_not_;
};

}  // namespace

TEST_CASE("a real cluster grades a class, and whatever happens there is made good",
          "[class][slurm][cluster]") {
    const GradedClass all;
    all.fill(3);
    const RealCluster cluster;
    if (cluster.status() == 3) RUNGS_SKIP("no cluster here: " + cluster.why_not());
    INFO(cluster.why_not());
    REQUIRE(cluster.status() == 0);
    REQUIRE(all.graded("plain").status == 1);

    const auto grade = [&](const std::string& out, std::vector<std::string> more = {}) {
        return all.run(all.grade(out, std::move(more)), cluster.setup(all));
    };
    const auto submit = [&](const std::string& out, const std::string& tasks = "2") {
        const Outcome submitted = grade(out, {"--slurm", "--tasks", tasks, "--jobs", "1", "--", "--time=5"});
        CAPTURE(submitted.out, submitted.err);
        REQUIRE(submitted.status == 0);
        return run_name(all, out);
    };
    const auto over = [&](const std::string& name) { return cluster.queue(all, name).empty(); };
    const auto records = [&](const std::string& out, int count) {
        cluster.wait_until("records", [&] { return count_records(all.folder / out) >= count; });
    };
    /// The first job of a run that is in `state`: its number.
    const auto job = [&](const std::string& name, const std::string& state) {
        std::istringstream lines(cluster.queue(all, name));
        std::string word, number;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream(line) >> word >> number;
            if (word == state) return number;
        }
        return std::string();
    };
    const auto log = [&](const std::string& out, const std::string& name, const std::string& file) {
        return all.folder.read(out + "/slurm/" + name + "/" + file);
    };
    /// Whatever is left is done by the next start.
    const auto made_good = [&](const std::string& out) {
        const Outcome last = grade(out);
        CAPTURE(last.out, last.err);
        CHECK(last.status == 1);
        check_whole(all, out);
    };

    SECTION("in order") {
        const std::string name = submit("graded");
        CHECK(grade("graded", {"--slurm"}).status == 3);
        cluster.wait_until("the end", [&] { return over(name); });
        CAPTURE(log("graded", name, "report.log"));
        check_whole(all, "graded");
        CHECK_THAT(log("graded", name, "report.log"), ContainsSubstring("8 students: 7 graded"));
    }
    SECTION("a job is requeued in the middle, and another is killed with its shepherd") {
        const std::string name = submit("graded");
        records("graded", 1);
        const std::string running = job(name, "RUNNING");
        REQUIRE_FALSE(running.empty());
        CHECK(cluster.command(all, {"scontrol", "requeue", running}).status == 0);
        cluster.wait_until("the end", [&] { return over(name); });
        const std::string logs = log("graded", name, "task-1.log") + log("graded", name, "task-2.log");
        CAPTURE(logs);
        CHECK_THAT(logs, ContainsSubstring("were judged and are kept"));
        check_whole(all, "graded");

        const std::string second = submit("again");
        records("again", 1);
        const fs::path lock = all.folder / ("again/slurm/" + second + "/task-1.lock");
        const std::string task = Json::parse(TemporaryFolder::content_of(lock)).at("process");
        std::istringstream about(TemporaryFolder::content_of("/proc/" + task + "/stat"));
        std::string field;
        for (int i = 0; i < 4; ++i) about >> field;
        REQUIRE(TemporaryFolder::content_of("/proc/" + field + "/comm") == "slurmstepd\n");
        kill(std::stoi(field), SIGKILL);
        kill(std::stoi(task), SIGKILL);
        // Slurm may not notice for long.
        CHECK(cluster.command(all, {"scancel", "--name=" + second}).status == 0);
        cluster.wait_until("the end", [&] { return over(second); });
        made_good("again");
    }
    SECTION("an array is cancelled: the report judges what is left, and it too may be") {
        const std::string name = submit("graded");
        records("graded", 1);
        CHECK(cluster.command(all, {"scancel", job(name, "RUNNING")}).status == 0);
        cluster.wait_until("the end", [&] { return over(name); });
        check_whole(all, "graded");

        const std::string second = submit("again", "1");
        records("again", 1);
        CHECK(cluster.command(all, {"scancel", "--name=" + second}).status == 0);
        cluster.wait_until("the end", [&] { return over(second); });
        CHECK(count_records(all.folder / "again") < 7);
        made_good("again");
    }
    SECTION("slurmd is killed and comes again, and a time limit is met") {
        const std::string name = submit("graded");
        records("graded", 1);
        cluster.put_down("d");
        cluster.put_up("d");
        cluster.wait_until("the end", [&] { return over(name); });
        check_whole(all, "graded");

        const std::string second = submit("again", "1");
        records("again", 1);
        // Slurm looks at limits every half a minute.
        const std::string running = job(second, "RUNNING");
        CHECK(cluster.command(all, {"scontrol", "update", "JobId=" + running, "TimeLimit=0:01"}).status == 0);
        cluster.wait_until("the end", [&] { return over(second); });
        check_whole(all, "again");
    }
    SECTION("slurmctld is killed before it has stored anything, and forgets the array") {
        const std::string name = submit("graded");
        cluster.put_down("ctld");
        cluster.put_up("ctld");
        cluster.wait_until(
            "the end", [&] { return over(name) || !job(name, "PENDING").empty(); }, 60);
        CHECK(cluster.command(all, {"scancel", "--name=" + name}).status == 0);
        cluster.wait_until("the end", [&] { return over(name); });
        // Numbers come again now, and the node may refuse one that it has seen: whatever Slurm makes of that.
        const std::string node = cluster.command(all, {"hostname", "-s"}).out;
        cluster.command(
            all, {"scontrol", "update", "NodeName=" + node.substr(0, node.find('\n')), "State=RESUME"});
        const Outcome again = grade("graded", {"--slurm"});
        CAPTURE(again.out, again.err);
        CHECK((again.status == 0 || again.status == 1));
        if (again.status == 0) {
            const std::string second = run_name(all, "graded");
            cluster.wait_until("the end", [&] {
                return over(second) || cluster.queue(all, second).find("held") != std::string::npos;
            });
            cluster.command(all, {"scancel", "--name=" + second});
            cluster.wait_until("the end", [&] { return over(second); });
        }
        made_good("graded");
    }
    SECTION("what Slurm refuses") {
        const Outcome refused = grade("graded", {"--slurm", "--", "--partition=none"});
        CHECK(refused.status == 3);
        CHECK_THAT(refused.err, ContainsSubstring("invalid partition specified: none"));
        cluster.put_down("ctld");
        const Outcome down = grade("graded", {"--slurm"});
        CHECK(down.status == 3);
        CHECK_THAT(down.err, ContainsSubstring("Unable to contact slurm controller"));
        made_good("graded");
        cluster.put_up("ctld");
    }
}
