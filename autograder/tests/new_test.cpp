// The skeletons that ./rungs new writes: they agree with the gates except in what is left to write, and
// nothing else changes.
#include "new/new.hpp"

#include <map>
#include <regex>

#include "rungs/catch.hpp"
#include "rungs/temporary_folder.hpp"
#include "starters/gate.hpp"

using namespace rungs;
using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

namespace {

/// What the workbook has of chapters.
class Copy {
  public:
    Copy() {
        for (const char* part : {"chapters", "solutions", "autograder/new/templates"}) {
            fs::create_directories((root() / part).parent_path());
            fs::copy(fs::path(RUNGS_ROOT) / part, root() / part, fs::copy_options::recursive);
        }
        for (const char* file : {"README.md", ".clang-format"})
            folder.write(file, TemporaryFolder::content_of(fs::path(RUNGS_ROOT) / file));
        fs::create_directories(root() / "common");
        check_before_build(root(), true);
    }

    const fs::path& root() const { return folder.path(); }

    std::map<std::string, std::string> files() const {
        std::map<std::string, std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(root()))
            if (entry.is_regular_file()) all[entry.path()] = TemporaryFolder::content_of(entry.path());
        return all;
    }

    /// What the gates that judge nothing find.
    std::string found() const {
        std::string text;
        for (const auto& findings :
             {check_starters(root(), false), check_before_build(root(), false), check_lessons(root(), false),
              check_written(root()), check_exercises(root())}) {
            for (const GateFinding& one : findings) text += one.text + '\n';
        }
        return text;
    }

    TemporaryFolder folder;
};

std::size_t count(const std::string& text, const std::string& word) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++times;
    return times;
}

}  // namespace

TEST_CASE("a new rung of each kind agrees with the gates except in what is left to write", "[new]") {
    const Copy copy;
    REQUIRE(copy.found() == "");
    const auto before = copy.files();
    int number = 20;
    for (const std::string kind : {"given", "fill", "write", "repair", "predict", "summit"}) {
        CAPTURE(kind);
        const std::string rung = std::to_string(number++) + "_a_" + kind;
        write_new_rung(copy.root(), {"01/" + rung, kind, {}});
        const Manifest manifest = read_manifest(copy.root() / "chapters/01_reduction");
        REQUIRE(manifest.find(rung));
        CHECK(name_of(manifest.find(rung)->kind) == kind);
    }
    std::string others;
    for (const auto& [file, text] : copy.files())
        if (before.count(file) && before.at(file) != text) others += fs::path(file).filename().string() + " ";
    CHECK(others == "README.md chapter.toml mistakes.toml reduction.cuh before_build.txt ");

    const std::string found = copy.found();
    INFO(found);
    CHECK_THAT(found, ContainsSubstring("chapters/01_reduction/chapter.toml:") &&
                          ContainsSubstring("still to write: a phrase for the tables") &&
                          ContainsSubstring("solutions/01_reduction/22_a_write.cu:1: still to write: one") &&
                          ContainsSubstring("README.md:") && ContainsSubstring("reduction.cuh:") &&
                          ContainsSubstring("mistakes.toml:"));
    // Nothing else is wrong, except that a skeleton leaves a student little to write.
    CHECK(count(found, "\n") == count(found, "still to write") + count(found, "code lines"));
    const std::string contract = copy.folder.read("chapters/01_reduction/reduction.cuh");
    CHECK_THAT(contract, ContainsSubstring("{\"22_a_write\", a_write, a_write},"));
    CHECK(count(contract, "Dot a_write;") == 1);
    CHECK(contract.find("a_predict") == std::string::npos);
    CHECK_THAT(copy.folder.read("solutions/01_reduction/22_a_write.cu"),
               ContainsSubstring("void reduction::a_write(const float* v, float* sum, std::size_t n, "
                                 "cudaStream_t stream) {"));
}

