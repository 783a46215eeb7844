#include "judge/sanitizer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "judge/build/build.hpp"
#include "judge/build/diagnostics.hpp"
#include "judge/build/source.hpp"
#include "judge/clock/device.hpp"
#include "judge/confine/process.hpp"
#include "judge/counts.hpp"
#include "judge/result/findings.hpp"
#include "judge/session.hpp"
#include "simt/inspect/names.h"

namespace rungs::judge {
namespace {

namespace fs = std::filesystem;
using simt::check::advice_for;
using simt::check::Severity;
using simt::check::Tool;

constexpr double tool_seconds = 90;
constexpr std::size_t most_cases = 3;
constexpr double small_work = 2e5;  ///< bytes or flops of a case: the tools are slow

/// What tools of compute-sanitizer are known to get wrong, whatever the rung does.
struct KnownLimit {
    std::vector<Tool> tools;
    const char* version;  ///< the newest one that was seen to have it
    const char* feature;  ///< that they do not follow
    const char* call;     ///< made by every rung that uses the feature
};

const std::vector<KnownLimit>& known_limits() {
    static const std::vector<KnownLimit> all{
        // Of a body with one barrier, reached by all its threads, synccheck reports thousands of divergent
        // threads and stops them; racecheck crashes.
        {{Tool::racecheck, Tool::synccheck},
         "2025.3.1 (CUDA 13.0)",
         "the conditional nodes of graphs",
         "cudaGraphConditionalHandleCreate"}};
    return all;
}

/// Whether `word` stands in the text outside of comments.
bool has_word(const std::string& text, const std::string& word) {
    const auto is_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        line.erase(std::min(line.find("//"), line.size()));
        for (std::size_t at = 0; (at = line.find(word, at)) != std::string::npos; at += word.size()) {
            const std::size_t end = at + word.size();
            if ((at == 0 || !is_of_word(line[at - 1])) && (end == line.size() || !is_of_word(line[end])))
                return true;
        }
    }
    return false;
}

/// A line of the report without its "========= "; nothing for the program's own.
std::optional<std::string> report_line(const std::string& line) {
    static const std::string mark = "=========";
    if (line.rfind(mark, 0) != 0) return std::nullopt;
    std::string text = line.substr(mark.size());
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    return text;
}

/// "at kernel(const float *)+0x70 in file.cu:11 ..." -> kernel, file, line.
simt::check::Place place_in(const std::string& text) {
    simt::check::Place place;
    const std::size_t at = text.find("at "), in = text.rfind(" in ");
    if (at == std::string::npos || in == std::string::npos || in < at) return place;
    std::string function = text.substr(at + 3, in - at - 3);
    function = function.substr(0, function.rfind("+0x"));
    place.function = one_line(simt::short_name(function), 200);
    const std::string file = text.substr(in + 4);
    const std::size_t colon = file.rfind(':');
    if (colon == std::string::npos) return place;
    place.file = fs::path(one_line(file.substr(0, colon), 200)).filename().string();
    place.line = static_cast<unsigned>(std::strtoul(file.c_str() + colon + 1, nullptr, 10));
    return place;
}

/// "(1,2,3)" behind `word`.
uint3 triple_behind(const std::string& text, const std::string& word) {
    uint3 value{};
    const std::size_t at = text.find(word + " (");
    if (at != std::string::npos) {
        std::sscanf(text.c_str() + at + word.size() + 2, "%u,%u,%u", &value.x, &value.y, &value.z);
    }
    return value;
}

/// The words of `text` from `begin` up to `end`, which need not be there.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
    const std::size_t from = text.find(begin);
    if (from == std::string::npos) return "";
    const std::size_t first = from + begin.size();
    return text.substr(first, text.find(end, first) - first);
}

/// Paragraphs of the report.
std::vector<std::vector<std::string>> paragraphs(const std::string& text) {
    std::vector<std::vector<std::string>> all(1);
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        const auto report = report_line(line);
        if (!report) continue;
        if (report->empty()) {
            all.emplace_back();
        } else {
            all.back().push_back(*report);
        }
    }
    return all;
}

