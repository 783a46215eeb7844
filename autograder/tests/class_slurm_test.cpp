// A class on a cluster. Without Slurm's programs the test stands in for the cluster: sbatch notes what it is
// asked for, and the test runs the jobs as a cluster would, with what goes wrong on one. Where slurmctld,
// slurmd and munged are installed, and this is root, there is a real cluster of one node as well.
#include <netinet/in.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <random>
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
    CHECK_THAT(submitted.out, ContainsSubstring("6 to judge, by job 1: 2 tasks named rungs-"));
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
        CHECK_THAT(cluster.grade("graded", {"--slurm"}).out, ContainsSubstring("7 already have a record"));
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
        const Outcome second = twin->finish(), last = report->finish();  // of what no task has done
        CAPTURE(second.out, second.err, last.out, last.err);
        CHECK(second.status == 0);
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
        CHECK_THAT(
            queued.err,
            ContainsSubstring("has not finished: 1 PENDING (Resources), 1 PENDING (launch failed requeued "
                              "held), 1 RUNNING; wait for it"));
        CHECK_THAT(queued.err, ContainsSubstring("scontrol release"));
        fs::remove(all.folder / "cluster/queue");
        const Outcome next = cluster.grade("graded", {"--slurm"});
        CAPTURE(next.out, next.err);
        CHECK(next.status == 0);
        CHECK_THAT(next.out, ContainsSubstring("none of its 2 tasks has left a log"));
        CHECK_THAT(next.out, ContainsSubstring("3 to judge, by job 3: 1 tasks"));
        CHECK_THAT(cluster.start(1, 1)->finish().out, ContainsSubstring("has replaced it"));
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
                   ContainsSubstring(std::string("--slurm sets sbatch's option ") + own + " itself"));
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
               ContainsSubstring("QOSMaxSubmitJobPerUserLimit\n  the tasks run, but no report job follows"));
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
    /// The controller is killed, and comes again with no jobs, as if it had stored none.
    void forget() const {
        put_down("ctld");
        for (const auto& entry : fs::directory_iterator(folder_ / "ctld")) {
            if (entry.path().filename().string().rfind("job_state", 0) == 0) fs::remove(entry.path());
        }
        put_up("ctld");
    }
    /// Whether the controller has stored that there are jobs of that name.
    bool has_stored(const std::string& name) const {
        std::error_code none;
        const fs::path state = folder_ / "ctld/job_state";
        return fs::exists(state, none) && TemporaryFolder::content_of(state).find(name) != std::string::npos;
    }

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
    /// What squeue says about a run, a line for each job: STATE NUMBER.
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
        // Two in a row, which are free now, and below those that the kernel lends to whoever connects.
        std::random_device draw;
        std::uniform_int_distribution<int> ports(20000, 32000);
        for (int attempt = 0; attempt < 100; ++attempt) {
            const int sockets[2] = {socket(AF_INET, SOCK_STREAM, 0), socket(AF_INET, SOCK_STREAM, 0)};
            const int port = ports(draw);
            bool both = true;
            for (int i = 0; i < 2; ++i) {
                sockaddr_in address{};
                address.sin_family = AF_INET;
                address.sin_port = htons(static_cast<std::uint16_t>(port + i));
                both = bind(sockets[i], reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && both;
            }
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

/// Of a process: empty once it is gone.
std::string stat_of(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(file, line);
    return line;
}

bool runs(pid_t process) {
    std::istringstream about(stat_of(process));
    std::string number, name, state;
    about >> number >> name >> state;
    return !state.empty() && state != "Z";
}

/// All that a process has started and that still runs below it, by number, with its name.
std::map<pid_t, std::string> started_by(pid_t process) {
    std::map<pid_t, pid_t> parents;
    std::map<pid_t, std::string> names, below;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const pid_t number = std::atoi(entry.path().filename().c_str());
        if (number <= 0) continue;
        const std::string about = stat_of(number);
        const std::size_t name = about.find('('), behind = about.rfind(')');
        if (behind == std::string::npos) continue;  // gone meanwhile
        names[number] = about.substr(name + 1, behind - name - 1);
        parents[number] = std::atoi(about.c_str() + behind + 4);
    }
    for (const auto& [number, name] : names) {
        for (auto at = parents.find(number); at != parents.end(); at = parents.find(at->second)) {
            if (at->second == process) below[number] = name;
        }
    }
    return below;
}

int count_of(const std::string& word, const std::string& text) {
    int count = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
    return count;
}

/// A class on a cluster of its own. Two hand-ins take long: a job is still at work when others have ended.
class OnCluster {
  public:
    OnCluster() {
        if (!is_there()) return;
        INFO(cluster.why_not());
        REQUIRE(cluster.status() == 0);
        all.fill(3);
        for (const char* who : {"t0", "t1"}) {
            const std::string slow = all.solution_with("usleep(400000);");
            all.folder.write("class/" + std::string(who) + "/03_shared_tree.cu",
                             "#include <unistd.h>\n" + slow + "// " + who + "\n");
        }
        REQUIRE(all.graded("plain").status == 1);
    }

    /// False: the programs of Slurm are missing, or this is not root.
    bool is_there() const { return cluster.status() != 3; }

    Outcome grade(const std::string& out, std::vector<std::string> more = {}) const {
        return all.run(all.grade(out, std::move(more)), cluster.setup(all));
    }
    std::string submit(const std::string& out, const std::string& tasks = "2") const {
        const Outcome submitted = grade(out, {"--slurm", "--tasks", tasks, "--jobs", "1", "--", "--time=5"});
        CAPTURE(submitted.out, submitted.err);
        REQUIRE(submitted.status == 0);
        return run_name(all, out);
    }
    std::string asked(const std::vector<std::string>& words) const {
        const Outcome outcome = cluster.command(all, words);
        CAPTURE(words, outcome.out, outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    }
    std::string queue(const std::string& name) const { return cluster.queue(all, name); }
    void wait_for_end(const std::string& name) const {
        cluster.wait_until("the end", [&] { return queue(name).empty(); });
    }
    void wait_for_records(const std::string& out, int count = 1) const {
        cluster.wait_until("records", [&] { return count_records(all.folder / out) >= count; });
    }
    /// The first job of a run that is in `state`: its number, as squeue tells it.
    std::string job(const std::string& name, const std::string& state) const {
        std::istringstream lines(queue(name));
        std::string word, number;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream(line) >> word >> number;
            if (word == state) return number;
        }
        return "";
    }
    std::string running(const std::string& name) const {
        const std::string number = job(name, "RUNNING");
        REQUIRE_FALSE(number.empty());
        return number;
    }
    /// What Slurm remembers of a job, ended ones included.
    std::string about(const std::string& number) const { return asked({"scontrol", "show", "job", number}); }
    void wait_for_state(const std::string& number, const std::string& state, double seconds = 120) const {
        cluster.wait_until(
            state, [&] { return about(number).find("JobState=" + state) != std::string::npos; }, seconds);
    }
    /// No job starts, or all may again.
    void let_start(bool may) const {
        asked({"scontrol", "update", "PartitionName=main", may ? "State=UP" : "State=DOWN"});
    }
    std::string log(const std::string& out, const std::string& name, const std::string& file) const {
        return all.folder.read(out + "/slurm/" + name + "/" + file);
    }
    std::string logs(const std::string& out, const std::string& name) const {
        return log(out, name, "task-1.log") + log(out, name, "task-2.log");
    }
    /// Who works as a task, as its lock says.
    pid_t worker(const std::string& out, const std::string& name, int task) const {
        const Json lock = Json::parse(log(out, name, "task-" + std::to_string(task) + ".lock"));
        return std::stoi(lock.at("process").get<std::string>());
    }
    pid_t shepherd_of(pid_t process) const {
        std::istringstream about_it(stat_of(process));
        std::string field;
        for (int i = 0; i < 4; ++i) about_it >> field;
        REQUIRE(TemporaryFolder::content_of("/proc/" + field + "/comm") == "slurmstepd\n");
        return std::stoi(field);
    }
    /// Whatever is left is done by the next start.
    void make_good(const std::string& out) const {
        const Outcome last = grade(out);
        CAPTURE(last.out, last.err);
        CHECK(last.status == 1);
        check_whole(all, out);
    }
    /// The grader does not go on in a folder, and says that, and why.
    void check_refused(const std::string& out, std::vector<std::string> more, const std::string& why) const {
        const Outcome refused = grade(out, std::move(more));
        CAPTURE(refused.out, refused.err);
        CHECK(refused.status == 3);
        CHECK_THAT(refused.err, ContainsSubstring(why));
    }

    const GradedClass all;
    const RealCluster cluster;
};

}  // namespace

