#pragma once
// The command line of a chapter's program or benchmark, read by CLI11, which neither nvcc nor the CPU
// backend's translator has to see.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace rungs {

/// Options, each with a variable that holds its default until the command line gives it another value:
///
///     CommandLine line("reduction", "Every rung adds up the same random numbers.");
///     line.add("--n", options.n, 1, 1 << 30, "how many numbers to add up");
///     if (!line.parse(argc, argv)) return 0;  // asked for help
///
/// A default of 0 or of no characters is not shown: the help says what it stands for.
class CommandLine {
  public:
    CommandLine(const std::string& name, const std::string& about);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// A number from `least` to `most`: an int, std::uint64_t, float or double.
    template <class T>
    void add(const std::string& flag, T& value, std::type_identity_t<T> least, std::type_identity_t<T> most,
             const std::string& help);
    /// A name, of a file unless `type` says something else.
    void add(const std::string& flag, std::string& value, const std::string& help,
             const std::string& type = "FILE");
    /// The name of a folder.
    void add(const std::string& flag, std::filesystem::path& value, const std::string& help);
    /// Sizes from 1 to 2^40 with commas between them: "2^20,1000000".
    void add(const std::string& flag, std::vector<std::size_t>& sizes, const std::string& help);
    /// A switch.
    void add(const std::string& flag, bool& value, const std::string& help);

    /// Reads the words. @returns false where help was asked for, which has been printed then
    /// @throws std::invalid_argument that names what is wrong
    bool parse(int count, const char* const* words);

  private:
    struct Parser;
    std::unique_ptr<Parser> parser_;
};

}  // namespace rungs
