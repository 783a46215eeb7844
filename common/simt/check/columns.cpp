// Reads line tables (DWARF Debugging Information Format, version 5, section 6.2) and where functions were
// inlined (version 4, sections 2.17, 3.3.8.2 and 7.5). The judge reads programs with this that a student has
// compiled: nothing in the file is believed.
#include "simt/columns.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace simt::check {
namespace {

/// Bytes that are read one after the other. @throws std::out_of_range at their end
class Reader {
  public:
    Reader(const char* data, std::size_t size) : at_(data), end_(data + size) {}

    std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
    Reader part(std::uint64_t size) {
        need(size);
        const char* begin = at_;
        at_ += size;
        return {begin, static_cast<std::size_t>(size)};
    }
    void skip(std::uint64_t size) { part(size); }
    template <class T>
    T get() {
        need(sizeof(T));
        T value;
        std::memcpy(&value, at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::uint64_t unsigned_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = get<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 127u} << shift;
            if (byte < 128) return value;
        }
    }
    std::int64_t signed_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const auto byte = get<std::uint8_t>();
            if (shift < 64) value |= std::uint64_t{byte & 127u} << shift;
            if (byte >= 128) continue;
            if ((byte & 64) != 0 && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
            return static_cast<std::int64_t>(value);
        }
    }

  private:
    void need(std::uint64_t size) const {
        if (size > left()) throw std::out_of_range("a line table is cut off");
    }
    const char *at_, *end_;
};

/// From its address to the next row's, the code comes from this place. Line 0: from nowhere.
struct Row {
    std::uint64_t address;
    std::uint32_t line, column;
};

/// One unit's rows, appended to `rows`.
void read_unit(Reader unit, std::vector<Row>& rows) {
    const auto version = unit.get<std::uint16_t>();
    if (version < 2 || version > 5) return;
    if (version == 5) unit.skip(2);  // sizes of addresses and of segment selectors
    Reader header = unit.part(unit.get<std::uint32_t>());
    const auto shortest = header.get<std::uint8_t>();
    if (version >= 4) header.skip(1);  // operations an instruction: 1 but for VLIW machines
    header.skip(1);                    // whether rows begin statements
    const auto line_base = header.get<std::int8_t>();
    const auto line_range = header.get<std::uint8_t>();
    const auto first_special = header.get<std::uint8_t>();
    if (line_range == 0 || first_special == 0) return;
    std::uint8_t operands[256] = {};
    for (unsigned op = 1; op < first_special; ++op) operands[op] = header.get<std::uint8_t>();

    std::uint64_t address = 0, line = 1, column = 0;
    const auto row = [&](bool ends) {
        rows.push_back({address, ends ? 0 : static_cast<std::uint32_t>(line),
                        ends ? 0 : static_cast<std::uint32_t>(column)});
    };
    while (unit.left() > 0) {
        const auto op = unit.get<std::uint8_t>();
        if (op >= first_special) {
            const unsigned special = op - first_special;
            address += std::uint64_t{special / line_range} * shortest;
            line += static_cast<std::uint64_t>(line_base + static_cast<int>(special % line_range));
            row(false);
            continue;
        }
        switch (op) {
            case 0: {  // extended
                Reader rest = unit.part(unit.unsigned_leb());
                const auto extended = rest.get<std::uint8_t>();
                if (extended == 1) {  // the sequence ends
                    row(true);
                    address = 0, line = 1, column = 0;
                } else if (extended == 2) {
                    address = rest.get<std::uint64_t>();
                }
                break;
            }
            case 1:
                row(false);
                break;
            case 2:
                address += unit.unsigned_leb() * shortest;
                break;
            case 3:
                line += static_cast<std::uint64_t>(unit.signed_leb());
                break;
            case 5:
                column = unit.unsigned_leb();
                break;
            case 8:
                address += std::uint64_t{(255u - first_special) / line_range} * shortest;
                break;
            case 9:
                address += unit.get<std::uint16_t>();
                break;
            default:
                for (unsigned i = 0; i < operands[op]; ++i) unit.unsigned_leb();
        }
    }
}

/// A function was inlined here: its code from `begin` to `end` was called from this place.
struct Inlined {
    std::uint64_t begin, end;
    std::uint32_t line, column;
    std::uint32_t depth;  ///< how deep it is nested in others
};

/// The sections that tell of one program, empty where it has none.
struct Sections {
    Reader lines{nullptr, 0}, info{nullptr, 0}, abbreviations{nullptr, 0}, ranges{nullptr, 0};

    /// Units may name one long list again and again: what a file of a few bytes may cost has an end.
    void spend_step() const {
        if (steps_left == 0) throw std::out_of_range("more than a program has");
        --steps_left;
    }
    mutable std::uint64_t steps_left = 1 << 24;
};

