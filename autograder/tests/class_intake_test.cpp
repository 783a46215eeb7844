// What a class hands in, in each form in which instructors get it, and what is refused of it.
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "class/archive.hpp"
#include "class/brought.hpp"
#include "class/intake.hpp"
#include "class/policy.hpp"
#include "class/record.hpp"
#include "class/repository.hpp"
#include "judge/build/build.hpp"
#include "judge/confine/sandbox.hpp"
#include "judge/judge.hpp"
#include "protocol/archive_frame.hpp"
#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"

using namespace rungs;
using namespace rungs::classroom;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;
namespace fs = std::filesystem;

namespace {

/// Runs Python in `folder`, with what makes archives at hand: `tar(name, *entries)` and `zip(name, *entries)`
/// of (path, bytes) pairs or tarfile.TarInfo objects.
void python(const TemporaryFolder& folder, const std::string& code) {
    folder.write("make.py", R"(import io, tarfile, zipfile
def tar(name, *entries, mode='w'):
    with tarfile.open(name, mode) as out:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo): out.addfile(entry); continue
            info = tarfile.TarInfo(entry[0]); info.size = len(entry[1]); out.addfile(info, io.BytesIO(entry[1]))
def zip(name, *entries):
    with zipfile.ZipFile(name, 'w', zipfile.ZIP_DEFLATED) as out:
        for path, data in entries: out.writestr(path, data)
def special(path, kind, target=''):
    info = tarfile.TarInfo(path); info.type = kind; info.linkname = target; return info
)" + code);
    const std::string command = "cd '" + folder.path().string() + "' && python3 make.py && rm make.py";
    REQUIRE(std::system(command.c_str()) == 0);
}

Assignment two_rungs() {
    Assignment assignment;
    assignment.rungs = {{"01_reduction", "03_shared_tree", "", "fill", 10},
                        {"01_reduction", "07_traffic", "", "predict", 5}};
    return assignment;
}

Person person(const std::string& id, const std::string& name, const std::string& email = "") {
    Person one;
    one.id = id;
    one.name = name;
    one.email = email;
    return one;
}

Intake take(const TemporaryFolder& folder, const std::string& place,
            const Assignment& assignment = two_rungs()) {
    return read_class(open_class(folder / place, folder / "work"), assignment, folder / "work");
}

/// The bytes that were taken for a rung.
std::string bytes_of(const HandIn& hand_in, const char* rung) {
    return TemporaryFolder::content_of(hand_in.files.at(rung));
}

constexpr const char* tree = "01_reduction/03_shared_tree.cu";

/// A file of 1 MiB that takes no room on the disk.
void write_large(const TemporaryFolder& folder, const std::string& name) {
    fs::resize_file(folder.write(name, ""), 1 << 20);
}

/// A line of /proc/self/status, in MiB.
int memory(const std::string& line) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == line && status >> word) return std::stoi(word) >> 10;
    }
    return 0;
}

/// By how many MiB this process grows meanwhile. What other tests have left may be used for it first.
int growth(const std::function<void()>& what) {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5;  // the peak is that of now
    const int before = memory("VmRSS:");
    what();
    return memory("VmHWM:") - before;
}

/// For commits that depend on nobody's configuration.
constexpr const char* as_nobody =
    "export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
    "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";

/// Runs a script that makes a repository in a folder of `folder`.
void make_repository(const TemporaryFolder& folder, const std::string& name, const std::string& script) {
    const std::string command = "cd '" + folder.path().string() + "' && " + as_nobody + " && git init -q " +
                                name + " && cd " + name + " && " + script;
    REQUIRE(std::system(command.c_str()) == 0);
}

/// What is taken of each of the repositories in `folder`.
Intake take_repositories(const TemporaryFolder& folder, const std::vector<std::string>& names) {
    Assignment assignment = two_rungs();
    for (const std::string& name : names) {
        assignment.people.push_back(person(name, ""));
        assignment.people.back().columns = {{"repository", (folder / name).string()}};
    }
    Intake intake = read_repositories(assignment, folder / "work");
    REQUIRE(intake.hand_ins.size() == names.size());
    return intake;
}

}  // namespace

TEST_CASE("a class is taken from folders and from every kind of archive", "[class][intake]") {
    const TemporaryFolder folder;
    folder.write("class/ada/03_shared_tree.cu", "ada's");
    folder.write("class/ben/repo-main/chapters/01_reduction/03_shared_tree.cu", "ben's");
    folder.write("class/ben/repo-main/solutions/01_reduction/03_shared_tree.cu", "the solution");
    folder.write("class/ben/repo-main/edition/starters/01_reduction/03_shared_tree.cu", "the starter");
    folder.write("class/ben/repo-main/kept/01_reduction/03_shared_tree.cu", "an attempt put away");
    folder.write("class/ben/repo-main/.git/03_shared_tree.cu", "history");
    folder.write("class/notes.txt", "no hand-in");
    folder.write("class/__MACOSX/ada/03_shared_tree.cu", "what macOS adds");
    python(folder, R"(
e = ('x/01_reduction/03_shared_tree.cu', b'packed'), ('x/07_traffic.toml', b'a = 1')
zip('class/cleo.zip', *e)
tar('class/dan.tar', *e)
tar('class/eve.tar.gz', *e, mode='w:gz')
tar('class/fay@2026-11-20T10:00:00Z.tar.xz', *e, mode='w:xz')
tar('class/gil.tar.bz2', *e, mode='w:bz2')
)");
    const bool zstd =
        std::system(
            ("cd '" + folder.path().string() + "/class' && zstd -q dan.tar -o hal.tar.zst").c_str()) == 0;
    const Intake intake = take(folder, "class");
    REQUIRE(intake.hand_ins.size() == (zstd ? 8 : 7));
    for (const HandIn& hand_in : intake.hand_ins) {
        CAPTURE(hand_in.key, hand_in.refused);
        CHECK(hand_in.refused.empty());
        const std::string expected = hand_in.key == "ada"   ? "ada's"
                                     : hand_in.key == "ben" ? "ben's"
                                                            : "packed";
        CHECK(bytes_of(hand_in, tree) == expected);
        CHECK(hand_in.files.count("01_reduction/07_traffic.toml") == (expected == "packed"));
        CHECK(hand_in.handed_in.has_value() == (hand_in.key == "fay"));
    }
    CHECK_THAT(intake.problems.at(0), ContainsSubstring("notes.txt"));
    CHECK_THROWS_AS(take(folder, "class/notes.txt"), ClassError);
}

TEST_CASE("what a student meant as a hand-in is refused, and does not count as none", "[class][intake]") {
    const TemporaryFolder folder;
    for (const char* name : {"ada.rar", "ben.7Z", "cleo.cu", "dan/03_shared_tree.cu", "dan.cu", "dan.rar",
                             "dan@2026-11-21T10:00:00Z.cu", "eve@2026-11-20T10:00:00Z.tar.lz", "fay.txt",
                             "handout.7z", "03_shared_tree.cu", "notes.txt"})
        folder.write(std::string("class/") + name, "x");
    Assignment assignment = two_rungs();
    std::string expected = "ada ben cleo dan dan@2026-11-21T10:00:00Z eve@2026-11-20T10:00:00Z ",
                notes = "03_shared_tree.cu dan.cu dan.rar ";
    SECTION("without a roster") {
        expected += "handout ";
        notes += "fay.txt notes.txt ";
    }
    SECTION("with one") {
        for (const char* who : {"ada", "ben", "cleo", "dan", "eve", "fay"})
            assignment.people.push_back(person(who, ""));
        expected += "fay ";
        notes += "handout.7z notes.txt ";
    }
    Intake intake = take(folder, "class", assignment);
    std::string all, noted;
    for (const HandIn& hand_in : intake.hand_ins) {
        CAPTURE(hand_in.origin);
        all += hand_in.key + (hand_in.handed_in ? "@" + time_text(*hand_in.handed_in) : "") + ' ';
        CHECK(hand_in.refused.empty() == (hand_in.origin == "dan"));
        if (hand_in.origin != "dan")
            CHECK_THAT(hand_in.refused, ContainsSubstring(".zip, .tar, .tar.gz, .tgz"));
    }
    for (const std::string& problem : intake.problems) noted += problem.substr(0, problem.find(':')) + ' ';
    CHECK(all == expected);
    CHECK(noted == notes);
    store(folder / "out", assignment, intake);
    for (const std::string& problem : intake.problems)
        CHECK_THAT(problem, !ContainsSubstring("nothing was handed in"));
}

