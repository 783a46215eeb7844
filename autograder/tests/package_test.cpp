// The student edition: what is in it, what its judge says, and what an update does to a student's work.
#include "package/package.hpp"
#include <cstring>

#include "package/leaks.hpp"
#include "program_fixture.hpp"
#include "rungs/catch.hpp"

namespace rungs::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

TEST_CASE("two lines of a solution elsewhere are a leak, what is given is none", "[package]") {
    const std::string solution =
        "void kernel() {\n    // TODO\n    // BEGIN SOLUTION\n    const float sum = "
        "add_up(all_of_the_values, n);\n"
        "    if (threadIdx.x == 0) out[blockIdx.x] = sum;  // once\n    // END SOLUTION\n}\n";
    const auto leaks = [&](const std::string& file, const std::string& text) {
        const TemporaryFolder tree;
        tree.write("chapters/01_x/chapter.toml", "title = \"X\"\n");
        tree.write(file, text);
        return find_leaks({{"solutions/01_x/02_y.cu", solution}}, tree.path());
    };
    const std::string first = "const float sum = add_up(all_of_the_values,n);\n";
    const std::string second = "\tif (threadIdx.x==0) out[blockIdx.x] = sum;\n";
    const std::vector<Leak> found = leaks("docs/page.md", "# Page\n\n" + first + "// or so\n" + second);
    REQUIRE(found.size() == 1);
    CHECK(found[0].file == "docs/page.md");
    CHECK(found[0].at == 3);
    CHECK(found[0].solution == "solutions/01_x/02_y.cu");
    CHECK(found[0].line == 4);
    CHECK(leaks("docs/page.md", first).empty());
    CHECK(leaks("docs/page.md", first + "\n\n\n\n" + second).empty());
    CHECK(leaks("chapters/01_x/01_given.cu", first + second).empty());
    CHECK(leaks("chapters/01_x/x.cuh", first + second).empty());
    CHECK(leaks("chapters/01_x/exam/exam.cpp", first + second).size() == 1);
    CHECK(leaks("chapters/01_x/chapter.toml", first + second).size() == 1);
}

TEST_CASE("links to what is left out become words, others stay", "[package]") {
    const auto leads = [](const std::string& target) { return target == "here.md"; };
    CHECK(without_links("See [one](here.md#part), [two *b*](gone.md#part) and [three](gone.cu).", leads) ==
          "See [one](here.md#part), two *b* and three.");
    CHECK(tried_text(1) == "1 solution passes, and its starter does not");
    CHECK(tried_text(2) == "2 solutions pass, and their starters do not");
    CHECK(without_links("![picture](gone.svg) [anchor](#part)", leads) ==
          "![picture](gone.svg) [anchor](#part)");
}

/// Runs a shell command to its end.
Outcome shell(const std::string& command, const fs::path& folder) {
    Process::Setup setup;
    setup.folder = folder.string();
    return Process({"/bin/sh", "-c", command}, setup).finish();
}

