// Reads line tables (DWARF Debugging Information Format, version 5, section 6.2) and where functions were
// inlined (version 4, sections 2.17, 3.3.8.2 and 7.5). The judge reads programs with this that a student has
// compiled: nothing in the file is believed.
#include "simt/inspect/columns.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
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
    std::string_view rest() const { return {at_, left()}; }
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
    bool named = false;  ///< of the file that was asked for
};

/// A function was inlined here: its code from `begin` to `end` was called from this place.
struct Inlined {
    std::uint64_t begin, end;
    std::uint32_t line, column;
    std::uint32_t depth;    ///< how deep it is nested in others
    std::uint64_t origin;   ///< the entry of the function, from the beginning of its unit
    bool implicit = false;  ///< nobody wrote the function: the compiler made it, such as a structure's copy
};

/// An entry that describes a function.
struct Function {
    bool implicit = false;
    std::uint64_t origin = 0;  ///< the entry that says more; 0: none
};

/// What a program says of some addresses. Nothing else is kept of it: tables may be as long as they like.
class Places {
  public:
    explicit Places(std::vector<std::uint64_t> addresses) : addresses_(std::move(addresses)) {
        std::sort(addresses_.begin(), addresses_.end());
        addresses_.erase(std::unique(addresses_.begin(), addresses_.end()), addresses_.end());
        rows_.resize(addresses_.size());
    }

    /// Of several rows at one address the last holds, but an end never hides another sequence's beginning.
    void add(const Row& row) {
        const std::size_t at = first_from(row.address);
        if (at == rows_.size()) return;
        Row& best = rows_[at];
        const bool later = row.address == best.address && (row.line != 0 || best.line == 0);
        if (row.address > best.address || later) best = row;
    }

    void add(const Inlined& call) {
        const std::size_t at = first_from(call.begin);
        if (at == addresses_.size() || addresses_[at] >= call.end) return;
        if (calls_.size() == most_calls) throw std::out_of_range("more than a program has");
        calls_.push_back(call);
    }

    std::size_t calls() const { return calls_.size(); }
    /// The calls from number `first` on are of one unit, which has these functions.
    void settle(std::size_t first, const std::map<std::uint64_t, Function>& functions) {
        constexpr int most_entries = 3;  // where it was inlined from, its definition, its declaration
        for (std::size_t i = first; i < calls_.size(); ++i) {
            std::uint64_t origin = calls_[i].origin;
            for (int step = 0; step < most_entries && origin != 0 && !calls_[i].implicit; ++step) {
                const auto function = functions.find(origin);
                if (function == functions.end()) break;
                calls_[i].implicit = function->second.implicit;
                origin = function->second.origin;
            }
        }
    }

    /// The row that holds at one of the addresses; its line is 0 where none does.
    Row row_at(std::uint64_t address) const {
        for (std::size_t at = first_from(address) + 1; at-- > 0;)
            if (rows_[at].address != 0) return rows_[at];
        return {0, 0, 0};
    }

    /// The calls by which its function came there, the innermost first.
    std::vector<Inlined> calls_around(std::uint64_t address) const {
        std::vector<Inlined> around;
        for (const Inlined& call : calls_)
            if (call.begin <= address && address < call.end) around.push_back(call);
        std::stable_sort(around.begin(), around.end(),
                         [](const Inlined& a, const Inlined& b) { return a.depth > b.depth; });
        return around;
    }

  private:
    static constexpr std::size_t most_calls = 1 << 18;

    std::size_t first_from(std::uint64_t address) const {
        return static_cast<std::size_t>(std::lower_bound(addresses_.begin(), addresses_.end(), address) -
                                        addresses_.begin());
    }

    std::vector<std::uint64_t> addresses_;
    /// For each address the last row that is behind the address before; none: at 0.
    std::vector<Row> rows_;
    std::vector<Inlined> calls_;
};

/// Text up to its zero, which is read as well.
std::string_view text_of(Reader& in) {
    const std::string_view all = in.rest();
    const std::size_t size = std::min(all.find('\0'), all.size());
    in.skip(size + 1);
    return all.substr(0, size);
}

/// Which of a unit's files, counted from 1, have the name `name` in whatever folder. `header`: from its list
/// of folders on, in versions 2 to 4.
std::set<std::uint64_t> files_named(Reader header, const std::string& name) {
    std::set<std::uint64_t> files;
    while (!text_of(header).empty()) {
    }
    for (std::uint64_t file = 1;; ++file) {
        const std::string_view path = text_of(header);
        if (path.empty()) return files;
        if (path.substr(path.rfind('/') + 1) == name) files.insert(file);
        for (int i = 0; i < 3; ++i) header.unsigned_leb();  // folder, time, size
    }
}

