#include "cu2cpp/project.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

namespace cu2cpp {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t max_source_bytes = 64U << 20U;
constexpr std::size_t max_include_depth = 200;  // as in g++

/// Written in front of every translated `.cu`. nvcc, too, includes the runtime header by itself. SIMT_LOCAL
/// is as long as `__device__`, which it replaces, so columns in messages stay right, and so are the names of
/// shifts. The other names stand in for the runtime's inside a macro that has a parameter of the same name.
constexpr std::string_view prologue =
    "#include <cuda_runtime.h>\n"
    "#define SIMT_LOCAL static __attribute__((__unused__))\n"
    "#define SIMT_kernel ::simt::kernel\n"
    "#define SIMT_cfg ::simt::cfg\n"
    "#define SIMT_shared ::simt::shared\n"
    "#ifdef __clang__\n"
    "#pragma clang diagnostic ignored \"-Wdollar-in-identifier-extension\"\n"
    "#endif\n"
    "#define $L <<::simt::by<<\n"
    "#define $R >>::simt::by>>\n"
    "#define $L_ <<=::simt::by<<=\n"
    "#define $R_ >>=::simt::by>>=\n";

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
    throw FileError(path.string() + ": error: " + what);
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

/// A name in Makefile syntax.
std::string make_name(const fs::path& path) {
    std::string out;
    for (const char c : path.string()) {
        if (c == ' ' || c == '#') out += '\\';
        if (c == '$') out += '$';
        out += c;
    }
    return out;
}

std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
}

fs::path identity(const fs::path& path) {
    std::error_code ignored;
    fs::path out = fs::weakly_canonical(path, ignored);
    return ignored ? fs::absolute(path) : out;
}

void create_folder_of(const fs::path& path) {
    if (path.parent_path().empty()) return;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error)
        fail(path, "cannot create its folder (" + error.message() + "); check the path and its permissions");
}

}  // namespace

std::string read_source(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) fail(path, "no such file; check the name");
    if (fs::is_directory(status)) fail(path, "is a folder; name a .cu file");
    if (!fs::is_regular_file(status)) fail(path, "is not a regular file; name a .cu file");
    if (fs::file_size(path, error) > max_source_bytes)
        fail(path, "is larger than 64 MB; that is not source code");
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
        fail(path, std::string("cannot be read (") + std::strerror(errno) + "); check its permissions");
    std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    if (stream.bad()) fail(path, std::string("cannot be read (") + std::strerror(errno) + ")");
    const std::size_t zero = text.find('\0');
    if (zero != std::string::npos) {
        const bool utf16 = text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF";
        fail(path, utf16 ? "is UTF-16; save it as UTF-8"
                         : "is not text: byte " + std::to_string(zero) + " is zero; is this a binary file?");
    }
    return text;
}

void write_atomically(const fs::path& path, std::string_view text) {
    create_folder_of(path);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) fail(path, "is a folder; name a file to write");
    const bool special =
        fs::exists(status) && !fs::is_regular_file(status);  // /dev/null must not be replaced
    const fs::path target =
        special ? path : fs::path(path.string() + "." + std::to_string(::getpid()) + ".tmp");
    std::ofstream stream(target, std::ios::binary | std::ios::trunc);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.close();
    if (!stream) {
        const std::string why = std::strerror(errno);
        if (!special) fs::remove(target, error);
        fail(path, "cannot be written (" + why + "); check the disk and permissions");
    }
    if (special) return;
    fs::rename(target, path, error);
    if (error) {
        const std::string why = error.message();
        fs::remove(target, error);
        fail(path, "cannot be written (" + why + ")");
    }
}

struct Project::File {
    fs::path path;        ///< canonical
    std::string display;  ///< as messages and `#line` name it
    std::string text;
    Translation translation;
    struct Target {
        File* file = nullptr;
        bool beside = false;  ///< found relative to the including file, which the translation is not
    };
    std::vector<Target> targets;  ///< parallel to translation.includes
    std::size_t first_diagnostic = 0;
    bool analysed = false;
    bool changes = false;  ///< its translation differs from the original
    bool refused = false;
};