TEST_CASE("a hand-in with other files alone is refused, and an empty one is not", "[class][intake]") {
    const TemporaryFolder folder;
    for (const char* name : {"03_Shared_Tree.cu", "03_shared_tree (1).cu", "03_shared_tree.cu.txt",
                             "a/hw.zip", "02_other/03_shared_tree.cu"})
        folder.write(std::string("class/ada ") + fs::path(name).stem().string() + "/" + name, "x");
    folder.write("class/empty/.DS_Store", "");
    folder.write("class/empty/.git/x.cu", "history");
    folder.write("class/hidden/solutions/03_shared_tree.cu", "x");
    for (int i = 0; i < 7; ++i) folder.write("class/many/" + std::to_string(i) + ".cu", "");
    folder.write("class/some/03_shared_tree.cu", "x");
    folder.write("class/some/notes.txt", "x");
    python(folder, R"(
zip('class/packed.zip', ('hw/03_Shared_Tree.cu', b'x'), ('__MACOSX/x', b''), ('hw/.x', b''))
import os; os.mkdir('class/twice'); zip('class/twice/a.zip', ('notes.pdf', b'x'))
)");
    Intake intake = take(folder, "class");
    const std::string reason = "no file of it is an exercise of this assignment; there are: ",
                      expected = "; expected: 01_reduction/03_shared_tree.cu, 01_reduction/07_traffic.toml";
    for (const HandIn& hand_in : intake.hand_ins) {
        CAPTURE(hand_in.key);
        const std::string found = hand_in.key == "empty" || hand_in.key == "some" ? ""
                                  : hand_in.key == "hidden"                       ? "solutions"
                                  : hand_in.key == "many"   ? "0.cu, 1.cu, 2.cu, 3.cu, 4.cu, 5.cu, ..."
                                  : hand_in.key == "packed" ? "hw/03_Shared_Tree.cu"
                                  : hand_in.key == "twice"  ? "a.zip/notes.pdf"
                                                            : "";
        if (hand_in.key.starts_with("ada")) {
            CHECK_THAT(hand_in.refused, ContainsSubstring(reason));
        } else {
            CHECK(hand_in.refused == (found.empty() ? "" : reason + found));
        }
        CHECK(hand_in.expected == (hand_in.refused.empty() ? "" : expected));
    }
    CHECK(intake.hand_ins.size() == 11);
    store(folder / "out", two_rungs(), intake);
    REQUIRE(intake.problems.size() == 16);
    CHECK_THAT(intake.problems[1], ContainsSubstring("may be meant as 01/03; ./rungs review"));
    CHECK(intake.problems[10] == "empty: the hand-in is empty and earns no points");
    CHECK(intake.problems[12] ==
          "many: the hand-in is refused: " + reason + "0.cu, 1.cu, 2.cu, 3.cu, 4.cu, 5.cu, ..." + expected);
    // Another exercise makes no other attempt of it.
    Assignment more = two_rungs();
    more.rungs.push_back({"01_reduction", "04_interleaved", "", "fill", 5});
    Intake again = take(folder, "class", more);
    store(folder / "out", more, again);
    CHECK(fs::exists(folder / "out/hand-ins/many/1"));
    CHECK_FALSE(fs::exists(folder / "out/hand-ins/many/2"));
}

TEST_CASE("what a hand-in's name says like a date has to be a time", "[class][intake]") {
    const TemporaryFolder folder;
    for (const char* name : {"ada@2026-13-40T00:00:00Z", "ben@2026-11-20T10:00:00", "cleo@example.org",
                             "dan@2020-club.org", "eve@example.org@2026-11-20", "fay@yesterday"})
        folder.write(fmt::format("class/{}/03_shared_tree.cu", name), name);
    python(folder, "zip('class/gus@2026-11-20 10:00.zip', ('03_shared_tree.cu', b'x'))\n");
    Assignment assignment = two_rungs();
    assignment.people = {person("dan", "", "dan@2020-club.org"), person("eve", "", "eve@example.org")};
    std::string taken, refused;
    for (const HandIn& hand_in : take(folder, "class", assignment).hand_ins) {
        CHECK_FALSE(hand_in.handed_in);
        if (!hand_in.refused.empty()) CHECK_THAT(hand_in.refused, ContainsSubstring("is no time with its"));
        (hand_in.refused.empty() ? taken : refused) += hand_in.key + ' ';
    }
    CHECK(taken == "cleo@example.org dan@2020-club.org fay@yesterday ");
    CHECK(refused == "ada ben eve@example.org gus ");
}

TEST_CASE("a second upload of an archive is one, too", "[class][intake]") {
    for (const char* name : {"hw.tar-1.gz", "hw.tar (2).xz", "hw.tar(1).bz2", "HW.TAR-12.GZ", "hw-1.zip"})
        CHECK(is_archive(name));
    for (const char* name : {"hw.tar-.gz", "hw-1.gz", "hw.tar-1.txt", "hw.tarx-1.gz"})
        CHECK_FALSE(is_archive(name));
    const TemporaryFolder folder;
    python(folder, R"(import os
os.mkdir('class'); tar('class/ada.tar-1.gz', ('03_shared_tree.cu', b'x'), mode='w:gz')
)");
    const Intake intake = take(folder, "class");
    REQUIRE(intake.hand_ins.size() == 1);
    CHECK(intake.hand_ins[0].key == "ada");
    CHECK(intake.hand_ins[0].refused.empty());
}

TEST_CASE("a class may be packed with the folder that it is in", "[class][intake]") {
    const TemporaryFolder folder;
    folder.write("class/ada/01_reduction/03_shared_tree.cu", "ada's");
    folder.write("class/ben@2026-11-20T10:00:00Z/03_shared_tree.cu", "ben's");
    folder.write("class/roster.csv", "id");
    folder.write("class/.DS_Store", "");
    Assignment assignment = two_rungs();
    SECTION("with a roster") { assignment.people = {person("ada", "Ada"), person("ben", "Ben")}; }
    SECTION("without one") {}
    const auto keys = [&](const std::string& what) {
        REQUIRE(std::system(
                    ("cd '" + folder.path().string() + "' && rm -f class.tgz && tar czf class.tgz " + what)
                        .c_str()) == 0);
        std::string all;
        const ClassFolder in = open_class(folder / "class.tgz", folder / "work");
        for (const HandIn& hand_in : read_class(in, assignment, folder / "work").hand_ins) {
            CHECK(hand_in.files.size() == 1);
            all += hand_in.key + ' ';
        }
        if (!in.policy().empty()) all += TemporaryFolder::content_of(in.policy());
        fs::remove_all(folder / "work");
        return all;
    };
    CHECK(keys("class") == "ada ben ");
    CHECK(keys("./class") == "ada ben ");
    CHECK(keys("-C class .") == "ada ben ");
    CHECK(keys("-C class ada") == "ada ");  // a class of one
    CHECK(keys("-C class ben@2026-11-20T10:00:00Z") == "ben ");
    folder.write("class/assignment.toml", "the policy");
    CHECK(keys("class") == "ada ben the policy");
    CHECK(keys("-C class .") == "ada ben the policy");
    CHECK(keys("class/ada class/assignment.toml") == "ada the policy");
    CHECK(keys("-C class ada") == "ada ");
    CHECK(open_class(folder / "class", folder / "work").policy() == folder / "class/assignment.toml");
    folder.write("class/ada/assignment.toml", "ada's");
    CHECK(keys("-C class ada assignment.toml") == "ada the policy");
    // A student's folder may be all that there is, and have a policy of her own.
    folder.write("class/ada/ben/03_shared_tree.cu", "for ben");
    folder.write("class/ada/cleo/03_shared_tree.cu", "for cleo");
    CHECK_THROWS_AS(keys("-C class ada"), ClassError);
    fs::remove_all(folder / "work");
    fs::rename(folder / "class.tgz", folder / "ada.tgz");
    const ClassFolder chosen = open_class(folder / "ada.tgz", folder / "work");
    CHECK(TemporaryFolder::content_of(chosen.policy()) == "ada's");
}

TEST_CASE("an archive of a class without any file is an empty class", "[class][intake]") {
    const TemporaryFolder folder;
    python(folder, "import os; os.mkdir('class'); zip('class.zip', ('ada/', b''))\n");
    CHECK(take(folder, "class.zip").hand_ins.empty());
}

TEST_CASE("archives that lead elsewhere, explode or deceive are refused with the reason", "[class][intake]") {
    const TemporaryFolder folder;
    python(folder, R"(
good = ('03_shared_tree.cu', b'x')
tar('link.tar', good, special('a.cu', tarfile.SYMTYPE, '/etc/passwd'))
tar('hard.tar', good, special('a.cu', tarfile.LNKTYPE, '03_shared_tree.cu'))
tar('device.tar', special('a.cu', tarfile.CHRTYPE))
tar('pipe.tar', special('a.cu', tarfile.FIFOTYPE))
tar('absolute.tar', ('/tmp/03_shared_tree.cu', b'x'))
tar('dots.tar', ('a/../../03_shared_tree.cu', b'x'))
zip('dots.zip', ('../03_shared_tree.cu', b'x'))
zip('case.zip', good, ('03_SHARED_tree.cu', b'y'))
tar('twice.tar', good, good)
tar('bell.tar', ('03\x07.cu', b'x'))
tar('bytes.tar', ('03\udcff.cu', b'x'))
zip('ratio.zip', good, ('zeros', bytes(100 << 20)))
tar('ratio.tar.gz', good, ('zeros', bytes(100 << 20)), mode='w:gz')
tar('large.tar', ('03_shared_tree.cu', bytes((1 << 20) + 1)))
tar('many.tar', *[('f%d' % i, b'') for i in range(10001)])
open('cut.zip', 'wb').write(open('case.zip', 'rb').read()[:60])
open('noise.zip', 'wb').write(bytes(range(256)) * 100)
open('empty.tar', 'wb').close()
)");
    const auto reason = [&](const std::string& name, const ArchiveLimits& limits = {}) {
        return read_archive(
            folder / name, limits, [](const std::string&) { return true; },
            [](const std::string&, std::string) {});
    };
    for (const auto& [name, expected] :
         std::vector<std::pair<std::string, std::string>>{{"link.tar", "'a.cu' is a link"},
                                                          {"hard.tar", "'a.cu' is a link"},
                                                          {"device.tar", "is a device"},
                                                          {"pipe.tar", "is a device, a pipe"},
                                                          {"absolute.tar", "leads out"},
                                                          {"dots.tar", "leads out"},
                                                          {"dots.zip", "leads out"},
                                                          {"case.zip", "is there twice"},
                                                          {"twice.tar", "is there twice"},
                                                          {"bell.tar", "control characters"},
                                                          {"bytes.tar", "not UTF-8"},
                                                          {"large.tar", "larger than 1024 KiB"},
                                                          {"many.tar", "more than 10000 files"},
                                                          {"noise.zip", "not an archive"}}) {
        CAPTURE(name);
        CHECK_THAT(reason(name), ContainsSubstring(expected));
    }
    // What is not wanted is unpacked to count it, and goes nowhere.
    const auto bomb = [&](const std::string& name, const ArchiveLimits& limits) {
        return read_archive(
            folder / name, limits, [](const std::string& path) { return path.ends_with(".cu"); },
            [](const std::string&, std::string) {});
    };
    CHECK_THAT(bomb("ratio.zip", {}), ContainsSubstring("200 times its size"));
    CHECK_THAT(bomb("ratio.tar.gz", {}), ContainsSubstring("200 times its size"));
    ArchiveLimits small;
    small.total_bytes = 50U << 20;
    small.ratio = 1e9;
    CHECK_THAT(bomb("ratio.zip", small), ContainsSubstring("more than 50 MiB"));
    CHECK_FALSE(reason("cut.zip").empty());
    CHECK_FALSE(reason("empty.tar").empty());
    fs::create_symlink(folder / "case.zip", folder / "to.zip");
    CHECK_THAT(reason("to.zip"), ContainsSubstring("not a regular file"));
}