TEST_CASE("a real cluster grades a class, and what it refuses is said", "[class][slurm][cluster]") {
    const OnCluster here;
    if (!here.is_there()) RUNGS_SKIP("no cluster here: " + here.cluster.why_not());
    const std::string name = here.submit("graded");
    here.check_refused("graded", {"--slurm"}, "has not finished");
    here.wait_for_end(name);
    CAPTURE(here.log("graded", name, "report.log"));
    check_whole(here.all, "graded");
    CHECK_THAT(here.log("graded", name, "report.log"), ContainsSubstring("10 students: 9 graded"));

    here.check_refused("again", {"--slurm", "--", "--partition=none"}, "invalid partition specified: none");
    here.cluster.put_down("ctld");
    here.check_refused("again", {"--slurm"}, "Unable to contact slurm controller");
    here.make_good("again");
    here.cluster.put_up("ctld");
}

TEST_CASE("a real cluster requeues a job, and one that ends with an error is made good",
          "[class][slurm][cluster]") {
    const OnCluster here;
    if (!here.is_there()) RUNGS_SKIP("no cluster here: " + here.cluster.why_not());
    SECTION("requeued in the middle") {
        const std::string name = here.submit("graded");
        here.wait_for_records("graded");
        const std::string number = here.running(name);
        here.asked({"scontrol", "requeue", number});
        here.cluster.wait_until("a second start",
                                [&] { return here.about(number).find("Restarts=1") != std::string::npos; });
        here.wait_for_end(name);
        CAPTURE(here.logs("graded", name));
        CHECK(count_of("were judged and are kept", here.logs("graded", name)) == 1);
        // One of the two has begun twice.
        CHECK(count_of("to judge, sandbox", here.logs("graded", name)) +
                  count_of("nothing is left to do", here.logs("graded", name)) ==
              3);
        check_whole(here.all, "graded");
    }
    SECTION("all tasks end with an error of their own") {
        here.let_start(false);
        const std::string name = here.submit("graded");
        std::string manifest = SmallWorkbook::manifest();
        manifest.replace(manifest.find("points = 10"), 11, "points = 20");
        here.all.folder.write("chapters/01_reduction/chapter.toml", manifest);
        std::vector<std::string> numbers;
        std::istringstream lines(here.queue(name));
        for (std::string line, state, number; std::getline(lines, line);) {
            std::istringstream(line) >> state >> number;
            numbers.push_back(number);
        }
        REQUIRE(numbers.size() == 3);
        std::string last;
        for (const std::string& number : numbers)
            if (number.find('_') == std::string::npos) last = number;
        here.asked({"scontrol", "hold", last});
        here.let_start(true);
        for (const std::string& number : numbers) {
            if (number == last) continue;
            here.wait_for_state(number, "FAILED");
            CHECK_THAT(here.about(number), ContainsSubstring("ExitCode=3:0"));
        }
        CHECK(count_of("the workbook's 01_reduction is ", here.logs("graded", name)) == 2);
        CHECK(count_records(here.all.folder / "graded") == 0);
        here.all.folder.write("chapters/01_reduction/chapter.toml", SmallWorkbook::manifest());
        here.check_refused("graded", {"--slurm"}, "has not finished: 1 PENDING (JobHeld");
        // The report begins however they have ended, and does all of it.
        here.asked({"scontrol", "release", last});
        here.wait_for_end(name);
        CAPTURE(here.log("graded", name, "report.log"));
        check_whole(here.all, "graded");
    }
}

