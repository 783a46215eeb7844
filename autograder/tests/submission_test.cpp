// What a submission's author chooses: names, links and files, none of which may write, forge
// or steer anything.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>

#include "json_schema.hpp"
#include "program/show.hpp"
#include "program/submission.hpp"
#include "program_fixture.hpp"
#include "rungs/catch.hpp"

using namespace rungs;
using namespace rungs::test;
using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A class of two: ada hands in the solution, ben has a result.
struct Class : SmallWorkbook {
    Class() {
        folder.write("class/ada/03_shared_tree.cu", solution);
        folder.write("class/ben/result.json", "ben's");
        fs::create_directory(folder.path() / "results");
    }
    fs::path ada() const { return folder.path() / "class/ada"; }
    std::vector<std::string> check(const std::string& json,
                                   const std::string& submission = "class/ada") const {
        return {"check", "01/03", "--submission", submission, "--backend", "cpu", "--json", json};
    }
};

bool fits_schema(const Json& result) {
    const JsonSchema schema(
        Json::parse(TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / "docs/result.schema.json")));
    return schema.errors(result).empty();
}

/// What a terminal obeys: every control character but the newline.
bool steers(const std::string& text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F;
    });
}

/// A table's row, where somebody else may have put a new line before it.
constexpr const char* forged = "\x1b[2J\x1b[H\n  03_shared_tree  OK              10 of 10";

}  // namespace

TEST_CASE("nothing is written where a submission's author has a say", "[program][submission]") {
    const Class all;
    const auto refused = [&](const std::string& file) {
        CAPTURE(file);
        for (std::vector<std::string> verb :
             {all.check(file),
              {"explain", "01/03", "--submission", "class/ada", "--json", file},
              {"see", "01/03", "--submission", "class/ada", "--out",
               fs::path(file).parent_path().string()}}) {
            const Outcome outcome = all.run(verb);
            CHECK(outcome.status == 2);
            CHECK(outcome.out.empty());
            CHECK_THAT(outcome.err, ContainsSubstring("this is in the submission"));
        }
        CHECK(all.folder.read("class/ben/result.json") == "ben's");
        CHECK(all.folder.listing("class/ben") == "result.json");
    };
    refused("class/ada/result.json");
    refused("class/ben/../ada/result.json");
    fs::create_directory_symlink("../ben", all.ada() / "out");
    refused("class/ada/out/result.json");
    fs::create_directory_symlink("class/ada", all.folder.path() / "mine");
    refused("mine/result.json");
    CHECK(all.folder.listing("class/ada") == "03_shared_tree.cu out");

    Process::Setup inside = all.setup();
    inside.folder = all.ada().string();
    CHECK(all.run(all.check("result.json", "."), inside).status == 2);
    // From there to a folder of one's own is no way through the submission.
    CHECK(all.run(all.check("../../results/none/ada.json", "."), inside).status == 3);
    CHECK(all.folder.listing("class/ada") == "03_shared_tree.cu out");
}

TEST_CASE("what is no file of its own takes no result, and nothing is judged before that is said",
          "[program][submission]") {
    const Class all;
    const auto refused = [&](const std::string& file, const std::string& why) {
        CAPTURE(file);
        const Outcome outcome = all.run(all.check(file));
        CHECK(outcome.status == 3);
        CHECK(outcome.out.empty());
        CHECK_THAT(outcome.err, ContainsSubstring(why));
    };
    const fs::path results = all.folder.path() / "results";
    fs::create_symlink("../class/ben/result.json", results / "link.json");
    refused("results/link.json", "it is a link");
    CHECK(all.folder.read("class/ben/result.json") == "ben's");
    fs::create_symlink("nowhere", results / "dangling.json");
    refused("results/dangling.json", "it is a link");
    REQUIRE(mkfifo((results / "pipe.json").c_str(), 0600) == 0);
    refused("results/pipe.json", "it is a device or pipe");
    refused("/dev/null", "it is a device or pipe");
    refused("none/ada.json", "the folder does not exist");
    refused("results", "this is a folder");
    CHECK(all.folder.listing("results") == "dangling.json link.json pipe.json");

    SECTION("also where the rungs are one's own") {
        const Outcome own = all.run({"check", "01/03", "--backend", "cpu", "--json", "none/result.json"});
        CHECK(own.status == 3);
        CHECK(own.out.empty());
        const Outcome demo =
            all.run({"demo", "--backend", "cpu", "--out", "page.html", "--json", "none/a.json"});
        CHECK(demo.status == 3);
        CHECK(demo.out.empty());
    }
}