/// A small workbook as an instructor has it: committed, with a rung whose speed is modelled, one limit, and a
/// rung that asks for numbers.
struct Committed {
    Committed() {
        std::string manifest = SmallWorkbook::manifest() + R"(limits = { load_sectors = 1.5 }
speed = { points = 5, baseline = "01_atomic", zero = 1.3, full = 2.1, modelled = { zero = 1.4, full = 2.0 } }
[[modelled]]
problem = "sum"
sizes = [65536]
kind = "uniform"
[rungs.04_numbers]
kind = "predict"
idea = "count before you run"
points = 4
hints = ["steps"]
[[rungs.04_numbers.questions]]
name = "barriers"
ask = "How many barriers?"
rung = "03_shared_tree"
counter = "barriers"
case = { problem = "sum", sizes = [257], kind = "uniform" }
)";
        for (const auto& [rung, kind] :
             {std::pair("01_atomic]", "given"), std::pair("03_shared_tree]", "write")})
            manifest.insert(manifest.find(rung) + std::strlen(rung), std::string("\nkind = \"") + kind + '"');
        small.folder.write("chapters/01_reduction/chapter.toml", manifest);
        small.folder.write("chapters/01_reduction/04_numbers.toml", "barriers = \"?\"\n");
        // An author's own attempt: it must not be handed out.
        small.folder.write(SmallWorkbook::student, small.solution);
        small.folder.write("chapters/01_reduction/exam/mistakes.toml", "[[mistakes]]\n");
        small.folder.write("autograder/attacks/README.md", "# Attacks\n");
        small.folder.write("docs/grading.md", "# Grading a class\n");
        small.folder.write("docs/model.md", "# Model\n\nSee [grading](grading.md) and [itself](model.md).\n");
        small.folder.write("README.md",
                           "# Rungs\n\n| chapter | you learn |\n|:--|:--|\n| 1 | sums |\n\nMore.\n");
        for (const char* file : {"autograder/package/students.md", "common/update.sh", "rungs"}) {
            small.folder.write(file, TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / file));
        }
        fs::permissions(small.folder / "rungs", fs::perms::owner_all);
        small.folder.write(".gitignore", "/build/\n");
        commit("first", true);
    }

    void commit(const std::string& message, bool begin = false) const {
        const Outcome done =
            shell(std::string("export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 && ") +
                      (begin ? "git init -q && " : "") +
                      "git add -A && git -c user.name=a -c user.email=a@b commit -q -m '" + message + "'",
                  small.folder.path());
        if (done.status != 0) throw std::runtime_error("git: " + done.err);
    }

    /// Runs the program that makes packages.
    Outcome package(std::vector<std::string> arguments, rlim_t file_size = RLIM_INFINITY) const {
        Process::Setup setup = small.setup();
        setup.file_size = file_size;
        std::vector<std::string> command{RUNGS_PACKAGE, "--root", small.folder.path().string(), "--unchecked",
                                         "--no-gpu"};
        command.insert(command.end(), arguments.begin(), arguments.end());
        return Process(command, setup).finish();
    }

    SmallWorkbook small;
};

/// An unpacked edition, whose rungs the tools of the build under test compile.
struct Edition {
    Edition(const Committed& from, const fs::path& unpacked) : small(from.small), tree(unpacked) {
        auto tools = json::parse(small.folder.read("build/toolchain.json"));
        const std::string there = "-I" + small.folder.path().string() + "/",
                          here = "-I" + tree.string() + "/";
        for (const char* mode : {"cpu", "check"}) {
            for (auto& flag : tools[mode]["compile"]) {
                std::string text = flag.get<std::string>();
                if (text.rfind(there, 0) == 0) flag = text.replace(0, there.size(), here);
            }
        }
        tools["root"] = tree.string();
        tools["build"] = (tree / "build").string();
        fs::create_directories(tree / "build");
        std::ofstream(tree / "build/toolchain.json") << tools.dump();
    }

    Outcome run(std::vector<std::string> arguments) const {
        Process::Setup setup = small.setup();
        setup.environment["RUNGS_BUILD"] = (tree / "build").string();
        setup.folder = tree.string();
        return small.run(std::move(arguments), setup);
    }

    /// What check says of 03_shared_tree.
    json check(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), {"check", "01/03", "--json", "-", "--seed", "5"});
        return json::parse(run(arguments).out).at("rungs").at(0);
    }

    const SmallWorkbook& small;
    const fs::path tree;
};

std::string everything_in(const fs::path& tree) {
    std::string text;
    for (const auto& entry : fs::recursive_directory_iterator(tree)) {
        if (entry.is_regular_file()) text += TemporaryFolder::content_of(entry.path());
    }
    return text;
}

