// A class graded by the real program: what is recorded, how it goes on after every kind of end,
// what a human decides.
#include <fcntl.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "class/ledger.hpp"
#include "class/sharing.hpp"
#include "graded_class.hpp"
#include "json_schema.hpp"
#include "judge/confine/sandbox.hpp"
#include "judge/judge.hpp"
#include "report_sample.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
namespace fs = std::filesystem;

TEST_CASE("a class is graded, and every verdict has a record of its own", "[class][grade]") {
    const GradedClass all;
    const Outcome first = all.graded("graded");
    CAPTURE(first.out, first.err);
    REQUIRE(first.status == 1);
    CHECK_THAT(first.out, ContainsSubstring("eve: nothing was handed in"));
    CHECK_THAT(first.out, ContainsSubstring("  2 hand-ins without a time, treated as punctual"));
    CHECK_THAT(first.out, ContainsSubstring("5 students: 4 graded, 0 open, 1 missing"));
    CHECK(all.folder.read("graded/projection.txt") ==
          "ada\t1\t01_reduction/03_shared_tree\tOK\t-\t10\n"
          "ben\t1\t01_reduction/03_shared_tree\tWRONG\texam:WRONG\t0\n"
          "cleo\t1\t01_reduction/03_shared_tree\tCOMPILE_ERROR\tbuild:COMPILE_ERROR\t0\n"
          "dan\t1\t01_reduction/03_shared_tree\tOK\t-\t10\n");

    SECTION("records follow their schema, tell no seed, and name whose equal bytes were judged") {
        const auto published = [](const std::string& name) {
            return Json::parse(TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "docs" / name));
        };
        const JsonSchema schema(published("record.schema.json"), {published("result.schema.json")});
        const std::string seed = all.folder.read("graded/seed").substr(0, 64);
        for (const char* who : {"ada", "ben", "cleo", "dan"}) {
            CAPTURE(who);
            const std::string text = all.record("graded", who);
            Json record = Json::parse(text);
            CHECK(schema.errors(record) == std::vector<std::string>{});
            CHECK_THAT(text, !ContainsSubstring(seed));
            record["result"]["seed"] = "0x0123456789abcdef";
            CHECK(schema.errors(record) == std::vector{std::string("$.result.seed: must not be there")});
        }
        CHECK(Json::parse(all.record("graded", "ada")).at("same_as") == "");
        CHECK(Json::parse(all.record("graded", "dan")).at("same_as") == "ada/1");
        struct stat status {};
        REQUIRE(stat((all.folder / "graded/seed").c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0600);
    }
    SECTION("a second start keeps all, and a changed file is another attempt") {
        const std::string before = all.record("graded", "ben");
        CHECK_THAT(all.graded("graded").out, ContainsSubstring("4 already have a record"));
        CHECK(all.record("graded", "ben") == before);
        CHECK(count_records(all.folder / "graded") == 4);
        all.folder.write("class/ben/01_reduction/03_shared_tree.cu", all.solution);
        CHECK(all.graded("graded").status == 1);
        const Json second =
            Json::parse(all.folder.read("graded/records/ben/2/01_reduction/03_shared_tree.1.json"));
        CHECK(second.at("result").at("verdict") == "OK");
        CHECK(all.record("graded", "ben") == before);
    }
    SECTION("another roster judges nothing again, and nobody is there twice") {
        all.folder.write("class/roster.csv", "id,name,login\n4711,Ada,ada\neve,Eve,\n");
        const Outcome second = all.graded("graded");
        CHECK_THAT(second.out, ContainsSubstring("4 already have a record") &&
                                   ContainsSubstring("5 students: 4 graded, 0 open, 1 missing, 3 not "
                                                     "on the roster") &&
                                   !ContainsSubstring("no longer in CLASS"));
        CHECK_THAT(all.folder.read("graded/projection.txt"),
                   ContainsSubstring("4711\t1\t01_reduction/03_shared_tree\tOK") &&
                       ContainsSubstring("unknown dan\t1\t01_reduction/03_shared_tree\tOK"));
        CHECK(count_records(all.folder / "graded") == 4);
        CHECK(all.run({"replay", "graded", "unknown ben", "01/03"}).status == 0);
    }
    SECTION("judging again adds to the records") {
        CHECK(all.graded("graded", {"--regrade", "ada/01/03"}).status == 1);
        CHECK(Json::parse(all.record("graded", "ada", 2)).at("judging") == 2);
        CHECK(Json::parse(all.record("graded", "ada", 1)).at("judging") == 1);
        CHECK(count_records(all.folder / "graded") == 5);
        CHECK(all.graded("graded", {"--regrade", "nobody"}).status == 2);
    }
    SECTION("another workbook asks for other records") {
        std::string manifest = SmallWorkbook::manifest();
        manifest.replace(manifest.find("points = 10"), 11, "points = 20");
        all.folder.write("chapters/01_reduction/chapter.toml", manifest);
        CHECK(all.graded("graded").status == 1);
        CHECK_THAT(all.folder.read("graded/projection.txt"),
                   ContainsSubstring("ada\t1\t01_reduction/03_shared_tree\tOK\t-\t20"));
        CHECK(count_records(all.folder / "graded") == 8);
    }
    SECTION("a decision is kept beside the record, with its reason") {
        const std::string before = all.record("graded", "cleo");
        CHECK(all.run({"review", "graded", "cleo", "01/03", "--points", "11", "--because", "x"}).status == 2);
        CHECK(all.run({"review", "graded", "cleo", "01/03", "--points", "7"}).status == 2);
        const Outcome nobody = all.run({"review", "graded", "clea", "01/03"});
        CHECK(nobody.status == 2);
        CHECK_THAT(nobody.err, ContainsSubstring("this class has no student 'clea'; did you mean cleo?"));
        CHECK_THAT(all.run({"review", "graded", "cleo"}).err,
                   ContainsSubstring("which rung of cleo? Name one, such as 01/03, or all"));
        CHECK_THAT(all.run({"review", "graded", "cleo", "all", "--points", "7", "--because", "x"}).err,
                   ContainsSubstring("every rung of cleo already has points"));
        CHECK(all.run({"review", "graded", "cleo", "01/03", "--points", "7", "--because", "a semicolon"})
                  .status == 0);
        CHECK_THAT(all.run({"review", "graded", "--decided"}).out, ContainsSubstring("a semicolon"));
        CHECK(all.record("graded", "cleo") == before);
        CHECK(all.graded("graded").status == 1);
        CHECK_THAT(all.folder.read("graded/projection.txt"), ContainsSubstring("COMPILE_ERROR\t7"));
        all.folder.write("class/cleo@2026-11-22T00:00:00Z/03_shared_tree.cu", all.starter);
        CHECK(all.graded("graded").status == 1);
        CHECK_THAT(all.run({"review", "graded", "--decided"}).out,
                   ContainsSubstring("cleo 01/03  no longer applies, as attempt 1 does not count: 7 of 10") &&
                       ContainsSubstring("a semicolon"));
    }
    SECTION("the times of a rung whose speed is argued about are shown") {
        const std::string name = "graded/records/ada/1/01_reduction/03_shared_tree.1.json";
        nlohmann::ordered_json record = nlohmann::ordered_json::parse(all.folder.read(name));
        const std::string before = all.run({"export", "graded", "--to", "csv"}).out;
        auto& result = record.at("result");
        result["speed"] = to_json(sample_gpu_report()).at("rungs").at(1).at("speed");
        all.folder.write(name, record.dump());
        CHECK(all.run({"export", "graded", "--to", "csv"}).out == before);
        result["verdict"] = "UNSTABLE";
        result["status"] = "review";
        result["points"] = nullptr;
        all.folder.write(name, record.dump());
        const Outcome review = all.run({"review", "graded"});
        CHECK(review.status == 3);
        for (const char* part :
             {"UNSTABLE", "us per call, 21 pairs", "01_atomic, the baseline", "pair by pair"})
            CHECK_THAT(review.out, ContainsSubstring(part));
        const Outcome replay = all.run({"replay", "graded", "ada", "01/03"});
        CHECK(replay.status == 1);
        CHECK_THAT(replay.out,
                   ContainsSubstring("then\n    us per call, 21 pairs") && !ContainsSubstring("  now\n"));
    }
    SECTION("a rung that check mode has not looked at to the end is for a human, on a GPU as well") {
        const std::string name = "graded/records/ada/1/01_reduction/03_shared_tree.1.json";
        nlohmann::ordered_json record = nlohmann::ordered_json::parse(all.folder.read(name));
        CHECK(all.run({"review", "graded"}).status == 0);
        record.at("backend") = "cuda";
        record.at("result").at("checks") = {{"done", false}, {"why_not", "cut short after 2 of 9 cases"}};
        all.folder.write(name, record.dump());
        const Outcome review = all.run({"review", "graded"});
        CHECK(review.status == 3);
        CHECK_THAT(review.out, ContainsSubstring("ada 01/03") &&
                                   ContainsSubstring("checks: cut short after 2 of 9 cases"));
    }
    SECTION("a verdict is shown once more with the same inputs, or it is said what has changed") {
        fs::remove_all(all.folder / "graded/cache");  // it compiles again
        const Outcome same = all.run({"replay", "graded", "ben", "01/03"});
        CHECK(same.status == 0);
        CHECK_THAT(same.out, ContainsSubstring("the same verdict and the same points"));
        all.folder.write("graded/hand-ins/ben/1/01_reduction/03_shared_tree.cu", all.solution);
        const Outcome changed = all.run({"replay", "graded", "ben", "01/03"});
        CHECK(changed.status == 3);
        CHECK_THAT(changed.err, ContainsSubstring("not the bytes that were judged"));
        CHECK(all.graded("graded").status == 3);
    }
}