TEST_CASE("what is in the place of an archive's reader is not believed", "[class][intake][sandbox]") {
    const TemporaryFolder folder;
    python(folder, "zip('class.zip', ('03_shared_tree.cu', b'x'))\n");
    std::vector<std::string> taken;
    const auto read_by = [&](judge::Reader reader) {
        taken.clear();
        return read_archive(
            folder / "class.zip", {}, [](const std::string& path) { return path.ends_with(".cu"); },
            [&](const std::string& path, const std::string& bytes) { taken.push_back(path + ": " + bytes); },
            nullptr, std::move(reader));
    };
    CHECK(read_by(archive_reader()).empty());
    CHECK(taken == std::vector<std::string>{"03_shared_tree.cu: x"});
    // A shell in its place says these frames.
    using protocol::ArchiveSays;
    const auto frame = [](ArchiveSays says, const std::string& text, std::uint64_t unpacked = 0) {
        const protocol::ArchiveFrame head{says, static_cast<std::uint32_t>(text.size()), unpacked};
        std::string escaped;
        for (const unsigned char byte : std::string(reinterpret_cast<const char*>(&head), sizeof head) + text)
            escaped += fmt::format("\\{:03o}", byte);
        return escaped;
    };
    const auto says = [&](const std::string& frames) {
        return read_by({.program = "/bin/sh", .words = {"-c", "printf '" + frames + "' >&4"}});
    };
    const std::string a_file = frame(ArchiveSays::file, "a.cu"), one = frame(ArchiveSays::bytes, "1"),
                      end = frame(ArchiveSays::end, "");
    const std::string fails = "it made the reader of archives fail";
    CHECK(says(a_file + one + frame(ArchiveSays::bytes, "2") + end).empty());
    CHECK(taken == std::vector<std::string>{"a.cu: 12"});
    CHECK(says(a_file + one) == fails);
    CHECK(says(one + end) == fails);
    CHECK(says(a_file + frame(ArchiveSays::folder, "b") + one) == fails);
    CHECK(says(frame(ArchiveSays::file, "../a.cu")) == "'../a.cu' leads out of the hand-in");
    CHECK_THAT(says(frame(ArchiveSays::file, "a\033.cu")), ContainsSubstring("control characters"));
    CHECK(says(frame(ArchiveSays::link, "a.cu")) == "'a.cu' is a link");
    CHECK(says(frame(ArchiveSays{99}, "a.cu")) == "'a.cu' is a device, a pipe or a socket");
    CHECK_THAT(says(a_file + frame(ArchiveSays::file, "A.cu")), ContainsSubstring("is there twice"));
    CHECK(says(end) == "it is empty");
    CHECK(says(a_file + frame(ArchiveSays::damaged, "why")) == "'a.cu' is damaged: why");
    CHECK_THAT(says(frame(ArchiveSays::file, "a.cu", 1U << 30)), ContainsSubstring("unpacks to more than"));
    CHECK(says(frame(ArchiveSays::file, std::string(2000, 'a'))) == "a path is longer than 1024 bytes");
    CHECK(read_by({.program = "/bin/sh", .words = {"-c", "kill -ABRT $$"}}) == fails);
    CHECK_THROWS_AS(read_by({.program = folder / "no such program"}), judge::InfraError);
}

TEST_CASE("one set of limits holds for a hand-in, in however many archives", "[class][intake]") {
    const TemporaryFolder folder;
    fs::create_directories(folder / "class/zips");
    fs::create_directories(folder / "class/many");
    for (int i = 0; i < 257; ++i) {
        write_large(folder, "class/sparse/" + std::to_string(i) + "/03_shared_tree.cu");
        write_large(folder, "class/others/" + std::to_string(i) + ".cu");
    }
    for (int i = 0; i < 255; ++i) write_large(folder, "class/below/" + std::to_string(i) + ".cu");
    folder.write("class/below/03_shared_tree.cu", "x");
    python(folder, R"(import os, shutil
large = os.urandom(6000).ljust(1 << 20)
zip('class/zips/a.zip', *[('%d/03_shared_tree.cu' % i, large) for i in range(129)])
tar('class/many/a.tar', *[('%d' % i, b'') for i in range(5000)])
os.mkdir('m')
for copy in 'class/zips/b.zip', 'm/Ada_1_assignsubmission_file_a.zip', 'm/Ada_1_assignsubmission_file_b.zip':
    shutil.copy('class/zips/a.zip', copy)
shutil.copy('class/many/a.tar', 'class/many/b.tar')
)");
    for (const HandIn& hand_in : take(folder, "class").hand_ins) {
        CAPTURE(hand_in.key, hand_in.refused);
        const std::string reason = hand_in.key == "zips"    ? "b.zip: it unpacks to more than 256 MiB"
                                   : hand_in.key == "many"  ? "b.tar: it has more than 10000 files"
                                   : hand_in.key == "below" ? ""
                                                            : "it unpacks to more than 256 MiB";
        CHECK(hand_in.refused == reason);
    }
    const Intake moodle = take(folder, "m");
    REQUIRE(moodle.hand_ins.size() == 1);
    CHECK_THAT(moodle.hand_ins[0].refused, ContainsSubstring("it unpacks to more than 256 MiB"));
}

TEST_CASE("taking in a class needs memory for one hand-in, and none for what is no rung", "[class][intake]") {
    const TemporaryFolder folder;
    for (int i = 0; i < 100; ++i) {
        write_large(folder, "class/" + std::to_string(i) + "/03_shared_tree.cu");
        write_large(folder, "class/" + std::to_string(i) + "/07_traffic.toml");
        write_large(folder, "others/ada/" + std::to_string(i) + ".cu");
    }
    folder.write("others/ada/03_shared_tree.cu", "x");
    CHECK(growth([&] {
              const Intake intake = take(folder, "class");
              REQUIRE(intake.hand_ins.size() == 100);
              CHECK(bytes_of(intake.hand_ins[99], tree).size() == 1 << 20);
          }) < 50);
    CHECK(growth([&] { CHECK(take(folder, "others").hand_ins.at(0).refused.empty()); }) < 50);
}

TEST_CASE("links, pipes and twins in a folder are refused with the reason", "[class][intake]") {
    const TemporaryFolder folder;
    folder.write("secret.cu", "the instructor's");
    folder.write("class/fine/03_shared_tree.cu", "x");
    folder.write("class/twins/a/03_shared_tree.cu", "x");
    folder.write("class/twins/b/03_shared_tree.cu", "y");
    for (const char* name : {"link", "pipe", "outside"}) fs::create_directories(folder / "class" / name);
    fs::create_symlink(folder / "secret.cu", folder / "class/link/03_shared_tree.cu");
    fs::create_directory_symlink(folder.path(), folder / "class/outside/01_reduction");
    REQUIRE(mkfifo((folder / "class/pipe/03_shared_tree.cu").c_str(), 0600) == 0);
    const Intake intake = take(folder, "class");
    REQUIRE(intake.hand_ins.size() == 5);
    for (const HandIn& hand_in : intake.hand_ins) {
        CAPTURE(hand_in.key);
        if (hand_in.key == "link") CHECK(hand_in.refused == "'03_shared_tree.cu' is a link");
        if (hand_in.key == "pipe") CHECK_THAT(hand_in.refused, ContainsSubstring("a pipe"));
        if (hand_in.key == "twins") CHECK_THAT(hand_in.refused, ContainsSubstring("two files for 01/03"));
        CHECK(hand_in.files.size() == (hand_in.key == "fine" ? 1 : 0));
    }
}

