#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cu2cpp/diagnostic.h"

namespace cu2cpp {

/// Replaces source bytes [begin, end) by `text`. Line ends inside the range survive.
struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
};

/// A quoted `#include`, left to whoever knows folders.
struct Include {
    std::string name;            ///< what stands between the quotes or brackets
    std::size_t begin = 0;       ///< offset of `#`
    std::size_t end = 0;         ///< offset of the line's end
    std::size_t name_begin = 0;  ///< offset of the opening quote
    std::size_t name_end = 0;
    bool conditional = false;  ///< under an `#if` that is not evaluated here
    bool brackets = false;     ///< `<name>`
};

/// What a file that includes this one has to know of it.
struct Exports {
    /// Macros that hide what cannot be translated, with the reason to give where one is used.
    std::map<std::string, std::string, std::less<>> untranslatable_macros;
    /// Macros whose text asks for `__CUDA_ARCH__`.
    std::set<std::string, std::less<>> architecture_macros;
    /// Macros that say who runs a function: `#define HD __host__ __device__`.
    std::set<std::string, std::less<>> execution_macros;
    /// Names declared `extern` or `friend`, and functions declared without a CUDA word, with the types of
    /// their parameters: their definitions must not become `static`.
    std::set<std::string, std::less<>> external_names;
    /// Constants whose value depends on who asks, as `#if __CUDA_ARCH__` chooses it: here it is the device's.
    std::set<std::string, std::less<>> device_constants;
    /// What a function name at namespace scope stands for.
    struct Function {
        /// Of a kernel: its parameters' types, each followed by a comma; empty where the name stands for
        /// several functions, or for a template.
        std::string parameters;
        bool kernel = false;      ///< it may mean a kernel
        bool device = false;      ///< it may mean what device code can call, or that cannot be told
        bool host = false;        ///< it may mean a function of the host
        bool relaxed = false;     ///< ... that is `constexpr`
        bool launchable = false;  ///< it may mean what can be launched, or that cannot be told
        /// Of a function that says `__device__` alone: its parameters' types, with `<>` in front of a
        /// template's; empty where the name stands for others as well.
        std::string device_only;
        std::string space;  ///< the namespace that it is in, or several; "": none with a name
    };
    std::map<std::string, Function, std::less<>> functions;
    /// What a variable's name at namespace scope stands for.
    struct Variable {
        bool host = false;  ///< it can only mean one of the host's, which device code cannot use
        std::string space;  ///< as a function's
    };
    std::map<std::string, Variable, std::less<>> variables;
    /// What loops over lanes have to know of a function whose body has been seen.
    struct Body {
        bool is_calm = false;  ///< no lane waits in it
        bool is_pure = false;  ///< ... and what it gives does not depend on the lane
    };
    std::map<std::string, Body, std::less<>> bodies;
    /// A member or an operator has a body in which lanes may wait: calls of it cannot be told.
    bool hidden_waits = false;
    /// Names of classes: `C(x)` makes an object.
    std::set<std::string, std::less<>> classes;
    /// Names of `__device__` and `__managed__` variables, which kernels may change.
    std::set<std::string, std::less<>> device_variables;
    /// Names of variable templates that say `__device__`, and the kind of memory that their instances lie in.
    std::map<std::string, std::string, std::less<>> variable_templates;
    /// The names, assignments and ends of statements in a macro's text.
    std::map<std::string, std::vector<std::string>, std::less<>> macro_words;
    /// Names of macros, and of functions of `std` that a file has by `using`: for each the function of the
    /// host's libraries that it stands for or calls, if CUDA does not have that in device code, else "".
    std::map<std::string, std::string, std::less<>> macros;
    /// By name, `__shared__` variables at namespace scope: the declaration that a function needs to use one.
    std::map<std::string, std::string, std::less<>> shared_variables;

    void note_function(std::string_view name, const Function& function);
    void note_variable(std::string_view name, const Variable& variable);
    void note_body(std::string_view name, Body body);
    /// @param at_namespace the file is included outside functions and classes: its variables lie at
    ///                     namespace scope
    void merge(const Exports& other, bool at_namespace);
};

/// The translation of one file.
struct Translation {
    std::vector<Edit> edits;
    std::vector<Include> includes;
    std::vector<Diagnostic> diagnostics;  ///< refusals; any at all means: no output
    std::vector<Diagnostic> notes;  ///< what is not as the program may mean it, of TranslateOptions::lenient
    std::vector<Diagnostic>
        loops;  ///< what became of each kernel with a barrier, of TranslateOptions::loops_over_lanes
    Exports exports;
};

struct TranslateOptions {
    /// nvcc's `-rdc=true`: device variables and functions keep external linkage. Without it they are private
    /// to their file, as in nvcc's whole-program mode, so that two rungs may use one name.
    bool relocatable = false;
    /// nvcc's `--expt-relaxed-constexpr`: device code may call `constexpr` functions of the host.
    bool relaxed_constexpr = false;
    /// Kernels whose lanes come to each barrier together become loops over lanes; for run mode only. What
    /// comes out needs simt/lanes.h.
    bool loops_over_lanes = false;
    /// For what others wrote. Texture references, which CUDA 12 removed, pass; what comes out needs
    /// simt/texture_reference.h. Constants that `__CUDA_ARCH__` chooses are the device's for the host, too,
    /// with a note.
    bool lenient = false;
    /// Calls of the runtime whose error the program drops are marked; for check mode alone.
    bool dropped_errors = false;
    /// Looks at an included file at once, because its macros matter from there on. Null: unknown file.
    /// @param so_far what is known where the file is included
    std::function<const Exports*(const Include&, const Exports& so_far)> open_include;
    /// Exports::external_names and Exports::device_constants of the file that includes this one, up to there.
    std::set<std::string, std::less<>> external_names, device_constants;
    /// True when `<name>` can be found although it is the vendor's.
    std::function<bool(std::string_view name)> has_header;
};

/// Translates CUDA C++ to C++, token by token: launches, shared memory, device variables, pragmas, kernel
/// arguments cast to `void*`. All else is left to macros of the runtime. What cannot be translated is
/// refused in `diagnostics`.
/// @param text the file; must be valid text without zero bytes
/// @param path its name in messages
[[nodiscard]] Translation translate(std::string_view text, const std::string& path,
                                    const TranslateOptions& options = {});

/// Applies edits; the result has as many lines as `text`.
[[nodiscard]] std::string apply(std::string_view text, std::vector<Edit> edits);

}  // namespace cu2cpp