TEST_CASE("a file under another name is a human's to take, and no zero", "[class][grade]") {
    const GradedClass all;
    fs::rename(all.folder / "class/ada/03_shared_tree.cu", all.folder / "class/ada/03_shared_tree (1).cu");
    // Hers is the only one, his lies beside the starter.
    all.folder.write("class/ben/03_shared_tree.cu.txt", all.solution + "// ben's\n");
    const Outcome first = all.graded("graded");
    CAPTURE(first.out, first.err);
    CHECK(first.status == 3);
    Outcome review = all.run({"review", "graded"});
    CHECK(review.status == 3);
    CHECK_THAT(review.out, ContainsSubstring("ada  the hand-in ada was refused") &&
                               ContainsSubstring("ben 01/03  WRONG  no points yet") &&
                               ContainsSubstring("'03_shared_tree.cu.txt' may be meant as this rung") &&
                               ContainsSubstring("--take '03_shared_tree (1).cu' --because"));
    const auto take = [&](const char* who, std::vector<std::string> more) {
        std::vector<std::string> words{"review", "graded", who, "01/03", "--take"};
        words.insert(words.end(), more.begin(), more.end());
        return all.run(words);
    };
    CHECK(take("ada", {"03_shared_tree (1).cu"}).status == 2);
    const Outcome other = take("ada", {"x.cu", "--because", "x"});
    CHECK(other.status == 2);
    CHECK_THAT(other.err, ContainsSubstring("files that may be meant as 01/03: 03_shared_tree (1).cu"));
    CHECK(take("ada", {"03_shared_tree (1).cu", "--because", "x", "--points", "3"}).status == 2);
    // What was decided before does not stand in the way of the file that is taken.
    CHECK(all.run({"review", "graded", "ada", "01/03", "--points", "0", "--because", "nothing"}).status == 0);
    CHECK(take("ada", {"03_shared_tree (1).cu", "--because", "a second download"}).status == 0);
    CHECK(take("ben", {"03_shared_tree.cu.txt", "--because", "Windows"}).status == 0);
    review = all.run({"review", "graded"});
    CHECK_THAT(review.out, ContainsSubstring("has not been judged yet: grade again"));
    const Outcome second = all.graded("graded");
    CAPTURE(second.out, second.err);
    CHECK(second.status == 1);
    CHECK_THAT(all.folder.read("graded/projection.txt"),
               ContainsSubstring("ada\t1\t01_reduction/03_shared_tree\tOK\t-\t10") &&
                   ContainsSubstring("ben\t1\t01_reduction/03_shared_tree\tOK\t-\t10"));
    CHECK_THAT(all.graded("graded").out, ContainsSubstring("4 already have a record"));
    CHECK(all.run({"replay", "graded", "ben", "01/03"}).status == 0);
    all.folder.write("graded/hand-ins/ben/1/alike/0/03_shared_tree.cu", "changed");
    CHECK(all.graded("graded").status == 3);
}

