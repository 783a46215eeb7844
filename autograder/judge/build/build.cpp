#include "judge/build/build.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "judge/build/assembly.hpp"
#include "judge/build/cache.hpp"
#include "judge/build/diagnostics.hpp"
#include "judge/build/hash.hpp"
#include "judge/build/object_gate.hpp"
#include "judge/build/preprocessed.hpp"
#include "judge/build/public_names.hpp"
#include "judge/build/source.hpp"
#include "judge/confine/process.hpp"
#include "judge/confine/visible_files.hpp"
#include "judge/result/clean_text.hpp"
#include "judge/result/defences.hpp"
#include "judge_hash.hpp"
#include "protocol/launches.hpp"
#include "rungs/atomic_file.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

constexpr double compile_seconds = 60;
constexpr std::size_t compile_memory = 2ULL << 30;
/// nvcc runs a compiler for each part of a file.
constexpr std::size_t tool_processes = 128;
/// Of each file that is made of a submission.
constexpr std::size_t compile_file_bytes = 48U << 20;
/// Of a worker, which holds the backend as well, with all of its debug information.
constexpr std::size_t worker_bytes = 256U << 20;
/// A save costs two workers, 2 MB; all rungs of the workbook take 190 MB.
constexpr std::uintmax_t most_cached_bytes = 2ULL << 30;
constexpr std::uintmax_t most_preprocessed_bytes = 16U << 20;
/// A summary of what a mode's compiler sees has a line for each of the rung's: 5 kB.
constexpr std::uintmax_t most_seen_bytes = 4U << 20;
/// What nm and addr2line may print, for the judge to read. They print less than 1 MiB of an honest rung.
constexpr std::size_t listing_bytes = 16U << 20;

#define TEXT_(name) #name
#define TEXT(name) TEXT_(name)
/// Every launch passes through this function; the worker counts them there.
constexpr const char* run_grid = TEXT(RUNGS_RUN_GRID);
/// What the entry object calls in the place of a launcher. The linker is told which launcher that is, so
/// rungs that solve the same problems share one entry object.
constexpr const char* stand_in = "rungs_launcher";

/// What the entry object defines for the worker.
constexpr std::array entry_names{"rungs_entries", "rungs_entry_count", "_Z10rungs_warmPKvm"};

/// Without it nm has the plugins of all compilers look at an object first: with LLVM's 35 ms instead of 2.
constexpr const char* no_plugins = "--plugin=/dev/null";

/// They stand beside every compiler.
std::string binutil(const std::string& name) {
    for (const char* folder : {"/usr/bin/", "/usr/local/bin/", "/bin/"}) {
        if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
    }
    throw InfraError(fmt::format("{} is missing; install the package binutils", name));
}

/// The files and folders that a command line names in full, with or without an option before them.
std::vector<std::string> named_paths(const std::vector<std::string>& arguments) {
    std::vector<std::string> paths;
    for (const std::string& argument : arguments) {
        const std::size_t at = argument.find('/');
        if (at == 0 || (at != std::string::npos && argument[0] == '-')) paths.push_back(argument.substr(at));
    }
    return paths;
}

std::string foreign_include(const fs::path& file) {
    return fmt::format("includes {}: a rung may include its contract, rungs/ headers and the system's",
                       file.filename().string());
}

