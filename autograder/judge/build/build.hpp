#pragma once
// Turns a rung into a worker executable, or says in a student's words why that is not possible.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "judge/build/toolchain.hpp"
#include "judge/trial.hpp"
#include "rungs/manifest.hpp"

namespace rungs::judge {

/// Something of this machine or of this program failed, not the submission. what() says what, where and
/// what to do.
class InfraError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A fault of the submission; what() is the reason.
class Rejected : public std::runtime_error {
  public:
    /// @param why      the reason, in a student's words
    /// @param limited  a limit of time or memory was met, on a machine that may have had other work to do
    explicit Rejected(const std::string& why, bool limited = false)
        : std::runtime_error(why), limited_(limited) {}

    bool limited() const { return limited_; }

  private:
    bool limited_;
};

/// It is another program in check mode than in run mode.
class Hides : public Rejected {
    using Rejected::Rejected;
};

/// The user asked to stop.
struct Stopped {};

struct Build {
    std::filesystem::path executable;  ///< empty: the submission cannot be built, `reason` says why
    bool cached = false;
    std::string reason;       ///< one line
    bool limited = false;     ///< Rejected::limited()
    bool hides = false;       ///< it was Hides
    std::string diagnostics;  ///< what the compiler said, trimmed; warnings too
    double seconds = 0;
};

/// Files and folders that builds read beside a submission and its chapter: programs, libraries, headers.
struct ToolPlaces {
    std::vector<std::filesystem::path> files, folders;
};

/// Those of a backend. @throws InfraError where its compiler does not answer; Stopped
ToolPlaces places_of_tools(const Manifest& manifest, const RungEntry& rung, const Toolchain& toolchain,
                           Backend backend, Mode mode = Mode::run, const std::atomic<bool>* stop = nullptr);

/// Lets all tools of a build do their work on what is ours alone, and takes nothing from the cache.
/// @throws InfraError that names the one that fails; Stopped
void try_tools(const Manifest& manifest, const RungEntry& rung, const Toolchain& toolchain, Backend backend,
               const std::atomic<bool>* stop = nullptr);

/// Builds what is judged. The result is cached under the hash of everything it depends on; entries appear
/// whole or not at all, so any number of processes may share a cache.
/// @throws InfraError, Stopped
Build build_worker(const Trial& trial, Backend backend, Mode mode = Mode::run);

/// A hash of everything that the worker of a rung depends on. @throws Rejected, InfraError
std::string worker_key(const Manifest& manifest, const RungEntry& rung, const std::filesystem::path& source,
                       const Toolchain& toolchain, Backend backend, Mode mode);

/// The files that a compiler has read, from the make rule that it writes with -MD: what stands behind the
/// colon, with make's escapes of blanks, '#' and '$' undone.
std::vector<std::string> files_of_rule(const std::string& rule);

/// Runs one of binutils, `arguments[0]`, confined, on what a submission has become, and returns what it
/// printed. @throws Rejected where that is too much for it, InfraError, Stopped
std::string run_binutil(std::vector<std::string> arguments, const std::atomic<bool>* stop = nullptr);

}  // namespace rungs::judge