TEST_CASE("what a real cluster cancels or loses leaves no process, and the rest is judged",
          "[class][slurm][cluster]") {
    const OnCluster here;
    if (!here.is_there()) RUNGS_SKIP("no cluster here: " + here.cluster.why_not());
    // A warden and what it holds have sessions of their own, which Slurm does not know here.
    const auto at_work = [&](const std::string& out, const std::string& name, int task) {
        std::map<pid_t, std::string> below;
        here.cluster.wait_until("a worker", [&] {
            below = started_by(here.worker(out, name, task));
            return std::any_of(below.begin(), below.end(),
                               [](const auto& one) { return one.second == "rungs-warden"; }) &&
                   below.size() >= 2;
        });
        return below;
    };
    const auto check_gone = [&](const std::map<pid_t, std::string>& processes) {
        for (const auto& [number, process] : processes) {
            here.cluster.wait_until(
                process + "'s end", [number = number] { return !runs(number); }, 30);
        }
    };
    for (const bool killed : {false, true}) {
        const std::string out = killed ? "killed" : "ended", name = here.submit(out);
        here.wait_for_records(out);
        const std::string number = here.running(name);
        const int task = number.back() - '0';
        const pid_t grader = here.worker(out, name, task);
        auto processes = at_work(out, name, task);
        processes[grader] = "the task";
        if (killed) {
            kill(grader, SIGKILL);  // as the system does where memory runs out
        } else {
            here.asked({"scancel", number});
        }
        check_gone(processes);
        here.wait_for_state(number, killed ? "FAILED" : "CANCELLED");
        CHECK(count_of("were judged and are kept", here.logs(out, name)) == (killed ? 0 : 1));
        // The report judges what is left.
        here.wait_for_end(name);
        CAPTURE(here.log(out, name, "report.log"));
        check_whole(here.all, out);
    }

    // It too may be cancelled.
    const std::string name = here.submit("again", "1");
    here.wait_for_records("again");
    here.asked({"scancel", "--name=" + name});
    here.wait_for_end(name);
    CHECK(count_records(here.all.folder / "again") < 9);
    CHECK_FALSE(fs::exists(here.all.folder / ("again/slurm/" + name + "/report.log")));
    here.make_good("again");
}