TEST_CASE("downloads of Gradescope, Canvas and Moodle are known by their names", "[class][intake]") {
    const TemporaryFolder folder;
    Assignment assignment = two_rungs();
    assignment.people = {person("ada", "Ada Lovelace", "ada@example.org"),
                         person("ben", "Ben Bit", "ben@example.org"), person("17", "Cleo Ño")};
    const auto who = [&](const HandIn& hand_in) {
        const Person* found = sender(hand_in, assignment);
        return found ? found->id : "";
    };
    SECTION("Gradescope, packed, with a group") {
        folder.write("g/assignment_1_export/submission_metadata.yml", R"(---
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: 'ada'
    :email: ADA@example.org
  - :name: "Ben: Bit"
    :sid:
    :email: ben@example.org
  :created_at: 2026-11-20 23:10:00.123456000 +0100
  :results: |
    :created_at: 1970-01-01 00:00:00 Z
submission_2:
  :submitters: []
  :created_at: 2026-11-20 10:00:00 Z
"../../etc":
  :submitters:
  - :name: Eve
    :sid: eve
)");
        folder.write("g/assignment_1_export/submission_1/03_shared_tree.cu", "both");
        folder.write("g/assignment_1_export/submission_2/03_shared_tree.cu", "nobody");
        python(folder, "import shutil\nshutil.make_archive('g', 'zip', 'g')\n");
        const Intake intake = take(folder, "g.zip", assignment);
        REQUIRE(intake.hand_ins.size() == 4);
        CHECK(who(intake.hand_ins[0]) == "ada");
        CHECK(who(intake.hand_ins[1]) == "ben");
        CHECK(time_text(intake.hand_ins[1].handed_in.value()) == "2026-11-20T22:10:00Z");
        CHECK(bytes_of(intake.hand_ins[1], tree) == "both");
        CHECK(who(intake.hand_ins[2]).empty());
        CHECK_FALSE(intake.hand_ins[3].refused.empty());
    }
    SECTION("Canvas") {
        folder.write("c/lovelaceada_12_900_03_shared_tree-2.cu", "again");
        folder.write("c/lovelaceada_12_901_07_traffic.toml", "a = 1");
        folder.write("c/bitben_LATE_13_902_03_shared_tree.cu", "late");
        const Intake intake = take(folder, "c", assignment);
        REQUIRE(intake.hand_ins.size() == 2);
        CHECK(who(intake.hand_ins[0]) == "ada");
        CHECK(intake.hand_ins[0].files.size() == 2);
        CHECK(bytes_of(intake.hand_ins[0], tree) == "again");
        CHECK(who(intake.hand_ins[1]) == "ben");
        CHECK(intake.hand_ins[1].marked_late);
        assignment.people[2].columns["canvas"] = "13";
        CHECK(who(intake.hand_ins[1]) == "17");
    }
    SECTION("Moodle, in folders and without") {
        folder.write("m/Ada Lovelace_12_assignsubmission_file_/03_shared_tree.cu", "ada's");
        folder.write("m/Cleo Ño_14_assignsubmission_file_03_shared_tree.cu", "cleo's");
        // What a file is called is its student's to choose.
        folder.write("m/Cleo Ño_14_assignsubmission_file_x_12_assignsubmission_file_03_shared_tree.cu",
                     "not ada's");
        folder.write("m/Cleo Ño_14_assignsubmission_onlinetext_onlinetext.html", "hello");
        const Intake intake = take(folder, "m", assignment);
        REQUIRE(intake.hand_ins.size() == 2);
        CHECK(who(intake.hand_ins[0]) == "ada");
        CHECK(bytes_of(intake.hand_ins[0], tree) == "ada's");
        CHECK(who(intake.hand_ins[1]) == "17");
        CHECK(bytes_of(intake.hand_ins[1], tree) == "cleo's");
        CHECK(intake.problems.size() == 1);
    }
}

TEST_CASE("groups and anonymous students of Canvas and Moodle are found by the roster", "[class][intake]") {
    const TemporaryFolder folder;
    Assignment assignment = two_rungs();
    const auto add = [&](const std::string& id, const std::string& name, const std::string& group,
                         const std::string& canvas = "") {
        assignment.people.push_back(person(id, name));
        assignment.people.back().columns = {{"group", group}, {"canvas", canvas}};
    };
    // Who has handed in what, in order: "ada=bytes ben=bytes".
    const auto taken = [&](const std::string& place) {
        std::string all;
        for (const HandIn& hand_in : take(folder, place, assignment).hand_ins) {
            const Person* const found = sender(hand_in, assignment);
            all += (found ? found->id : "?") + "=" +
                   (hand_in.refused.empty() ? bytes_of(hand_in, tree) : std::string("refused")) + " ";
        }
        return all;
    };
    SECTION("a name with underscores, and with a number at its end") {
        add("ada", "Ada", "", "1001");
        add("ben", "Ben", "", "1002");
        folder.write("c/team_a_1001_900001_03_shared_tree.cu", "a");
        folder.write("c/team_12_LATE_1002_900002_03_shared_tree-1.cu", "b");
        CHECK(taken("c") == "ada=a ben=b ");
    }
    SECTION("each of a group") {
        add("ada", "Ada", "team_12", "1001");
        add("ben", "Ben", "team_12", "1002");
        add("cleo", "Cleo", "Team B");
        add("dan", "Dan", "Team B");
        add("eve", "Eve", "", "1005");
        folder.write("c/team_12_1001_900001_03_shared_tree.cu", "a");
        folder.write("c/teamb_7003_900002_03_shared_tree.cu", "b");
        // A student who is called as a group hands in for nobody else.
        folder.write("c/teamb_1005_900003_03_shared_tree.cu", "e");
        CHECK(taken("c") == "ada=a ben=a eve=e cleo=b dan=b ");
    }
    SECTION("a name that could be two students'") {
        add("ada", "Ada", "", "1001");
        add("ben", "Ben", "", "1002");
        folder.write("c/x_1001_1002_900002_03_shared_tree.cu", "b");
        folder.write("c/x_1002_900003_03_shared_tree.cu", "b");
        CHECK(taken("c") == "?=refused ben=b ");
    }
    SECTION("one number with two names") {
        folder.write("c/ann_2026_11_20.cu", "x");
        folder.write("c/bo_2026_11_21.cu", "x");
        CHECK(taken("c") == "?=refused ?=refused ");
    }
    SECTION("anonymous") {
        add("ada", "Ada", "", "aB3dE");
        folder.write("c/anon_aB3dE_900001_03_shared_tree.cu", "a");
        folder.write("c/LATE_anon_Zz9yX_900002_03_shared_tree.cu", "z");
        const Intake intake = take(folder, "c", assignment);
        REQUIRE(intake.hand_ins.size() == 2);
        CHECK(intake.hand_ins[0].key == "anon_Zz9yX");
        CHECK(intake.hand_ins[0].marked_late);
        CHECK(taken("c") == "?=z ada=a ");
    }
    SECTION("Moodle's, with the group before the name") {
        add("ada", "Ada Lovelace", "Group A");
        add("ben", "Ben O'Neil", "Group A");
        add("cleo", "Cleo-Ann Li", "");
        for (const char* name :
             {"Group A-Ada Lovelace_4001", "Default group-Cleo-Ann Li_4003", "Group A-Eve_4004"})
            folder.write(fmt::format("m/{}_assignsubmission_file/03_shared_tree.cu", name), name);
        const std::string one = "Group A-Ada Lovelace_4001";
        CHECK(taken("m") == "ada=" + one + " ben=" + one + " cleo=Default group-Cleo-Ann Li_4003 " +
                                "ada=Group A-Eve_4004 ben=Group A-Eve_4004 ");
    }
}

TEST_CASE("no two names become one student", "[class][intake]") {
    const TemporaryFolder folder;
    const std::vector<std::string> names{"ann_lee",
                                         "ann'lee",
                                         "ann:lee",
                                         "ann(lee",
                                         "-ann_lee",
                                         " ann_lee",
                                         "ann,lee",
                                         "ann_lee ",
                                         "ann lee",
                                         "ann\u00a0lee",
                                         "Ann_Lee",
                                         "ann_lee~",
                                         "Jos\u00e9",
                                         "Jose\u0301",
                                         "\xff",
                                         "\xfe",
                                         std::string(150, 'a') + "b",
                                         std::string(150, 'a') + "c"};
    for (const std::string& name : names) folder.write("class/" + name + "/03_shared_tree.cu", "x");
    const auto homes = [&](const std::string& out, const Assignment& assignment) {
        Intake intake = take(folder, "class", assignment);
        std::reverse(intake.hand_ins.begin(), intake.hand_ins.end());
        store(folder / out, assignment, intake);
        std::set<std::string> found;
        for (const auto& home : fs::directory_iterator(folder / out / "hand-ins")) {
            CHECK(fs::exists(home.path() / "1"));
            CHECK_FALSE(fs::exists(home.path() / "2"));
            found.insert(home.path().filename().string());
        }
        return found;
    };
    const std::set<std::string> first = homes("out", two_rungs());
    CHECK(first.size() == names.size());
    CHECK(first.count("ann_lee") == 1);
    CHECK(homes("out", two_rungs()) == first);
    // Whoever else is there changes nobody's name.
    for (const std::string& name : names)
        if (name != "ann'lee") fs::remove_all(folder / "class" / name);
    const std::set<std::string> alone = homes("other", two_rungs());
    REQUIRE(alone.size() == 1);
    CHECK(first.count(*alone.begin()) == 1);
    // Nobody hands in for a student of the roster by a name that is like theirs.
    Assignment assignment = two_rungs();
    assignment.people = {person("ann_lee", "")};
    CHECK(homes("listed", assignment) == std::set<std::string>{"unknown " + *alone.begin()});
}

