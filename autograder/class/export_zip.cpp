// Gradescope's autograders: zips with setup.sh and run_autograder at the top.
#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include <fmt/format.h>

#include "class/export.hpp"
#include "judge/result/clean_text.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::classroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// A zip in memory. The same files give the same bytes.
class Zip {
  public:
    Zip() : archive_(archive_write_new(), archive_write_free) {
        check(archive_write_set_format_zip(archive_.get()));
        check(archive_write_open(archive_.get(), this, nullptr, append, nullptr));
    }

    void add(const std::string& name, const std::string& bytes, bool executable = false) {
        const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                                  archive_entry_free);
        archive_entry_set_pathname(entry.get(), name.c_str());
        archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_perm(entry.get(), executable ? 0755 : 0644);
        constexpr time_t first_of_1980 = 315532800;  // a zip knows none before
        archive_entry_set_mtime(entry.get(), first_of_1980, 0);
        check(archive_write_header(archive_.get(), entry.get()));
        if (archive_write_data(archive_.get(), bytes.data(), bytes.size()) < 0) check(ARCHIVE_FATAL);
    }

    std::string finish() {
        check(archive_write_close(archive_.get()));
        return std::move(bytes_);
    }

  private:
    static la_ssize_t append(archive*, void* self, const void* data, std::size_t size) {
        static_cast<Zip*>(self)->bytes_.append(static_cast<const char*>(data), size);
        return static_cast<la_ssize_t>(size);
    }

    void check(int status) const {
        if (status == ARCHIVE_OK) return;
        throw ClassError(fmt::format("cannot make the zip: {}", archive_error_string(archive_.get())));
    }

    std::string bytes_;
    std::unique_ptr<archive, decltype(&archive_write_free)> archive_;
};

/// `text` as a string of TOML.
std::string toml_string(const std::string& text) { return Json(clean_name(text)).dump(); }

/// What is asked, for `grade` in the container. Gradescope looks after lateness itself.
std::string assignment_toml(const Assignment& assignment) {
    std::string rungs, weights;
    for (const AskedRung& rung : assignment.rungs)
        rungs += (rungs.empty() ? "" : ", ") + toml_string(rung.short_name());
    for (const auto& [chapter, weight] : assignment.weights)
        weights += fmt::format("{} = {}\n", toml_string(chapter), weight);
    std::string toml = assignment.title.empty() ? "" : "title = " + toml_string(assignment.title) + "\n";
    toml += fmt::format("rungs = [{}]\nleast_sandbox = {}\n", rungs, toml_string(assignment.least_sandbox));
    if (assignment.round_to > 0) toml += fmt::format("round_to = {}\n", assignment.round_to);
    return toml + (weights.empty() ? "" : "[weights]\n" + weights);
}

/// One rung of each chapter: what has to be built, and shows that the container can judge.
std::vector<AskedRung> rung_of_each_chapter(const Assignment& assignment) {
    std::vector<AskedRung> first;
    for (const AskedRung& rung : assignment.rungs) {
        if (first.empty() || first.back().chapter != rung.chapter) first.push_back(rung);
    }
    return first;
}

/// The parts of the workbook that grading needs: no hand-in, no result, and nothing else that lies beside
/// them.
void add_workbook(Zip& zip, const fs::path& root) {
    constexpr const char* parts[] = {"CMakeLists.txt", "CMakePresets.json", "LICENSE",  "README.md",
                                     "rungs",          "autograder",        "chapters", "common",
                                     "docs",           "solutions"};
    std::vector<fs::path> files;
    for (const char* part : parts) {
        if (fs::is_regular_file(root / part)) files.emplace_back(root / part);
        if (!fs::is_directory(root / part)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / part)) {
            const std::string name = entry.path().filename().string();
            // Backups of a student's rungs, and what editors leave.
            const bool ours =
                name.find(".bak-") == std::string::npos && name.back() != '~' && name != "__pycache__";
            if (ours && entry.is_regular_file() && !entry.is_symlink()) files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
        const bool executable = (fs::status(file).permissions() & fs::perms::owner_exec) != fs::perms::none;
        zip.add("workbook/" + file.lexically_relative(root).generic_string(), read_file(file), executable);
    }
}

/// What there is as long as nothing else is: no score, so that nobody takes it for a zero.
std::string not_graded_json(const std::string& visibility) {
    const Json json = {
        {"output",
         "The autograder did not finish, so there is no grade. Hand in again, or ask your instructor."},
        {"output_format", "text"},
        {"visibility", visibility},
        {"stdout_visibility", "hidden"},
        {"tests", Json::array()}};
    return json.dump(2) + '\n';
}

}  // namespace