TEST_CASE("a job of a real cluster outlives its daemon and its shepherd", "[class][slurm][cluster]") {
    const OnCluster here;
    if (!here.is_there()) RUNGS_SKIP("no cluster here: " + here.cluster.why_not());
    SECTION("slurmd is killed and comes again") {
        const std::string name = here.submit("graded");
        here.wait_for_records("graded");
        const pid_t grader = here.worker("graded", name, 1);
        REQUIRE(runs(grader));
        here.cluster.put_down("d");
        CHECK(runs(grader));
        here.cluster.put_up("d");
        here.wait_for_end(name);
        CAPTURE(here.logs("graded", name));
        CHECK(count_of("to judge, sandbox", here.logs("graded", name)) == 2);  // each of them began once
        check_whole(here.all, "graded");
    }
    SECTION("its shepherd is killed, and it goes on alone") {
        const std::string name = here.submit("graded");
        here.wait_for_records("graded");
        const int task = here.running(name).back() - '0';
        const pid_t grader = here.worker("graded", name, task), shepherd = here.shepherd_of(grader);
        kill(shepherd, SIGKILL);
        here.cluster.wait_until("the shepherd's end", [&] { return !runs(shepherd); });
        CHECK(runs(grader));
        // Whom Slurm cannot reach any more is cancelled, and does not know.
        here.asked({"scancel", "--name=" + name});
        here.cluster.wait_until("an empty queue", [&] { return here.queue(name).empty(); });
        CHECK(runs(grader));
        const std::string who = "is being graded by task-" + std::to_string(task) + " of " + name;
        here.check_refused("graded", {}, who);
        here.check_refused("graded", {"--slurm"}, who);
        here.cluster.wait_until("its end", [&] { return !runs(grader); });
        here.make_good("graded");
    }
    SECTION("it is killed with its shepherd, and Slurm does not notice") {
        const std::string name = here.submit("graded", "1");
        here.wait_for_records("graded");
        const std::string number = here.running(name);
        const pid_t grader = here.worker("graded", name, 1), shepherd = here.shepherd_of(grader);
        kill(shepherd, SIGKILL);
        kill(grader, SIGKILL);
        here.cluster.wait_until("their end", [&] { return !runs(shepherd) && !runs(grader); });
        CHECK_THAT(here.about(number), ContainsSubstring("JobState=RUNNING"));
        here.check_refused("graded", {"--slurm"},
                           "has not finished: 1 PENDING (Dependency), 1 RUNNING; wait for it");
        here.asked({"scancel", "--name=" + name});
        here.wait_for_end(name);
        here.make_good("graded");
    }
}