/// `add` for each of one unit's rows; those of files called `name` are marked, if there is a name.
template <class Add>
void read_unit(Reader unit, const std::string& name, const Add& add) {
    const auto version = unit.get<std::uint16_t>();
    if (version < 2 || version > 5) return;
    if (version == 5) unit.skip(2);  // sizes of addresses and of segment selectors
    Reader header = unit.part(unit.get<std::uint32_t>());
    const auto shortest = header.get<std::uint8_t>();
    if (version >= 4) header.skip(1);  // operations per instruction: 1 except on VLIW machines
    header.skip(1);                    // whether rows begin statements
    const auto line_base = header.get<std::int8_t>();
    const auto line_range = header.get<std::uint8_t>();
    const auto first_special = header.get<std::uint8_t>();
    if (line_range == 0 || first_special == 0) return;
    std::uint8_t operands[256] = {};
    for (unsigned op = 1; op < first_special; ++op) operands[op] = header.get<std::uint8_t>();
    std::set<std::uint64_t> named;
    if (!name.empty() && version < 5) named = files_named(header, name);

    std::uint64_t address = 0, file = 1, line = 1, column = 0;
    const auto row = [&](bool ends) {
        add(Row{address, ends ? 0 : static_cast<std::uint32_t>(line),
                ends ? 0 : static_cast<std::uint32_t>(column), !ends && named.count(file) != 0});
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
                    address = 0, file = 1, line = 1, column = 0;
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
            case 4:
                file = unit.unsigned_leb();
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

/// The sections that describe one program, empty where it has none.
struct Sections {
    Reader lines{nullptr, 0}, info{nullptr, 0}, abbreviations{nullptr, 0}, ranges{nullptr, 0};
    Reader strings{nullptr, 0};
    Reader code{nullptr, 0}, symbols{nullptr, 0}, symbol_names{nullptr, 0};
    std::uint64_t code_address = 0;

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
    constexpr int most_attributes = 1 << 18;  // of a unit
    int attributes = 0;
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
            if (++attributes == most_attributes) throw std::out_of_range("more than a program has");
            if (name == 0 && form == 0) break;
            one.attributes.emplace_back(name, form);
        }
        all.emplace(code, std::move(one));
    }
    return all;
}

/// Does a text of a section of strings begin with `name`?
bool begins_with(Reader strings, std::uint64_t offset, std::string_view name) {
    if (offset > strings.left()) return false;
    strings.skip(offset);
    return strings.rest().substr(0, name.size()) == name;
}

/// Is this the name of a lambda's function? Compilers say of that, too, that it is their own.
bool is_call_operator(const Sections& sections, std::uint64_t offset) {
    return begins_with(sections.strings, offset, "operator()");
}

/// The inlined calls of one unit of .debug_info.
void read_calls(Reader unit, const Sections& sections, Places& places) {
    enum : std::uint64_t { inlined_subroutine = 0x1d, subprogram = 0x2e };
    enum : std::uint64_t { low = 0x11, high = 0x12, ranges = 0x55, call_column = 0x57, call_line = 0x59 };
    enum : std::uint64_t { name_of = 0x03, abstract_origin = 0x31, artificial = 0x34, specification = 0x47 };
    constexpr std::uint64_t in_strings = 0x0e;  // the form of a name
    constexpr std::uint64_t before_unit = 4;    // bytes: its size
    constexpr std::size_t most_functions = 1 << 18;
    const std::size_t size = unit.left(), first_call = places.calls();
    std::map<std::uint64_t, Function> functions;
    const auto version = unit.get<std::uint16_t>();
    if (version < 2 || version > 4) return;  // device code is compiled for version 4
    const auto abbreviations = read_abbreviations(sections, unit.get<std::uint32_t>());
    if (unit.get<std::uint8_t>() != 8) return;  // bytes of an address
    std::uint64_t base = 0;
    bool first = true;
    for (std::uint32_t depth = 0; unit.left() > 0; first = false) {
        const std::uint64_t entry = before_unit + size - unit.left();
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
            if (name == name_of && form == in_strings) values[name] = value;
            if (name == low || name == high || name == ranges || name == call_column || name == call_line ||
                name == abstract_origin || name == specification || name == artificial)
                values[name] = value;
        }
        if (first) base = values[low];
        const std::uint64_t function = values[values.count(specification) ? specification : abstract_origin];
        if (found->second.tag == subprogram && (function != 0 || values[artificial] != 0)) {
            if (functions.size() == most_functions) throw std::out_of_range("more than a program has");
            const bool lambda = values.count(name_of) != 0 && is_call_operator(sections, values[name_of]);
            functions[entry] = {values[artificial] != 0 && !lambda, function};
        }
        if (found->second.tag == inlined_subroutine && values.count(call_line) && values.count(call_column)) {
            Inlined call{values[low],
                         values[high],
                         static_cast<std::uint32_t>(values[call_line]),
                         static_cast<std::uint32_t>(values[call_column]),
                         depth,
                         function};
            if (high_is_size) call.end += call.begin;
            if (!values.count(ranges)) {
                places.add(call);
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
                    places.add(call);
                }
            }
        }
        if (found->second.has_children) ++depth;
    }
    places.settle(first_call, functions);
}

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