/// The file that the translator or the compiler could not open because it is nobody's business.
std::string file_kept_from(const std::string& messages) {
    for (const auto& [before, after] :
         {std::pair{"fatal error: ", ": Permission denied"}, {"", ": error: cannot be read ("}}) {
        const std::size_t end = messages.find(after);
        if (end == std::string::npos) continue;
        const std::size_t line = messages.rfind('\n', end) + 1;  // npos + 1 is 0
        const std::size_t begin = messages.find(before, line);
        if (begin < end)
            return messages.substr(begin + std::strlen(before), end - begin - std::strlen(before));
    }
    return "";
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

class Builder {
  public:
    /// `hashed_headers`: what another builder has found out about our headers, which are the same in all
    /// modes.
    Builder(const Manifest& manifest, const RungEntry& rung, const Toolchain& toolchain, Backend backend,
            const std::atomic<bool>* stop, Mode mode, const std::string& hashed_headers = "")
        : manifest_(manifest),
          rung_(rung),
          toolchain_(toolchain),
          backend_(backend),
          mode_(mode),
          tools_(*toolchain.tools(backend, mode)),
          stop_(stop),
          work_(toolchain.cache),
          hashed_headers_(hashed_headers.empty() ? hash_headers() : hashed_headers),
          hashed_tools_(hash_tools()),
          chapter_(hash_chapter()) {}

    Build build(const fs::path& source) {
        Build result;
        try {
            const std::string text = read_rung(source);
            if (is_on(Defence::words)) check_words(source.filename().string(), text);
            const std::string content = key(text);
            result.executable = toolchain_.cache / "workers" / content;
            // What the compiler warned of belongs to a rung however often it is asked for.
            const fs::path warnings = toolchain_.cache / "warnings" / content;
            result.cached = in_cache(result.executable);
            if (!result.cached) {
                link(text, result, warnings);
            } else {
                diagnostics_ = from_cache(warnings).value_or("");
            }
        } catch (const Rejected& rejected) {
            result.executable.clear();
            result.reason = rejected.what();
            result.limited = rejected.limited();
            result.hides = dynamic_cast<const Hides*>(&rejected) != nullptr;
        }
        result.diagnostics = diagnostics_;
        return result;
    }

    /// What the compiler sees of `text`, for comparing modes. @throws Rejected
    std::string seen_of(const std::string& text) {
        copy_contract();
        return seen(check_preprocessed(translated(text)));
    }

    /// See judge::try_tools().
    void try_tools() {
        copy_contract();
        const std::string source = rung_.name + ".cu";
        write_working_file(work_.path() / source, fmt::format("#include \"{}\"\n", manifest_.contract));
        if (!tools_.translator.empty()) run_own(translator_line(source), "the translator");
        run_own(compile_line(compiled_name(source), "rung.o", tools_.least_prelude()), "the compiler");
        make_private("rung.o", symbols_of(work_.path() / "rung.o"), {});
        std::vector<std::string> line = link_line({"rung.o"});
        for (const char* name : entry_names)
            line.insert(line.end(), {"-Xlinker", fmt::format("--defsym={}=main", name)});
        run_own(line, "the linker");
    }

    /// See places_of_tools().
    ToolPlaces places() {
        ToolPlaces places{{tools_.compiler}, {}};
        const auto add = [&](const fs::path& file) {
            if (file.is_absolute()) places.files.push_back(file);
        };
        add(tools_.translator);
        for (const char* tool : {"as", "ld", "nm", "objcopy"}) add(binutil(tool));
        for (const std::string& prelude : tools_.preludes) add(prelude + ".gch");
        for (const std::string& archive : tools_.archives) add(archive);
        if (backend_ == Backend::cpu) {  // the programs that the compiler's own one starts
            for (const char* program : {"cc1plus", "collect2"})
                add(trimmed(run_own({tools_.compiler, std::string("-print-prog-name=") + program},
                                    "asking the compiler for its programs")));
        }
        for (const std::string& folder : header_folders()) places.folders.emplace_back(folder);
        for (const fs::path& folder : own_headers()) places.folders.push_back(folder);
        return places;
    }

    /// Names the worker that `text` becomes.
    std::string key(const std::string& text) const {
        // What a compiler has seen names the headers' folders.
        return Sha256()
            .add(chapter_)
            .add(toolchain_.root.string())
            .add(rung_.name)
            .add(entry_text())
            .add(text)
            .hex();
    }

  private:
    /// Tools and our headers: what every object depends on. Large files by size and time, as make does. Not
    /// where the workbook lies: those with the same headers, as tests make them, share what is made of them.
    std::string hash_tools() const {
        return hashed([this](Sha256& hash) {
            hash.add(judge_sources).add(name_of(backend_));
            const auto add_tool = [&](const fs::path& tool) {
                const auto time = fs::last_write_time(tool).time_since_epoch().count();
                hash.add(tool.string()).add(std::to_string(fs::file_size(tool)) + " " + std::to_string(time));
            };
            if (!tools_.translator.empty()) add_tool(tools_.translator);
            add_tool(tools_.compiler);
            for (const char* tool : {"as", "ld", "nm", "objcopy"}) add_tool(binutil(tool));
            for (const std::string& prelude : tools_.preludes) add_tool(prelude + ".gch");
            for (const std::string& archive : tools_.archives) add_tool(archive);
            hash.add(tools_.describe);
            for (const auto& flags : {tools_.compile, tools_.link}) {
                for (const std::string& flag : flags) hash.add(without_root(flag));
            }
            hash.add(hashed_headers_);
        });
    }

    std::string without_root(std::string text) const {
        const std::string& root = toolchain_.root.native();
        if (const std::size_t at = text.find(root); at != std::string::npos) text.erase(at, root.size());
        return text;
    }

    std::string hash_headers() const {
        return hashed([this](Sha256& hash) {
            for (const fs::path& folder : own_headers()) {
                for (const fs::path& file : files_below(folder))
                    hash.add(without_root(file.string())).add_file(file);
            }
        });
    }

    /// The headers of the rung's chapter besides.
    std::string hash_chapter() const {
        return hashed([this](Sha256& hash) {
            hash.add(hashed_tools_);
            for (const fs::path& file : contract_headers()) hash.add(file.filename().string()).add_file(file);
        });
    }

    template <class Add>
    static std::string hashed(const Add& add) {
        Sha256 hash;
        try {
            add(hash);
        } catch (const std::runtime_error& error) {  // system_error, FileError
            throw InfraError(fmt::format("{}; build again", error.what()));
        }
        return hash.hex();
    }

    /// Where something is kept that is made of our sources alone, or will be.
    fs::path object_of_ours(const std::string& name) const {
        const fs::path there = toolchain_.cache_of_ours / "objects" / name;
        return !toolchain_.cache_of_ours.empty() && in_cache(there) ? there
                                                                    : toolchain_.cache / "objects" / name;
    }

    /// The lines that `make` gives, which depend on the tools alone; it is asked once for all rungs.
    template <class Make>
    std::vector<std::string> known_of_tools(const std::string& what, const Make& make) {
        const fs::path file = object_of_ours(Sha256().add(hashed_tools_).add(what).hex());
        if (const std::optional<std::string> known = from_cache(file)) return lines_of(*known);
        std::string text;
        for (const std::string& line : make()) text += line + '\n';
        const fs::path made = work_.path() / (what + ".known");
        write_working_file(made, text);
        into_cache(made, file);
        return lines_of(text);
    }

    static std::vector<fs::path> files_below(const fs::path& folder) {
        std::vector<fs::path> files;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (entry.is_regular_file()) files.push_back(entry.path());
        }
        std::sort(files.begin(), files.end());
        return files;
    }

    /// The include folders of the flags that are ours, not the system's.
    std::vector<fs::path> own_headers() const {
        std::vector<fs::path> folders;
        for (const std::string& flag : tools_.compile) {
            if (flag.rfind("-I" + toolchain_.root.string(), 0) == 0) folders.emplace_back(flag.substr(2));
        }
        return folders;
    }

    /// What a rung sees of its chapter: headers with CUDA syntax. The exam's and the oracle's are .hpp.
    std::vector<fs::path> contract_headers() const {
        std::vector<fs::path> headers;
        for (const auto& entry : fs::directory_iterator(manifest_.folder)) {
            if (entry.path().extension() == ".cuh") headers.push_back(entry.path());
        }
        std::sort(headers.begin(), headers.end());
        return headers;
    }

    std::string entry_text() const {
        std::string declared, rows;
        for (const std::string& name : rung_.problems) {
            const auto problem = std::find_if(manifest_.problems.begin(), manifest_.problems.end(),
                                              [&](const ProblemEntry& entry) { return entry.name == name; });
            if (problem == manifest_.problems.end()) {
                throw InfraError(fmt::format("{}: rung {} solves '{}', which is not under [problems]",
                                             manifest_.chapter, rung_.name, name));
            }
            declared += fmt::format("{} {};\n", problem->signature, stand_in);
            rows += fmt::format(
                "    {{\"{0}\", [](const rungs::Call& call) {{\n"
                "        rungs::invoke(static_cast<{1}::{2}*>({1}::{3}), call); }}}},\n",
                name, manifest_.name_space, problem->signature, stand_in);
        }
        return fmt::format(
            "#include \"{}\"\n#include \"rungs/call.hpp\"\n\nnamespace {} {{\n{}}}\n\n"
            "extern const rungs::Entry rungs_entries[];\nextern const int rungs_entry_count;\n"
            "void rungs_warm(const void* memory, std::size_t bytes);\n"
            "const rungs::Entry rungs_entries[] = {{\n{}}};\n"
            "const int rungs_entry_count = {};\n\n{}",
            manifest_.contract, manifest_.name_space, declared, rows, rung_.problems.size(), warm_text());
    }

    /// Reads a word of every 2 MiB page from every multiprocessor. Other processes have used the GPU since
    /// this one did, and finding all pages again would otherwise be counted as the rung's time.
    const char* warm_text() const {
        if (backend_ == Backend::cpu) return "void rungs_warm(const void*, std::size_t) {}\n";
        return R"(static __global__ void warm_kernel(const unsigned* memory, std::size_t words, unsigned* sink) {
    constexpr std::size_t page = (std::size_t{2} << 20) / sizeof(unsigned);
    unsigned sum = 0;
    for (std::size_t i = threadIdx.x * page; i < words; i += blockDim.x * page) sum += memory[i];
    if (sum == 0x9e3779b9) *sink = sum;  // hardly ever; the loads must not be removed
}

void rungs_warm(const void* memory, std::size_t bytes) {
    static unsigned* sink = nullptr;
    if (!sink && cudaMalloc(&sink, sizeof *sink) != cudaSuccess) return;
    warm_kernel<<<512, 128>>>(static_cast<const unsigned*>(memory), bytes / sizeof(unsigned), sink);
}
)";
    }

    // -- running tools

    struct Ran {
        bool succeeded = false;
        bool in_time = true;
        End end;
        std::string text;
    };

    Ran run_tool(const std::vector<std::string>& arguments, std::size_t file_bytes = compile_file_bytes,
                 int messages = -1) {
        if (stop_ && stop_->load()) throw Stopped{};
        Command command;
        command.arguments = arguments;
        command.errors = messages;
        const char* path = std::getenv("PATH");
        // nvcc names its files by its process number, which in a namespace of its own is always the same; and
        // two of them may run at once.
        const fs::path temporary = work_.path() / fmt::format("tmp{}", tools_run_++);
        fs::create_directory(temporary);
        // Every run of a compiler sees the same __DATE__ and __TIME__.
        command.environment = {"PATH="s + (path && *path ? path : "/usr/local/bin:/usr/bin:/bin"), "LC_ALL=C",
                               "TMPDIR=" + temporary.string(), "HOME=" + work_.path().string(),
                               "SOURCE_DATE_EPOCH=946684800"};
        command.directory = work_.path();
        // The device compiler reserves far more than it uses.
        command.confinement.limits.address_space = backend_ == Backend::cuda ? 0 : compile_memory;
        command.confinement.limits.cpu_seconds = static_cast<std::size_t>(2 * compile_seconds);
        command.confinement.limits.file_size = file_bytes;
        command.confinement.limits.open_files = 256;
        command.confinement.limits.processes = tool_processes;
        command.confinement.tool = true;
        command.readable = named_paths(arguments);
        for (const std::string& prelude : tools_.preludes) command.readable.push_back(prelude + ".gch");
        // A compiler that is not the system's has its headers beside it.
        const fs::path prefix = fs::canonical(tools_.compiler).parent_path().parent_path();
        if (fs::relative(toolchain_.root, prefix).native().rfind("..", 0) == 0)
            command.readable.push_back(prefix.string());
        command.writable = work_.path().string();
        command.hidden = toolchain_.root.string();  // it may lie below /usr
        Ran ran;
        try {
            Process process(command);
            ran.in_time = run_to_end(process, compile_seconds, stop_);
            ran.end = process.end();
            ran.text = process.errors().text() + process.output().text();
        } catch (const std::system_error& error) {
            throw InfraError(fmt::format("cannot start {}: {}", arguments[0], error.what()));
        }
        if (stop_ && stop_->load()) throw Stopped{};
        if (ran.end.kind == End::Kind::not_started) {
            throw InfraError(fmt::format("cannot start {}: {}", arguments[0], why_not_started(ran.end)));
        }
        if (ran.in_time && ran.end.kind == End::Kind::lost) {
            throw InfraError(fmt::format("{} was ended by another process", arguments[0]));
        }
        ran.succeeded = ran.in_time && ran.end.kind == End::Kind::exited && ran.end.code == 0;
        if (!ran.succeeded &&
            (ran.text.find("No space left on device") != std::string::npos || nearly_full(work_.path()))) {
            cache_failed(work_.path(), "no space left on device");
        }
        return ran;
    }

    std::string shortened(const std::string& text) const {
        return trim_diagnostics(text, {{work_.path().string() + "/", ""},
                                       {"./" + rung_.name, rung_.name},
                                       {toolchain_.root.string() + "/", ""},
                                       {toolchain_.build.string() + "/", ""},
                                       {"/usr/bin/ld: ", ""},
                                       {"rung.o: in function", rung_.name + ".cu: in function"}});
    }

    /// A tool that reads the submission: what it says is shown; that it fails is the submission's fault.
    /// `rule`: where it writes which files it has read, if it does. What it says may quote them, so it is
    /// shown when they have turned out to be allowed.
    void run_on_submission(const std::vector<std::string>& arguments, const char* what,
                           const std::string& rule = "", std::size_t file_bytes = compile_file_bytes) {
        const Ran ran = run_tool(arguments, file_bytes);
        std::string messages = shortened(ran.text);
        if (!rule.empty()) {
            std::error_code ignored;
            if (fs::exists(work_.path() / rule, ignored)) {
                check_includes(rule);
            } else if (backend_ == Backend::cpu && is_on(Defence::includes)) {  // it stopped halfway
                messages = messages_about(messages, rung_.name + ".cu");
            }
        }
        diagnostics_ += messages;
        if (ran.succeeded) return;
        const auto says = [&](const char* words) { return ran.text.find(words) != std::string::npos; };
        if (!ran.in_time) {
            throw Rejected(fmt::format("{} did not finish within {} s", what, compile_seconds), true);
        }
        if (says("File size limit exceeded") ||
            (ran.end.kind == End::Kind::signalled && ran.end.code == SIGXFSZ)) {
            throw Rejected(
                fmt::format("{} wrote more than {} MiB: a huge initialised array?", what, file_bytes >> 20));
        }
        if (says("CPU time limit exceeded") ||
            (ran.end.kind == End::Kind::signalled && ran.end.code == SIGXCPU)) {
            throw Rejected(fmt::format("{} used more than {} s", what, 2 * compile_seconds), true);
        }
        if (says("out of memory") || says("memory exhausted") || says("Cannot allocate memory") ||
            says("Killed signal") || ran.end.kind == End::Kind::signalled) {
            throw Rejected(fmt::format("{} ran out of memory (limit {} GiB)", what, compile_memory >> 30),
                           true);
        }
        if (const std::string file = file_kept_from(ran.text); !file.empty())
            throw Rejected(foreign_include(file));
        const std::string error = first_error(diagnostics_);
        throw Rejected(error.empty() ? fmt::format("{} found an error outside {}.cu, in a file it includes",
                                                   what, rung_.name)
                                     : error);
    }

    /// A tool whose input is ours: failure is ours too.
    std::string run_own(const std::vector<std::string>& arguments, const std::string& what) {
        const Ran ran = run_tool(arguments, worker_bytes);
        if (!ran.succeeded) {
            throw InfraError(fmt::format("{} failed: {}", what, one_line(shortened(ran.text))));
        }
        return ran.text;
    }

    // -- the steps

    bool is_clang() const { return tools_.describe.rfind("Clang", 0) == 0; }

    /// `step`: -c, -S to compile and not assemble, or -E to preprocess alone.
    std::vector<std::string> compile_line(const std::string& input, const std::string& output,
                                          const std::string& prelude, const char* step = "-c") const {
        std::vector<std::string> line{tools_.compiler};
        // The compiler takes a precompiled header for the first one alone.
        if (!prelude.empty()) line.insert(line.end(), {"-include", prelude});
        line.insert(line.end(), tools_.compile.begin(), tools_.compile.end());
        if (backend_ == Backend::cuda) {
            line.insert(line.end(), {"-Xcompiler=-fmax-errors=20", "-x", "cu"});
        } else {
            // Clang stops after 20 errors by itself, and would warn of being told.
            if (!is_clang()) line.push_back("-fmax-errors=20");
            // The name of this folder is another one each time, and nothing that a rung may see.
            line.insert(line.end(), {"-fmacro-prefix-map=" + work_.path().string() + "=.",
                                     "-fdiagnostics-color=never", "-x", "c++"});
        }
        // Nvcc tells what it has read or writes it down, not both.
        const bool tells = backend_ != Backend::cuda || std::string_view(step) != "-E";
        if (tells) line.insert(line.end(), {"-MD", "-MF", output + ".d"});
        line.insert(line.end(), {"-I.", step, "./" + input, "-o", output});
        return line;
    }

    void copy_contract() const {
        for (const fs::path& header : contract_headers()) {
            write_working_file(work_.path() / header.filename(), read_file(header));
        }
    }

    /// The object that calls the launchers, by the name of their stand-in.
    fs::path entry_object() {
        const std::string text = entry_text();
        const fs::path object = object_of_ours(Sha256().add(chapter_).add(text).hex() + ".o");
        // Rungs of a chapter that are judged at once would all make it.
        static std::mutex mutex;
        static std::map<fs::path, std::mutex> all;  // whose elements stay where they are
        std::mutex& making = [&]() -> std::mutex& {
            const std::lock_guard lock(mutex);
            return all[object];
        }();
        const std::lock_guard lock(making);
        if (in_cache(object)) return object;
        const std::string name = backend_ == Backend::cuda ? "rungs_entry.cu" : "rungs_entry.cpp";
        write_working_file(work_.path() / name, text);
        run_own(compile_line(name, "rungs_entry.o", tools_.preludes.empty() ? "" : tools_.preludes.front()),
                fmt::format("compiling the calls of {} (does it have the problems of the manifest?)",
                            manifest_.contract));
        make_private("rungs_entry.o", symbols_of(work_.path() / "rungs_entry.o"),
                     {entry_names.begin(), entry_names.end()});
        into_cache(work_.path() / "rungs_entry.o", object);
        return object;
    }

    /// Leaves only what is `wanted` of an object for others to call.
    void make_private(const std::string& object, const std::vector<Symbol>& symbols,
                      const std::vector<std::string>& wanted) {
        // On the CPU backend inline code too: of all objects' copies the linker keeps one, and if that were
        // an instrumented one, check mode would watch what it does itself. Copies come in groups; without
        // these they all stay.
        const bool inline_code = backend_ == Backend::cpu;
        std::string local;
        for (const std::string& name : private_symbols(symbols, wanted, inline_code)) local += name + "\n";
        if (local.empty()) return;  // objcopy refuses an empty list
        write_working_file(work_.path() / (object + ".local"), local);
        std::vector<std::string> line{binutil("objcopy"), "--localize-symbols=" + object + ".local"};
        if (inline_code) line.emplace_back("--remove-section=.group");
        line.push_back(object);
        run_own(line, "objcopy");
    }

    std::vector<Symbol> our_symbols() {
        std::vector<std::string> line{"nm", no_plugins, "-P", "--defined-only", "--extern-only"};
        line.insert(line.end(), tools_.archives.begin(), tools_.archives.end());
        try {
            return parse_symbols(run_binutil(line, stop_));
        } catch (const Rejected& unreadable) {
            throw InfraError(fmt::format("a library {}; build again", unreadable.what()));
        }
    }

    /// What a rung may include of ours, as it stands between < and >.
    std::vector<std::string> public_headers() const {
        std::vector<std::string> headers;
        for (const fs::path& folder : own_headers()) {
            for (const fs::path& file : files_below(folder)) {
                const fs::path name = file.lexically_relative(folder);
                const std::string room = name.begin()->string();
                // Headers for graders end in .hpp, and so does the one with the errors that CUDA_CHECK
                // throws.
                const bool is_public = room == "rungs"
                                           ? name.extension() == ".cuh" || name == "rungs/cuda_error.hpp"
                                           : room != "simt";
                if (is_public) headers.push_back(name.string());
            }
        }
        return headers;
    }

    /// Of the names that `symbols` define, those that no header declares which a rung may include.
    std::vector<std::string> undeclared(const std::vector<Symbol>& symbols) {
        const NameQuestion question(public_headers(), symbols);
        write_working_file(work_.path() / "names.cu", question.text());
        run_own(translator_line("names.cu"), "translating our headers");
        const Descriptor messages(memfd_create("rungs-messages", MFD_CLOEXEC));
        if (!messages) throw InfraError(fmt::format("no memory for messages: {}", std::strerror(errno)));
        std::vector<std::string> line =
            compile_line("names.cu.cpp", "names.o", tools_.least_prelude(), "-fsyntax-only");
        // Messages are as many as there are names. Inline code of a class asks for what is private to it,
        // too.
        line.insert(line.end(), {"-w", "-fno-diagnostics-show-caret", "-fno-access-control",
                                 is_clang() ? "-ferror-limit=0" : "-fmax-errors=0"});
        run_tool(line, worker_bytes, messages.get());
        const std::optional<std::string> said = read_all(messages.get());
        if (!said) throw InfraError(fmt::format("messages cannot be read: {}", std::strerror(errno)));
        try {
            return question.undeclared(*said, "names.cu");
        } catch (const std::runtime_error& error) {
            throw InfraError(fmt::format("our headers cannot be compiled: {}", error.what()));
        }
    }

    /// What a rung must not ask for. Headers are the same for both backends, and the CPU's compiler reads
    /// them.
    std::vector<std::string> reserved_names() {
        const std::vector<Symbol> symbols = our_symbols();
        std::vector<std::string> names =
            backend_ == Backend::cpu
                ? undeclared(symbols)
                : Builder(manifest_, rung_, toolchain_, Backend::cpu, stop_, Mode::run).undeclared(symbols);
        names.insert(names.end(), entry_names.begin(), entry_names.end());
        return names;
    }

    std::vector<Symbol> symbols_of(const fs::path& object) {
        return parse_symbols(run_binutil({"nm", no_plugins, "-P", object.string()}, stop_));
    }

    /// Where the compiler looks for headers that are not ours, as it says itself.
    std::vector<std::string> header_folders() {
        if (backend_ == Backend::cuda) {
            const fs::path toolkit = fs::canonical(tools_.compiler).parent_path().parent_path();
            return {toolkit / "include", toolkit / "targets", "/usr/include", "/usr/lib/gcc",
                    "/usr/local/include"};
        }
        const std::string said = run_own({tools_.compiler, "-E", "-v", "-x", "c++", "/dev/null"},
                                         "asking the compiler for its headers' folders");
        std::vector<std::string> folders;
        bool listed = false;
        for (const std::string& line : lines_of(said)) {
            if (line.rfind("#include <...>", 0) == 0) listed = true;
            if (line.rfind("End of search list", 0) == 0) break;
            if (listed && line.rfind(" /", 0) == 0) folders.emplace_back(line.substr(1));
        }
        return folders;
    }

    /// These folders, and what links in them lead to elsewhere: Debian 13 keeps <asm/errno.h> below /usr/lib,
    /// and the compiler calls it by that name.
    std::vector<std::string> system_headers() {
        std::set<std::string> known;
        for (const fs::path folder : header_folders()) {
            known.insert(fs::weakly_canonical(folder).string());
            std::error_code failed;
            fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                                failed);
            for (; !failed && at != fs::recursive_directory_iterator(); at.increment(failed)) {
                std::error_code leads_nowhere;
                if (!at->is_symlink(leads_nowhere)) continue;
                const fs::path target = fs::canonical(at->path(), leads_nowhere);
                if (!leads_nowhere) known.insert(target.string());
            }
        }
        return {known.begin(), known.end()};
    }

    /// What the compiler read must be the system's, our headers, or the submission itself: a submission that
    /// includes the solution would be graded as one.
    void check_includes(const std::string& rule) {
        if (!is_on(Defence::includes)) return;
        const std::vector<std::string> told =
            known_of_tools("system_headers", [this] { return system_headers(); });
        const std::vector<fs::path> system(told.begin(), told.end());
        std::set<std::string> in_work{rung_.name + ".cu", rung_.name + ".cu.cpp"};
        for (const fs::path& header : contract_headers()) in_work.insert(header.filename().string());
        const fs::path work = fs::weakly_canonical(work_.path()), translated = work / "translated";
        std::set<fs::path> preludes;
        for (const std::string& prelude : tools_.preludes)
            preludes.insert({fs::weakly_canonical(prelude), fs::weakly_canonical(prelude + ".gch")});
        const auto whole = [](std::vector<fs::path> folders) {
            for (fs::path& folder : folders) folder = fs::weakly_canonical(folder);
            return folders;
        };
        const std::vector<fs::path> own = whole(own_headers());
        const std::vector<fs::path> trees = whole({toolchain_.root, toolchain_.build});
        for (const std::string& word : files_of_rule(read_file(work_.path() / rule))) {
            std::error_code failed;
            const fs::path file = fs::canonical(work_.path() / word, failed);
            const auto below = [&](const fs::path& folder) { return is_below(file.c_str(), folder.c_str()); };
            const auto below_any = [&](const std::vector<fs::path>& folders) {
                return std::any_of(folders.begin(), folders.end(), below);
            };
            if (preludes.count(file) > 0) continue;
            const std::string name = file.filename().string();
            // The workbook itself may lie below a folder of the system's.
            const bool allowed = below(work)        ? below(translated) || in_work.count(name) > 0
                                 : below_any(trees) ? below_any(own)
                                                    : below_any(own) || below_any(system);
            if (failed || !allowed) {
                diagnostics_.clear();  // they may quote that file
                throw Rejected(foreign_include(word));
            }
            // Their accesses are not seen in check mode.
            if (name.size() > 8 && name.compare(name.size() - 8, 8, "intrin.h") == 0) {
                throw Rejected(fmt::format("includes {}: instructions that no GPU has", name));
            }
        }
    }

    /// Macros that a prelude has beyond the least one.
    std::vector<std::string> macros_of_preludes() {
        const auto macros_of = [&](const std::string& prelude) {
            std::vector<std::string> line{tools_.compiler};
            line.insert(line.end(), tools_.compile.begin(), tools_.compile.end());
            // To a file: of what a tool prints, the middle is left out where it is much.
            line.insert(line.end(), {"-w", "-x", "c++", "-dM", "-E", prelude, "-o", "macros"});
            run_own(line, "asking for the macros of a prelude");
            std::set<std::string> names;
            for (const std::string& text : lines_of(read_file(work_.path() / "macros"))) {
                std::istringstream words(text);
                std::string define, name;
                words >> define >> name;
                names.insert(name.substr(0, name.find('(')));
            }
            return names;
        };
        const std::set<std::string> least = macros_of(tools_.least_prelude());
        std::set<std::string> more;
        for (const std::string& prelude : tools_.preludes) {
            for (const std::string& name : macros_of(prelude))
                if (!least.contains(name)) more.insert(name);
        }
        return {more.begin(), more.end()};
    }

    /// The prelude that saves most of a rung which reads the files of `rule` beside the least of preludes,
    /// and shows it nothing else: `compiled` must not be able to ask for a macro before it includes what
    /// defines it, or the compiler would take it for another text than the preprocessor has.
    std::string prelude_for(const fs::path& rule, const std::string& compiled) {
        if (tools_.preludes.empty()) return "";
        const std::vector<std::string> told =
            known_of_tools("macros_of_preludes", [this] { return macros_of_preludes(); });
        if (could_name(read_file(work_.path() / compiled), {told.begin(), told.end()}))
            return tools_.least_prelude();
        std::set<std::string> files;
        for (const fs::path& read : {rule, fs::path(tools_.least_prelude() + ".d")}) {
            for (std::string& file : files_of_rule(read_file(read))) files.insert(std::move(file));
        }
        for (const std::string& prelude : tools_.preludes) {
            const std::vector<std::string> in_it = files_of_rule(read_file(prelude + ".d"));
            const auto is_read = [&](const std::string& file) {
                return file == prelude || files.count(file) > 0;
            };
            if (std::all_of(in_it.begin(), in_it.end(), is_read)) return prelude;
        }
        return tools_.least_prelude();
    }

    /// Looks at what macros have put together, before the compiler proper does, and returns it.
    std::string check_preprocessed(const std::string& compiled) {
        const std::string said = diagnostics_;
        std::vector<std::string> line = compile_line(compiled, "rung.ii", tools_.least_prelude(), "-E");
        if (!tools_.preludes.empty())
            line.emplace_back("-fpch-preprocess");  // else it reads the header itself
        run_on_submission(line, "the preprocessor", backend_ == Backend::cuda ? "" : "rung.ii.d");
        diagnostics_ = said;  // the compiler warns again
        const fs::path file = work_.path() / "rung.ii";
        if (fs::file_size(file) > most_preprocessed_bytes) {
            throw Rejected(fmt::format("has more than {} MiB of text once its macros are expanded",
                                       most_preprocessed_bytes >> 20));
        }
        std::string text = read_file(file);
        fs::remove(file);
        const std::string why = objection_to_words(text, own_names());
        if (!why.empty() && is_on(Defence::words)) throw Rejected(why);
        return text;
    }

    std::vector<std::string> own_names() const { return {rung_.name + ".cu", rung_.name + ".cu.cpp"}; }

    /// The summary of preprocessed text, without the names of our files in it.
    std::string seen(std::string text) const {
        for (const std::string& ours : {work_.path().string(), tools_.least_prelude()}) {
            for (std::size_t at = 0; !ours.empty() && (at = text.find(ours, at)) != std::string::npos;)
                text.erase(at, ours.size());
        }
        // Without a prelude our headers stand in the text, and the bodies of their functions are check
        // mode's.
        return summary(text, own_names(), !tools_.preludes.empty());
    }

    /// A rung must not be another program in check mode. Both modes' builds write down what their compiler
    /// sees before they look for what the other's has seen: so whichever comes second finds a difference.
    void compare_modes(const std::string& source, const std::string& text) {
        const Mode other = mode_ == Mode::run ? Mode::check : Mode::run;
        if (backend_ != Backend::cpu || !toolchain_.tools(backend_, other) || !is_on(Defence::both_modes))
            return;
        const fs::path folder = toolchain_.cache / "seen", made = work_.path() / "seen";
        const std::string ours = seen(text);
        write_working_file(made, ours);
        into_cache(made, folder / key(source));
        Builder builder(manifest_, rung_, toolchain_, backend_, stop_, other, hashed_headers_);
        const std::string others_key = builder.key(source);
        std::optional<std::string> theirs = from_cache(folder / others_key);
        if (!theirs && in_cache(toolchain_.cache / "workers" / others_key)) theirs = builder.seen_of(source);
        remove_least_used(folder, most_seen_bytes);
        if (!theirs) return;
        const Difference found = difference(ours, *theirs);
        if (!found.found) return;
        const std::string place = found.line > 0
                                      ? fmt::format("{}.cu:{}: this line", rung_.name, found.line)
                                      : fmt::format("{}.cu: a header that it includes", rung_.name);
        throw Hides(place +
                    " is another one where the rung is checked: write it without what tells the two apart");
    }

    /// Puts the rung in place; returns what the compiler is to read.
    std::string translated(const std::string& text) {
        const std::string source = rung_.name + ".cu";
        write_working_file(work_.path() / source, text);
        if (tools_.translator.empty()) return source;
        // The compiler sees what became of them.
        run_on_submission(translator_line(source), "the translator", "translated.d");
        return compiled_name(source);
    }

    /// The file that the compiler reads for `source`.
    std::string compiled_name(const std::string& source) const {
        return tools_.translator.empty() ? source : source + ".cpp";
    }

    std::vector<std::string> translator_line(const std::string& source) const {
        std::vector<std::string> line{tools_.translator, "./" + source, "-o", compiled_name(source), "-I."};
        for (const fs::path& folder : own_headers()) line.push_back("-I" + folder.string());
        line.insert(line.end(), {"--header-dir", "translated", "--depfile", "translated.d"});
        return line;
    }

    /// Links `objects` with our libraries.
    std::vector<std::string> link_line(const std::vector<std::string>& objects) const {
        std::vector<std::string> line{tools_.compiler, "-o", "worker"};
        line.insert(line.end(), objects.begin(), objects.end());
        line.insert(line.end(), tools_.archives.begin(), tools_.archives.end());
        line.insert(line.end(), tools_.link.begin(), tools_.link.end());
        if (backend_ == Backend::cpu) {
            line.push_back(std::string("-Wl,--wrap=") + run_grid);
        } else {
            for (const char* name : protocol::wrapped_on_cuda)
                line.insert(line.end(), {"-Xlinker", std::string("--wrap=") + name});
        }
        return line;
    }

    /// Compiles to rung.o, and looks at the assembly on the way where that can be had.
    void compile(const std::string& compiled, const std::string& prelude) {
        // Nvcc and Clang assemble by themselves, and nothing of a source is text for that.
        if (backend_ == Backend::cuda || is_clang())
            return run_on_submission(compile_line(compiled, "rung.o", prelude), "the compiler", "rung.o.d");
        run_on_submission(compile_line(compiled, "rung.s", prelude, "-S"), "the compiler", "rung.s.d");
        const fs::path assembly = work_.path() / "rung.s";
        if (const std::string why = objection_to_assembly(read_file(assembly), own_names());
            !why.empty() && is_on(Defence::words))
            throw Rejected(why);
        std::vector<std::string> line{binutil("as"), "-o", "rung.o", "./rung.s"};
        for (const std::string& flag : tools_.compile) {
            if (flag.rfind("-gdwarf-", 0) == 0) line.push_back("-" + flag);  // of the line table
        }
        run_on_submission(line, "the assembler");
        fs::remove(assembly);
    }

    void link_worker(const std::vector<std::string>& line, const std::vector<std::string>& launchers) {
        try {
            run_on_submission(line, "the linker", "", worker_bytes);
        } catch (const Rejected&) {
            if (!is_on(Defence::blame)) throw InfraError("the worker cannot be linked");
            // Ours is what fails without the submission as well: a library that is missing or broken.
            std::vector<std::string> without = line;
            std::erase(without, "rung.o");
            for (const std::string& launcher : launchers) {
                // As nvcc takes it, too.
                without.insert(without.end(), {"-Xlinker", fmt::format("--defsym={}=main", launcher)});
            }
            run_own(without, "linking without the submission");
            throw;
        }
    }

    void link(const std::string& text, Build& result, const fs::path& warnings) {
        const std::string source = rung_.name + ".cu";
        copy_contract();
        std::future<fs::path> entry_made = std::async(std::launch::async, [this] { return entry_object(); });

        const std::string compiled = translated(text);
        compare_modes(text, check_preprocessed(compiled));
        const std::string prelude = prelude_for(work_.path() / "rung.ii.d", compiled);
        compile(compiled, prelude);

        const fs::path entry = entry_made.get();
        std::vector<std::string> wanted, stand_ins;
        for (const std::string& name : launchers(symbols_of(entry), manifest_.name_space + "::" + stand_in)) {
            wanted.push_back(renamed(name, stand_in, rung_.launcher()));
            stand_ins.push_back(fmt::format("--defsym={}={}", name, wanted.back()));
        }
        const std::vector<Symbol> symbols = symbols_of(work_.path() / "rung.o");
        const std::vector<std::string> names =
            known_of_tools("our_names", [this] { return strong_names(our_symbols()); });
        const std::vector<std::string> reserved =
            known_of_tools("reserved_names", [this] { return reserved_names(); });
        if (const std::string why =
                objection(symbols, wanted, {names.begin(), names.end()}, {reserved.begin(), reserved.end()});
            !why.empty() && is_on(Defence::symbols)) {
            throw Rejected(source + " " + why);
        }
        const auto traces = [](const Symbol& symbol) { return symbol.name == "__sanitizer_cov_trace_pc"; };
        if (mode_ == Mode::check && std::none_of(symbols.begin(), symbols.end(), traces)) {
            throw Rejected(source + " has no instrumentation in check mode");
        }
        make_private("rung.o", symbols, wanted);

        std::vector<std::string> line = link_line({entry.string(), "rung.o"});
        for (const std::string& definition : stand_ins) line.insert(line.end(), {"-Xlinker", definition});
        link_worker(line, wanted);
        const fs::path worker = work_.path() / "worker";
        // Workers run as another user, who must be able to execute this file but owns nothing.
        if (chmod(worker.c_str(), 0755) != 0) cache_failed(worker, std::strerror(errno));
        if (!diagnostics_.empty()) {
            write_working_file(work_.path() / "warnings", diagnostics_);
            into_cache(work_.path() / "warnings", warnings);
        }
        into_cache(worker, result.executable);
        remove_least_used(result.executable.parent_path(), most_cached_bytes);
    }

    const Manifest& manifest_;
    const RungEntry& rung_;
    const Toolchain& toolchain_;
    Backend backend_;
    Mode mode_;
    const BackendTools& tools_;
    const std::atomic<bool>* stop_;
    WorkFolder work_;
    std::atomic<int> tools_run_{0};
    std::string hashed_headers_, hashed_tools_, chapter_;
    std::string diagnostics_;
};

}  // namespace

