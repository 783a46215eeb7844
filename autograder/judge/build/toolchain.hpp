#pragma once
// What the judge compiles rungs with. The build writes it to toolchain.json, so that a check needs no CMake.

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "rungs/manifest.hpp"

namespace rungs::judge {

/// How one backend turns a rung into a worker.
struct BackendTools {
    /// What a compilation may include first, precompiled beside it; most first, and each begins as the last.
    /// What the last one lacks, a rung may only see if it includes all of that itself. None: the compiler has
    /// no such.
    std::vector<std::string> preludes;
    std::string translator;             ///< cu2cpp; empty where the compiler reads .cu files itself
    std::string compiler;               ///< absolute path of g++ or nvcc
    std::vector<std::string> compile;   ///< flags of every compilation
    std::vector<std::string> archives;  ///< the worker's and the backend's static libraries, in link order
    std::vector<std::string> link;      ///< flags at the end of the link line
    std::string describe;               ///< "g++ 12.2.0": shown in reports

    /// The prelude for every rung, or empty.
    std::string least_prelude() const { return preludes.empty() ? "" : preludes.back(); }
};

/// How a rung is built: to run, or for check mode, where every access is seen (cpu backend).
enum class Mode { run, check };

struct Toolchain {
    std::filesystem::path root;   ///< of the source tree
    std::filesystem::path build;  ///< of the build tree
    std::filesystem::path cache;  ///< of compiled workers; may be deleted at any time
    /// Another cache of this user's, from which is taken what no hand-in has part in; empty: none.
    std::filesystem::path cache_of_ours;
    std::optional<BackendTools> cpu;
    std::optional<BackendTools> check;  ///< the cpu backend in check mode; none in a build under a sanitizer
    std::optional<BackendTools> cuda;

    /// The tools of a backend, or nothing where it was not built.
    const BackendTools* tools(Backend backend, Mode mode = Mode::run) const;
};

/// toolchain.json is missing, unreadable or names something that does not exist. what() says which, and that
/// the build has to be run again.
class ToolchainError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reads and checks `file`. @throws ToolchainError
Toolchain read_toolchain(const std::filesystem::path& file);

}  // namespace rungs::judge
