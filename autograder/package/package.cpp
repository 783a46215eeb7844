#include "package/package.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "judge/build/build.hpp"
#include "judge/build/cache.hpp"
#include "judge/build/edition.hpp"
#include "judge/build/hash.hpp"
#include "judge/build/source.hpp"
#include "judge/counts.hpp"
#include "judge/predict.hpp"
#include "judge/result/clean_text.hpp"
#include "package/leaks.hpp"
#include "program/starter.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What a student does not get, in git's words: solutions, what is made from them or shows them, and what an
/// instructor or an author needs.
constexpr const char* left_out[] = {"solutions",
                                    "chapters/*/exam/mistakes.toml",
                                    "chapters/*/exam/*_test.cpp",
                                    "chapters/*/notebook.md",
                                    "chapters/*/demonstrations/**",
                                    "chapters/*/library/**",
                                    "chapters/*/figures/*.cpp",
                                    "chapters/*/bench/*.cu",
                                    "chapters/*/bench/*.cuh",
                                    "autograder/attacks/**",
                                    "autograder/cases/**",
                                    "autograder/new/**",
                                    "autograder/package/**",
                                    "autograder/starters/**",
                                    "autograder/tests/**",
                                    "autograder/budgets.sh",
                                    "autograder/class_figures.py",
                                    "autograder/pages_in_browser.py",
                                    "common/ladder/*_test.cpp",
                                    "common/ladder/validation/**",
                                    "docs/contributing.md",
                                    "docs/exports.md",
                                    "docs/for-contributors.md",
                                    "docs/for-instructors.md",
                                    "docs/grading.md",
                                    "docs/maintaining.md",
                                    "docs/record.schema.json",
                                    "CHANGELOG.md",
                                    "SECURITY.md",
                                    ".ci/**",
                                    ".editorconfig",
                                    ".gitattributes",
                                    ".github/**"};

/// Names of the folder in the archive, and of the list of its files.
constexpr const char* top = "rungs";
constexpr const char* list_of_files = "edition/files.sha256";

/// The table of chapters in the workbook's README.
std::string table_of_chapters(const std::string& readme) {
    const std::size_t begin = readme.find("| chapter |");
    if (begin == std::string::npos) return "";
    return readme.substr(begin, readme.find("\n\n", begin) - begin);
}

/// The last lines of what a command said.
std::string end_of(const std::string& text, std::size_t most = 2000) {
    return text.size() <= most ? text : "...\n" + text.substr(text.size() - most);
}

/// Makes one package.
class Packager {
  public:
    explicit Packager(const PackageOptions& options)
        : options_(options), work_(options.out.string() + ".part"), tree_(work_ / top) {}

    ~Packager() {
        std::error_code ignored;
        fs::remove_all(work_, ignored);
    }

    void make() {
        look_at_the_workbook();
        fs::remove_all(work_);
        make_folder(tree_);
        say("taking what is committed");
        take_files();
        write_starters();
        record_references();
        write_pages();
        write_file(tree_ / "edition/about.txt", fmt::format("Rungs {}, student edition\ncommit {}\ndate {}\n",
                                                            options_.version, commit_, date_));
        look_for_leaks();
        write_list();
        const bool archive = is_archive();
        if (archive) {
            say("packing");
            must("tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=" + shell_quoted("@" + time_) +
                     " -C " + shell_quoted(work_) + " -cf " + shell_quoted(work_ / "rungs.tar") + " " + top +
                     " && gzip -n -9 " + shell_quoted(work_ / "rungs.tar"),
                 "could not pack " + tree_.string());
        }
        if (options_.check) try_it(archive);
        if (fs::exists(fs::symlink_status(options_.out)))
            throw PackageError(2,
                               options_.out.string() + " has come to be meanwhile; nothing was overwritten");
        fs::rename(archive ? work_ / "rungs.tar.gz" : tree_, options_.out);
        sync_folder(fs::absolute(options_.out).parent_path());
    }

  private:
    void say(const std::string& text) const {
        if (options_.say) options_.say(text);
    }

    bool is_archive() const {
        const std::string name = options_.out.filename().string(), ending = ".tar.gz";
        return name.size() > ending.size() &&
               name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
    }