QuotedFinding invalid_access(const std::vector<std::string>& lines, Tool tool) {
    QuotedFinding finding;
    finding.tool = tool;
    const bool init = tool == Tool::initcheck;
    // "Invalid __global__ read of size 16 bytes", "Uninitialized __global__ memory read of size 4 bytes"
    const std::string space = between(lines[0], "__", "__");
    std::string access = lines[0].substr(lines[0].find("__", lines[0].find("__") + 2) + 2);
    access.erase(0, access.find_first_not_of(' '));
    if (access.rfind("memory ", 0) == 0) access.erase(0, 7);
    const std::string verb = access.substr(0, access.find(' '));
    finding.side.access = verb + " of " + between(access, "of size ", "\n");
    finding.kind = init ? "uninitialised" : "out-of-bounds";
    finding.message =
        init ? fmt::format("A {} gets {} memory that nothing has written.", finding.side.access, space)
             : fmt::format("A {} goes out of the bounds of {} memory.", finding.side.access, space);
    finding.advice = advice_for(init ? simt::check::Kind::uninitialised : simt::check::Kind::out_of_bounds);
    for (const std::string& line : lines) {
        if (line.rfind("at ", 0) == 0) finding.side.place = place_in(line);
        if (line.rfind("by thread", 0) == 0) {
            finding.side.thread = triple_behind(line, "thread");
            finding.side.block = triple_behind(line, "block");
        }
        if (line.find("is misaligned") != std::string::npos) {
            finding.kind = "misaligned";
            finding.message = fmt::format("A {} goes to an address that is not a multiple of its size.",
                                          finding.side.access);
            finding.advice = advice_for(simt::check::Kind::misaligned);
        }
        if (line.rfind("and is ", 0) == 0 && line.find(" nearest allocation") != std::string::npos &&
            finding.kind == "out-of-bounds") {
            const bool after = line.find(" after ") != std::string::npos;
            finding.message =
                fmt::format("A {} goes to {} memory, {} {} an allocation of {}.", finding.side.access, space,
                            between(line, "and is ", after ? " after" : " before"),
                            after ? "behind" : "before", between(line, "of size ", "\n"));
        }
    }
    finding.kernel = finding.side.place.function;
    return finding;
}