TEST_CASE("a class that was hardly recognised is no success", "[class][grade]") {
    const GradedClass all;
    const auto grade = [&](const std::string& roster, const std::string& out) {
        all.folder.write("class/roster.csv", roster);
        return all.graded(out);
    };
    for (const char* who : {"ben", "cleo@2026-11-22T00:00:00Z"}) fs::remove_all(all.folder / "class" / who);
    CHECK(grade("id\nada\ndan\n", "right").status == 0);
    const Outcome unknown = grade("id\nAda Lovelace\nDaniel\n", "unknown");
    CHECK(unknown.status == 3);
    CHECK_THAT(unknown.out, ContainsSubstring("most hand-ins (2 of 2) match no one on the roster"));
    const Outcome thin = grade("id\nada\ndan\neve\nfay\ngus\n", "thin");
    CHECK(thin.status == 1);
    CHECK_THAT(thin.out, ContainsSubstring("only 2 of the 5 students on the roster have a hand-in"));
}

TEST_CASE("what another judging changes is reported, and a decision on what was before is marked",
          "[class][grade]") {
    const GradedClass all;
    REQUIRE(all.graded("graded").status == 1);
    CHECK(all.run({"review", "graded", "--changes"}).out.empty());
    CHECK(all.run({"review", "graded", "ada", "01/03", "--points", "9", "--because", "style"}).status == 0);
    CHECK(all.run({"review", "graded"}).status == 0);
    std::string manifest = SmallWorkbook::manifest();
    manifest.replace(manifest.find("points = 10"), 11, "points = 20");
    all.folder.write("chapters/01_reduction/chapter.toml", manifest);
    const Outcome regraded = all.graded("graded");
    CAPTURE(regraded.out, regraded.err);
    CHECK_THAT(
        regraded.out,
        ContainsSubstring("4 rungs changed: 2 gained points, 0 lost points") &&
            ContainsSubstring("ada 01/03  10 of 10 -> 20 of 20  (OK); decided: 9, which still counts") &&
            ContainsSubstring("ben 01/03  0 of 10 -> 0 of 20  (WRONG)") &&
            ContainsSubstring("1 decision was made on an older verdict"));
    const Outcome review = all.run({"review", "graded"});
    CHECK(review.status == 3);
    CHECK_THAT(review.out,
               ContainsSubstring("decided on an older verdict: then OK, 10 of 10; now OK, 20 of 20"));
    CHECK_THAT(all.run({"export", "graded", "--to", "table"}).out,
               ContainsSubstring("1 decided, 1 on an older verdict"));
    // Nothing new: what was noted stays.
    CHECK_THAT(all.graded("graded").out, !ContainsSubstring(" changed: "));
    manifest.replace(manifest.find("points = 20"), 11, "points = 15");
    all.folder.write("chapters/01_reduction/chapter.toml", manifest);
    CHECK_THAT(all.graded("graded").out, ContainsSubstring("0 gained points, 2 lost points"));
    const Outcome changes = all.run({"review", "graded", "--changes"});
    CHECK(changes.status == 0);
    CHECK_THAT(changes.out, ContainsSubstring("dan 01/03  10 of 10 -> 20 of 20") &&
                                ContainsSubstring("dan 01/03  20 of 20 -> 15 of 15"));
    CHECK(all.run({"review", "graded", "ada", "01/03", "--points", "14", "--because", "style"}).status == 0);
    CHECK(all.run({"review", "graded"}).status == 0);
}

TEST_CASE("many decide at once, and while others grade", "[class][grade]") {
    const GradedClass all;
    REQUIRE(all.graded("graded").status == 1);
    const auto decide = [&](const char* who, int points) {
        return std::vector<std::string>{
            RUNGS_PROGRAM,          "review",    "graded", who, "01/03", "--points",
            std::to_string(points), "--because", "x"};
    };
    std::vector<std::unique_ptr<Process>> processes;
    for (int i = 0; i < 12; ++i)
        processes.push_back(std::make_unique<Process>(decide(i % 2 ? "ada" : "ben", i % 10), all.setup()));
    for (auto& process : processes) {
        const Outcome outcome = process->finish();
        CAPTURE(outcome.err);
        CHECK(outcome.status == 0);
    }
    CHECK(fs::exists(all.folder / "graded/decisions/ada/1/01_reduction/03_shared_tree.6.json"));
    CHECK(fs::exists(all.folder / "graded/decisions/ben/1/01_reduction/03_shared_tree.6.json"));
    all.fill(4);
    std::vector<std::string> command = all.grade("graded", {"--jobs", "1"});
    command.insert(command.begin(), RUNGS_PROGRAM);
    Process grader(command, all.setup());
    REQUIRE(grader.wait_for("judged"));
    CHECK(Process(decide("ada", 3), all.setup()).finish().status == 0);
    CHECK(grader.finish().status == 1);
    CHECK_THAT(all.folder.read("graded/projection.txt"),
               ContainsSubstring("ada\t1\t01_reduction/03_shared_tree\tOK\t-\t3\n"));
    // A process that waits in vain gets an error, and nothing is written.
    const classroom::DecisionLock held(all.folder / "graded");
    CHECK_THROWS_WITH(classroom::DecisionLock(all.folder / "graded", std::chrono::milliseconds(20)),
                      ContainsSubstring("give the same command again"));
}