Sections sections_of(std::string_view file) {
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
                                                                 {".debug_ranges", &Sections::ranges},
                                                                 {".debug_str", &Sections::strings},
                                                                 {".text", &Sections::code},
                                                                 {".symtab", &Sections::symbols},
                                                                 {".strtab", &Sections::symbol_names}};
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
            if (place == &Sections::code) sections.code_address = one.sh_addr;
        }
    }
    return sections;
}

void read_places(std::string_view program, Places& places) {
    try {
        const Sections sections = sections_of(program);
        for_each_unit(sections.lines,
                      [&](Reader unit) { read_unit(unit, "", [&](const Row& row) { places.add(row); }); });
        for_each_unit(sections.info, [&](Reader unit) {
            try {
                read_calls(unit, sections, places);
            } catch (const std::out_of_range&) {
                // The next unit may be better.
            }
        });
    } catch (const std::out_of_range&) {
        // What has been read so far holds.
    }
}

/// The addresses that addr2line was asked about.
std::vector<std::uint64_t> addresses_in(const std::string& text) {
    std::vector<std::uint64_t> addresses;
    for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
        if (text.compare(begin, 2, "0x") == 0) addresses.push_back(std::strtoull(&text[begin], nullptr, 16));
        if (text.find('\n', begin) == std::string::npos) break;
    }
    return addresses;
}

/// `use` for each line, and whether something ends it.
template <class Use>
void for_each_line(const std::string& text, const Use& use) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        use(text.substr(begin, end - begin), end < text.size());
        begin = end + 1;
    }
}

/// In place of a column: the compiler made the function, whose only place is its class.
constexpr std::uint32_t no_place = ~0u;

/// Where the place in one of its lines ends.
std::size_t place_end(const std::string& line) { return std::min(line.find(" (discriminator"), line.size()); }

/// The rows of a file, and the one behind each stretch of them, by address. Of several at one address the
/// last holds, but an end never hides another sequence's beginning.
std::vector<Row> rows_of(const Sections& sections, const std::string& name) {
    constexpr std::size_t most_rows = 1 << 18;
    std::vector<Row> rows;
    for_each_unit(sections.lines, [&](Reader unit) {
        bool before = false;
        read_unit(unit, name, [&](const Row& row) {
            if (row.named || before) rows.push_back(row);
            before = row.named;
            if (rows.size() > most_rows) throw std::out_of_range("more than a program has");
        });
    });
    if (rows.size() > most_rows) rows.clear();
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return a.address != b.address ? a.address < b.address : a.line == 0 && b.line != 0;
    });
    return rows;
}

/// What a program's code says about itself.
struct Code {
    /// Addresses of the instructions that call a function of the program, except for one that the compiler
    /// calls where an index is wrong: it stands for no code of the line.
    std::set<std::uint64_t> calls;
    /// Where its basic blocks begin, each with the address that its call of the hook returns to. What a
    /// function does before its first block belongs to none, and has 0.
    std::map<std::uint64_t, std::uint64_t> blocks;
    std::set<std::uint64_t> functions;  ///< where they begin
};

/// @param block  one of the addresses that a call of the hook returns to
Code read_code(const Sections& sections, std::uint64_t block) {
    Code code;
#ifdef __x86_64__
    constexpr std::uint64_t size = 5;  // of a call: 0xe8, and how far behind it the function is
    constexpr std::size_t most_calls = 1 << 20;
    const std::uint64_t begin = sections.code_address;
    const std::string_view text = sections.code.rest();
    const auto target = [&](std::uint64_t at) {
        std::int32_t distance;
        std::memcpy(&distance, &text[at + 1], sizeof distance);
        return at + size + static_cast<std::uint64_t>(std::int64_t{distance});
    };
    if (block < begin + size || block - begin > text.size()) return code;
    const std::uint64_t hook = target(block - begin - size);
    std::set<std::uint64_t> errors;
    for (Reader symbols = sections.symbols; symbols.left() >= sizeof(Elf64_Sym);) {
        const auto symbol = symbols.get<Elf64_Sym>();
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
        if (begins_with(sections.symbol_names, symbol.st_name, "__ubsan_handle_"))
            errors.insert(symbol.st_value);
        code.functions.insert(symbol.st_value);
        code.blocks.emplace(symbol.st_value, 0);
        if (code.blocks.size() > most_calls) throw std::out_of_range("more than a program has");
    }
    for (std::uint64_t at = 0; at + size <= text.size(); ++at) {
        if (text[at] != '\xe8' || target(at) >= text.size()) continue;
        if (code.calls.size() == most_calls) throw std::out_of_range("more than a program has");
        if (errors.count(begin + target(at)) == 0) code.calls.insert(code.calls.end(), begin + at);
        if (target(at) == hook) code.blocks[begin + at] = begin + at + size;
    }
#else
    (void)sections, (void)block;
#endif
    return code;
}

}  // namespace