std::string graded_zip(const Gradebook& book, Detail detail, const std::string& visibility) {
    Zip zip;
    zip.add("setup.sh", "#!/bin/sh\n# Nothing to install: nothing is graded here.\n", true);
    zip.add("run_autograder", R"(#!/usr/bin/env python3
# Hands out the result of whoever submits. Nothing of the submission is looked at.
import json

with open("submission_metadata.json") as file:
    addresses = {user["email"].strip().lower() for user in json.load(file)["users"]}
with open("source/graded.json") as file:
    graded = json.load(file)
found = [graded["results"][address] for address in sorted(addresses) if address in graded["results"]]
# A group has one result there: what each member has here, if that is the same.
if not found:
    result = graded["unknown"]
elif all(one == found[0] for one in found):
    result = found[0]
else:
    result = graded["differ"]
with open("results/results.json", "w") as file:
    json.dump(result, file)
)",
            true);
    Json results = Json::object();
    for (const Student& student : book.students) {
        std::string address = folded(trimmed(student.person.email));
        if (address.empty()) continue;
        address = clean_name(address);
        // Two with one address cannot be told apart.
        results[address] =
            results.contains(address) ? Json() : to_gradescope(book, student, detail, visibility);
    }
    for (auto one = results.begin(); one != results.end();) one = one->is_null() ? results.erase(one) : ++one;
    const Json unknown = {{"output", "There is no grade for your address. Ask your instructor."},
                          {"tests", Json::array()}};
    const Json differ = {{"output", "The members of this group have different grades. Ask your instructor."},
                         {"tests", Json::array()}};
    zip.add("graded.json",
            Json{{"results", results}, {"unknown", unknown}, {"differ", differ}}.dump() + '\n');
    return zip.finish();
}

std::string autograder_zip(const Gradebook& book, const fs::path& root, Detail detail,
                           const std::string& visibility) {
    const Assignment& assignment = book.assignment;
    if (assignment.backend != Backend::cpu) {
        throw ClassError(
            "the class was graded on a GPU, which Gradescope does not have; hand out its results with --to "
            "gradescope");
    }
    std::string names, solutions;
    for (const AskedRung& rung : rung_of_each_chapter(assignment)) {
        names += rung.short_name() + " ";
        solutions +=
            fmt::format(" {}/{}.{}", rung.chapter, rung.rung, rung.kind == "predict" ? "toml" : "cu");
    }
    Zip zip;
    zip.add("setup.sh",
            fmt::format(R"sh(#!/bin/sh
# Run once, when Gradescope makes the image: installs, builds, grades a reference solution of each chapter, and then
# hands them in as a student would, so that an image which cannot grade is none.
set -eu
source=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$source/workbook"
# The launcher installs what is missing, and needs CMake 3.25 or later. What apt cannot bring is told before.
missing=
while read -r package group file rest; do
    [ "$group" = core ] || continue
    case $file in bin/*) command -v "${{file#bin/}}" > /dev/null && continue ;; esac
    [ -e "/usr/$file" ] || missing="$missing $package"
done < common/packages.txt
is_new() {{ grep -Eq '^(3\.(2[5-9]|[3-9][0-9])|[4-9]\.|[1-9][0-9]+\.)'; }}
cmake_is_new() {{ cmake --version 2>/dev/null | sed -n '1s/.*version //p' | is_new; }}
if [ -n "$missing" ] || ! cmake_is_new; then
    apt-get update -qq
    lacking=
    for package in $missing; do
        apt-cache show "$package" > /dev/null 2>&1 || lacking="$lacking $package"
    done
    if [ -n "$lacking" ]; then
        echo "apt has no package$lacking here. Choose Ubuntu 24.04 as the base image in Configure Autograder." >&2
        exit 1
    fi
    if ! cmake_is_new && apt-cache policy cmake | sed -n 's/^ *Candidate: *//p' | sed 's/^[0-9]*://' | is_new; then
        apt-get install -y -qq --no-install-recommends cmake
    fi
    # Python's package goes into a folder of its own: distributions keep pip away from theirs.
    if ! cmake_is_new; then
        apt-get install -y -qq --no-install-recommends python3-venv
        python3 -m venv /opt/rungs-cmake
        /opt/rungs-cmake/bin/pip install --quiet 'cmake>=3.25,<4'
        ln -sf /opt/rungs-cmake/bin/cmake /usr/local/bin/cmake
    fi
fi
RUNGS_CMAKE_ARGS=-DRUNGS_CUDA=OFF ./rungs --yes check {}--solution --backend cpu
trial=$(mktemp -d)
mkdir "$trial/results" "$trial/submission"
ln -s "$source" "$trial/source"
(cd solutions && cp --parents{} "$trial/submission")
(cd "$trial" && sh source/run_autograder)
results=$trial/results/results.json
if ! grep -q '^  "score": ' "$results" || ! grep -q '"status": "passed"' "$results"; then
    ./rungs doctor || true
    echo 'Hand-ins cannot be graded in this container: see above. Where it holds them less than the class asks for, set' >&2
    echo 'least_sandbox in assignment.toml, then grade and export again; docs/exports.md says what that gives up.' >&2
    exit 1
fi
rm -rf "$trial"
)sh",
                        names, solutions),
            true);
    zip.add("run_autograder",
            fmt::format(R"(#!/bin/sh
# Grades one submission with the workbook's own commands. Gradescope calls it in /autograder.
set -u
here=$PWD
cp source/not_graded.json results/results.json || exit 1
work=$(mktemp -d) && mkdir "$work/class" || exit 1
cp source/assignment.toml "$work/class" && cp -R submission "$work/class/submission" || exit 1
cd source/workbook || exit 1
# Their exit statuses tell of the submission; what has not come to its end leaves no result.
RUNGS_SKIP_PACKAGES=1 ./rungs grade "$work/class" --out "$work/graded"
RUNGS_SKIP_PACKAGES=1 ./rungs export "$work/graded" --to gradescope --detail {} --visibility {} --out "$work/export"
cp "$work/export/results/submission/results.json" "$here/results/results.json"
rm -rf "$work"
)",
                        name_of(detail), visibility),
            true);
    zip.add("not_graded.json", not_graded_json(visibility));
    zip.add("assignment.toml", assignment_toml(assignment));
    add_workbook(zip, root);
    return zip.finish();
}

}  // namespace rungs::classroom