TEST_CASE("a class may be a group's, and is closed to others", "[class][grade]") {
    if (geteuid() != 0) RUNGS_SKIP("root alone can be others as well");
    for (fs::path folder = RUNGS_BUILD; folder != folder.root_path(); folder = folder.parent_path()) {
        if ((fs::status(folder).permissions() & fs::perms::others_exec) == fs::perms::none)
            RUNGS_SKIP("others cannot start a program below " + folder.string());
    }
    const GradedClass all;
    fs::permissions(all.folder.path(), fs::perms(0755));
    const std::string group = getgrgid(1)->gr_name;  // a group that every system has
    CHECK(all.graded("graded", {"--group", "no such group"}).status == 3);
    const Outcome first = all.graded("graded", {"--group", group});
    CAPTURE(first.out, first.err);
    REQUIRE(first.status == 1);
    const auto mode = [&](const std::string& name) {
        struct stat status {};
        REQUIRE(stat((all.folder / name).c_str(), &status) == 0);
        CHECK(status.st_gid == 1);
        return status.st_mode & 07777;
    };
    CHECK(mode("graded") == 02770);
    CHECK(mode("graded/seed") == 0640);
    CHECK(mode("graded/records/ada/1/01_reduction/03_shared_tree.1.json") == 0660);
    const auto as = [&](const char* groups, std::vector<std::string> words) {
        std::vector<std::string> command{"/usr/bin/setpriv", "--reuid", "12345",      "--regid", "12345",
                                         "--groups",         groups,    RUNGS_PROGRAM};
        command.insert(command.end(), words.begin(), words.end());
        return Process(command, all.setup()).finish();
    };
    if (as("1", {"--help"}).status != 0) RUNGS_SKIP("the build is not to be read by others here");
    const Outcome other = as("12345", {"review", "graded"});
    CHECK(other.status == 3);
    CHECK_THAT(other.err, ContainsSubstring("you may not read it"));
    const Outcome member = as("1", {"review", "graded", "ada", "01/03", "--points", "3", "--because", "x"});
    CAPTURE(member.err);
    CHECK(member.status == 0);
    const Outcome grader = as("1", all.grade("graded", {"--regrade", "ben"}));
    CAPTURE(grader.out, grader.err);
    CHECK(grader.status == 1);
    CHECK(mode("graded/records/ben/1/01_reduction/03_shared_tree.2.json") == 0660);
    CHECK(all.graded("graded").status == 1);
    // A seed of another group is still a secret that others know.
    REQUIRE(chown((all.folder / "graded/seed").c_str(), 0, 2) == 0);
    CHECK_THAT(all.graded("graded").err, ContainsSubstring("can be read by others"));
}

TEST_CASE("what is wrong with a class is said before anything is judged", "[class][grade]") {
    const GradedClass all;
    const auto wrong = [&](const std::string& place, int status, const std::string& what) {
        const Outcome outcome = all.run({"grade", place, "--out", "graded"});
        CAPTURE(outcome.out, outcome.err);
        CHECK(outcome.status == status);
        CHECK_THAT(outcome.err, ContainsSubstring(what));
    };
    wrong("nowhere", 2, "nowhere: no such folder or archive");
    CHECK_FALSE(fs::exists(all.folder / "graded"));
    all.folder.write("empty/notes.txt", "");
    wrong("empty", 2, "empty: there is nothing to grade");
    wrong("empty/notes.txt", 3, "neither a folder nor an archive (.zip, .tar, .tar.gz, .tgz, ");
    const auto policy = [&](const std::string& text) { all.folder.write("class/assignment.toml", text); };
    policy("rungs = [\"01/03\",\n  \"01/01\"]\n");
    wrong("class", 2, "class/assignment.toml:2:3: '01/01' is given, so it is not an exercise");
    policy("rungs = [\"01/44\"]\n");
    wrong("class", 2, "class/assignment.toml:1:10: unknown rung '01/44'");
    policy("roster = \"none.csv\"\n");
    wrong("class", 3, "there is no such file: check the spelling");
    policy("tittle = \"x\"\n");
    const std::string pack = "cd '" + all.folder.path().string() + "' && tar czf class.tgz class";
    REQUIRE(std::system(pack.c_str()) == 0);
    wrong("class.tgz", 3, "class/assignment.toml:1:1: unknown key 'tittle'");
    CHECK(count_records(all.folder / "graded") == 0);
}

TEST_CASE("a class asks for a sandbox, and its folder is nobody else's", "[class][grade]") {
    if (judge::sandbox_level().name == "S4") RUNGS_SKIP("this host gives all that can be asked for");
    const GradedClass all;
    std::string policy = all.folder.read("class/assignment.toml");
    policy.replace(policy.find("S0"), 2, "S4");
    all.folder.write("class/assignment.toml", policy);
    const Outcome refused = all.graded("graded");
    CHECK(refused.status == 3);
    CHECK_THAT(refused.err, ContainsSubstring("requires S4"));
    CHECK(count_records(all.folder / "graded") == 0);
    CHECK(all.graded("class/out").status == 2);
    CHECK(all.graded("graded", {"--below-s3"}).status == 1);
    REQUIRE(chmod((all.folder / "graded/seed").c_str(), 0644) == 0);
    const Outcome open = all.graded("graded", {"--below-s3"});
    CHECK(open.status == 3);
    CHECK_THAT(open.err, ContainsSubstring("can be read by others"));
}

TEST_CASE("kill -9 at any moment loses nothing, and jobs change nothing", "[class][grade]") {
    const GradedClass all;
    all.fill(3);
    const Outcome whole = all.graded("whole", {"--jobs", "1"});
    CAPTURE(whole.out, whole.err);
    REQUIRE(whole.status == 1);
    CHECK(all.graded("four", {"--jobs", "4"}).status == 1);
    const std::string expected = all.folder.read("whole/projection.txt");
    CHECK(all.folder.read("four/projection.txt") == expected);

    for (const unsigned seed : {1U, 2U}) {
        std::mt19937 random(seed);
        const std::string out = "killed" + std::to_string(seed);
        std::vector<std::string> command = all.grade(out, {"--jobs", "2"});
        command.insert(command.begin(), RUNGS_PROGRAM);
        int records = 0, killed = 0;
        for (int start = 0; start < 20; ++start) {
            Process process(command, all.setup());
            const int wait = std::uniform_int_distribution<int>(20, 1500)(random);
            std::this_thread::sleep_for(std::chrono::milliseconds(wait));
            process.signal(SIGKILL);
            const Outcome outcome = process.finish();
            const int now = count_records(all.folder / out);
            CHECK(now >= records);
            records = now;
            if (outcome.status == 1) break;
            CAPTURE(outcome.out, outcome.err);
            REQUIRE(outcome.status == 128 + SIGKILL);
            ++killed;
        }
        CHECK(killed > 0);
        const Outcome last = all.graded(out);
        CAPTURE(last.out, last.err);
        CHECK(last.status == 1);
        CHECK(all.folder.read(out + "/projection.txt") == expected);
        CHECK(count_records(all.folder / out) == count_records(all.folder / "whole"));
    }
}

