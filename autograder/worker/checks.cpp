#include "worker/checks.hpp"

#ifdef SIMT_CHECK

#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "simt/api.h"
#include "simt/inspect/check.h"
#include "simt/inspect/control.h"
#include "simt/inspect/counters.h"
#include "simt/inspect/profile.h"
#include "worker/trace.hpp"

namespace rungs::protocol {
namespace {

/// What addr2line says about an address, from its line "0x..." on.
std::map<std::uintptr_t, std::string> known;
std::vector<std::uint64_t> wanted;  ///< asked for by what is going on
std::vector<std::uint64_t> asked;   ///< of the judge
std::unique_ptr<simt::check::Counting> counting;
std::unique_ptr<simt::model::Traffic> traffic;
std::unique_ptr<TraceRecorder> trace;
std::uint64_t allocated = 0;  ///< before the call

std::string own_path() {
    char path[4096];
    const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
    return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : std::string();
}

/// Answers from what is known, or not at all; then it notes what is missing.
std::string look_up(const std::string& path, const std::vector<std::uintptr_t>& offsets) {
    static const std::string own = own_path();
    if (path != own) return "?";  // a system library: nobody wrote it here
    std::string text;
    bool all = true;
    for (const std::uintptr_t offset : offsets) {
        const auto found = known.find(offset);
        if (found == known.end()) {
            wanted.push_back(offset);
            all = false;
        } else {
            text += found->second;
        }
    }
    return all ? text : "";
}

/// Nothing where a launch failed, so that not all saw it.
std::string profile_text() {
    std::ostringstream text;
    try {
        simt::model::write(text, simt::model::profile(*counting, *traffic));
    } catch (const std::logic_error&) {
        return "";
    }
    return text.str();
}

/// The frames of an address without those that are none of the student's lines: the worker's own, which
/// allocates and calls; and inlined functions of the contract's header, as long as a rung's line called them.
std::string outside(const std::string& piece) {
    std::istringstream in(piece);
    std::string address, function, place, all, rung;
    std::getline(in, address);
    while (std::getline(in, function) && std::getline(in, place)) {
        const bool header = place.find(".cuh:") != std::string::npos;
        const bool frame_of_rung = !header && place.find(".cu:") != std::string::npos;
        if (place.find("/worker/worker.cpp:") != std::string::npos) return address + "\n??\n??:0\n";
        all += function + '\n' + place + '\n';
        if (frame_of_rung || !rung.empty()) rung += function + '\n' + place + '\n';
    }
    return address + '\n' + (rung.empty() ? all : rung);
}

/// Takes the judge's answer apart: one piece for each address, in the order of the question.
void learn(const std::string& text) {
    std::size_t begin = 0;
    for (const std::uint64_t offset : asked) {
        std::size_t end = text.find("\n0x", begin);
        end = end == std::string::npos ? text.size() : end + 1;
        const std::string piece = text.substr(begin, end - begin);
        known[offset] = outside(piece);
        begin = end;
    }
    asked.clear();
}

}  // namespace

bool in_check_mode() { return true; }

void begin_checks(std::uint64_t order, double launch_seconds) {
    simt::check::set_symboliser(look_up);
    simt::check::clear();
    simt::set_seed(order);
    simt::set_time_limit(launch_seconds);
    wanted.clear();
    allocated = simt::check::allocations();
    trace.reset();
    traffic.reset();
    counting.reset();
}

void begin_counting(double l2_bytes, std::uint64_t block, std::uint64_t warp) {
    counting = std::make_unique<simt::check::Counting>();
    traffic = std::make_unique<simt::model::Traffic>(l2_bytes);
    trace = std::make_unique<TraceRecorder>(block, static_cast<unsigned>(warp));
}

void end_checks(bool returned) {
    if (returned) simt::check::find_leaks(allocated);
    if (counting) counting->stop();
    if (trace) trace->stop();
}

void narrow_buffer(const void* memory, std::size_t bytes, const char* name, bool written) {
    simt::check::narrow(memory, bytes, name, written);
}

std::vector<char> report_checks(const char* places, std::size_t bytes,
                                std::vector<std::uint64_t>& addresses) {
    if (!asked.empty()) learn(std::string(places, bytes));
    const std::string findings = simt::check::to_json(simt::check::findings());
    std::string text = "{\"findings\": " + findings;
    if (counting) {
        const simt::check::HostCounters& host = counting->host();
        const auto field = [&](const char* name, std::uint64_t value) {
            text += std::string(", \"") + name + "\": " + std::to_string(value);
        };
        text += ", \"launches\": " + simt::check::to_json(counting->launches());
        field("copies", host.copies);
        field("copied_bytes", host.copied_bytes);
        field("bytes_to_host", host.bytes_to_host);
        field("fills", host.fills);
        field("filled_bytes", host.filled_bytes);
        field("allocations", simt::check::allocations() - allocated);
        text += ", \"traces\": " + trace->json();
        text += ", \"profile\": \"";
        for (const char c : profile_text()) {
            if (c == '\n') {
                text += "\\n";
            } else if (c == '"' || c == '\\') {
                text += std::string("\\") + c;
            } else {
                text += c;
            }
        }
        text += "\"";
    }
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    addresses = wanted;
    asked = wanted;
    wanted.clear();
    if (!addresses.empty()) return {};
    text += ", \"blocks\": [";
    const char* separator = "";
    for (const std::uintptr_t block : simt::check::take_blocks()) {
        text += separator + std::to_string(block);
        separator = ", ";
    }
    text += "]}";
    return {text.begin(), text.end()};
}

}  // namespace rungs::protocol

#else

namespace rungs::protocol {

bool in_check_mode() { return false; }
void begin_checks(std::uint64_t, double) {}
void begin_counting(double, std::uint64_t, std::uint64_t) {}
void end_checks(bool) {}
void narrow_buffer(const void*, std::size_t, const char*, bool) {}
std::vector<char> report_checks(const char*, std::size_t, std::vector<std::uint64_t>&) { return {}; }

}  // namespace rungs::protocol

#endif