TEST_CASE("a package has no solution, and its judge says what the workbook's says", "[package]") {
    const Committed workbook;
    const TemporaryFolder place;
    const std::string archive = (place / "students.tar.gz").string();
    const Outcome made = workbook.package({"--out", archive});
    INFO(made.out << made.err);
    REQUIRE(made.status == 0);
    CHECK(place.listing() == "students.tar.gz");
    REQUIRE(shell("tar xzf students.tar.gz", place.path()).status == 0);
    const fs::path tree = place / "rungs";
    CHECK(fs::exists(tree / "edition/counts/01_reduction/03_shared_tree.json"));
    for (const char* gone : {"solutions", "autograder", "docs/grading.md", "chapters/01_reduction/exam"}) {
        INFO(gone);
        CHECK_FALSE(fs::exists(tree / gone));
    }
    CHECK(TemporaryFolder::content_of(tree / SmallWorkbook::student) == workbook.small.starter);
    CHECK(TemporaryFolder::content_of(tree / "docs/model.md") ==
          "# Model\n\nSee grading and [itself](model.md).\n");
    CHECK_THAT(TemporaryFolder::content_of(tree / "README.md"),
               ContainsSubstring("\n\n| chapter | you learn |\n"));
    const std::string all = everything_in(tree);
    CHECK(all.find("BEGIN SOLUTION") == std::string::npos);
    CHECK(all.find("partial[threadIdx.x] += partial[threadIdx.x + stride]") == std::string::npos);
    CHECK(shell("sha256sum --quiet -c edition/files.sha256", tree).status == 0);

    // Made once more, it is the same to the byte.
    CHECK(workbook.package({"--out", (place / "again.tar.gz").string()}).status == 0);
    CHECK(place.read("again.tar.gz") == place.read("students.tar.gz"));

    const Edition edition(workbook, tree);
    CHECK(edition.check({})["verdict"] == "WRONG");
    const TemporaryFolder handed_in;
    handed_in.write("01_reduction/03_shared_tree.cu", workbook.small.solution);
    const json here = edition.check({"--submission", handed_in.path().string()});
    const Outcome instructor = workbook.small.run(
        {"check", "01/03", "--json", "-", "--seed", "5", "--submission", handed_in.path().string()});
    const json there = json::parse(instructor.out).at("rungs").at(0);
    INFO(here.dump(1));
    CHECK(here["verdict"] == "OK");
    CHECK(here["points"] == there["points"]);
    CHECK(here["max_points"] == 15);
    CHECK(here["modelled"]["reference_seconds"] == there["modelled"]["reference_seconds"]);
    CHECK(here["modelled"]["of_reference"] == there["modelled"]["of_reference"]);
    // A rung that reads each element once more, and not in a row, meets the same limit.
    std::string twice = workbook.small.solution;
    const std::string load = "i < n ? terms(i) : 0.0f";
    REQUIRE(twice.find(load) != std::string::npos);
    twice.replace(twice.find(load), load.size(), "i < n ? terms(i) + 0 * terms(i * 33 % n) : 0.0f");
    handed_in.write("01_reduction/03_shared_tree.cu", twice);
    const json slow = edition.check({"--submission", handed_in.path().string()});
    INFO(slow.dump(1));
    CHECK(slow["verdict"] == "SLOW");

    const Outcome numbers = edition.run({"check", "01/04"});
    CHECK(numbers.status == 1);
    CHECK_THAT(numbers.out, ContainsSubstring("not answered yet: barriers"));
    std::ofstream(tree / SmallWorkbook::student) << workbook.small.solution;
    const Outcome explained = edition.run({"explain", "01/03"});
    CHECK(explained.status == 0);
    CHECK_THAT(explained.out, ContainsSubstring("reference"));
    CHECK(edition.run({"reset", "01/03"}).status == 0);
    CHECK(TemporaryFolder::content_of(tree / SmallWorkbook::student) == workbook.small.starter);
    const Outcome demo = edition.run({"demo", "--backend", "cpu"});
    INFO(demo.out << demo.err);
    CHECK(demo.status == 0);
    CHECK_THAT(demo.out, ContainsSubstring("given rungs") && ContainsSubstring("01_atomic") &&
                             !ContainsSubstring("03_shared_tree"));
    for (const char* verb : {"check", "explain", "run"}) {
        const Outcome refused =
            edition.run({verb, verb == std::string("run") ? "01" : "01/03", "--solution"});
        INFO(verb);
        CHECK(refused.status == 2);
        CHECK_THAT(refused.err, ContainsSubstring("has no solution"));
    }
    const Outcome launcher = shell("./rungs grade x --out y", tree);
    CHECK(launcher.status == 2);
    CHECK_THAT(launcher.err, ContainsSubstring("student edition"));
    const Outcome help = shell("./rungs --help", tree);
    CHECK_THAT(help.out, ContainsSubstring("\n  update FILE") && !ContainsSubstring("\n  grade ") &&
                             !ContainsSubstring("\n  bench "));
}