    /// Runs a shell command; what it says goes to `output`. @returns its exit status
    int run(const std::string& command, std::string& output) const {
        const fs::path log = work_.string() + ".log";
        const int raw =
            std::system(("{ " + command + "; } >" + shell_quoted(log) + " 2>&1 </dev/null").c_str());
        output = fs::exists(log) ? read_file(log) : "";
        fs::remove(log);
        if (WIFSIGNALED(raw)) throw PackageError(3, "stopped");
        return WEXITSTATUS(raw);
    }

    std::string must(const std::string& command, const std::string& what) const {
        std::string output;
        if (run(command, output) != 0) throw PackageError(3, what + ":\n" + end_of(output));
        while (!output.empty() && output.back() == '\n') output.pop_back();
        return output;
    }

    std::string git(const std::string& arguments) const {
        return must("git -C " + shell_quoted(options_.root) + " " + arguments,
                    "git could not tell what is committed in " + options_.root.string());
    }

    void look_at_the_workbook() {
        if (options_.out.empty() || !options_.out.has_filename())
            throw PackageError(2, "--out needs the name of a folder or of a .tar.gz file that is to be made");
        if (fs::exists(fs::symlink_status(options_.out)))
            throw PackageError(2, options_.out.string() + " exists; name another place or remove it");
        const fs::path folder = fs::absolute(options_.out).parent_path();
        if (!fs::is_directory(folder))
            throw PackageError(2, "there is no folder " + folder.string() + " to put it into");
        if (access(folder.c_str(), W_OK) != 0) throw PackageError(3, "cannot write in " + folder.string());
        if (judge::is_edition(options_.root))
            throw PackageError(2, "this is a student edition; packages are made from the workbook");
        std::string output;
        if (run("git --version", output) != 0)
            throw PackageError(
                3, "git was not found, and a package is made from what is committed: install git");
        if (run("git -C " + shell_quoted(options_.root) + " rev-parse --verify HEAD", output) != 0) {
            throw PackageError(3, options_.root.string() +
                                      " is not a git repository with a commit; a package is made from what "
                                      "is committed:\n" +
                                      end_of(output));
        }
        commit_ = git("rev-parse HEAD");
        date_ = git("log -1 --format=%cs");
        time_ = git("log -1 --format=%ct");
        // The judge that counts is built from what is here: it has to be what is handed out.
        if (const std::string changed = git("status --porcelain"); !changed.empty()) {
            throw PackageError(2,
                               "there are changes that are not committed; commit them or put them away (git "
                               "stash --include-untracked). For another commit, check it out first:\n" +
                                   end_of(changed));
        }
    }

    void take_files() {
        std::string command =
            "-c tar.umask=0022 archive --format=tar -o " + shell_quoted(work_ / "tree.tar") + " HEAD -- .";
        for (const char* const path : left_out)
            command += " " + shell_quoted(std::string(":(exclude,glob)") + path);
        git(command + " " + shell_quoted(":(exclude)solutions"));
        must("tar -C " + shell_quoted(tree_) + " -xf " + shell_quoted(work_ / "tree.tar"),
             "could not unpack what git gave");
        fs::remove(work_ / "tree.tar");
        manifests_ = read_manifests(options_.root / "chapters");
    }

    /// What is committed in chapters/ may be an author's own attempt, so each starter is made once more.
    void write_starters() {
        for (const Manifest& manifest : manifests_) {
            for (const RungEntry& rung : manifest.rungs) {
                if (rung.given()) continue;
                const fs::path solution =
                    judge::source_of(manifest, rung, options_.root, judge::Whose::solution);
                const std::string starter =
                    rung.kind == Kind::predict ? make_answers(manifest, rung) : make_starter_from(solution);
                if (rung.kind != Kind::predict) {
                    solutions_.push_back(
                        {solution.lexically_relative(options_.root).string(), read_file(solution)});
                }
                const fs::path kept = judge::edition_starter(tree_, manifest, rung);
                make_folder(kept.parent_path());
                write_file(kept, starter);
                write_file(tree_ / "chapters" / manifest.chapter / rung.file(), starter);
            }
        }
    }

    /// One exercise, and the calls that its reference is needed for.
    struct Needed {
        const Manifest* manifest;
        const RungEntry* rung;
        const Exam* exam;
        std::vector<Case> calls;
        bool timed = false;  ///< against others on a GPU
    };