TEST_CASE("a new rung goes to its place and gets the problems that it is asked to solve", "[new]") {
    const Copy copy;
    fs::remove(copy.root() / "chapters/00_first_kernels/12_traffic.toml");
    std::string manifest = copy.folder.read("chapters/00_first_kernels/chapter.toml");
    const std::size_t begin = manifest.find("[rungs.12_traffic]"), end = manifest.find("[rungs.13_spheres]");
    copy.folder.write("chapters/00_first_kernels/chapter.toml", manifest.erase(begin, end - begin));
    write_new_rung(copy.root(), {"first_kernels/12_turn", "write", {"transpose"}});
    manifest = copy.folder.read("chapters/00_first_kernels/chapter.toml");
    const std::size_t entry = manifest.find("[rungs.12_turn]");
    CHECK(manifest.find("[rungs.11_transpose_tiled]") < entry);
    CHECK(entry < manifest.find("[rungs.13_spheres]"));
    CHECK(read_manifest(copy.root() / "chapters/00_first_kernels").find("12")->problems ==
          std::vector<std::string>{"transpose"});
    const std::string contract = copy.folder.read("chapters/00_first_kernels/first_kernels.cuh");
    const std::size_t declared = contract.find("\nTranspose turn;");
    CHECK(contract.find("\nTranspose transpose_tiled;") < declared);
    CHECK(declared < contract.find("\nSpheres spheres;"));
    const std::size_t row = contract.find("{\"12_turn\"}");
    CHECK(contract.find("{\"11_transpose_tiled\"}") < row);
    CHECK(row < contract.find("{\"13_spheres\"}"));
    const std::string lesson = copy.folder.read("chapters/00_first_kernels/README.md");
    const std::size_t section = lesson.find("## 12 turn");
    CHECK(lesson.find("## 11 transpose_tiled") < section);
    CHECK(section < lesson.find("## 13 spheres"));
}

TEST_CASE("a new chapter agrees with the gates except in what is left to write", "[new]") {
    const Copy copy;
    const Written written = write_new_chapter(copy.root(), "08_prefix_sum");
    CHECK_THAT(written.next.front(), ContainsSubstring("./rungs check 08"));
    const Manifest manifest = read_manifest(copy.root() / "chapters/08_prefix_sum");
    CHECK(manifest.title == "Prefix sum");
    CHECK(manifest.kinds);
    for (const auto& [file, text] : copy.files()) {
        CAPTURE(file);
        if (file.find("08_prefix_sum") != std::string::npos)
            CHECK_FALSE(std::regex_search(text, std::regex("@[a-z ]+@")));
    }
    CHECK_THAT(copy.folder.read("chapters/08_prefix_sum/README.md"),
               ContainsSubstring("| [01_naive](01_naive.cu) |") && ContainsSubstring("y[i] = 2 * x[i];"));
    CHECK_THAT(copy.folder.read("README.md"),
               ContainsSubstring("\n| [8 Prefix sum](chapters/08_prefix_sum/README.md) | WRITE: "));
    const std::string found = copy.found();
    INFO(found);
    CHECK_THAT(found, ContainsSubstring("exam/exam.cpp:1: still to write:") &&
                          ContainsSubstring("rungs of kind write: 0; a chapter has at least 2"));
}

TEST_CASE("what cannot be added is refused in a sentence, and nothing is written", "[new]") {
    const Copy copy;
    const auto before = copy.files();
    const auto refused = [&](const NewRung& rung) -> std::string {
        try {
            write_new_rung(copy.root(), rung);
        } catch (const NewError& error) {
            return error.what();
        }
        return "";
    };
    CHECK_THAT(refused({"01/03_other", "write", {}}), ContainsSubstring("has a rung 03_shared_tree"));
    CHECK_THAT(refused({"01/12_padded", "write", {}}), ContainsSubstring("has a rung 06_padded"));
    CHECK_THAT(refused({"09/01_x", "write", {}}), ContainsSubstring("there is no chapter '09'"));
    for (const char* name :
         {"01/two", "01/12-two", "01/12_Two", "01/12_double", "01/00_two", "01/", "01/1_two"})
        CHECK_THAT(refused({name, "write", {}}), ContainsSubstring("no name for a rung"));
    CHECK_THAT(refused({"01/12_two", "hard", {}}), ContainsSubstring("'hard' is no kind of rung"));
    CHECK_THAT(refused({"01/12_two", "fill", {"max"}}), ContainsSubstring("its problems are sum dot"));
    CHECK_THROWS_WITH(write_new_chapter(copy.root(), "01_scan"), ContainsSubstring("a chapter 01_reduction"));
    CHECK_THROWS_WITH(write_new_chapter(copy.root(), "scan"), ContainsSubstring("no name for a chapter"));
    copy.folder.write("solutions/01_reduction/12_two.cu", "");
    CHECK_THAT(refused({"01/12_two", "fill", {}}), ContainsSubstring("exists already"));
    fs::remove(copy.root() / "solutions/01_reduction/12_two.cu");
    CHECK((copy.files() == before));
}