/// One attribute's value, where it is a number. @throws std::out_of_range for forms of other versions
std::uint64_t value_of(Reader& unit, std::uint64_t form, unsigned version) {
    switch (form) {
        case 0x01:  // an address
        case 0x07:
        case 0x14:
        case 0x20:
            return unit.get<std::uint64_t>();
        case 0x0b:
        case 0x0c:
        case 0x11:
            return unit.get<std::uint8_t>();
        case 0x05:
        case 0x12:
            return unit.get<std::uint16_t>();
        case 0x10:  // of another unit
            return version == 2 ? unit.get<std::uint64_t>() : unit.get<std::uint32_t>();
        case 0x06:
        case 0x0e:
        case 0x13:
        case 0x17:
        case 0x1f20:
        case 0x1f21:
            return unit.get<std::uint32_t>();
        case 0x0d:
            return static_cast<std::uint64_t>(unit.signed_leb());
        case 0x0f:
        case 0x15:
            return unit.unsigned_leb();
        case 0x19:  // is there
            return 1;
        case 0x08:  // text
            while (unit.get<char>() != 0) {
            }
            return 0;
        case 0x03:
            unit.skip(unit.get<std::uint16_t>());
            return 0;
        case 0x04:
            unit.skip(unit.get<std::uint32_t>());
            return 0;
        case 0x0a:
            unit.skip(unit.get<std::uint8_t>());
            return 0;
        case 0x09:
        case 0x18:
            unit.skip(unit.unsigned_leb());
            return 0;
        default:
            throw std::out_of_range("a form of another version");
    }
}

/// What a kind of entry consists of.
struct Abbreviation {
    std::uint64_t tag = 0;
    bool has_children = false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> attributes;  ///< name and form
};

std::map<std::uint64_t, Abbreviation> read_abbreviations(const Sections& sections, std::uint64_t offset) {
    std::map<std::uint64_t, Abbreviation> all;
    Reader table = sections.abbreviations;
    table.skip(offset);
    while (const std::uint64_t code = table.unsigned_leb()) {
        Abbreviation one;
        one.tag = table.unsigned_leb();
        one.has_children = table.get<std::uint8_t>() != 0;
        for (;;) {
            const std::uint64_t name = table.unsigned_leb(), form = table.unsigned_leb();
            sections.spend_step();
            if (name == 0 && form == 0) break;
            one.attributes.emplace_back(name, form);
        }
        all.emplace(code, std::move(one));
    }
    return all;
}

/// The inlined calls of one unit of .debug_info, appended to `calls`.
void read_calls(Reader unit, const Sections& sections, std::vector<Inlined>& calls) {
    enum : std::uint64_t { inlined_subroutine = 0x1d };
    enum : std::uint64_t { low = 0x11, high = 0x12, ranges = 0x55, call_column = 0x57, call_line = 0x59 };
    const auto version = unit.get<std::uint16_t>();
    if (version < 2 || version > 4) return;  // device code is compiled for version 4
    const auto abbreviations = read_abbreviations(sections, unit.get<std::uint32_t>());
    if (unit.get<std::uint8_t>() != 8) return;  // bytes of an address
    std::uint64_t base = 0;
    bool first = true;
    for (std::uint32_t depth = 0; unit.left() > 0; first = false) {
        const std::uint64_t code = unit.unsigned_leb();
        if (code == 0) {
            if (depth > 0) --depth;
            continue;
        }
        const auto found = abbreviations.find(code);
        if (found == abbreviations.end()) return;
        std::map<std::uint64_t, std::uint64_t> values;
        bool high_is_size = false;
        for (const auto& [name, form] : found->second.attributes) {
            const std::uint64_t value = value_of(unit, form, version);
            if (name == high) high_is_size = form != 0x01;
            if (name == low || name == high || name == ranges || name == call_column || name == call_line)
                values[name] = value;
        }
        if (first) base = values[low];
        if (found->second.tag == inlined_subroutine && values.count(call_line) && values.count(call_column)) {
            Inlined call{values[low], values[high], static_cast<std::uint32_t>(values[call_line]),
                         static_cast<std::uint32_t>(values[call_column]), depth};
            if (high_is_size) call.end += call.begin;
            if (!values.count(ranges)) {
                calls.push_back(call);
            } else {
                Reader list = sections.ranges;
                list.skip(values[ranges]);
                for (std::uint64_t origin = base;;) {
                    const auto begin = list.get<std::uint64_t>(), end = list.get<std::uint64_t>();
                    sections.spend_step();
                    if (begin == 0 && end == 0) break;
                    if (begin == ~std::uint64_t{0}) {
                        origin = end;
                        continue;
                    }
                    call.begin = origin + begin;
                    call.end = origin + end;
                    calls.push_back(call);
                }
            }
        }
        if (found->second.has_children) ++depth;
    }
}

/// What is known of a program's places.
struct Places {
    /// All rows, by address. Of several at one address the last holds, but an end never hides another
    /// sequence's beginning.
    std::vector<Row> rows;
    std::vector<Inlined> calls;  ///< in any order
};