    /// What the judge asks of references: judge/counts.cpp, judge/predict.cpp, judge/clock/speed.cpp.
    std::vector<Needed> needed() {
        std::vector<Needed> all;
        for (const Manifest& manifest : manifests_) {
            exams_.push_back(judge::exam_of(manifest));
            const Exam& exam = *exams_.back();
            std::map<std::string, Needed> by_name;
            const auto of = [&](const std::string& name) -> Needed* {
                const RungEntry* const rung = manifest.find(name);
                if (rung->given() || rung->kind == Kind::predict) return nullptr;
                Needed& one = by_name[rung->name];
                one.manifest = &manifest, one.rung = rung, one.exam = &exam;
                return &one;
            };
            const auto add = [&](const std::string& name, const Case& which) {
                if (Needed* const one = of(name)) one->calls.push_back(which);
            };
            for (const RungEntry& rung : manifest.rungs) {
                if (rung.kind == Kind::predict) {
                    for (const Question& question : rung.questions) {
                        if (question.answer) continue;
                        add(question.rung, judge::case_of(question));
                        if (!question.over.empty()) add(question.over, judge::case_of(question));
                    }
                } else if (!rung.given()) {
                    const Case which = judge::case_to_count(manifest, rung, exam);
                    add(rung.name, which);
                    if (rung.speed && rung.speed->modelled) add(rung.speed->baseline, which);
                    for (const std::string& name : {rung.name, rung.speed ? rung.speed->baseline : ""}) {
                        Needed* const one = rung.speed ? of(name) : nullptr;
                        if (one) one->timed = true;
                    }
                }
            }
            for (auto& [name, one] : by_name) all.push_back(std::move(one));
        }
        return all;
    }

    void record_references() {
        const std::vector<Needed> all = needed();
        judge::JudgeOptions judge;
        judge.toolchain = options_.toolchain;
        judge.toolchain.root = options_.root;
        const bool gpu = options_.gpu && judge.toolchain.cuda;
        if (gpu) compile_for_any_gpu(*judge.toolchain.cuda);
        std::atomic<std::size_t> next{0};
        std::mutex saying;
        std::size_t done = 0;
        const auto record = [&] {
            for (std::size_t i = next++; i < all.size(); i = next++) {
                const Needed& one = all[i];
                record_counts(one, judge);
                if (gpu && one.timed) record_worker(one, judge);
                const std::lock_guard lock(saying);
                say(fmt::format("references: {} of {}, {}/{}", ++done, all.size(), one.manifest->chapter,
                                one.rung->name));
            }
        };
        std::vector<std::future<void>> parts;
        for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
            parts.push_back(std::async(std::launch::async, record));
        for (auto& part : parts) part.wait();
        for (auto& part : parts) part.get();
    }

    static judge::Trial reference_of(const Needed& one, const judge::JudgeOptions& judge) {
        return judge::Trial{*one.manifest, *one.rung, {}, *one.exam, judge}.reference();
    }

    void record_counts(const Needed& one, const judge::JudgeOptions& judge) const {
        const fs::path file = judge::edition_counts(tree_, *one.manifest, *one.rung);
        make_folder(file.parent_path());
        write_file(file, judge::record_counts(reference_of(one, judge), one.calls).dump() + '\n');
    }

    /// Nobody knows a student's GPU: the driver compiles for it, from the newest form that it knows.
    static void compile_for_any_gpu(judge::BackendTools& tools) {
        auto& flags = tools.compile;
        flags.erase(std::remove_if(flags.begin(), flags.end(),
                                   [](const std::string& flag) {
                                       return flag == "-lineinfo" || flag.rfind("-gencode", 0) == 0;
                                   }),
                    flags.end());
        for (const char* const generation : {"75", "80", "90"})
            flags.push_back(fmt::format("-gencode=arch=compute_{0},code=compute_{0}", generation));
    }

    void record_worker(const Needed& one, const judge::JudgeOptions& judge) const {
        const judge::Build build = judge::build_worker(reference_of(one, judge), Backend::cuda);
        if (build.executable.empty()) {
            throw PackageError(3, fmt::format("the reference of {} does not compile for a GPU: {}\n{}",
                                              one.rung->name, build.reason, end_of(build.diagnostics)));
        }
        const fs::path file = judge::edition_worker(tree_, *one.manifest, *one.rung);
        make_folder(file.parent_path());
        const std::optional<std::string> worker = judge::from_cache(build.executable);
        if (!worker) throw PackageError(3, file.string() + " was removed meanwhile; run it once more");
        write_file(file, *worker);
        fs::permissions(file, fs::perms(0755));
    }