TEST_CASE("a limit is the student's where the reference passes in the same place", "[class][grade]") {
    const GradedClass all;
    std::string manifest = SmallWorkbook::manifest();
    manifest.insert(manifest.find("points = 10"), "time_limit = 1\n");
    all.folder.write("chapters/01_reduction/chapter.toml", manifest);
    all.folder.write("class/ben/01_reduction/03_shared_tree.cu",
                     all.solution_with("for (volatile int i = 0;; ) { if (i) break; }"));
    const Outcome outcome = all.graded("graded");
    CAPTURE(outcome.out, outcome.err);
    CHECK(outcome.status == 1);
    const Json record = Json::parse(all.record("graded", "ben"));
    CHECK(record.at("result").at("verdict") == "TIMEOUT");
    CHECK(record.at("canary").at("reference") == "OK");
    CHECK(Json::parse(all.record("graded", "ada")).at("canary").at("reference") == "");
}

TEST_CASE("a hand-in whose rungs all loop has a budget that ends, and an honest one is graded beside it",
          "[class][grade]") {
    const SmallWorkbook all;
    const std::string loop = "    for (volatile int i = 0;; ) { if (i) break; }\n";
    const std::vector<std::string> rungs{"03_shared_tree", "08_grid_stride", "09_warp_shuffle"};
    std::string manifest = SmallWorkbook::manifest();
    manifest.erase(manifest.find("[rungs.03"));
    for (const std::string& rung : rungs) {
        manifest += "[rungs." + rung + "]\nidea = \"x\"\npoints = 10\nhints = [\"x\"]\ntime_limit = 3\n";
        const std::string file = "solutions/01_reduction/" + rung + ".cu";
        all.folder.write(file, TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / file));
    }
    all.folder.write("chapters/01_reduction/chapter.toml", manifest);
    all.folder.write("class/roster.csv", "id\nada\ndan\nfay\nmallory\n");
    const auto grade = [&](std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"grade", "class", "--out", "graded", "--jobs", "2"});
        return all.run(more);
    };
    const auto file_of = [](const std::string& who, const std::string& rung, int judging = 1) {
        return "graded/records/" + who + "/1/01_reduction/" + rung + "." + std::to_string(judging) + ".json";
    };
    const auto record = [&](const std::string& who, const std::string& rung, int judging = 1) {
        return Json::parse(all.folder.read(file_of(who, rung, judging)));
    };
    const auto verdict = [&](const std::string& who, const std::string& rung, int judging = 1) {
        return record(who, rung, judging).at("result").at("verdict").get<std::string>();
    };
    const auto policy = [&](double most_seconds) {
        all.folder.write("class/assignment.toml",
                         "roster = \"roster.csv\"\nleast_sandbox = \"S0\"\nmost_minutes = " +
                             std::to_string(most_seconds / 60) + "\n");
    };

    all.folder.write("class/ada/03_shared_tree.cu", all.solution);
    all.folder.write("class/dan/03_shared_tree.cu", all.solution + "// mine\n");
    for (const std::string& rung : rungs) {
        std::string text = all.folder.read("solutions/01_reduction/" + rung + ".cu");
        text.insert(text.find("    const std::size_t blocks ="), loop);
        all.folder.write("class/mallory/" + rung + ".cu", text);
    }
    // Less than one loop takes, whose limit is 3 s, on any machine. It keeps no first rung from its turn.
    policy(1);
    const Outcome bounded = grade();
    CAPTURE(bounded.out, bounded.err);
    CHECK(bounded.status == 3);
    for (const char* honest : {"ada", "dan"}) {
        CHECK(verdict(honest, rungs[0]) == "OK");
        // What was not handed in takes no time, so it is no matter of budgets.
        CHECK(verdict(honest, rungs[1]) == "COMPILE_ERROR");
    }
    int left = 0;
    for (const std::string& rung : rungs) {
        const Json one = record("mallory", rung);
        if (one.at("result").at("verdict") == "TIMEOUT") continue;
        ++left;
        CHECK(one.at("result").at("verdict") == "NOT_RUN");
        CHECK(one.at("result").at("points").is_null());
        CHECK_THAT(one.at("result").at("reason").get<std::string>(), ContainsSubstring("budget used up"));
    }
    CHECK(left > 0);
    CHECK_THAT(bounded.out, ContainsSubstring(std::to_string(left) + " were not judged"));
    const Outcome review = all.run({"review", "graded"});
    CHECK(review.status == 3);
    CHECK_THAT(review.out, ContainsSubstring("mallory 01/09  NOT_RUN  no points yet") &&
                               ContainsSubstring("budget used up"));
    CHECK_THAT(grade().out, ContainsSubstring("9 already have a record"));

    // What has been spent is in the records, so that another start knows it.
    policy(3600);
    nlohmann::ordered_json much =
        nlohmann::ordered_json::parse(all.folder.read(file_of("mallory", rungs[0])));
    much["spent"] = 4000;
    all.folder.write(file_of("mallory", rungs[0]), much.dump(1));
    fs::remove(all.folder / file_of("mallory", rungs[2]));
    CHECK(grade().status == 3);
    CHECK(verdict("mallory", rungs[2]) == "NOT_RUN");

    // That says nothing of others with these bytes, and does not keep a human from asking for more.
    all.folder.write("class/fay/09_warp_shuffle.cu", all.folder.read("class/mallory/09_warp_shuffle.cu"));
    CHECK(grade({"--regrade", "mallory/01/09"}).status == 3);
    CHECK(verdict("fay", rungs[2]) == "TIMEOUT");
    CHECK(verdict("mallory", rungs[2], 2) == "TIMEOUT");
}