QuotedFinding race(const std::vector<std::string>& lines) {
    QuotedFinding finding;
    finding.tool = Tool::racecheck;
    finding.severity = lines[0].rfind("Warning", 0) == 0 ? Severity::warning : Severity::error;
    const std::string first = between(lines[0], "between ", " access");
    finding.side.place = place_in(lines[0]);
    finding.side.access = first;
    finding.has_other = lines.size() > 1;
    if (finding.has_other) {
        finding.other.access = between(lines[1], "and ", " access");
        finding.other.place = place_in(lines[1].substr(0, lines[1].find(" [")));
        const std::string hazards = between(lines[1], "[", " hazard");
        finding.count = std::strtoull(hazards.c_str(), nullptr, 10);
    }
    for (simt::check::Side* side : {&finding.side, &finding.other}) {
        for (char& c : side->access) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    finding.kind =
        finding.side.access == "write" && finding.other.access == "write" ? "write-write" : "read-write";
    finding.kernel = finding.side.place.function;
    finding.message =
        fmt::format("A {} and a {} of two threads of a block meet in shared memory in no given order.",
                    finding.side.access, finding.other.access);
    finding.advice = advice_for(simt::check::Kind::read_write);
    return finding;
}

QuotedFinding barrier(const std::vector<std::string>& lines) {
    QuotedFinding finding;
    finding.tool = Tool::synccheck;
    finding.kind = "divergent-barrier";
    std::string what = between(lines[0], "Barrier error detected. ", "\n");
    if (!what.empty() && what.back() == '.') what.pop_back();
    finding.message = (what.empty() ? lines[0] : what) + ".";
    finding.advice = advice_for(simt::check::Kind::divergent_barrier);
    if (what == "Invalid arguments") {
        finding.kind = "wrong-mask";
        finding.message = "A mask does not name the lane that makes the call, or names one that never does.";
        finding.advice = advice_for(simt::check::Kind::wrong_mask);
    }
    finding.side.access = "barrier";
    for (const std::string& line : lines) {
        if (line.rfind("at ", 0) == 0) finding.side.place = place_in(line);
        if (line.rfind("by thread", 0) == 0) {
            finding.side.thread = triple_behind(line, "thread");
            finding.side.block = triple_behind(line, "block");
        }
    }
    finding.kernel = finding.side.place.function;
    return finding;
}

/// A tool of the CUDA toolkit. @throws InfraError
std::string find_tool(const std::string& name) {
    if (const fs::path file = find_on_path(name); !file.empty()) return file.string();
    if (const fs::path file = fs::path("/usr/local/cuda/bin") / name; access(file.c_str(), X_OK) == 0)
        return file.string();
    throw InfraError(
        name + " was not found; it comes with the CUDA toolkit: install that, or put its bin folder on PATH");
}

/// Everything that a tool prints. @throws InfraError, Stopped
std::string run_tool(const std::vector<std::string>& arguments, const JudgeOptions& options) {
    const Descriptor out(memfd_create("rungs-tool", MFD_CLOEXEC));
    if (!out)
        throw InfraError(fmt::format("no memory for {}'s output: {}", arguments[0], std::strerror(errno)));
    Command command;
    command.arguments = arguments;
    command.output = out.get();
    const std::string home = fs::temp_directory_path().string();
    command.environment = {"PATH=/usr/local/cuda/bin:/usr/bin:/bin", "LC_ALL=C", "HOME=" + home,
                           "TMPDIR=" + home};
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"}) {
        if (const char* value = std::getenv(name))
            command.environment.push_back(fmt::format("{}={}", name, value));
    }
    Process process(command);
    const bool in_time = run_to_end(process, tool_seconds, options.stop);
    if (options.stop && options.stop->load()) throw Stopped{};
    if (!in_time) throw InfraError(fmt::format("{} did not end within {} s", arguments[0], tool_seconds));
    return read_all(out.get()).value_or("") + process.errors().text();
}

fs::path cuda_worker(const Trial& trial) {
    if (!trial.options.toolchain.tools(Backend::cuda))
        throw InfraError("this build has no cuda backend: no nvcc was found");
    if (const std::string missing = Device::missing(); !missing.empty())
        throw InfraError("no GPU: " + missing);
    const Build build = build_worker(trial, Backend::cuda);
    if (build.executable.empty()) throw InfraError(trial.rung.name + " does not compile: " + build.reason);
    return build.executable;
}

}  // namespace

SandboxLevel tool_level() {
    return {"S0", "unconfined: a tool attaches to the rung's process, which runs as the user who started it"};
}

TaskFile::TaskFile(const std::string& problem, const Task& task) {
    const Layout layout = lay_out(task);
    std::vector<std::byte> bytes(layout.in_bytes);
    write_call(bytes.data(), problem, task, layout);
    auto& request = *reinterpret_cast<protocol::Request*>(bytes.data());
    request.sequence = 1;
    request.exact = 1;
    request.arena_bytes = layout.out_bytes;
    std::string name = (fs::temp_directory_path() / "rungs-task-XXXXXX").string();
    const Descriptor file(mkostemp(name.data(), O_CLOEXEC));
    if (!file) throw InfraError(fmt::format("no temporary file: {}", std::strerror(errno)));
    path_ = name;
    if (!write_all(file.get(), bytes.data(), bytes.size()))
        throw InfraError(fmt::format("{}: {}", name, std::strerror(errno)));
}

TaskFile::~TaskFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
}

bool TaskFile::came_back() const {
    std::uint64_t sequence = 1;
    const Descriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    return file &&
           pread(file.get(), &sequence, sizeof sequence, offsetof(protocol::Request, sequence)) ==
               sizeof sequence &&
           sequence == 0;
}