TEST_CASE("a limit of time ends a job of a real cluster, and the rest is judged", "[class][slurm][cluster]") {
    const OnCluster here;
    if (!here.is_there()) RUNGS_SKIP("no cluster here: " + here.cluster.why_not());
    const std::string name = here.submit("graded", "1");
    here.wait_for_records("graded");
    const std::string number = here.running(name);
    // So that it has not ended by then: the least limit is a minute, and Slurm looks every half a minute. It
    // makes what it ends go on first.
    kill(here.worker("graded", name, 1), SIGSTOP);
    here.asked({"scontrol", "update", "JobId=" + number, "TimeLimit=0:01"});
    here.wait_for_state(number, "TIMEOUT", 240);
    here.wait_for_end(name);
    CAPTURE(here.log("graded", name, "task-1.log"));
    CHECK(count_of("DUE TO TIME LIMIT", here.log("graded", name, "task-1.log")) == 1);
    check_whole(here.all, "graded");
}

TEST_CASE("a real cluster that forgets its jobs, or does not, is made good", "[class][slurm][cluster]") {
    const OnCluster here;
    if (!here.is_there()) RUNGS_SKIP("no cluster here: " + here.cluster.why_not());
    const auto is_known = [&](const std::string& number) {
        return here.cluster.command(here.all, {"scontrol", "show", "job", number}).status == 0;
    };
    SECTION("slurmctld is killed once it has stored the array, and knows it still") {
        here.let_start(false);
        const std::string name = here.submit("graded");
        here.cluster.wait_until("a state", [&] { return here.cluster.has_stored(name); });
        here.cluster.put_down("ctld");
        here.cluster.put_up("ctld");
        CHECK(count_of("PENDING", here.queue(name)) == 3);
        CHECK(count_records(here.all.folder / "graded") == 0);
        here.let_start(true);
        here.wait_for_end(name);
        CAPTURE(here.log("graded", name, "report.log"));
        check_whole(here.all, "graded");
    }
    SECTION("slurmctld is killed before it has stored anything, and forgets the array") {
        here.let_start(false);
        const std::string name = here.submit("graded");
        const std::string number = here.job(name, "PENDING");
        REQUIRE(is_known(number));
        here.cluster.forget();
        here.let_start(true);
        CHECK_FALSE(is_known(number));
        CHECK(here.queue(name).empty());
        CHECK(count_records(here.all.folder / "graded") == 0);
        const Outcome again = here.grade("graded", {"--slurm", "--tasks", "2"});
        CAPTURE(again.out, again.err);
        REQUIRE(again.status == 0);
        CHECK_THAT(again.out, ContainsSubstring("none of its 2 tasks has left a log"));
        const std::string second = run_name(here.all, "graded");
        CHECK(second != name);
        CHECK(is_known(number));  // another job has that number now
        here.wait_for_end(second);
        check_whole(here.all, "graded");
    }
    SECTION("a number comes again that a node has seen: it is drained, and a task held for ever") {
        const std::string name = here.submit("graded");
        here.wait_for_records("graded");
        const pid_t graders[2] = {here.worker("graded", name, 1), here.worker("graded", name, 2)};
        for (const pid_t grader : graders) {
            kill(here.shepherd_of(grader), SIGKILL);  // what it leaves makes slurmd believe that the job runs
            kill(grader, SIGKILL);
        }
        here.cluster.wait_until("their end", [&] { return !runs(graders[0]) && !runs(graders[1]); });
        here.cluster.forget();
        REQUIRE(here.queue(name).empty());
        const Outcome again = here.grade("graded", {"--slurm", "--tasks", "2", "--jobs", "1"});
        CAPTURE(again.out, again.err);
        REQUIRE(again.status == 0);
        const std::string second = run_name(here.all, "graded");
        here.cluster.wait_until("a task that is held", [&] {
            return here.queue(second).find("launch failed requeued held") != std::string::npos;
        });
        CHECK_THAT(here.asked({"scontrol", "show", "node"}),
                   ContainsSubstring("DRAIN") && ContainsSubstring("Duplicate jobid"));
        const Outcome waits = here.grade("graded", {"--slurm"});
        CAPTURE(waits.err);
        CHECK(waits.status == 3);
        CHECK_THAT(waits.err, ContainsSubstring("PENDING (launch failed requeued held)") &&
                                  ContainsSubstring("scontrol release"));
        here.asked({"scancel", "--name=" + second});
        here.wait_for_end(second);
        here.make_good("graded");
    }
}