TEST_CASE("two who decide at once keep both decisions", "[class][grade]") {
    const TemporaryFolder folder;
    const classroom::Slot slot{"ada", 1, {"01_reduction", "03_shared_tree", "", "fill", 10}, ""};
    constexpr int reviewers = 4, decisions = 10;
    std::vector<std::thread> threads;
    for (int i = 0; i < reviewers; ++i) {
        threads.emplace_back([&, i] {
            for (int k = 0; k < decisions; ++k)
                put_decision(folder.path(), slot,
                             {0, 1.0 * i, std::to_string(decisions * i + k), "x", "then"});
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::set<std::string> reasons;
    for (int number = 1; number <= reviewers * decisions; ++number) {
        CAPTURE(number);
        const std::string name =
            "decisions/ada/1/01_reduction/03_shared_tree." + std::to_string(number) + ".json";
        REQUIRE(fs::exists(folder / name));
        reasons.insert(Json::parse(folder.read(name)).at("because").get<std::string>());
    }
    CHECK(reasons.size() == reviewers * decisions);
}

TEST_CASE("two graders do not work in one folder, and Ctrl-C leaves one that goes on", "[class][grade]") {
    const GradedClass all;
    all.fill(6);  // and so 10 records
    std::vector<std::string> command = all.grade("graded", {"--jobs", "1"});
    command.insert(command.begin(), RUNGS_PROGRAM);
    Process first(command, all.setup());
    REQUIRE(first.wait_for("judged"));
    const Outcome second = all.graded("graded");
    CHECK(second.status == 3);
    CHECK_THAT(second.err, ContainsSubstring("is being graded by process " + std::to_string(first.pid())));
    first.signal(SIGINT);
    const Outcome stopped = first.finish();
    CHECK(stopped.status == 128 + SIGINT);
    CHECK_THAT(stopped.out, ContainsSubstring("the same command resumes there"));
    const int records = count_records(all.folder / "graded");
    CHECK(records > 0);
    CHECK(records < 10);
    CHECK(all.graded("graded").status == 1);
    CHECK(count_records(all.folder / "graded") == 10);

    // What a machine that crashed has left.
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    all.folder.write("graded/lock",
                     Json{{"host", host}, {"process", "1"}, {"started", "then"}, {"boot", "x"}}.dump());
    const Outcome stale = all.graded("graded");
    CHECK(stale.status == 1);
    CHECK_THAT(stale.out, ContainsSubstring("was interrupted (the machine has been restarted)"));
}

TEST_CASE("a full disk stops a class loudly, and it goes on when there is room", "[class][grade]") {
    const GradedClass all;
    Process::Setup setup = all.setup();
    // Every write beyond that fails as on a full disk.
    setup.file_size = 100;
    const Outcome full = all.run(all.grade("graded"), setup);
    CAPTURE(full.out, full.err);
    CHECK(full.status == 3);
    CHECK_THAT(full.err, ContainsSubstring("the disk is full; free some space"));
    CHECK(all.graded("graded").status == 1);

    fs::create_directory(all.folder / "small");
    if (mount("tmpfs", (all.folder / "small").c_str(), "tmpfs", 0, "size=1m") != 0)
        RUNGS_SKIP("no small disk can be mounted here, as by an ordinary user");
    const Outcome small = all.graded("small/out");
    CAPTURE(small.out, small.err);
    CHECK(small.status == 3);
    CHECK_THAT(small.err, ContainsSubstring("free some") || ContainsSubstring("make room"));
    CHECK(mount("tmpfs", (all.folder / "small").c_str(), "tmpfs", MS_REMOUNT, "size=500m") == 0);
    const Outcome more = all.graded("small/out");
    CAPTURE(more.out, more.err);
    CHECK(more.status == 1);
    CHECK(count_records(all.folder / "small/out") == 4);
    umount2((all.folder / "small").c_str(), MNT_DETACH);
}

namespace {

/// Kills a process's children of that name with `signal`, as soon as there are some, while it lives.
class Killer {
  public:
    Killer(pid_t parent, const std::string& name, int signal)
        : thread_([this, parent, name, signal] {
              while (!done_) {
                  for (const pid_t child : children_of(parent)) {
                      std::string is;
                      std::ifstream("/proc/" + std::to_string(child) + "/comm") >> is;
                      if (is == name && kill(child, signal) == 0) ++killed_;
                  }
                  std::this_thread::sleep_for(std::chrono::milliseconds(20));
              }
          }) {}
    ~Killer() {
        done_ = true;
        thread_.join();
    }
    bool has_killed() const { return killed_ > 0; }

  private:
    static std::vector<pid_t> children_of(pid_t parent) {
        std::vector<pid_t> children;
        std::error_code gone;
        for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(parent) + "/task", gone)) {
            std::ifstream list(task.path() / "children");
            for (pid_t child = 0; list >> child;) children.push_back(child);
        }
        return children;
    }

    std::atomic<bool> done_{false};
    std::atomic<int> killed_{0};
    std::thread thread_;
};

}  // namespace

TEST_CASE("a judge that dies of a hand-in is that rung's fault, and the class is graded", "[class][grade]") {
    const GradedClass all;
    // There for as long as it takes to find it.
    all.folder.write("class/ben/01_reduction/03_shared_tree.cu",
                     all.solution_with("for (volatile int i = 0;; ) { if (i) break; }"));
    std::vector<std::string> command = all.grade("graded", {"--jobs", "2"});
    command.insert(command.begin(), RUNGS_PROGRAM);
    Process process(command, all.setup());
    const Outcome outcome = [&] {
        const Killer killer(process.pid(), "judge-ben", SIGSEGV);
        const Outcome ended = process.finish();
        CHECK(killer.has_killed());
        return ended;
    }();
    CAPTURE(outcome.out, outcome.err);
    CHECK(outcome.status == 3);
    CHECK_THAT(outcome.out, ContainsSubstring("ben 01/03: the process that judged it ended by signal 11") &&
                                ContainsSubstring("5 students: 3 graded, 1 open, 1 missing"));
    const Json record = Json::parse(all.record("graded", "ben"));
    CHECK(record.at("result").at("verdict") == "INFRA");
    CHECK(record.at("result").at("points").is_null());
    CHECK(record.at("canary").at("reference") == "OK");
    CHECK(record.at("canary").at("tries") == 2);
    CHECK(Json::parse(all.record("graded", "ada")).at("result").at("verdict") == "OK");
    CHECK_THAT(all.run({"review", "graded"}).out, ContainsSubstring("ben 01/03  INFRA  no points yet"));
    // It waits for a human, who may ask for another judging.
    CHECK_THAT(all.graded("graded").out, ContainsSubstring("4 already have a record"));
    CHECK(count_records(all.folder / "graded") == 4);
    const Outcome again = all.graded("graded", {"--regrade", "ben"});
    CHECK(again.status == 1);
    CHECK(Json::parse(all.record("graded", "ben", 2)).at("result").at("verdict") == "TIMEOUT");
}

TEST_CASE("a machine that compiles no more stops a class, and leaves nobody a verdict", "[class][grade]") {
    const GradedClass all;
    all.fill(6);
    // A compiler of the test's own, which can be taken away.
    Json tools = Json::parse(all.folder.read("build/toolchain.json"));
    const fs::path real = tools.at("cpu").at("compiler").get<std::string>(),
                   compiler = all.folder.path() / "tools/compiler";
    const auto provide = [&](const std::string& script) {
        all.folder.write("tools/compiler", script);
        fs::permissions(compiler, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                                      fs::perms::others_read | fs::perms::others_exec);
    };
    const std::string honest = "#!/bin/sh\nexec " + real.string() + " \"$@\"\n";
    provide(honest);
    for (const char* mode : {"cpu", "check"}) tools[mode]["compiler"] = compiler.string();
    all.folder.write("build/toolchain.json", tools.dump(2));

    const auto stopped_by = [&](const std::string& out, const std::function<void()>& harm) {
        std::vector<std::string> command = all.grade(out, {"--jobs", "2"});
        command.insert(command.begin(), RUNGS_PROGRAM);
        Process process(command, all.setup());
        while (count_records(all.folder / out) == 0 && kill(process.pid(), 0) == 0 &&
               !process.wait_for("students:", 1, 0.02)) {
        }
        harm();
        return process.finish();
    };
    const auto verdicts = [&](const std::string& out) {
        std::map<std::string, int> count;
        for (const auto& entry : fs::recursive_directory_iterator(all.folder / out / "records")) {
            if (entry.path().extension() != ".json") continue;
            const Json record = Json::parse(TemporaryFolder::content_of(entry.path()));
            ++count[record.at("result").at("verdict").get<std::string>()];
        }
        return count;
    };
    const Outcome whole = all.graded("whole");
    CAPTURE(whole.out, whole.err);
    REQUIRE(whole.status == 1);
    const std::map<std::string, int> expected = verdicts("whole");

    const std::vector<std::pair<std::string, std::function<void()>>> harms = {
        {"tools/compiler is missing", [&] { fs::remove(compiler); }},
        {"tools/compiler was changed", [&] { fs::permissions(compiler, fs::perms::owner_read); }},
        {"tools/compiler was changed", [&] { provide("#!/bin/sh\necho no memory >&2\nexit 1\n"); }}};
    for (std::size_t i = 0; i < harms.size(); ++i) {
        const std::string out = "out" + std::to_string(i);
        const Outcome stopped = stopped_by(out, harms[i].second);
        CAPTURE(i, stopped.out, stopped.err);
        CHECK(stopped.status == 3);
        CHECK_THAT(stopped.err, ContainsSubstring(harms[i].first) &&
                                    ContainsSubstring("then repeat the command: it resumes"));
        const std::map<std::string, int> then = verdicts(out);
        CHECK(then.count("INFRA") == 0);
        for (const auto& [verdict, count] : then) CHECK(count <= expected.at(verdict));
        fs::remove(compiler);
        provide(honest);
        const Outcome more = all.graded(out);
        CAPTURE(more.out, more.err);
        CHECK(more.status == 1);
        CHECK(verdicts(out) == expected);
        CHECK(all.folder.read(out + "/projection.txt") == all.folder.read("whole/projection.txt"));
    }

    SECTION("what is broken from the beginning stops it as well, and a record of that is judged again") {
        provide("#!/bin/sh\nfor word; do [ \"$word\" = -c ] && exit 1; done\nexec " + real.string() +
                " \"$@\"\n");
        const Outcome broken = all.graded("broken");
        CAPTURE(broken.out, broken.err);
        CHECK(broken.status == 3);
        CHECK_THAT(broken.err, ContainsSubstring("the compiler does not work here: the compiler failed"));
        CHECK(count_records(all.folder / "broken") == 0);
        fs::remove(compiler);
        provide(honest);
        CHECK(all.graded("broken").status == 1);
        CHECK(verdicts("broken") == expected);

        const std::string name = "broken/records/ada/1/01_reduction/03_shared_tree.1.json";
        Json record = Json::parse(all.folder.read(name));
        record["result"]["verdict"] = "INFRA";
        record["result"]["points"] = nullptr;
        record["canary"]["reference"] = "OK";
        all.folder.write(name, record.dump());
        CHECK(all.graded("broken").status == 3);
        CHECK(count_records(all.folder / "broken") == count_records(all.folder / "whole"));
        record["canary"]["reference"] = "INFRA";
        all.folder.write(name, record.dump());
        CHECK(all.graded("broken").status == 1);
        CHECK(Json::parse(all.record("broken", "ada", 2)).at("result").at("verdict") == "OK");
    }
}

TEST_CASE("a hand-in can be withdrawn, and counts again when that is taken back", "[class][grade][review]") {
    const GradedClass all;
    all.folder.write("class/ben@2026-11-19T00:00:00Z/03_shared_tree.cu", all.solution + "// first\n");
    const Outcome first = all.graded("graded");
    CAPTURE(first.out, first.err);
    REQUIRE(first.status == 1);
    const auto review = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"review", "graded"});
        return all.run(words);
    };
    const auto points = [&](const std::string& who) {
        const std::string csv = all.run({"export", "graded", "--to", "csv"}).out;
        const std::size_t at = csv.find("\n" + who + ",");
        return at == std::string::npos ? "" : csv.substr(at + 1, csv.find('\n', at + 1) - at - 1);
    };
    const int records = count_records(all.folder / "graded");
    CHECK_THAT(points("ben"), ContainsSubstring("graded,2"));

    CHECK(review({"ben", "--withdraw", "2"}).status == 2);
    CHECK_THAT(review({"ben", "--withdraw", "2"}).err, ContainsSubstring("give a reason"));
    CHECK(review({"--withdraw", "2", "--because", "x"}).status == 2);
    CHECK(review({"ben", "--withdraw", "7", "--because", "x"}).status == 2);
    CHECK(review({"ben", "--withdraw", "two", "--because", "x"}).status == 2);
    CHECK(review({"ben", "01/03", "--withdraw", "2", "--because", "x"}).status == 2);
    CHECK(review({"ben", "--withdraw", "2", "--points", "3", "--because", "x"}).status == 2);
    CHECK(review({"ben", "--withdraw", "2", "--take", "a.cu", "--because", "x"}).status == 2);
    CHECK(review({"ben", "--restore", "2", "--because", "x"}).status == 2);

    const Outcome withdrawn = review({"ben", "--withdraw", "2", "--because", "somebody else's"});
    CAPTURE(withdrawn.out, withdrawn.err);
    CHECK(withdrawn.status == 0);
    CHECK_THAT(
        withdrawn.out,
        ContainsSubstring("ben: attempt 2 (ben@2026-11-19T00:00:00Z) is withdrawn; nothing is deleted") &&
            ContainsSubstring("attempt 1 counts now; ./rungs grade judges it"));
    CHECK(review({"ben", "--withdraw", "2", "--because", "x"}).status == 2);
    CHECK(count_records(all.folder / "graded") == records);
    CHECK_THAT(points("ben"), ContainsSubstring("not graded yet,1"));
    // The same bytes again are the same hand-in, and what counts now is judged.
    CHECK(all.graded("graded").status == 1);
    CHECK(count_records(all.folder / "graded") == records + 1);
    CHECK_THAT(points("ben"), ContainsSubstring("graded,1"));
    CHECK_THAT(review({}).out,
               ContainsSubstring("ben  attempt 2 (ben@2026-11-19T00:00:00Z) does not count") &&
                   ContainsSubstring("somebody else's") && ContainsSubstring("nothing is open"));
    CHECK_THAT(all.folder.read("graded/projection.txt"),
               ContainsSubstring("ben\t2\t01_reduction/03_shared_tree\tOK\t-\twithdrawn"));

    CHECK(review({"ben", "--withdraw", "all", "--because", "left the course"}).status == 0);
    CHECK_THAT(points("ben"), ContainsSubstring("missing"));
    CHECK(review({"ben", "--withdraw", "all", "--because", "x"}).status == 2);
    CHECK(review({"ben", "01/03"}).status == 2);
    CHECK(review({"ben", "01/03", "--attempt", "1"}).status == 0);
    for (const char* form : {"junit", "gradescope", "classroom50", "html"}) {
        CAPTURE(form);
        CHECK(all.run({"export", "graded", "--to", form, "--out", std::string("to-") + form}).status !=
              128 + SIGSEGV);
    }
    CHECK(all.graded("graded").status == 1);
    CHECK(review({"ben", "--restore", "all", "--because", "is back"}).status == 0);
    CHECK_THAT(points("ben"), ContainsSubstring("graded,2"));
    CHECK_THAT(review({}).out, !ContainsSubstring("withdrawn"));
}