/// `read` for each unit of a section. What has been read before the section turns out damaged, holds.
template <class Read>
void for_each_unit(Reader section, const Read& read) {
    try {
        while (section.left() > 0) {
            const auto size = section.get<std::uint32_t>();
            if (size >= 0xfffffff0u) return;  // 64-bit DWARF
            read(section.part(size));
        }
    } catch (const std::out_of_range&) {
    }
}

Sections sections_of(const std::string& file) {
    Sections sections;
    const auto header = Reader(file.data(), file.size()).get<Elf64_Ehdr>();
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return sections;
    const auto section = [&](std::uint64_t index) {
        Reader reader(file.data(), file.size());
        reader.skip(header.e_shoff);
        reader.skip(index * sizeof(Elf64_Shdr));
        return reader.get<Elf64_Shdr>();
    };
    const auto content = [&](const Elf64_Shdr& which) {
        Reader reader(file.data(), file.size());
        reader.skip(which.sh_offset);
        return reader.part(which.sh_size);
    };
    const Elf64_Shdr names = section(header.e_shstrndx);
    const std::pair<std::string, Reader Sections::*> wanted[] = {{".debug_line", &Sections::lines},
                                                                 {".debug_info", &Sections::info},
                                                                 {".debug_abbrev", &Sections::abbreviations},
                                                                 {".debug_ranges", &Sections::ranges}};
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr one = section(i);
        if ((one.sh_flags & SHF_COMPRESSED) != 0) continue;
        for (const auto& [name, place] : wanted) {
            Reader text = content(names);
            text.skip(one.sh_name);
            const std::size_t size = name.size() + 1;  // with its end
            if (text.left() < size ||
                std::memcmp(&file[names.sh_offset + one.sh_name], name.c_str(), size) != 0)
                continue;
            sections.*place = content(one);
        }
    }
    return sections;
}

Places read_places(const std::string& program) {
    std::ifstream in(program, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    Places places;
    try {
        const Sections sections = sections_of(file);
        for_each_unit(sections.lines, [&](Reader unit) { read_unit(unit, places.rows); });
        for_each_unit(sections.info, [&](Reader unit) {
            try {
                read_calls(unit, sections, places.calls);
            } catch (const std::out_of_range&) {
                // The next unit may be better.
            }
        });
    } catch (const std::out_of_range&) {
        // What has been read so far holds.
    }
    std::stable_sort(places.rows.begin(), places.rows.end(), [](const Row& a, const Row& b) {
        return a.address != b.address ? a.address < b.address : a.line == 0 && b.line != 0;
    });
    return places;
}

/// The column of `line` at `address`; 0 if it is not known. `frame` 0 is the innermost function's, 1 that of
/// its call in the function that it is inlined into, and so on.
std::uint32_t column_of(const Places& places, std::uint64_t address, unsigned frame, unsigned long line) {
    if (frame == 0) {
        auto row = std::upper_bound(places.rows.begin(), places.rows.end(), address,
                                    [](std::uint64_t a, const Row& r) { return a < r.address; });
        return row != places.rows.begin() && (--row)->line == line ? row->column : 0;
    }
    std::vector<Inlined> around;
    for (const Inlined& call : places.calls)
        if (call.begin <= address && address < call.end) around.push_back(call);
    std::stable_sort(around.begin(), around.end(),
                     [](const Inlined& a, const Inlined& b) { return a.depth > b.depth; });
    return frame <= around.size() && around[frame - 1].line == line ? around[frame - 1].column : 0;
}

}  // namespace

std::string with_columns(const std::string& program, const std::string& text) {
    // Programs are asked about again and again, and may have been built anew since.
    static std::mutex mutex;
    static auto* tables = new std::map<std::string, std::pair<std::filesystem::file_time_type, Places>>;
    std::lock_guard lock(mutex);
    std::error_code unreadable;
    const auto built = std::filesystem::last_write_time(program, unreadable);
    if (unreadable) return text;
    const auto [entry, fresh] = tables->try_emplace(program);
    if (fresh || entry->second.first != built) entry->second = {built, read_places(program)};
    const Places& places = entry->second.second;
    std::string result;
    std::uint64_t address = 0;
    unsigned line_of_address = 0;  // 0: the address, then a function and its place for each frame
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string line = text.substr(begin, end - begin);
        const bool ended = end < text.size();
        begin = end + 1;
        result += line;
        if (line.compare(0, 2, "0x") == 0) {
            address = std::strtoull(line.c_str(), nullptr, 16);
            line_of_address = 0;
        }
        const unsigned part = line_of_address++;
        if (part >= 2 && part % 2 == 0) {
            const std::size_t note = std::min(line.find(" (discriminator"), line.size());
            const std::size_t colon = line.rfind(':', note);
            const unsigned long number =
                colon == std::string::npos ? 0 : std::strtoul(&line[colon + 1], nullptr, 10);
            const std::uint32_t column = number == 0 ? 0 : column_of(places, address, part / 2 - 1, number);
            if (column != 0) result.insert(result.size() - line.size() + note, ":" + std::to_string(column));
        }
        if (ended) result += '\n';
    }
    return result;
}

}  // namespace simt::check