TEST_CASE("what cannot be packed is refused, and leaves nothing", "[package]") {
    const Committed workbook;
    const TemporaryFolder place;
    const std::string archive = (place / "students.tar.gz").string();
    const auto refused = [&](const std::vector<std::string>& arguments, int status,
                             const std::string& words) {
        const Outcome made = workbook.package(arguments);
        INFO(made.out << made.err);
        CHECK(made.status == status);
        CHECK_THAT(made.err, ContainsSubstring(words));
    };
    refused({}, 2, "--out");
    place.write("taken/file", "");
    refused({"--out", (place / "taken").string()}, 2, "exists");
    refused({"--out", (place / "nowhere/x.tar.gz").string()}, 2, "no folder");
    workbook.small.folder.write("notes.txt", "mine");
    refused({"--out", archive}, 2, "not committed");

    // Pages are where a solution is quoted by oversight.
    const std::size_t begin = workbook.small.solution.find("// BEGIN SOLUTION");
    workbook.small.folder.write(
        "docs/model.md",
        workbook.small.solution.substr(begin, workbook.small.solution.find("// END SOLUTION") - begin));
    workbook.commit("a page");
    refused({"--out", archive}, 1, "is in docs/model.md");

    const Outcome full = workbook.package({"--out", archive}, 20000);
    INFO(full.err);
    CHECK(full.status == 3);

    fs::remove_all(workbook.small.folder / ".git");
    refused({"--out", archive}, 3, "not a git repository");
    CHECK(place.listing() == "taken");
}

/// An edition of a few files: what ./rungs update sees of a real one.
class Editions {
  public:
    using Files = std::map<std::string, std::string>;

    static std::string rung(const std::string& name) { return "chapters/01_x/" + name; }