TEST_CASE("what somebody has put in the place of a record is not read", "[class][grade]") {
    const GradedClass all;
    REQUIRE(all.graded("graded").status == 1);
    const fs::path record = all.folder / "graded/records/ada/1/01_reduction/03_shared_tree.1.json";
    for (const char* target : {"/dev/zero", "/etc/passwd", "/dev/stdin"}) {
        fs::remove(record);
        fs::create_symlink(target, record);
        for (const auto& words : {std::vector<std::string>{"export", "graded", "--to", "csv"},
                                  std::vector<std::string>{"review", "graded"}, all.grade("graded")}) {
            const Outcome refused = all.run(words);
            CAPTURE(target, words, refused.out, refused.err);
            CHECK(refused.status == 3);
            CHECK_THAT(refused.err, ContainsSubstring("03_shared_tree.1.json: this is a link"));
        }
    }
    fs::remove(record);
    REQUIRE(mkfifo(record.c_str(), 0600) == 0);
    CHECK_THAT(all.run({"export", "graded", "--to", "csv"}).err, ContainsSubstring("not a regular file"));
    fs::remove(record);
    std::ofstream(record) << "{";
    fs::resize_file(record, 1ULL << 32);  // a hole
    CHECK_THAT(all.run({"export", "graded", "--to", "csv"}).err, ContainsSubstring("larger than any"));
}

TEST_CASE("grade reads no link in the place of a file that it has written", "[class][grade]") {
    const GradedClass all;
    REQUIRE(all.graded("graded").status == 1);
    const fs::path aside = all.folder / "aside";
    for (const char* name : {"hand-ins/ada/1/hand-in.json", "hand-ins/ada/1/01_reduction/03_shared_tree.cu",
                             "judged.json", "seed"}) {
        const fs::path file = all.folder / "graded" / name;
        fs::rename(file, aside);
        fs::create_symlink("/dev/zero", file);
        const Outcome refused = all.graded("graded");
        CAPTURE(name, refused.out, refused.err);
        CHECK(refused.status != 1);
        CHECK_THAT(refused.err, ContainsSubstring(file.filename().string()) &&
                                    (ContainsSubstring("is a link") || ContainsSubstring("regular file")));
        fs::rename(aside, file);
        CHECK(all.graded("graded").status == 1);
    }
}
