#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cu2cpp/translator.h"

namespace cu2cpp {

/// What one run of the program is asked to do.
struct Job {
    std::filesystem::path input;
    std::filesystem::path output;  ///< empty: check only
    std::vector<std::filesystem::path>
        include_dirs;                  ///< where quoted headers are looked for, after the file's own folder
    std::filesystem::path header_dir;  ///< translated headers go here; empty: `OUTPUT.headers`
    std::filesystem::path depfile;     ///< empty: none
    bool relocatable = false;          ///< see TranslateOptions
    bool relaxed_constexpr = false;    ///< see TranslateOptions
    bool dropped_errors = false;       ///< see TranslateOptions
    bool loops_over_lanes = false;     ///< see TranslateOptions
    bool lenient = false;              ///< see TranslateOptions
};

/// One `.cu` file and the quoted headers it reaches.
class Project {
  public:
    explicit Project(Job job);
    ~Project();
    Project(const Project&) = delete;
    Project& operator=(const Project&) = delete;

    /// Reads and translates everything. @return the refusals of all files, in the order of reading
    /// @throws FileError when the input cannot be read
    [[nodiscard]] const std::vector<Diagnostic>& analyse();

    /// Writes the output and the headers that had to change; each appears complete or not at all.
    /// @throws FileError when one cannot be written
    void write();

    /// What became of the kernels, in the order of reading: see Translation::loops.
    [[nodiscard]] std::vector<Diagnostic> loops() const { return all(&Translation::loops); }
    /// See Translation::notes.
    [[nodiscard]] std::vector<Diagnostic> notes() const { return all(&Translation::notes); }

    /// Writes which files analyse() has read. @throws FileError when that cannot be written
    void write_depfile() const;

    /// Removes an output of an earlier run, so that nobody compiles what is no longer true.
    void remove_output() const;

  private:
    struct File;
    File* open(const std::filesystem::path& path, const std::string& display, const Exports& so_far,
               std::size_t depth);
    File* resolve(const File& from, const Include& include, const Exports& so_far, std::size_t depth);
    [[nodiscard]] std::vector<Diagnostic> all(std::vector<Diagnostic> Translation::*kind) const;
    void propagate();
    [[nodiscard]] std::filesystem::path translated_path(const File& file) const;
    [[nodiscard]] std::string output_text(const File& file) const;
    [[nodiscard]] bool finds(std::string_view header) const;

    Job job_;
    std::vector<std::unique_ptr<File>> files_;
    std::unordered_map<std::string, File*> by_path_;
    std::vector<Diagnostic> diagnostics_;
};

/// Reads a source file. @throws FileError for a missing file, a folder, or what is not text
[[nodiscard]] std::string read_source(const std::filesystem::path& path);

/// Writes a file by way of a temporary neighbour. @throws FileError
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace cu2cpp