TEST_CASE("two students of a platform with one name are not one of the roster", "[class][intake]") {
    const TemporaryFolder folder;
    Assignment assignment = two_rungs();
    assignment.people = {person("ann", "Ann Lee"), person("bo", "Bo Li")};
    const auto homes = [&](const std::string& place) {
        Intake intake = take(folder, place, assignment);
        store(folder / "out", assignment, intake);
        std::set<std::string> found;
        for (const auto& home : fs::directory_iterator(folder / "out/hand-ins"))
            found.insert(home.path().filename().string());
        return found;
    };
    folder.write("one/leeann_12_900_03_shared_tree.cu", "a");
    CHECK(homes("one") == std::set<std::string>{"ann"});
    // Found out later, it is taken back.
    folder.write("two/leeann_13_901_03_shared_tree.cu", "b");
    CHECK(homes("two") == std::set<std::string>{"unknown leeann 12", "unknown leeann 13"});
    assignment.people[0].columns = {{"canvas", "13"}};
    CHECK(homes("two") == std::set<std::string>{"ann", "unknown leeann 12"});
}

TEST_CASE("what is in a hand-in does not say whose the class's are", "[class][intake]") {
    const TemporaryFolder folder;
    Assignment assignment = two_rungs();
    const std::string metadata = "submission_1:\n  :submitters:\n  - :name: Ben\n    :sid: ben\n";
    const auto pack = [&](const std::string& what) {
        REQUIRE(std::system(("cd '" + folder.path().string() +
                             "' && rm -rf class.tgz work && tar czf class.tgz " + what)
                                .c_str()) == 0);
    };
    const auto forge = [&](const std::string& place) {
        folder.write(place + "/submission_metadata.yml", metadata);
        folder.write(place + "/submission_1/03_shared_tree.cu", "hers");
    };
    forge("ada");
    SECTION("as the only one in an archive") {
        pack("ada");
        CHECK_THROWS_WITH(take(folder, "class.tgz"), ContainsSubstring("which may be a student's"));
    }
    SECTION("in a folder with the archive's name") {
        forge("class");
        pack("class");
        CHECK_THROWS_WITH(take(folder, "class.tgz"), ContainsSubstring("may be a student's"));
    }
    SECTION("beside a rung, at the top") {
        folder.write("ada/03_shared_tree.cu", "hers");
        pack("-C ada .");
        CHECK_THROWS_WITH(take(folder, "class.tgz"), ContainsSubstring("not an export of Gradescope"));
    }
    SECTION("of a student of the roster") {
        assignment.people = {person("class", ""), person("ben", "")};
        pack("-C ada .");
        CHECK_THROWS_WITH(take(folder, "class.tgz", assignment), ContainsSubstring("not an export"));
    }
    SECTION("beside others") {
        fs::create_directory(folder / "all");
        fs::rename(folder / "ada", folder / "all/ada");
        folder.write("all/cleo/03_shared_tree.cu", "x");
        const Intake intake = take(folder, "all");
        REQUIRE(intake.hand_ins.size() == 2);
        CHECK_THAT(intake.hand_ins[0].refused,
                   ContainsSubstring("a download of Gradescope for a whole class"));
        CHECK(intake.hand_ins[1].refused.empty());
    }
    SECTION("folders of others in the only folder") {
        folder.write("eve/ben/03_shared_tree.cu", "x");
        folder.write("eve/cleo/03_shared_tree.cu", "x");
        pack("eve");
        CHECK_THROWS_AS(take(folder, "class.tgz"), ClassError);
        assignment.people = {person("ben", "")};
        fs::remove_all(folder / "work");
        CHECK_THROWS_AS(take(folder, "class.tgz", assignment), ClassError);
    }
    SECTION("but Gradescope's own export does") {
        fs::rename(folder / "ada", folder / "assignment_7_export");
        pack("assignment_7_export");
        CHECK(take(folder, "class.tgz").hand_ins.at(0).key == "ben");
        pack("-C assignment_7_export .");
        CHECK(take(folder, "class.tgz").hand_ins.at(0).key == "ben");
    }
}

TEST_CASE("a download beside the assignment is the class's, and nobody's hand-in", "[class][intake]") {
    const TemporaryFolder folder;
    Assignment assignment = two_rungs();
    assignment.people = {person("ada", "Ada Lovelace"), person("ben", "Ben Bit")};
    folder.write("class/assignment.toml", "");
    folder.write("class/roster.csv", "");
    python(folder, R"(import os
for k in 'moodle', 'canvas', 'gradescope', 'other', 'two': os.makedirs(k)
moodle = [('%s_assignsubmission_file_/03_shared_tree.cu' % n, b'x') for n in ('Ada Lovelace_41', 'Ben Bit_42')]
zip('moodle/CUDA-5555 (1).zip', *moodle)
zip('other/x.zip', *moodle)
zip('two/CUDA-1.zip', *moodle); zip('two/CUDA-2.zip', *moodle)
zip('canvas/submissions.zip', ('lovelaceada_12_900_03_shared_tree.cu', b'x'), ('bitben_13_901_03_shared_tree.cu', b'x'))
meta = ''.join('submission_%d:\n  :submitters:\n  - :sid: %s\n' % one for one in ((1, 'ada'), (2, 'ben')))
zip('gradescope/assignment_7_export.zip', ('assignment_7_export/submission_metadata.yml', meta),
    *[('assignment_7_export/submission_%d/03_shared_tree.cu' % i, b'x') for i in (1, 2)])
)");
    const auto students = [&](const std::string& place) {
        std::string all;
        for (const HandIn& hand_in : take(folder, place, assignment).hand_ins) {
            const Person* const found = sender(hand_in, assignment);
            all += found && hand_in.files.size() == 1 ? found->id + " " : "? ";
        }
        fs::remove_all(folder / "work");
        return all;
    };
    for (const char* place : {"moodle", "canvas", "gradescope"}) {
        CAPTURE(place);
        CHECK(students(place) == "ada ben ");
    }
    CHECK_THROWS_WITH(take(folder, "other", assignment),
                      ContainsSubstring("a download of Moodle for a whole class") &&
                          ContainsSubstring("other/x.zip' --assignment FILE --out DIR"));
    for (const HandIn& hand_in : take(folder, "two", assignment).hand_ins)
        CHECK_THAT(hand_in.refused, ContainsSubstring("a download of Moodle for a whole class"));
    assignment.people.clear();
    CHECK_THROWS_AS(take(folder, "other", assignment), ClassError);
    // A student of the roster may hand in what they like.
    assignment.people = {person("x", ""), person("Ada", "Ada Lovelace")};
    CHECK(take(folder, "other", assignment).hand_ins.at(0).key == "x");
}

TEST_CASE("a file that may be meant as a rung is kept for a human", "[class][intake]") {
    const AskedRung rung{"01_reduction", "03_shared_tree", "", "fill", 10};
    for (const char* name :
         {"03_shared_tree.cu", "03_shared_tree (1).cu", "03_shared_tree.cu.txt", "03_shared_tree.cpp",
          "03_Shared_Tree.CU", "Copy of 03_shared_tree.cu", "03_shared_tree - Copy.cu", "03-shared-tree.cu",
          "03 shared tree.cu", "shared_tree.cu", "sharedTree.cu", "03_shared_tree", "03_shared_tree_final.cu",
          "3_shared_tree.cu", "02_shared_tree.cu", "03_shared_tree.cu~"}) {
        CAPTURE(name);
        CHECK(likeness(name, rung) == Likeness::same);
    }
    for (const char* name : {"03_shard_tree.cu", "03_shared_tree_mine.cu", "03.cu", "03 (1).cu", "rung3.cu",
                             "03_mine.cu", "exercise_03.txt"}) {
        CAPTURE(name);
        CHECK(likeness(name, rung) == Likeness::some);
    }
    for (const char* name :
         {"", "notes.txt", "06_padded.cu", "02_global_tree.cu", "3.cu", "Makefile", ".03_shared_tree.cu.swp",
          "03_shared_tree.cu.bak-20261130", "03_shared_tree.cu.new"}) {
        CAPTURE(name);
        CHECK(likeness(name, rung) == Likeness::none);
    }
    const TemporaryFolder folder;
    folder.write("class/ada/hw/03_shared_tree (1).cu", "hers");
    folder.write("class/ada/03_shared_tree.pdf", "x");
    folder.write("class/ada/07_traffic.toml", "a = 1");
    folder.write("class/ben/03_shared_tree.cu", "his");
    folder.write("class/ben/03_shared_tree_old.cu", "before");
    folder.write("class/ben/07_traffic.toml", "a = 1");
    folder.write("class/ben/03_mine.cu", "x");
    // What a compiler and a run have left does not make the rest refused.
    for (const char* name :
         {"class/ben/03_shared_tree", "class/ben/03_shared_tree.txt", "class/dan/03_shared_tree.txt"})
        fs::resize_file(folder.write(name, ""), 2 << 20);
    folder.write("class/dan/07_traffic.toml", "a = 1");
    python(folder,
           "zip('class/cleo.zip', ('07_traffic.toml', b'a = 1'), ('rest/03.7z', b'x'))\n"
           "tar('class/eli.tar', ('03_shared_tree.txt', bytes(2 << 20)), ('07_traffic.toml', b'a = 1'))\n");
    const Intake intake = take(folder, "class");
    REQUIRE(intake.hand_ins.size() == 5);
    for (const HandIn& hand_in : intake.hand_ins) CHECK(hand_in.refused.empty());
    const auto alike = [&](std::size_t i) {
        std::string all;
        for (const LookAlike& one : intake.hand_ins[i].alike)
            all += one.rung + ":" + one.name + "=" +
                   (one.file.empty() ? "" : TemporaryFolder::content_of(one.file)) + " ";
        return all;
    };
    const std::string to = std::string(tree) + ":";
    CHECK(alike(0) == to + "hw/03_shared_tree (1).cu=hers " + to + "03_shared_tree.pdf= ");
    CHECK(alike(1) == to + "03_shared_tree_old.cu=before ");
    CHECK(intake.hand_ins[1].ignored == std::vector<std::string>{"03_mine.cu"});
    CHECK(alike(2) == to + "rest/03.7z= ");
    CHECK(alike(3) == to + "03_shared_tree.txt= ");
    CHECK(alike(4) == alike(3));
}