Project::Project(Job job) : job_(std::move(job)) {
    if (job_.header_dir.empty()) job_.header_dir = job_.output.string() + ".headers";
    // The runtime's own headers are C++ already.
    const auto is_runtime = [](const fs::path& dir) { return fs::exists(dir / "simt" / "launch.h"); };
    auto& dirs = job_.include_dirs;
    dirs.erase(std::remove_if(dirs.begin(), dirs.end(), is_runtime), dirs.end());
}

Project::~Project() = default;

bool Project::finds(std::string_view header) const {
    return std::any_of(job_.include_dirs.begin(), job_.include_dirs.end(),
                       [&](const fs::path& dir) { return fs::is_regular_file(dir / header); });
}

Project::File* Project::open(const fs::path& path, const std::string& display, const Exports& so_far,
                             std::size_t depth) {
    const fs::path key = identity(path);
    if (const auto known = by_path_.find(key.string()); known != by_path_.end()) return known->second;
    auto owned = std::make_unique<File>();
    File& file = *owned;
    file.path = key;
    file.display = display;
    file.text = read_source(path);
    files_.push_back(std::move(owned));
    by_path_.emplace(key.string(), &file);

    TranslateOptions options;
    options.relocatable = job_.relocatable;
    options.relaxed_constexpr = job_.relaxed_constexpr;
    options.dropped_errors = job_.dropped_errors;
    options.loops_over_lanes = job_.loops_over_lanes;
    options.lenient = job_.lenient;
    options.has_header = [this](std::string_view header) { return finds(header); };
    options.external_names = so_far.external_names;
    options.device_constants = so_far.device_constants;
    options.open_include = [&](const Include& include, const Exports& known) -> const Exports* {
        File* target = depth < max_include_depth ? resolve(file, include, known, depth + 1) : nullptr;
        const bool beside =
            target != nullptr && !include.brackets && fs::exists(file.path.parent_path() / include.name);
        file.targets.push_back({target, beside});
        return target != nullptr ? &target->translation.exports : nullptr;
    };
    file.translation = translate(file.text, file.display, options);
    file.changes = !file.translation.edits.empty();
    file.refused = !file.translation.diagnostics.empty();
    file.analysed = true;
    return &file;
}

Project::File* Project::resolve(const File& from, const Include& include, const Exports& so_far,
                                std::size_t depth) {
    const auto try_open = [&](const fs::path& path, const std::string& display) -> File* {
        std::error_code ignored;
        return fs::is_regular_file(path, ignored) ? open(path, display, so_far, depth) : nullptr;
    };
    const fs::path name(include.name);
    if (include.brackets) {
        // What others wrote is C++ for the host, or they would say so by the name.
        const bool cuda = name.extension() == ".cu" || name.extension() == ".cuh";
        for (const fs::path& dir : job_.include_dirs) {
            std::error_code ignored;
            if (!cuda && !fs::equivalent(dir, from.path.parent_path(), ignored)) continue;
            if (File* file = try_open(dir / name, (dir / name).lexically_normal().string())) return file;
        }
        return nullptr;
    }
    const fs::path beside = from.path.parent_path() / name;
    // Messages name a header as the compiler would: relative to the folder of the file that includes it.
    const fs::path display = fs::path(from.display).parent_path() / name;
    if (File* file = try_open(beside, display.lexically_normal().string())) return file;
    for (const fs::path& dir : job_.include_dirs) {
        if (File* file = try_open(dir / name, (dir / name).lexically_normal().string())) return file;
    }
    return nullptr;
}