    /// `files`, with starters of those that are rungs, below `where`.
    void write(const std::string& where, Files files, const std::string& commit) const {
        for (const char* name : {"rungs", "common/update.sh"})
            files[name] = TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / name);
        files["common/packages.txt"] = "";
        files["edition/about.txt"] = "commit " + commit + "\n";
        const Files given = files;
        for (const auto& [name, text] : given) {
            if (name.rfind("chapters/", 0) == 0 && fs::path(name).extension() == ".cu")
                files["edition/starters/" + name.substr(9)] = text;
        }
        for (const auto& [name, text] : files) folder.write(where + "/" + name, text);
        fs::permissions(folder / (where + "/rungs"), fs::perms::owner_all);
        const Outcome listed = shell(
            "find . -type f ! -path './build/*' | sed 's|^./||' | sort | xargs sha256sum > list; "
            "mv list edition/files.sha256; sed -i '/edition\\/files.sha256/d; / list$/d' "
            "edition/files.sha256",
            folder / where);
        if (listed.status != 0) throw std::runtime_error(listed.err);
    }

    Editions() {
        write("mine",
              {{"chapters/01_x/chapter.toml", "old"},
               {rung("02_begun.cu"), "starter 2"},
               {rung("03_untouched.cu"), "starter 3"},
               {rung("04_begun_same.cu"), "starter 4"},
               {rung("05_gone_begun.cu"), "starter 5"},
               {rung("06_gone.cu"), "starter 6"},
               {rung("08_deleted.cu"), "starter 8"},
               {rung("x.cuh"), "old header"},
               {"chapters/02_y/chapter.toml", "old"},
               {"chapters/02_y/01_y.cu", "starter y"},
               {"docs/old.md", "old page"}},
              "one");
        write("next/rungs",
              {{"chapters/01_x/chapter.toml", "new"},
               {rung("02_begun.cu"), "better starter 2"},
               {rung("03_untouched.cu"), "better starter 3"},
               {rung("04_begun_same.cu"), "starter 4"},
               {rung("07_new.cu"), "starter 7"},
               {rung("08_deleted.cu"), "starter 8"},
               {rung("x.cuh"), "new header"},
               {"docs/new.md", "new page"}},
              "two");
        folder.write("mine/" + rung("02_begun.cu"), "my 2");
        folder.write("mine/" + rung("04_begun_same.cu"), "my 4");
        folder.write("mine/" + rung("05_gone_begun.cu"), "my 5");
        folder.write("mine/" + rung("x.cuh"), "my header");
        folder.write("mine/chapters/02_y/01_y.cu", "my y");
        folder.write("mine/chapters/02_y/01_y.cu.bak-1", "my earlier y");
        folder.write("mine/build/default/progress.json", "my progress");
        fs::remove(folder / ("mine/" + rung("08_deleted.cu")));
        if (shell("tar czf next.tar.gz -C next rungs", folder.path()).status != 0)
            throw std::runtime_error("tar");
    }

    Outcome update(const std::string& from, const std::string& path = "") const {
        return shell((path.empty() ? "" : "PATH=" + path + ":$PATH ") + "./rungs update " + from,
                     folder / "mine");
    }

    std::string mine(const std::string& name) const { return folder.read("mine/" + name); }
    bool has(const std::string& name) const { return fs::exists(folder / ("mine/" + name)); }

    /// Everything as an update has to leave it.
    void check_updated() const {
        CHECK(mine(rung("02_begun.cu")) == "my 2");
        CHECK(mine(rung("02_begun.cu.new")) == "better starter 2");
        CHECK(mine(rung("03_untouched.cu")) == "better starter 3");
        CHECK(mine(rung("04_begun_same.cu")) == "my 4");
        CHECK_FALSE(has(rung("04_begun_same.cu.new")));
        CHECK_FALSE(has(rung("05_gone_begun.cu")));
        CHECK(mine("kept/01_x/05_gone_begun.cu") == "my 5");
        CHECK_FALSE(has(rung("06_gone.cu")));
        CHECK_FALSE(has("kept/01_x/06_gone.cu"));
        CHECK(mine(rung("07_new.cu")) == "starter 7");
        CHECK(mine(rung("08_deleted.cu")) == "starter 8");
        CHECK(mine(rung("x.cuh")) == "new header");
        CHECK(mine("kept/02_y/01_y.cu") == "my y");
        CHECK(mine("kept/02_y/01_y.cu.bak-1") == "my earlier y");
        CHECK_FALSE(has("chapters/02_y"));
        CHECK(mine("chapters/01_x/chapter.toml") == "new");
        CHECK_FALSE(has("docs/old.md"));
        CHECK(mine("docs/new.md") == "new page");
        CHECK(mine("build/default/progress.json") == "my progress");
        CHECK(mine("edition/about.txt") == "commit two\n");
        CHECK(mine("edition/files.sha256") == folder.read("next/rungs/edition/files.sha256"));
        std::string headers;
        for (const auto& entry : fs::directory_iterator(folder / "mine/chapters/01_x")) {
            const std::string name = entry.path().filename().string();
            if (name.rfind("x.cuh.bak-", 0) == 0) headers += TemporaryFolder::content_of(entry.path());
            CHECK(name.find(".part") == std::string::npos);
        }
        CHECK_THAT(headers, ContainsSubstring("my header"));
        CHECK((fs::status(folder / "mine/rungs").permissions() & fs::perms::owner_exec) != fs::perms::none);
    }

    TemporaryFolder folder;
};