TEST_CASE("two files of a student for one rung are taken if they are the same", "[class][intake]") {
    const TemporaryFolder folder;
    const auto expect = [&](const std::string& place, const std::string& refused) {
        CAPTURE(place);
        const Intake intake = take(folder, place);
        REQUIRE(intake.hand_ins.size() == 1);
        CHECK(intake.hand_ins[0].refused == refused);
        if (refused.empty()) {
            CHECK(bytes_of(intake.hand_ins[0], tree) == "one");
        } else {
            CHECK(intake.hand_ins[0].files.empty());
        }
    };
    const std::string two = "there are two files for 01/03: ";
    SECTION("Moodle") {
        python(folder, R"(import os
def student(name, *archives):
    os.mkdir(name)
    for file, path, data in archives: zip('%s/Ada_1_assignsubmission_file_%s.zip' % (name, file), (path, data))
student('same', ('a', '03_shared_tree.cu', b'one'), ('b', 'x/01_reduction/03_shared_tree.cu', b'one'))
student('differ', ('a', '03_shared_tree.cu', b'one'), ('b', 'x/03_shared_tree.cu', b'two'))
student('loose', ('a', 'x/03_shared_tree.cu', b'two'))
)");
        folder.write("loose/Ada_1_assignsubmission_file_03_shared_tree.cu", "one");
        expect("same", "");
        expect("differ", two +
                             "Ada_1_assignsubmission_file_a.zip/03_shared_tree.cu and "
                             "Ada_1_assignsubmission_file_b.zip/x/03_shared_tree.cu");
        expect("loose", two +
                            "Ada_1_assignsubmission_file_03_shared_tree.cu and "
                            "Ada_1_assignsubmission_file_a.zip/x/03_shared_tree.cu");
    }
    SECTION("Canvas") {
        folder.write("same/lovelaceada_12_900_03_shared_tree.cu", "one");
        folder.write("same/lovelaceada_12_901_03_shared_tree-1.cu", "one");
        folder.write("differ/lovelaceada_12_900_03_shared_tree.cu", "one");
        folder.write("differ/lovelaceada_12_901_03_shared_tree-1.cu", "two");
        expect("same", "");
        expect("differ", two +
                             "lovelaceada_12_900_03_shared_tree.cu and "
                             "lovelaceada_12_901_03_shared_tree-1.cu");
    }
    SECTION("a folder with archives in it") {
        folder.write("differ/ada/03_shared_tree.cu", "one");
        folder.write("same/ada/03_shared_tree.cu", "one");
        folder.write("deeper/ada/03_shared_tree.cu", "one");
        folder.write("deeper/ada/old/03_shared_tree.cu", "two");
        python(folder, R"(
zip('differ/ada/01_reduction.zip', ('hw/03_shared_tree.cu', b'two'))
zip('same/ada/01_reduction.zip', ('03_shared_tree.cu', b'one'))
)");
        expect("differ", two + "01_reduction.zip/hw/03_shared_tree.cu and 03_shared_tree.cu");
        expect("same", "");
        expect("deeper", "");
    }
}

TEST_CASE("who is no longer in the class still counts, and is named", "[class][intake]") {
    const TemporaryFolder folder;
    Assignment assignment = two_rungs();
    const auto notes = [&] {
        Intake intake = take(folder, "class", assignment);
        store(folder / "out", assignment, intake);
        std::string all;
        for (const std::string& problem : intake.problems) all += problem + '\n';
        return all;
    };
    const std::string gone = ": no longer in CLASS; what was taken in before still counts\n";
    for (const char* who : {"ada", "fay", "hal"})
        folder.write(fmt::format("class/{}/03_shared_tree.cu", who), "one");
    CHECK(notes().empty());
    folder.write("class/fay/03_shared_tree.cu", "two");
    fs::rename(folder / "class/hal", folder / "class/hal2");
    CHECK(notes() == "hal" + gone);
    folder.write("class/fay/03_shared_tree.cu", "one");
    CHECK(notes() == "fay: attempt 2 is" + gone.substr(1) + "hal" + gone);
    folder.write("class/fay/03_shared_tree.cu", "two");
    fs::rename(folder / "class/hal2", folder / "class/hal");
    CHECK(notes() == "hal2" + gone);
    // Another roster gives another name to all, whether they are still there or not.
    assignment.people = {person("lovelace", "", "ada")};
    CHECK_THAT(notes(), ContainsSubstring("unknown hal2" + gone) && !ContainsSubstring("\nhal" + gone) &&
                            !ContainsSubstring("fay" + gone));
    CHECK(fs::exists(folder / "out/hand-ins/unknown hal2/1/01_reduction/03_shared_tree.cu"));
}

TEST_CASE("a hand-in is one student, whatever the roster was before", "[class][intake]") {
    const TemporaryFolder folder;
    const fs::path homes = folder / "out/hand-ins";
    Assignment assignment = two_rungs();
    const auto students = [&](const std::string& place = "class") {
        Intake intake = take(folder, place, assignment);
        store(folder / "out", assignment, intake);
        for (const std::string& problem : intake.problems)
            CHECK_THAT(problem, !ContainsSubstring("no longer in CLASS"));
        std::set<std::string> names;
        for (const auto& home : fs::directory_iterator(homes)) {
            for (const auto& attempt : fs::directory_iterator(home))
                names.insert(fs::relative(attempt.path(), homes).string());
        }
        return names;
    };
    using Names = std::set<std::string>;
    const Names without{"ada/1", "ben/1", "cleo/1", "cleo/2"};
    const Names with{"4711/1", "ben/1", "unknown cleo/1", "unknown cleo/2"};
    for (const char* who : {"ada", "ben", "cleo@2026-11-20T10:00:00Z", "cleo@2026-11-21T10:00:00Z"})
        folder.write(fmt::format("class/{}/03_shared_tree.cu", who), who);
    CHECK(students() == without);
    for (const char* top : {"records", "decisions"}) {
        folder.write(fmt::format("out/{}/ada/1/01_reduction/03_shared_tree.1.json", top), "ada");
        folder.write(fmt::format("out/{}/cleo/2/01_reduction/03_shared_tree.1.json", top), "cleo");
    }
    const std::vector<Person> people{person("4711", "Ada", "ada"), person("ben", "Ben")};

    SECTION("a roster that comes and goes") {
        for (int i = 0; i < 2; ++i) {
            assignment.people = people;
            CHECK(students() == with);
            for (const char* top : {"records", "decisions"}) {
                const std::string place = fmt::format("out/{}/", top);
                CHECK(folder.read(place + "4711/1/01_reduction/03_shared_tree.1.json") == "ada");
                CHECK(folder.read(place + "unknown cleo/2/01_reduction/03_shared_tree.1.json") == "cleo");
                CHECK_FALSE(fs::exists(folder / (place + "ada")));
            }
            CHECK_THAT(folder.read("out/hand-ins/4711/1/hand-in.json"),
                       ContainsSubstring("\"id\": \"4711\"") && ContainsSubstring("\"name\": \"Ada\""));
            assignment.people.clear();
            CHECK(students() == without);
            CHECK(folder.read("out/decisions/ada/1/01_reduction/03_shared_tree.1.json") == "ada");
        }
    }
    SECTION("one that was ended in the middle goes on") {
        fs::create_directories(folder / "out/decisions/4711");
        fs::rename(folder / "out/decisions/ada/1", folder / "out/decisions/4711/1");
        fs::create_directories(homes / "dan");  // all of it has gone
        folder.write("out/hand-ins/eve/.part/03_shared_tree.cu", "");
        assignment.people = people;
        CHECK(students() == with);
        CHECK_FALSE(fs::exists(homes / "dan"));
        CHECK_FALSE(fs::exists(homes / "eve"));
        CHECK(folder.read("out/decisions/4711/1/01_reduction/03_shared_tree.1.json") == "ada");
    }
    SECTION("two names turn out to be one student's") {
        assignment.people = {person("4711", "Ada", "ada"), person("4712", "", "cleo")};
        assignment.people[0].login = "ben";
        CHECK(students() == Names{"4711/1", "4711/2", "4712/1", "4712/2"});
        CHECK(folder.read("out/hand-ins/4711/2/01_reduction/03_shared_tree.cu") == "ben");
        CHECK(folder.read("out/records/4711/1/01_reduction/03_shared_tree.1.json") == "ada");
    }
    SECTION("what an earlier version took in, once for each roster") {
        for (const auto& name : without) {
            const std::string file = "out/hand-ins/" + name + "/hand-in.json";
            auto about = nlohmann::json::parse(folder.read(file));
            about.erase("sender");
            folder.write(file, about.dump());
        }
        fs::create_directory(homes / "unknown cleo");
        fs::copy(homes / "cleo/1", homes / "unknown cleo/1", fs::copy_options::recursive);
        assignment.people = people;
        const Names found = students();
        CHECK(found.count("unknown cleo/3") == 1);
        CHECK(found.count("ben/1") == 1);
        CHECK_FALSE(fs::exists(homes / "cleo"));
    }
    SECTION("a name that cannot be written down stays where it is") {
        folder.write("class/\xff/03_shared_tree.cu", "who?");
        const Names names = students();
        CHECK(names.size() == 5);
        CHECK(students() == names);
    }
    SECTION("a platform's number") {
        fs::remove_all(folder / "out");
        folder.write("canvas/lovelaceada_12345_67890_03_shared_tree.cu", "one");
        folder.write("canvas/bennben_12346_67891_03_shared_tree.cu", "two");
        CHECK(students("canvas") == Names{"bennben 12346/1", "lovelaceada 12345/1"});
        assignment.people = {person("ada", "Ada Lovelace")};
        CHECK(students("canvas") == Names{"ada/1", "unknown bennben 12346/1"});
        assignment.people.clear();
        CHECK(students("canvas") == Names{"bennben 12346/1", "lovelaceada 12345/1"});
    }
}

