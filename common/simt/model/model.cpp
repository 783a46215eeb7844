#include "simt/inspect/model.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <istream>
#include <set>
#include <sstream>
#include <stdexcept>

// toml++ asserts what a damaged file can break, and a program must not end there; it has one reader.
namespace simt::model {
[[noreturn]] inline void toml_is_cut_off() {
    throw std::logic_error("a value is cut off, such as a date with a T and no time");
}
}  // namespace simt::model
#define TOML_ASSERT(condition) ((condition) ? void() : ::simt::model::toml_is_cut_off())
#include <toml++/toml.h>

#include "model/fields.h"

namespace simt::model {

// ---- The machine ------------------------------------------------------------------------------------------

namespace {

struct Key {
    const char* name;
    double Machine::*value;
};

constexpr Key keys[] = {
    {"clock", &Machine::clock},
    {"launch", &Machine::launch},
    {"fill", &Machine::fill},
    {"copy", &Machine::copy},
    {"wait", &Machine::wait},
    {"host_launch", &Machine::host_launch},
    {"blocks", &Machine::blocks},
    {"dram_read", &Machine::dram_read},
    {"dram_copy", &Machine::dram_copy},
    {"l2_read", &Machine::l2_read},
    {"l2_write", &Machine::l2_write},
    {"l2_bytes", &Machine::l2_bytes},
    {"l1_bytes", &Machine::l1_bytes},
    {"dram_latency", &Machine::dram_latency},
    {"l2_latency", &Machine::l2_latency},
    {"l1_latency", &Machine::l1_latency},
    {"shared_latency", &Machine::shared_latency},
    {"shuffle_latency", &Machine::shuffle_latency},
    {"instruction_latency", &Machine::instruction_latency},
    {"barrier", &Machine::barrier},
    {"issue", &Machine::issue},
    {"issue_double", &Machine::issue_double},
    {"issue_special", &Machine::issue_special},
    {"l1_request", &Machine::l1_request},
    {"l1_line", &Machine::l1_line},
    {"shared_wavefront", &Machine::shared_wavefront},
    {"shuffle", &Machine::shuffle},
    {"atomic_same", &Machine::atomic_same},
    {"atomic_spread", &Machine::atomic_spread},
    {"grid_barrier", &Machine::grid_barrier},
    {"overlap", &Machine::overlap},
};

[[noreturn]] void refuse(const std::filesystem::path& file, const std::string& what) {
    throw MachineError(file.string() + ": " + what);
}

}  // namespace

Machine read_machine(const std::filesystem::path& file) {
    toml::table table;
    try {
        table = toml::parse_file(file.string());
    } catch (const toml::parse_error& error) {
        std::ostringstream where;
        where << error.source().begin.line << ": " << error.description();
        refuse(file, where.str());
    } catch (const std::logic_error& error) {
        refuse(file, error.what());
    }
    Machine machine;
    std::set<std::string> known{"name", "multiprocessors"};
    const auto name = table["name"].value<std::string>();
    if (!name || name->empty()) refuse(file, "the key 'name' must be the GPU's name, as nvidia-smi gives it");
    machine.name = *name;
    const auto count = table["multiprocessors"].value<std::int64_t>();
    if (!count || *count < 1 || *count > 4096)
        refuse(file, "the key 'multiprocessors' must be from 1 to 4096");
    machine.multiprocessors = static_cast<int>(*count);
    for (const Key& key : keys) {
        known.insert(key.name);
        const auto value = table[key.name].value<double>();
        if (!value || !std::isfinite(*value) || *value <= 0) {
            refuse(file, std::string("the key '") + key.name + "' must be a positive number");
        }
        machine.*key.value = *value;
    }
    for (const auto& [key, value] : table) {
        if (!known.count(std::string(key.str())))
            refuse(file, "unknown key '" + std::string(key.str()) + "'");
    }
    return machine;
}

// ---- Profiles ---------------------------------------------------------------------------------------------

CallProfile read_profile(std::istream& in) {
    in.imbue(std::locale::classic());
    CallProfile call;
    std::string word;
    std::size_t launches = 0;
    in >> word >> call.fills >> call.filled_bytes >> call.copies >> call.copied_bytes >> call.waits >>
        launches;
    if (!in || word != "call") throw std::runtime_error("a profile must begin with 'call' and six numbers");
    for (std::size_t i = 0; i < launches; ++i) {
        LaunchProfile launch;
        for (const Field& field : fields) in >> launch.*field.value;
        std::getline(in >> std::ws, launch.kernel);
        if (!in) throw std::runtime_error("launch " + std::to_string(i) + " of a profile is incomplete");
        call.launches.push_back(std::move(launch));
    }
    return call;
}

// ---- The model --------------------------------------------------------------------------------------------

namespace {

constexpr double sector_bytes = 32;
constexpr double threads_of_multiprocessor = 2048, blocks_of_multiprocessor = 32;
constexpr double shared_of_multiprocessor = 228 * 1024, shared_of_system = 1024;

double resident_blocks(const LaunchProfile& p) {
    const double by_threads = std::floor(threads_of_multiprocessor / (32 * std::ceil(p.threads / 32)));
    const double by_shared = std::floor(shared_of_multiprocessor / (p.shared_bytes + shared_of_system));
    return std::max(1.0, std::min({by_threads, by_shared, blocks_of_multiprocessor}));
}

LaunchPrediction predict(const Machine& m, const LaunchProfile& p) {
    LaunchPrediction result;
    result.kernel = p.kernel;
    const double blocks = std::max(p.blocks, 1.0), sms = m.multiprocessors;
    const double resident = resident_blocks(p);
    // Whole blocks go to multiprocessors: the one with the most of them is the last.
    const double uneven = std::ceil(blocks / sms) * sms / blocks;
    const double cycle = 1 / m.clock, all_cycles = uneven / (sms * m.clock);

    // L1 keeps what a block asks for again as long as all resident blocks' sectors fit.
    const double at_once = std::min(resident, std::ceil(blocks / sms));
    const double room = std::max(m.l1_bytes - at_once * (p.shared_bytes + shared_of_system), 32.0 * 1024);
    const double kept =
        std::min(1.0, room / std::max(1.0, at_once * p.block_sectors / blocks * sector_bytes));
    const double repeats = std::max(0.0, p.sectors - p.block_sectors);
    const double l2_read = std::max(p.block_sectors + (1 - kept) * repeats, p.dram_read_sectors);

    const double read = p.dram_read_sectors * sector_bytes, written = p.dram_write_sectors * sector_bytes;
    const double mixed = read + written == 0 ? 0 : 2 * std::min(read, written) / (read + written);
    const double dram = (read + written) / (m.dram_read + mixed * (m.dram_copy - m.dram_read));
    const double l2 = l2_read * sector_bytes / m.l2_read + p.written_sectors * sector_bytes / m.l2_write;
    const double l1 = all_cycles * (std::max(m.l1_request * p.requests, m.l1_line * p.lines) +
                                    m.shared_wavefront * p.wavefronts + m.shuffle * p.shuffles);
    const double issue = all_cycles * std::max({p.instructions / m.issue, p.doubles / m.issue_double,
                                                p.special / m.issue_special});
    const double atomics = std::max(p.atomics_same / m.atomic_same, p.atomics / m.atomic_spread);
    const double starts = blocks / m.blocks;

    // A round waits for the farthest of its sectors; what L1 could not keep comes from L2.
    const double near = std::max(0.0, p.load_rounds - p.l2_rounds - p.dram_rounds);
    const double waiting = p.dram_rounds * m.dram_latency + (p.l2_rounds + (1 - kept) * near) * m.l2_latency +
                           kept * near * m.l1_latency;
    const double way = waiting + p.shared_rounds * m.shared_latency + p.sync_rounds * m.shuffle_latency +
                       p.block_barriers * m.barrier + p.block_instructions * m.instruction_latency;
    const double latency =
        std::ceil(blocks / (resident * sms)) * way * cycle + p.grid_barriers * m.grid_barrier;

    const LaunchPrediction::Term body[] = {{"memory", dram},      {"L2", l2},
                                           {"L1 and shared", l1}, {"instructions", issue},
                                           {"atomics", atomics},  {"block starts", starts},
                                           {"latency", latency}};
    // Rates that are nearly as slow as the slowest get in its way: a norm instead of the maximum.
    double slowest = 0, sum = 0;
    for (const auto& term : body) {
        if (term.seconds > slowest) {
            slowest = term.seconds;
            result.limit = term.name;
        }
    }
    for (const auto& term : body) sum += slowest > 0 ? std::pow(term.seconds / slowest, m.overlap) : 0;
    result.seconds = m.launch + slowest * std::pow(sum, 1 / m.overlap);
    if (m.launch > slowest) result.limit = "launch";
    result.terms.push_back({"launch", m.launch});
    result.terms.insert(result.terms.end(), std::begin(body), std::end(body));
    return result;
}

}  // namespace

Prediction predict(const Machine& machine, const CallProfile& call) {
    Prediction prediction;
    for (const LaunchProfile& launch : call.launches) {
        prediction.launches.push_back(predict(machine, launch));
        prediction.seconds += prediction.launches.back().seconds;
    }
    prediction.seconds += call.fills * machine.fill + call.filled_bytes / machine.dram_read;
    prediction.seconds += call.copies * machine.copy + 2 * call.copied_bytes / machine.dram_copy;
    if (call.waits > 0) {
        // The host cannot be ahead of the GPU: nothing starts before it has asked for it.
        const auto asked = static_cast<double>(call.launches.size());
        prediction.seconds = std::max(prediction.seconds, asked * machine.host_launch);
        prediction.seconds += call.waits * machine.wait;
    }
    return prediction;
}

std::string to_text(const Prediction& prediction) {
    std::string text;
    char line[256];
    for (const LaunchPrediction& launch : prediction.launches) {
        std::snprintf(line, sizeof line, "%10.2f us  %-24s limit: %s;", 1e6 * launch.seconds,
                      launch.kernel.c_str(), launch.limit.c_str());
        text += line;
        for (const auto& term : launch.terms) {
            std::snprintf(line, sizeof line, " %s %.2f", term.name, 1e6 * term.seconds);
            text += line;
        }
        text += '\n';
    }
    std::snprintf(line, sizeof line, "%10.2f us  in all\n", 1e6 * prediction.seconds);
    return text + line;
}

}  // namespace simt::model