namespace {

/// Does work in which no submission has a part: whatever fails there is our fault.
template <class Work>
auto blaming_nobody(const Work& work) {
    try {
        return work();
    } catch (const Rejected& rejected) {
        throw InfraError(fmt::format("what the compiler makes of our own headers {}", rejected.what()));
    } catch (const std::system_error& error) {
        throw InfraError(error.what());
    } catch (const FileError& error) {
        throw InfraError(error.what());
    }
}

}  // namespace

std::string run_binutil(std::vector<std::string> arguments, const std::atomic<bool>* stop) {
    const std::string name = arguments[0];
    arguments[0] = binutil(name);
    // Captured text is cut; a file is not.
    const Descriptor out(memfd_create("rungs-output", MFD_CLOEXEC));
    if (!out) throw InfraError(fmt::format("no memory for {}'s output: {}", name, std::strerror(errno)));
    Command command;
    command.arguments = std::move(arguments);
    command.environment = {"LC_ALL=C"};
    command.output = out.get();
    command.confinement.limits.file_size = listing_bytes;
    command.confinement.limits.address_space = compile_memory;
    command.confinement.limits.processes = tool_processes;
    command.confinement.tool = true;
    command.readable = named_paths(command.arguments);
    Process process(command);
    if (!run_to_end(process, compile_seconds, stop)) {
        if (stop && stop->load()) throw Stopped{};
        throw Rejected(fmt::format("has too much for {} to read within {} s", name, compile_seconds), true);
    }
    const End& end = process.end();
    if (end.kind == End::Kind::not_started || end.kind == End::Kind::lost) {
        throw InfraError(fmt::format("{} could not be run: {}", name, why_not_started(end)));
    }
    if (end.kind != End::Kind::exited || end.code != 0) {
        throw Rejected(
            fmt::format("cannot be read to its end by {}: {}", name, one_line(process.errors().text())));
    }
    std::optional<std::string> text = read_all(out.get());
    if (!text) throw InfraError(fmt::format("{}'s output cannot be read: {}", name, std::strerror(errno)));
    return *std::move(text);
}