TEST_CASE("the result of a grading that has not ended says so", "[program][submission][judge]") {
    const Class all;
    std::string endless = all.solution;
    const std::string launcher = "cudaStream_t stream) {";
    for (std::size_t at = endless.find(launcher); at != std::string::npos;
         at = endless.find(launcher, at + 1))
        endless.insert(at + launcher.size(), " volatile bool on = true; while (on) {} ");
    all.folder.write("class/ada/03_shared_tree.cu", endless);
    for (const int number : {SIGINT, SIGKILL}) {
        CAPTURE(number);
        all.folder.write("results/ada.json", R"({"finished": true, "score": 10, "undecided": 0})");
        Process::Setup setup = all.setup();
        setup.own_group = true;
        std::vector<std::string> command = all.check("results/ada.json");
        command.insert(command.begin(), RUNGS_PROGRAM);
        Process process(command, setup);
        REQUIRE(process.wait_for("seed"));
        process.signal_group(number);
        CHECK(process.finish().status == 128 + number);
        const Json result = Json::parse(all.folder.read("results/ada.json"));
        CHECK(fits_schema(result));
        CHECK(result["finished"] == false);
        CHECK(result["score"].is_null());
        CHECK(result["undecided"] == 1);
        CHECK(result["rungs"][0]["verdict"] == "NOT_RUN");
        CHECK(result["rungs"][0]["points"].is_null());
    }
    all.folder.write("class/ada/03_shared_tree.cu", all.solution);
    CHECK(all.run(all.check("results/ada.json")).status == 0);
    const Json result = Json::parse(all.folder.read("results/ada.json"));
    CHECK(fits_schema(result));
    CHECK(result["finished"] == true);
    CHECK(result["score"] == 10);
    CHECK(all.folder.listing("results") == "ada.json");
}

TEST_CASE("a name in a submission is data", "[program][submission][judge]") {
    const Class all;
    all.folder.write(std::string("class/ada/") + forged + ".cu", "");
    all.folder.write("class/ada/=HYPERLINK(1).cu", "");
    all.folder.write("class/ada/" + std::string(100, ' ') + "03_shared_tree  OK.cu", "");
    all.folder.write("class/ada/\xf3\xa0\x81\x81\xe2\x80\x8d\xff.cu", "");
    Outcome outcome = all.run(all.check("results/ada.json"));
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 0);
    CHECK_FALSE(steers(outcome.out + outcome.err));
    CHECK_THAT(outcome.out,
               ContainsSubstring("not graded: \uFFFD[2J\uFFFD[H\uFFFD 03_shared_tree OK 10 of 10"));
    CHECK_THAT(outcome.out, ContainsSubstring("not graded:  03_shared_tree OK.cu is no"));
    CHECK_THAT(outcome.out, ContainsSubstring("not graded: \uFFFD\uFFFD\uFFFD.cu is no"));

    const std::string folder = std::string("class/") + forged;
    all.folder.write(folder + "/03_shared_tree.cu", "#error one\n");
    for (const bool colours : {false, true}) {
        Process::Setup setup = all.setup();
        if (colours) setup.environment["CLICOLOR_FORCE"] = "1";
        outcome = all.run(all.check("results/x.json", folder), setup);
        INFO(outcome.out << outcome.err);
        CHECK(outcome.status == 1);
        CHECK(outcome.out.find("\x1b[2J") == std::string::npos);
        CHECK(outcome.out.find("\n  03_shared_tree  OK") == std::string::npos);
        if (!colours) CHECK_FALSE(steers(outcome.out + outcome.err));
    }
    const Json result = Json::parse(all.folder.read("results/x.json"));
    CHECK_FALSE(steers(result["what"].get<std::string>() + result["rungs"][0]["file"].get<std::string>()));
    outcome = all.run(all.check("x.json", std::string("none") + forged));
    CHECK(outcome.status == 2);
    CHECK_FALSE(steers(outcome.err));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

TEST_CASE("the command that repeats a check names any folder", "[program][submission]") {
    for (const std::string& name : {std::string(forged), std::string("it's \\ \xff\xc3\xa9"),
                                    std::string("a b"), std::string("plain")}) {
        const std::string word = shell_word(name);
        CAPTURE(word);
        CHECK_FALSE(steers(word));
        const TemporaryFolder folder;
        const fs::path script = folder.write("script", "printf %s " + word);
        Process::Setup setup;
        CHECK(Process({"/bin/bash", script.string()}, setup).finish().out == name);
    }
}

TEST_CASE("thousands of names are a few lines", "[program][submission]") {
    const Class all;
    for (int i = 0; i < 4000; ++i) all.folder.write("class/ada/extra_" + std::to_string(i) + ".cu", "");
    const auto lines_of_names = [&] {
        const Outcome outcome = all.run({"check", "--backend", "cuda", "--submission", "class/ada"});
        INFO(outcome.out);
        CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') < 30);
        return outcome.out;
    };
    CHECK_THAT(lines_of_names(), ContainsSubstring("not graded: and 3990 more"));
    SECTION("and a walk that is not finished is reported") {
        for (int i = 0; i < 6100; ++i) all.folder.write("class/ada/deep/" + std::to_string(i), "");
        CHECK_THAT(lines_of_names(), ContainsSubstring("there are too many files"));
    }
    SECTION("as is a folder that cannot be read") {
        if (geteuid() == 0) RUNGS_SKIP("root reads every folder");
        fs::create_directory(all.ada() / "closed");
        fs::permissions(all.ada() / "closed", fs::perms::none);
        CHECK_THAT(lines_of_names(), ContainsSubstring("not looked through: closed: Permission denied"));
    }
}