TEST_CASE("how many hand-ins tell no time is said once, where there is a due date", "[class][intake]") {
    const TemporaryFolder folder;
    for (const char* who : {"ada", "ben", "cleo@2026-11-20T10:00:00Z", "dan"})
        folder.write(std::string("class/") + who + "/03_shared_tree.cu", who);
    Assignment assignment = two_rungs();
    assignment.people = {person("ada", ""), person("ben", ""), person("cleo", ""), person("dan", "")};
    assignment.people[3].columns["handed_in"] = "2026-11-20T10:00:00Z";
    Intake without_due = take(folder, "class", assignment);
    store(folder / "out", assignment, without_due);
    CHECK(without_due.problems.empty());
    assignment.due = parse_time("2026-11-20T00:00:00Z");
    Intake intake = take(folder, "class", assignment);
    store(folder / "out", assignment, intake);
    REQUIRE(intake.problems.size() == 1);
    CHECK_THAT(intake.problems[0], ContainsSubstring("2 hand-ins without a time, treated as punctual"));
}

TEST_CASE("a repository is taken at a commit, at a time, or when it is due", "[class][intake]") {
    const TemporaryFolder folder, work;
    const std::string git = "cd '" + folder.path().string() + "' && " + as_nobody + " && ";
    const std::string commands =
        git +
        "git init -q r && cd r && commit() { echo $1 > 03_shared_tree.cu && git add . && "
        "GIT_COMMITTER_DATE=$2 git commit -q -m $1; } && commit one 2026-11-01T00:00:00Z && "
        "git rev-parse HEAD > ../first && commit two 2026-11-10T00:00:00Z && commit three "
        "2026-11-30T00:00:00Z";
    REQUIRE(std::system(commands.c_str()) == 0);
    std::string first = folder.read("first");
    first.pop_back();
    Assignment assignment = two_rungs();
    assignment.due = parse_time("2026-11-20T00:00:00Z");
    const auto at = [&](const std::string& id, const std::string& commit) {
        Person one = person(id, "");
        one.columns = {{"repository", (folder / "r").string()}, {"commit", commit}};
        assignment.people.push_back(one);
    };
    at("due", "");
    at("commit", first);
    at("time", "2026-11-05T00:00:00Z");
    at("early", "2025-01-01T00:00:00Z");
    at("option", "--output=/tmp/x");
    const Intake intake = read_repositories(assignment, work.path());
    REQUIRE(intake.hand_ins.size() == 5);
    CHECK(bytes_of(intake.hand_ins[0], tree) == "two\n");
    CHECK(bytes_of(intake.hand_ins[1], tree) == "one\n");
    CHECK(bytes_of(intake.hand_ins[2], tree) == "one\n");
    CHECK_THAT(intake.hand_ins[3].refused, ContainsSubstring("no commit before"));
    CHECK_THAT(intake.hand_ins[4].refused, ContainsSubstring("neither a commit nor a time"));
}

TEST_CASE("no name and no password of a repository's URL is shown", "[class][intake]") {
    CHECK(without_login("'https://ada:s3cret@h.org:81/a@b.git' is out") ==
          "'https://h.org:81/a@b.git' is out");
    CHECK(without_login("fatal: https://t0ken@h.org/ ssh://git@h.org/x") ==
          "fatal: https://h.org/ ssh://h.org/x");
    CHECK(without_login("git@h.org:x https://h.org/@x") == "git@h.org:x https://h.org/@x");
    const TemporaryFolder folder;
    Assignment assignment = two_rungs();
    for (const char* url : {"https://ada:s3cret@127.0.0.1:1/x.git", "http://ada:s3cret@127.0.0.1:1/x.git"}) {
        assignment.people.push_back(person("ada", ""));
        assignment.people.back().columns = {{"repository", url}};
    }
    for (const HandIn& hand_in : read_repositories(assignment, folder / "work").hand_ins) {
        CAPTURE(hand_in.origin, hand_in.refused);
        CHECK_THAT(hand_in.origin, ContainsSubstring("://127.0.0.1:1/x.git"));
        CHECK_FALSE(hand_in.refused.empty());
        CHECK_THAT(hand_in.origin + hand_in.refused, !ContainsSubstring("s3cret"));
    }
}

TEST_CASE("taking in a class can be stopped between its steps", "[class][intake]") {
    const TemporaryFolder folder;
    for (const char* who : {"ada", "ben", "cleo"})
        folder.write("class/" + std::string(who) + "/03_shared_tree.cu", who);
    make_repository(folder, "r", "echo 1 > 03_shared_tree.cu && git add . && git commit -q -m 1");
    REQUIRE(std::system(("cd '" + folder.path().string() + "' && tar cf class.tar class").c_str()) == 0);
    Assignment assignment = two_rungs();
    assignment.people = {person("ada", "")};
    assignment.people[0].columns = {{"repository", (folder / "r").string()}};
    struct Stop {};
    int steps = 0, most = 0;
    const auto heed = [&] {
        if (++steps > most) throw Stop{};
    };
    const auto all = [&] {
        steps = 0;
        fs::remove_all(folder / "work");
        for (const char* place : {"class", "class.tar"})
            read_class(open_class(folder / place, folder / "work", heed), assignment, folder / "work", heed);
        return read_repositories(assignment, folder / "work", heed).hand_ins.size();
    };
    for (most = 0; most < 10; ++most) CHECK_THROWS_AS(all(), Stop);
    most = 1000;
    CHECK(all() == 1);
    CHECK(steps > 10);
}

TEST_CASE("a repository that unpacks to more than a hand-in may have is refused", "[class][intake]") {
    const TemporaryFolder folder;
    // As under the real program: writing too much is an error, and no signal.
    const auto before = signal(SIGXFSZ, SIG_IGN);
    make_repository(folder, "trees", R"(
blob=$(head -c 1048576 /dev/zero | git hash-object -w --stdin)
tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '100644 blob %s\t%s.cu\n' $blob $i; done | git mktree)
for level in 1 2 3; do
    tree=$(for i in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\t%s\n' $tree $i; done | git mktree)
done
git update-ref HEAD $(git commit-tree -m bomb $tree))");
    const Intake intake = take_repositories(folder, {"trees"});
    CHECK(intake.hand_ins[0].refused == "it unpacks to more than 256 MiB");
    CHECK(folder.listing("work").empty());
    signal(SIGXFSZ, before);
}