const std::vector<Diagnostic>& Project::analyse() {
    open(job_.input, job_.input.string(), {}, 0);
    propagate();
    // A header that only some `#if` reaches may be refused in silence: it is an error only where
    // it is compiled.
    std::vector<const File*> reached{files_.front().get()};
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const File& file = *reached[i];
        diagnostics_.insert(diagnostics_.end(), file.translation.diagnostics.begin(),
                            file.translation.diagnostics.end());
        for (std::size_t k = 0; k < file.targets.size(); ++k) {
            const File* target = file.targets[k].file;
            if (target == nullptr || file.translation.includes[k].conditional) continue;
            if (std::find(reached.begin(), reached.end(), target) == reached.end()) reached.push_back(target);
        }
    }
    return diagnostics_;
}

/// A header changes when one that it includes changes: its copy has to name the other's copy.
void Project::propagate() {
    files_.front()->changes = true;
    for (bool again = true; again;) {
        again = false;
        for (const auto& file : files_) {
            if (file->changes) continue;
            file->changes =
                std::any_of(file->targets.begin(), file->targets.end(), [](const File::Target& target) {
                    return target.file != nullptr && (target.file->changes || target.file->refused);
                });
            again = again || file->changes;
        }
    }
}

fs::path Project::translated_path(const File& file) const {
    // Headers of one name from different folders must not meet. What lies beside the source, or below, has
    // the same name wherever that is.
    fs::path folder = file.path.parent_path();
    const fs::path below = folder.lexically_relative(files_.front()->path.parent_path());
    if (!below.empty() && *below.begin() != "..") folder = below;
    char name[17];
    std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(fnv1a(folder.string())));
    return fs::absolute(job_.header_dir) / std::string(name, 8) / file.path.filename();
}

std::string Project::output_text(const File& file) const {
    std::vector<Edit> edits = file.translation.edits;
    for (std::size_t i = 0; i < file.targets.size(); ++i) {
        const Include& include = file.translation.includes[i];
        const auto& [target, beside] = file.targets[i];
        if (target == nullptr) continue;
        if (target->refused) {  // under an `#if`, otherwise nothing would be written
            edits.push_back(
                {include.begin, include.end, "#error " + target->translation.diagnostics[0].text()});
        } else if (target->changes) {
            edits.push_back(
                {include.name_begin, include.name_end, "\"" + translated_path(*target).string() + "\""});
        } else if (beside) {
            edits.push_back({include.name_begin, include.name_end, "\"" + target->path.string() + "\""});
        }
    }
    const bool main = &file == files_.front().get();
    std::string_view text = file.text;
    std::string head(main ? prologue : std::string_view{});
    head += "#line 1 \"" + escaped(file.display) + "\"\n";
    std::string body = apply(text, std::move(edits));
    if (body.substr(0, 3) == "\xEF\xBB\xBF") body.erase(0, 3);  // no longer the first bytes
    if (!body.empty() && body.back() != '\n') body += '\n';
    return head + body;
}

void Project::write() {
    for (const auto& file : files_) {
        if (!file->changes || file->refused || file == files_.front()) continue;
        const fs::path path = translated_path(*file);
        const std::string text = output_text(*file);
        std::error_code ignored;
        if (fs::is_regular_file(path, ignored) && read_source(path) == text) continue;  // no needless rebuild
        write_atomically(path, text);
    }
    write_atomically(job_.output, output_text(*files_.front()));
}

std::vector<Diagnostic> Project::all(std::vector<Diagnostic> Translation::*kind) const {
    std::vector<Diagnostic> found;
    for (const auto& file : files_) {
        const auto& of_it = file->translation.*kind;
        found.insert(found.end(), of_it.begin(), of_it.end());
    }
    return found;
}

void Project::write_depfile() const {
    std::string text = make_name(job_.output) + ":";
    for (const auto& file : files_) text += " \\\n  " + make_name(file->path);
    write_atomically(job_.depfile, text + "\n");
}

void Project::remove_output() const {
    std::error_code ignored;
    if (fs::is_regular_file(job_.output, ignored)) fs::remove(job_.output, ignored);
}

}  // namespace cu2cpp