ToolChoice tools_for(const std::string& text) {
    ToolChoice choice{{Tool::memcheck, Tool::racecheck, Tool::initcheck, Tool::synccheck}, ""};
    for (const KnownLimit& limit : known_limits()) {
        if (!has_word(text, limit.call)) continue;
        std::vector<std::string> names;
        for (const Tool tool : limit.tools) {
            std::erase(choice.asked, tool);
            names.emplace_back(name_of(tool));
        }
        choice.left_out = fmt::format(
            "compute-sanitizer {} does not follow {}, which this rung has, so {} are not asked: ./rungs "
            "check "
            "without --sanitize looks at them",
            limit.version, limit.feature, fmt::join(names, " and "));
    }
    return choice;
}

std::vector<QuotedFinding> read_sanitizer(Tool tool, const std::string& text) {
    std::vector<QuotedFinding> findings;
    for (const std::vector<std::string>& lines : paragraphs(text)) {
        // The first paragraph begins with the tool's name.
        const auto begin = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
            return line.rfind("Invalid __", 0) == 0 || line.rfind("Uninitialized __", 0) == 0 ||
                   line.find("Race reported between ") != std::string::npos ||
                   line.rfind("Barrier error", 0) == 0;
        });
        if (begin == lines.end()) continue;
        const std::vector<std::string> rest(begin, lines.end());
        QuotedFinding finding = tool == Tool::racecheck   ? race(rest)
                                : tool == Tool::synccheck ? barrier(rest)
                                                          : invalid_access(rest, tool);
        const auto same = std::find_if(findings.begin(), findings.end(), [&](const QuotedFinding& other) {
            return other.kind == finding.kind && other.side.place.file == finding.side.place.file &&
                   other.side.place.line == finding.side.place.line &&
                   other.other.place.line == finding.other.place.line &&
                   other.side.access == finding.side.access;
        });
        if (same == findings.end()) {
            finding.count = std::max<std::uint64_t>(finding.count, 1);
            findings.push_back(std::move(finding));
        } else {
            ++same->count;
        }
    }
    sort_findings(findings);
    return findings;
}

std::vector<ProfiledLaunch> read_ncu(const std::string& text) {
    // Fields in quotes, separated by commas; ncu never puts quotes into a field.
    const auto fields_of = [](const std::string& line) {
        std::vector<std::string> fields;
        for (std::size_t at = line.find('"'); at != std::string::npos;) {
            const std::size_t end = line.find('"', at + 1);
            if (end == std::string::npos) break;
            fields.push_back(line.substr(at + 1, end - at - 1));
            at = line.find('"', end + 1);
        }
        return fields;
    };
    std::istringstream in(text);
    std::map<std::string, std::size_t> columns;
    std::vector<ProfiledLaunch> launches;
    std::string last_id, complaint;
    for (std::string line; std::getline(in, line);) {
        if (line.rfind("==ERROR==", 0) == 0 && complaint.empty()) complaint = line.substr(10);
        if (line.empty() || line[0] != '"') continue;
        const std::vector<std::string> fields = fields_of(line);
        if (columns.empty()) {
            for (std::size_t i = 0; i < fields.size(); ++i) columns[fields[i]] = i;
            for (const char* needed : {"ID", "Kernel Name", "Metric Name", "Metric Value"}) {
                if (!columns.count(needed))
                    throw std::runtime_error(fmt::format("ncu's table has no column '{}'", needed));
            }
            continue;
        }
        if (fields.size() != columns.size()) throw std::runtime_error("a line of ncu's table is cut off");
        if (launches.empty() || fields[columns["ID"]] != last_id) {
            last_id = fields[columns["ID"]];
            const std::string name = fields[columns["Kernel Name"]];
            launches.push_back({one_line(simt::short_name(name), 200), {}});
        }
        std::string value = fields[columns["Metric Value"]];
        value.erase(std::remove(value.begin(), value.end(), ','), value.end());
        launches.back().metrics[fields[columns["Metric Name"]]] = std::strtod(value.c_str(), nullptr);
    }
    if (!complaint.empty()) {
        if (complaint.find("ERR_NVGPUCTRPERM") != std::string::npos) {
            complaint =
                "this user may not read the GPU's counters; see "
                "https://developer.nvidia.com/ERR_NVGPUCTRPERM";
        }
        throw std::runtime_error("ncu: " + one_line(complaint));
    }
    if (launches.empty()) throw std::runtime_error("ncu has profiled no kernel: " + one_line(text));
    return launches;
}