ProgramFile::ProgramFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    map(file);
    close(file);
}

ProgramFile::ProgramFile(int descriptor) { map(descriptor); }

void ProgramFile::map(int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return;
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) return;
    data_ = static_cast<const char*>(data);
    size_ = size;
}

ProgramFile::~ProgramFile() {
    if (data_) munmap(const_cast<char*>(data_), size_);
}

std::map<unsigned, bool> lines_run(const ProgramFile& program, const std::string& name,
                                   const std::set<std::uint64_t>& ran) {
    std::map<unsigned, bool> lines;
    if (ran.empty()) return lines;
    try {
        const Sections sections = sections_of(program.bytes());
        const std::vector<Row> rows = rows_of(sections, name);
        const Code code = read_code(sections, *ran.begin());
        for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
            if (!rows[i].named || rows[i].line == 0) continue;
            // Calls of a line may all be on its way out of an error: what else it has may have run.
            const auto around = code.blocks.upper_bound(rows[i].address);
            if (around != code.blocks.begin() && ran.count(std::prev(around)->second) != 0) {
                lines[rows[i].line] = true;
            }
            // Every block has a call, and so has every access. What has none may have been moved here.
            for (auto call = code.calls.lower_bound(rows[i].address);
                 call != code.calls.end() && *call < rows[i + 1].address; ++call) {
                const auto block = code.blocks.upper_bound(*call);
                if (block == code.blocks.begin() || std::prev(block)->second == 0) continue;
                bool& run = lines[rows[i].line];
                run = run || ran.count(std::prev(block)->second) != 0;
            }
        }
        // A function's head has code of the compiler's own, also in copies that nothing calls.
        for (const std::uint64_t function : code.functions) {
            auto row = std::lower_bound(rows.begin(), rows.end(), function,
                                        [](const Row& r, std::uint64_t a) { return r.address < a; });
            for (; row != rows.end() && row->address == function; ++row) {
                const auto head = lines.find(row->line);
                if (row->named && head != lines.end() && !head->second) lines.erase(head);
            }
        }
    } catch (const std::out_of_range&) {
        lines.clear();  // half of them would say that the others have no code
    }
    return lines;
}

std::vector<std::uint32_t> columns_of(const ProgramFile& program, const std::string& text) {
    Places places(addresses_in(text));
    read_places(program.bytes(), places);
    std::vector<std::uint32_t> columns;
    Row row{0, 0, 0};
    std::vector<Inlined> calls;
    unsigned line_of_address = 0;  // 0: the address, then a function and its place for each frame
    for_each_line(text, [&](const std::string& line, bool) {
        if (line.compare(0, 2, "0x") == 0) {
            const std::uint64_t address = std::strtoull(line.c_str(), nullptr, 16);
            row = places.row_at(address);
            calls = places.calls_around(address);
            line_of_address = 0;
        }
        const unsigned part = line_of_address++;
        std::uint32_t column = 0;
        if (part >= 2 && part % 2 == 0) {
            const std::size_t colon = line.rfind(':', place_end(line));
            const unsigned long number =
                colon == std::string::npos ? 0 : std::strtoul(&line[colon + 1], nullptr, 10);
            // The innermost function's place, then that of its call in the one that it is inlined into.
            const std::size_t frame = part / 2 - 1;
            if (number != 0 && frame == 0 && row.line == number) column = row.column;
            if (number != 0 && frame > 0 && frame <= calls.size() && calls[frame - 1].line == number)
                column = calls[frame - 1].column;
            if (frame < calls.size() && calls[frame].implicit) column = no_place;
        }
        columns.push_back(column);
    });
    return columns;
}

std::string with_columns(const std::string& text, const std::vector<std::uint32_t>& columns) {
    std::string result;
    std::size_t begin = 0;  // of the line before: a place follows its function
    auto column = columns.begin();
    for_each_line(text, [&](const std::string& line, bool ended) {
        const std::uint32_t number = column != columns.end() ? *column++ : 0;
        if (number == no_place) {
            result.resize(begin);
            return;
        }
        begin = result.size();
        result += line;
        if (number != 0)
            result.insert(begin + place_end(line), std::string(1, ':').append(std::to_string(number)));
        if (ended) result += '\n';
    });
    return result;
}

std::string with_columns(const ProgramFile& program, const std::string& text) {
    return with_columns(text, columns_of(program, text));
}

}  // namespace simt::check
