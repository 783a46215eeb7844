// Reads line tables: DWARF Debugging Information Format, version 5, section 6.2. The judge reads programs
// with this that a student has compiled: nothing in the file is believed.
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

/// All rows of a program, by address. Of several at one address the last holds, but an end never hides
/// another sequence's beginning.
std::vector<Row> read_rows(const std::string& program) {
    std::ifstream in(program, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    std::vector<Row> rows;
    try {
        const auto header = Reader(file.data(), file.size()).get<Elf64_Ehdr>();
        if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
            return {};
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
        for (unsigned i = 0; i < header.e_shnum; ++i) {
            const Elf64_Shdr one = section(i);
            static constexpr char wanted[] = ".debug_line";
            Reader name = content(names);
            name.skip(one.sh_name);
            if (name.left() < sizeof wanted) continue;
            if (std::memcmp(&file[names.sh_offset + one.sh_name], wanted, sizeof wanted) != 0) continue;
            if ((one.sh_flags & SHF_COMPRESSED) != 0) return {};
            for (Reader units = content(one); units.left() > 0;) {
                const auto size = units.get<std::uint32_t>();
                if (size >= 0xfffffff0u) break;  // 64-bit DWARF
                read_unit(units.part(size), rows);
            }
        }
    } catch (const std::out_of_range&) {
        // What has been read so far holds.
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return a.address != b.address ? a.address < b.address : a.line == 0 && b.line != 0;
    });
    return rows;
}

}  // namespace

std::string with_columns(const std::string& program, const std::string& text) {
    // Programs are asked about again and again, and may have been built anew since.
    static std::mutex mutex;
    static auto* tables =
        new std::map<std::string, std::pair<std::filesystem::file_time_type, std::vector<Row>>>;
    std::lock_guard lock(mutex);
    std::error_code unreadable;
    const auto built = std::filesystem::last_write_time(program, unreadable);
    if (unreadable) return text;
    const auto [entry, fresh] = tables->try_emplace(program);
    if (fresh || entry->second.first != built) entry->second = {built, read_rows(program)};
    const std::vector<Row>& rows = entry->second.second;
    std::string result;
    std::uint64_t address = 0;
    int line_of_address = 0;  // 0: the address, 1: a function, 2: its place, 3: those it is inlined into
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
        if (line_of_address++ == 2) {
            const std::size_t note = std::min(line.find(" (discriminator"), line.size());
            const std::size_t colon = line.rfind(':', note);
            auto row = std::upper_bound(rows.begin(), rows.end(), address,
                                        [](std::uint64_t a, const Row& r) { return a < r.address; });
            const unsigned long number =
                colon == std::string::npos ? 0 : std::strtoul(&line[colon + 1], nullptr, 10);
            if (row != rows.begin() && number != 0 && (--row)->line == number && row->column != 0)
                result.insert(result.size() - line.size() + note, ":" + std::to_string(row->column));
        }
        if (ended) result += '\n';
    }
    return result;
}

}  // namespace simt::check