    /// Pages for students: the workbook's own with a README of theirs, and no link to what is not there.
    void write_pages() {
        std::string readme = read_file(options_.root / "autograder/package/students.md");
        readme.erase(0, std::min(readme.size(), readme.find("# ")));  // a note for authors
        const std::string mark = "<!-- chapters -->";
        if (const std::size_t at = readme.find(mark); at != std::string::npos)
            readme.replace(at, mark.size(), table_of_chapters(read_file(options_.root / "README.md")));
        write_file(tree_ / "README.md", readme);
        for (const auto& entry : fs::recursive_directory_iterator(tree_)) {
            if (!entry.is_regular_file() || entry.path().extension() != ".md") continue;
            const fs::path folder = entry.path().parent_path();
            const std::string text = read_file(entry.path());
            const std::string linked = without_links(text, [&](const std::string& target) {
                return target.find("://") != std::string::npos || fs::exists(folder / target);
            });
            if (linked != text) write_file(entry.path(), linked);
        }
    }

    void look_for_leaks() const {
        say("looking for what students must not see");
        std::string found;
        for (const Leak& leak : find_leaks(solutions_, tree_)) {
            found += fmt::format("\n  {}:{} is in {}:{}", leak.solution, leak.line, leak.file, leak.at);
        }
        for (const auto& entry : fs::recursive_directory_iterator(tree_)) {
            const fs::path file = entry.path().lexically_relative(tree_);
            const std::string name = file.filename().string();
            const bool hidden = name == "mistakes.toml" || name == "assignment.json" || name == "attacks" ||
                                name == "solutions" || name == ".git";
            if (hidden) found += "\n  " + file.string() + " is there";
            if (*file.begin() == "chapters" && entry.is_regular_file() &&
                read_file(entry.path()).find("BEGIN SOLUTION") != std::string::npos)
                found += "\n  " + file.string() + " has a mark of solutions";
        }
        if (!found.empty())
            throw PackageError(1, "the package would show what students must not see:" + found);
    }

    void write_list() const {
        std::map<std::string, std::string> sums;
        for (const auto& entry : fs::recursive_directory_iterator(tree_)) {
            if (!entry.is_regular_file()) continue;
            sums[entry.path().lexically_relative(tree_).string()] =
                judge::Sha256::of(read_file(entry.path()));
        }
        std::string list;
        for (const auto& [file, sum] : sums) list += sum + "  " + file + '\n';
        write_file(tree_ / list_of_files, list);
    }

    /// One rung of a result.
    struct Judged {
        std::string verdict, kind, reason;
        bool given;
    };

    /// Runs ./rungs check in `place`. @returns verdicts by "01_reduction/03_shared_tree"
    std::map<std::string, Judged> check(const fs::path& place, const std::vector<std::string>& names,
                                        const std::string& arguments) const {
        const fs::path result = work_ / "result.json";
        fs::remove(result);
        std::string command =
            student(place) + " check --backend cpu --json " + shell_quoted(result) + arguments;
        for (const std::string& name : names) command += " " + shell_quoted(name);
        std::string output;
        const int status = run(command, output);
        if (status > 1 || !fs::exists(result))
            throw PackageError(status == 2 ? 2 : 3,
                               "a clean place could not check rungs:\n" + end_of(output));
        std::map<std::string, Judged> judged;
        const json report = json::parse(read_file(result));
        for (const json& rung : report.at("rungs")) {
            judged[rung.at("chapter").get<std::string>() + "/" + rung.at("rung").get<std::string>()] = {
                rung.at("verdict"), rung.at("kind"), rung.at("reason"), rung.at("given")};
        }
        return judged;
    }

    /// ./rungs as a student starts it.
    std::string student(const fs::path& place) const {
        return "env -u RUNGS_BUILD -u RUNGS_PRESET -u XDG_STATE_HOME RUNGS_SKIP_PACKAGES=1 "
               "RUNGS_CMAKE_ARGS= " +
               shell_quoted(place / "rungs");
    }