TEST_CASE("a repository is only read, whatever is configured there or here", "[class][intake]") {
    const TemporaryFolder folder;
    const std::string commit = "git -c core.safecrlf=false add -A && git commit -q -m x";
    make_repository(folder, "plain", "echo plain > 03_shared_tree.cu && " + commit);
    make_repository(folder, "attributes",
                    R"(
printf '* export-subst ident text eol=crlf filter=x\nsolved export-ignore\n' > .gitattributes
mkdir solved && echo '$Format:%H$ $Id$' > solved/03_shared_tree.cu && )" +
                        commit);
    const std::string ran = "\"touch '" + (folder / "ran").string() + "'; cat\"";
    make_repository(folder, "configured", "echo configured > 03_shared_tree.cu && " + commit + R"(
for key in uploadpack.packObjectsHook core.fsmonitor core.alternateRefsCommand filter.x.smudge; do
    git config $key )" + ran + R"(
done
for hook in post-checkout reference-transaction; do
    printf '#!/bin/sh\n%s\n' )" + ran + R"( > .git/hooks/$hook && chmod +x .git/hooks/$hook
done)");
    make_repository(folder, "elsewhere", R"(
echo ../../../plain/.git/objects > .git/objects/info/alternates
git update-ref HEAD $(git -C ../plain rev-parse HEAD))");
    make_repository(folder, "linked", "rm -r .git && ln -s ../plain/.git .git");
    const char* const home = std::getenv("HOME");
    const std::string own_home = home ? home : "";
    folder.write("home/.gitconfig", "no configuration");
    setenv("HOME", (folder / "home").c_str(), 1);
    const Intake intake =
        take_repositories(folder, {"plain", "attributes", "configured", "elsewhere", "linked"});
    home ? setenv("HOME", own_home.c_str(), 1) : unsetenv("HOME");
    const auto taken = [&](std::size_t i) {
        CAPTURE(i, intake.hand_ins[i].refused);
        return intake.hand_ins[i].files.empty() ? "" : bytes_of(intake.hand_ins[i], tree);
    };
    CHECK(taken(0) == "plain\n");
    CHECK(taken(1) == "$Format:%H$ $Id$\n");
    CHECK(taken(2) == "configured\n");
    CHECK_FALSE(fs::exists(folder / "ran"));
    if (judge::sandbox_level(Backend::cpu).name >= "S2") {
        CHECK_FALSE(intake.hand_ins[3].refused.empty());
        CHECK_FALSE(intake.hand_ins[4].refused.empty());
    }
    Assignment assignment = two_rungs();
    for (const char* repository : {"relative/path", "--upload-pack=x", "ext::sh -c x", "http://x/y"}) {
        assignment.people = {person("ada", "")};
        assignment.people[0].columns["repository"] = repository;
        CHECK_THAT(read_repositories(assignment, folder / "work").hand_ins.at(0).refused,
                   ContainsSubstring("neither an absolute path nor a URL"));
    }
}

TEST_CASE("a repository's path may not lead elsewhere by a link", "[class][intake]") {
    const TemporaryFolder folder;
    make_repository(folder, "ben", "echo bens > 03_shared_tree.cu && git add . && git commit -q -m x");
    fs::create_directory_symlink(folder / "ben", folder / "ada");
    fs::create_directory_symlink(folder / "ben", folder / "cleo.git");
    fs::create_directory_symlink(folder.path(), folder / "up");
    folder.write("dan/notes", "");
    fs::create_directory_symlink(folder / "ben/.git", folder / "dan/.git");
    const Intake intake =
        take_repositories(folder, {"ada", "ada/", "cleo", "up/ben", "dan", "x/../ada", "ben"});
    for (std::size_t i = 0; i + 1 < intake.hand_ins.size(); ++i) {
        CAPTURE(intake.hand_ins[i].key);
        CHECK_THAT(intake.hand_ins[i].refused, ContainsSubstring("is a link to"));
        CHECK(intake.hand_ins[i].files.empty());
    }
    CHECK(bytes_of(intake.hand_ins.back(), tree) == "bens\n");
}

TEST_CASE("root takes the repositories of others", "[class][intake]") {
    if (geteuid() != 0) RUNGS_SKIP("only root can give a repository to somebody else");
    const TemporaryFolder folder;
    make_repository(folder, "r",
                    "echo theirs > 03_shared_tree.cu && git add . && git commit -q -m x && "
                    "chmod -R go= . && chown -R 12345:12345 .");
    const Intake intake = take_repositories(folder, {"r"});
    CHECK(intake.hand_ins[0].refused.empty());
    CHECK(bytes_of(intake.hand_ins[0], tree) == "theirs\n");
}

TEST_CASE("a roster and a policy say what is wrong, and where", "[class][policy]") {
    const TemporaryFolder folder;
    Assignment assignment;
    const auto roster = [&](const std::string& text) {
        return read_roster(folder.write("roster.csv", text), assignment);
    };
    const auto why = [&](const std::string& text) -> std::string {
        try {
            roster(text);
        } catch (const ClassError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(why("name\nada\n"), ContainsSubstring("no column 'id'") && !ContainsSubstring("commas"));
    for (const char* text : {"id;name\nada;Ada\n", "id\tname\nada\tAda\n"})
        CHECK_THAT(why(text), ContainsSubstring("no column 'id'; the columns are: id") &&
                                  ContainsSubstring("; commas have to separate them"));
    CHECK_THAT(why("id,name\nada\n"), ContainsSubstring("roster.csv:2: 1 cells, but the heading has 2"));
    CHECK_THAT(why("id\nada\nada\n"), ContainsSubstring(":3: the id 'ada' occurs twice"));
    CHECK_THAT(why("id\nada\nAda\n"), ContainsSubstring(":3: the ids 'ada' and 'Ada' differ only in case"));
    CHECK_THAT(why("id\nUnknown ada\n"), ContainsSubstring("who are not on the roster"));
    CHECK_THAT(why("id\n../ada\n"), ContainsSubstring(":2: the id '../ada' cannot be"));
    CHECK_THAT(why("id\n\"ada\n"), ContainsSubstring("a quote is not closed"));
    CHECK_THAT(why("id\na\"da\n"), ContainsSubstring("a quote in the middle"));
    CHECK_THAT(why("id\nada\x01\n"), ContainsSubstring("control characters"));
    CHECK_THAT(why("id,extension\nada,60\n"), ContainsSubstring("no 'due' to extend"));
    assignment.due = parse_time("2026-11-20T00:00:00Z");
    const std::vector<Person> people = roster(
        "\xEF\xBB\xBFid,name,extension\r\nada,\"Love, "
        "\"\"Ada\"\"\",90\r\nben,Ben,2026-12-01T00:00:00+01:00\r\n");
    REQUIRE(people.size() == 2);
    CHECK(people[0].name == "Love, \"Ada\"");
    CHECK(people[0].due == *assignment.due + 90 * 60);
    CHECK(time_text(people[1].due.value()) == "2026-11-30T23:00:00Z");

    for (const char* time : {"2026-11-25 10:00", "2026-11-25T10:00:00", "25.11.2026 10:00"})
        CHECK_THAT(why(fmt::format("id,handed_in\nben, \nada,{}\n", time)),
                   ContainsSubstring(fmt::format("roster.csv:3: 'handed_in' is '{}'", time)));
    CHECK(why("id,handed_in\nada,2026-11-25 10:00+0100\nben,\n").empty());

    const auto refused = [&](const std::string& text) -> std::string {
        try {
            read_policy(folder.write("assignment.toml", text));
        } catch (const ClassError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(refused("tittle = \"x\"\n"), ContainsSubstring("assignment.toml:1:1: unknown key 'tittle'"));
    CHECK_THAT(refused("due = 2026-11-20T00:00:00\n"), ContainsSubstring("needs an offset"));
    CHECK_THAT(refused("due = 2026-11-20T:00\n"), ContainsSubstring("a date with a T and no time"));
    CHECK_THAT(refused("attempts = \"first\"\n"), ContainsSubstring("\"best\" or \"last\""));
    CHECK_THAT(refused("[late]\npercent_per_day = 10\n"), ContainsSubstring("when it is 'due'"));
    CHECK_THAT(refused("due = 2026-11-20T00:00:00Z\n[late]\npercent_per_day = 101\n"),
               ContainsSubstring("from 0 to 100"));
    CHECK_THAT(refused("[weights]\n\"01\" = -1\n"), ContainsSubstring("the weight of a chapter"));
    CHECK_THAT(refused("most_minutes = -1\n"), ContainsSubstring("'most_minutes' must be a number from 0"));
    const auto most_minutes = [&](const std::string& text) {
        return read_policy(folder.write("assignment.toml", text)).assignment.most_seconds / 60;
    };
    CHECK(most_minutes("") == Assignment().most_seconds / 60);
    CHECK(most_minutes("budget_minutes = 20\n") == 240);
    CHECK(most_minutes("budget_minutes = 20\nmost_minutes = 30\n") == 30);
}

TEST_CASE("lateness takes a share for each day that has begun, after the grace", "[class][policy]") {
    LatePolicy policy;
    policy.grace_minutes = 15;
    policy.percent_per_day = 10;
    policy.most_days = 3;
    constexpr double day = 24 * 60;
    for (const auto& [minutes, factor] : std::vector<std::pair<double, double>>{{0, 1},
                                                                                {15, 1},
                                                                                {15.02, 0.9},
                                                                                {day, 0.9},
                                                                                {day + 0.02, 0.8},
                                                                                {3 * day, 0.7},
                                                                                {3 * day + 0.02, 0}}) {
        CAPTURE(minutes);
        CHECK_THAT(late_factor(policy, minutes), WithinAbs(factor, 1e-12));
    }
    CHECK(late_factor({}, 1) == 0);
    Assignment assignment;
    assignment.due = parse_time("2026-11-20T23:59:00+01:00");
    Person ada = person("ada", "");
    CHECK(minutes_late(assignment, ada, *parse_time("2026-11-20T22:59:00Z")) == 0);
    CHECK(minutes_late(assignment, ada, *parse_time("2026-11-20T23:59:00Z")) == 60);
    ada.due = *assignment.due + 3600;
    CHECK(minutes_late(assignment, ada, *parse_time("2026-11-20T23:59:00Z")) == 0);
    assignment.round_to = 0.5;
    CHECK(rounded(assignment, 7.25) == 7.5);
    CHECK(rounded(assignment, 7.24) == 7);
    CHECK(rounded(assignment, 0.1 + 0.15) == 0.5);
    for (const char* text :
         {"2026-02-30T00:00:00Z", "2026-01-01T24:61:00Z", "2026-01-01T00:00:00", "yesterday"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_time(text));
    }
    CHECK(parse_time("1970-01-01 01:00:00.5 +0100") == 0);
}