std::vector<std::string> files_of_rule(const std::string& rule) {
    std::vector<std::string> files;
    std::string file;
    const auto end_of_file = [&] {
        if (!file.empty()) files.push_back(std::exchange(file, {}));
    };
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
    for (std::size_t i = std::min(rule.size(), rule.find(':') + 1); i < rule.size();) {
        // Before a blank, backslashes stand twice, and one more says that the blank belongs to the name.
        const std::size_t first = i;
        while (i < rule.size() && rule[i] == '\\') ++i;
        const std::size_t slashes = i - first;
        const char next = i < rule.size() ? rule[i] : '\n';
        if (!blank(next)) {
            const bool escaped = slashes > 0 && (next == '#' || next == ':');
            file.append(slashes - (escaped ? 1 : 0), '\\');
            if (next == '$' && rule.compare(i, 2, "$$") == 0) ++i;
            file += next;
        } else if (next == '\n') {
            end_of_file();  // a backslash before it goes on with the rule in the next line
        } else {
            file.append(slashes / 2, '\\');
            if (slashes % 2 != 0) {
                file += next;
            } else {
                end_of_file();
            }
        }
        ++i;
    }
    end_of_file();
    return files;
}

std::string worker_key(const Manifest& manifest, const RungEntry& rung, const fs::path& source,
                       const Toolchain& toolchain, Backend backend, Mode mode) {
    return Builder(manifest, rung, toolchain, backend, nullptr, mode).key(read_rung(source));
}

ToolPlaces places_of_tools(const Manifest& manifest, const RungEntry& rung, const Toolchain& toolchain,
                           Backend backend, Mode mode, const std::atomic<bool>* stop) {
    return blaming_nobody([&] { return Builder(manifest, rung, toolchain, backend, stop, mode).places(); });
}

void try_tools(const Manifest& manifest, const RungEntry& rung, const Toolchain& toolchain, Backend backend,
               const std::atomic<bool>* stop) {
    blaming_nobody([&] { Builder(manifest, rung, toolchain, backend, stop, Mode::run).try_tools(); });
}

Build build_worker(const Trial& trial, Backend backend, Mode mode) {
    const auto start = Clock::now();
    const JudgeOptions& options = trial.options;
    try {
        prune(options.toolchain.cache);
        Build result = Builder(trial.manifest, trial.rung, options.toolchain, backend, options.stop, mode)
                           .build(trial.source);
        result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
        return result;
    } catch (const std::system_error& error) {
        throw InfraError(error.what());
    } catch (const FileError& error) {
        throw InfraError(error.what());
    }
}

}  // namespace rungs::judge