    void try_it(bool archive) const {
        // Not a TemporaryFolder: Doxygen does not follow links in a folder whose name holds a blank.
        std::string name = (fs::temp_directory_path() / "rungs-package-XXXXXX").string();
        if (!mkdtemp(name.data())) throw FileError(name, errno, "could not make a temporary folder");
        const fs::path clean = name;
        const auto remove = [](const fs::path* folder) {
            std::error_code ignored;
            fs::remove_all(*folder, ignored);
        };
        const std::unique_ptr<const fs::path, decltype(remove)> owner(&clean, remove);
        const fs::path place = clean / top;
        say("building it in " + place.string());
        if (archive) {
            must("tar -C " + shell_quoted(clean) + " -xzf " + shell_quoted(work_ / "rungs.tar.gz"),
                 "could not unpack the package");
        } else {
            fs::copy(tree_, place, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
        }
        const std::string listed = must(student(place) + " list", "./rungs list does not answer");
        std::string wrong;
        for (const Manifest& manifest : manifests_) {
            for (const RungEntry& rung : manifest.rungs) {
                if (listed.find(rung.name) == std::string::npos)
                    wrong += "\n  ./rungs list does not name " + manifest.chapter + "/" + rung.name;
            }
        }
        for (const auto& [rung, judged] : check(place, options_.rungs, "")) {
            if (judged.given ? judged.verdict != "OK" : !fails_honestly(judged))
                wrong += "\n  as handed out, " + rung + " is " + judged.verdict + ": " + judged.reason;
        }
        say("starters fail as they should; now solutions");
        for (const SolutionText& solution : solutions_) {
            const fs::path file =
                clean / "handed in" / fs::path(solution.name).lexically_relative("solutions");
            make_folder(file.parent_path());
            write_file(file, solution.text);
        }
        int passed = 0;
        for (const auto& [rung, judged] :
             check(place, options_.rungs, " --submission " + shell_quoted(clean / "handed in"))) {
            if (judged.given || judged.kind == "predict") continue;
            ++passed;
            if (judged.verdict == "OK") continue;
            wrong += "\n  its solution handed in, " + rung + " is " + judged.verdict + ": " + judged.reason;
        }
        std::string output;
        if (name.find(' ') == std::string::npos &&
            run("command -v doxygen && command -v dot && command -v python3", output) == 0) {
            say("building the book");
            if (run(student(place) + " docs", output) != 0) wrong += "\n  no book:\n" + end_of(output);
        }
        if (!wrong.empty()) throw PackageError(1, "the package is not good:" + wrong);
        say(tried_text(passed));
    }

    static bool fails_honestly(const Judged& judged) {
        static const std::set<std::string> ours{"OK", "SUSPECT", "UNSTABLE", "INFRA", "NOT_RUN"};
        if (judged.kind == "predict") return judged.verdict == "WRONG";
        return !ours.count(judged.verdict) && judged.verdict != "COMPILE_ERROR";
    }

    const PackageOptions& options_;
    const fs::path work_;  ///< beside what is to be made, so that a rename can put it in place
    const fs::path tree_;
    std::string commit_, date_, time_;
    std::vector<Manifest> manifests_;
    std::vector<std::unique_ptr<Exam>> exams_;
    std::vector<SolutionText> solutions_;
};

}  // namespace

std::string tried_text(int passed) {
    if (passed == 1) return "1 solution passes, and its starter does not";
    return fmt::format("{} solutions pass, and their starters do not", passed);
}

std::string without_links(const std::string& text, const std::function<bool(const std::string&)>& leads) {
    static const std::regex link(R"(\[([^\[\]]*)\]\(([^()\s#]+)(#[^()\s]*)?\))");
    std::string out;
    auto from = text.cbegin();
    for (std::sregex_iterator match(text.begin(), text.end(), link), end; match != end; ++match) {
        out.append(from, (*match)[0].first);
        const bool picture = (*match)[0].first != text.cbegin() && *((*match)[0].first - 1) == '!';
        out += picture || leads((*match)[2]) ? (*match)[0].str() : (*match)[1].str();
        from = (*match)[0].second;
    }
    return out.append(from, text.cend());
}

void make_package(const PackageOptions& options) { Packager(options).make(); }

}  // namespace rungs