TEST_CASE("an update takes what is new and keeps what a student wrote", "[package][update]") {
    for (const char* const from : {"../next.tar.gz", "../next/rungs", "../next"}) {
        const Editions editions;
        const Outcome updated = editions.update(from);
        INFO(from << '\n' << updated.out << updated.err);
        CHECK(updated.status == 0);
        editions.check_updated();
        CHECK_THAT(updated.out, ContainsSubstring("its new starter is chapters/01_x/02_begun.cu.new") &&
                                    ContainsSubstring("yours is kept in kept/01_x/05_gone_begun.cu") &&
                                    ContainsSubstring("now at commit two"));
        const Outcome again = editions.update(from);
        CHECK(again.status == 0);
        CHECK_THAT(again.out, ContainsSubstring("\n0 files were"));
    }
}

TEST_CASE("an update that is cut short anywhere loses nothing and goes on", "[package][update]") {
    // A disk that is full after so many files: `mv` and `cp` fail from there on.
    for (int files = 0, full = 1; full != 0; files += 5) {
        const Editions editions;
        const std::string left = "'" + (editions.folder / "left").string() + "'";
        for (const std::string tool : {"mv", "cp"}) {
            const fs::path path = editions.folder.write(
                "tools/" + tool, "#!/bin/sh\nread -r left <" + left + "\n[ $left -gt 0 ] || exit 1\n" +
                                     "echo $((left - 1)) >" + left + "\nexec /bin/" + tool + " \"$@\"\n");
            fs::permissions(path, fs::perms::owner_all);
        }
        editions.folder.write("left", std::to_string(files) + "\n");
        const Outcome cut =
            editions.update("../next.tar.gz", "'" + (editions.folder / "tools").string() + "'");
        INFO(files << '\n' << cut.out << cut.err);
        full = cut.status;
        if (files == 0) {
            REQUIRE(full == 3);  // else it uses other tools than these
        } else {
            CHECK((full == 0 || full == 3));
        }
        const std::string all = everything_in(editions.folder / "mine");
        for (const char* const work :
             {"my 2", "my 4", "my 5", "my header", "my y", "my earlier y", "my progress"})
            CHECK_THAT(all, ContainsSubstring(work));
        CHECK(editions.update("../next.tar.gz").status == 0);
        editions.check_updated();
        REQUIRE(files < 300);
    }
}

TEST_CASE("what is no whole edition changes nothing", "[package][update]") {
    const Editions editions;
    const std::string before = everything_in(editions.folder / "mine");
    const auto refused = [&](const std::string& from, int status, const std::string& words) {
        const Outcome updated = editions.update(from);
        INFO(updated.out << updated.err);
        CHECK(updated.status == status);
        CHECK_THAT(updated.err, ContainsSubstring(words));
        CHECK(everything_in(editions.folder / "mine") == before);
    };
    refused("", 2, "one archive or folder");
    refused("../nothing.tar.gz", 2, "there is no");
    refused(".", 2, "this workbook itself");
    refused("../mine/docs", 2, "not a student edition");
    editions.folder.write("half.tar.gz", editions.folder.read("next.tar.gz").substr(0, 200));
    refused("../half.tar.gz", 3, "could not be unpacked");
    editions.folder.write("next/rungs/docs/new.md", "somebody else's page");
    refused("../next", 3, "damaged");
    fs::remove_all(editions.folder / "mine/edition");
    CHECK_THAT(editions.update("../next.tar.gz").err, ContainsSubstring("git pull"));
}

}  // namespace
}  // namespace rungs::test
