#include "judge/build/source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/preprocessed.hpp"
#include "judge/confine/process.hpp"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_source_bytes = 1U << 20;

}  // namespace

std::filesystem::path source_of(const Manifest& manifest, const RungEntry& rung,
                                const std::filesystem::path& root, Whose whose,
                                const std::filesystem::path& submission) {
    const std::string file = rung.file();
    // What is to be predicted is counted: the questions are all that there is of a reference.
    if (rung.kind == rungs::Kind::predict && whose == Whose::solution && submission.empty())
        return root / "chapters" / manifest.chapter / "chapter.toml";
    if (rung.given()) return root / "chapters" / manifest.chapter / file;
    if (!submission.empty()) {
        const auto nested = submission / manifest.chapter / file;
        std::error_code ignored;
        return std::filesystem::exists(nested, ignored) ? nested : submission / file;
    }
    return root / (whose == Whose::solution ? "solutions" : "chapters") / manifest.chapter / file;
}

std::string read_rung(const fs::path& file) {
    const std::string name = file.filename().string();
    // Non-blocking: opening a fifo would wait for a writer for ever.
    const Descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!in) {
        if (errno == ENOENT || errno == ENOTDIR) throw Rejected(fmt::format("there is no file {}", name));
        throw Rejected(fmt::format("{} cannot be read: {}", name, std::strerror(errno)));
    }
    struct stat status {};
    if (fstat(in.get(), &status) != 0) throw Rejected(fmt::format("{}: {}", name, std::strerror(errno)));
    if (S_ISDIR(status.st_mode)) throw Rejected(fmt::format("{} is a folder, not a file", name));
    if (!S_ISREG(status.st_mode)) throw Rejected(fmt::format("{} is not a regular file", name));
    if (status.st_size > static_cast<off_t>(most_source_bytes)) {
        throw Rejected(fmt::format("{} has {} bytes; a rung may have at most {}", name,
                                   static_cast<long long>(status.st_size), most_source_bytes));
    }
    std::string text(most_source_bytes + 1, '\0');
    std::size_t size = 0;
    for (ssize_t got = 1; got != 0 && size < text.size();) {
        got = read(in.get(), text.data() + size, text.size() - size);
        if (got < 0 && errno != EINTR) throw Rejected(fmt::format("{}: {}", name, std::strerror(errno)));
        if (got > 0) size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
        throw Rejected(fmt::format("{} is empty", name));
    }
    if (const std::size_t zero = text.find('\0'); zero != std::string::npos) {
        throw Rejected(fmt::format("{} is not a text file: byte {} is zero", name, zero));
    }
    return text;
}

void check_words(const std::string& name, const std::string& text) {
    struct {
        const char* word;
        const char* purpose;
    } const refused[] = {{"no_sanitize", "would hide code from the checks"},
                         {"disable_sanitizer", "would hide code from the checks"},
                         {"__SANITIZE_", "would hide code from the checks"},
                         {"thread_sanitizer", "would hide code from the checks"},
                         // These are other macros in check mode, too.
                         {"SIMT_CHECK", "would hide code from the checks"},
                         {"SIMT_RED_ZONE", "would hide code from the checks"},
                         {"SIMT_UNSEEN", "would hide code from the checks"},
                         {"SIMT_WAITS", "would hide code from the checks"},
                         {"SIMT_WHOLE_VECTORS", "would hide code from the checks"},
                         {"_GLIBCXX_TSAN", "would hide code from the checks"},
                         {"__tsan", "would hide code from the checks"},
                         {"__has_include", "asks for files of this machine"},
                         {"GCC dependency", "asks for files of this machine"}};
    for (const auto& [word, purpose] : refused) {
        const std::size_t at = text.find(word);
        if (at == std::string::npos) continue;
        const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
        throw Rejected(fmt::format("{}:{}: '{}' {}: remove it", name, line, word, purpose));
    }
    if (const std::size_t line = line_directive(text)) {
        throw Rejected(
            fmt::format("{}:{}: a #line directive makes messages name other places: remove it", name, line));
    }
    if (const std::size_t line = hidden_condition(text)) {
        throw Rejected(
            fmt::format("{}:{}: a condition by a macro that is not a number, or is neither yours nor CUDA's: "
                        "write it out",
                        name, line));
    }
}

}  // namespace rungs::judge