void judge_sanitized(RungResult& result, const Trial& trial) {
    const Exam& exam = trial.exam;
    const JudgeOptions& options = trial.options;
    const auto start = Clock::now();
    ChecksResult& checks = result.checks;
    const std::string tool = find_tool("compute-sanitizer");
    const fs::path worker = cuda_worker(trial);
    const std::string version = between(run_tool({tool, "--version"}, options), "Version ", " ");
    checks.tool = "compute-sanitizer " + one_line(version, 40);
    const ToolChoice tools = tools_for(read_rung(trial.source));
    std::vector<Case> cases;
    for (Case& which : trial.manifest.check_cases_of(trial.rung, options.seed)) {
        const Work work = exam.work(which);
        if (work.size() <= small_work && work.bytes > 0) cases.push_back(std::move(which));
    }
    // The largest tell most.
    std::stable_sort(cases.begin(), cases.end(),
                     [&](const Case& a, const Case& b) { return exam.work(a).bytes > exam.work(b).bytes; });
    if (cases.size() > most_cases) cases.resize(most_cases);
    checks.of = static_cast<int>(cases.size());
    checks.orders = 1;
    checks.done = true;
    const char* ended_under = nullptr;  // the tool under which a call did not come back, for no reason found
    for (const Case& which : cases) {
        if (options.progress) options.progress({trial.rung, Phase::checks, checks.cases, checks.of});
        const Task task = exam.make(which);
        for (const Tool one : tools.asked) {
            const TaskFile file(which.problem, task);
            const std::string text = run_tool({tool, "--tool", name_of(one), "--print-limit", "100",
                                               "--show-backtrace", "no", worker.string(), file.path()},
                                              options);
            if (text.find("========= ") == std::string::npos || text.find("SUMMARY") == std::string::npos) {
                throw InfraError("compute-sanitizer did not come to its end: " + one_line(text));
            }
            std::vector<QuotedFinding> found = read_sanitizer(one, text);
            if (found.empty() && !file.came_back()) ended_under = name_of(one);
            std::move(found.begin(), found.end(), std::back_inserter(checks.findings));
        }
        if (!checks.findings.empty()) {
            checks.found_in = describe(exam, which, task);
            break;
        }
        if (ended_under) break;
        ++checks.cases;
    }
    sort_findings(checks.findings);
    if (checks.findings.empty() && !tools.left_out.empty()) {
        checks.done = false;
        checks.why_not = tools.left_out;
    }
    if (!checks.findings.empty() && checks.findings.front().severity == Severity::error &&
        (trial.manifest.check.required || !result.passed())) {
        result.decide(cause_of(checks.findings.front()));
    }
    if (ended_under && result.passed()) {
        result.decide({.kind = Verdict::suspect,
                       .text = fmt::format(
                           "its process ended under {} before the call came back: nobody knows what it does",
                           ended_under),
                       .source = Source::checks});
    }
    checks.seconds = std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<ProfiledLaunch> profile_rung(const Trial& trial) {
    const std::string tool = find_tool("ncu");
    const fs::path worker = cuda_worker(trial);
    const Case which = case_to_count(trial.manifest, trial.rung, trial.exam);
    const TaskFile file(which.problem, trial.exam.make(which));
    std::string metrics;
    for (const char* metric :
         {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
          "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
          "smsp__thread_inst_executed_per_inst_executed.ratio", "dram__bytes_read.sum",
          "dram__bytes_write.sum", "gpu__time_duration.sum"}) {
        metrics += (metrics.empty() ? "" : ",") + std::string(metric);
    }
    const std::string text =
        run_tool({tool, "--csv", "--print-units", "base", "--clock-control", "none", "--launch-count", "100",
                  "--metrics", metrics, worker.string(), file.path()},
                 trial.options);
    if (!file.came_back()) throw InfraError("the rung's process ended under ncu before the call came back");
    try {
        return read_ncu(text);
    } catch (const std::runtime_error& error) {
        throw InfraError(error.what());
    }
}

}  // namespace rungs::judge
