// Shadow cells: their memory, what copies make of them, and the numbers by which they know code.
#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

#include "check/state.h"

namespace simt::check {
namespace {

struct CodeTable {
    std::unordered_map<const void*, std::uint16_t> codes;
    std::vector<const void*> addresses{nullptr, nullptr};  ///< the first two are none and unknown
};
CodeTable& code_table() {
    static auto* table = new CodeTable;
    return *table;
}

}  // namespace

Cell* map_cells(std::size_t count) {
    void* memory = mmap(nullptr, count * (sizeof(Cell) + sizeof(CellRest)), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<Cell*>(memory);
}

void give_cells(Array& array) {
    array.cells = map_cells(array.cell_count());
    array.rest = rest_behind(array.cells, array.cell_count());
    array.pieces.clear();
    if (array.size >= large_array) array.pieces.resize(((array.size - 1) >> piece_shift) + 1);
}

void make_cells(Array& array, std::size_t offset, std::size_t size) {
    if (array.pieces.empty()) return;
    for (std::size_t p = offset >> piece_shift; p <= (offset + size - 1) >> piece_shift; ++p) {
        Piece& piece = array.pieces[p];
        if (std::exchange(piece.made, true)) continue;
        const Cell& all = piece.all;
        if (all == Cell()) continue;  // as they are
        const std::size_t begin = p << piece_shift,
                          stop = std::min(begin + (std::size_t{1} << piece_shift), array.size);
        std::fill(array.cells + (begin >> array.shift), array.cells + ((stop - 1) >> array.shift) + 1, all);
    }
}

std::size_t written_prefix(const Array& array) {
    const std::size_t step = std::size_t{1} << array.shift;
    std::size_t count = 0;
    while (count < array.size && array.is_written(count)) count += step;
    for (std::size_t i = count; i < array.size; i += step)
        if (array.is_written(i)) return 0;
    return count < array.size ? count : 0;
}

void unmap_cells(Cell* cells, std::size_t count) { munmap(cells, count * (sizeof(Cell) + sizeof(CellRest))); }

void split(Array& array) {
    if (array.shift == 0) return;
    // A block has cells for every byte of its shared memory.
    const bool in_place = array.memory == Memory::shared || array.memory == Memory::dynamic_shared;
    Cell* const bytes = in_place ? array.cells : map_cells(array.size);
    CellRest* const rest = in_place ? array.rest : rest_behind(bytes, array.size);
    for (std::size_t i = array.size; i-- > 0;) {
        if (!array.pieces.empty() && !array.pieces[i >> piece_shift].made) {
            i &= ~((std::size_t{1} << piece_shift) - 1);
            continue;
        }
        const Cell cell = array.cells[i >> 2];
        if (in_place || cell != Cell()) bytes[i] = cell;
        if (cell.has_second() || cell.first_has_several_lanes()) rest[i] = array.rest[i >> 2];
    }
    if (!in_place) unmap_cells(array.cells, array.cell_count());
    array.cells = bytes;
    array.rest = rest;
    array.shift = 0;
    ++state.layout;
}

constexpr unsigned char poison = 0xFF;  // as the heap fills its memory

bool is_poison(std::uintptr_t address, std::size_t size) {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(address);
    return std::all_of(bytes, bytes + size, [](unsigned char byte) { return byte == poison; });
}

std::vector<bool> which_are_written(std::uintptr_t address, std::size_t size) {
    const Array* const array = find_array_in_kernel(address);
    std::vector<bool> written;
    if (!array || !array->live || !array->holds(address, size)) return written;
    for (std::size_t i = 0; i < size; ++i) written.push_back(array->is_written(address - array->begin + i));
    return written;
}

void leave_unwritten(std::uintptr_t address, const std::vector<bool>& written) {
    if (std::find(written.begin(), written.end(), false) == written.end()) return;
    for (std::size_t i = 0; i < written.size(); ++i)
        if (!written[i]) *reinterpret_cast<unsigned char*>(address + i) = poison;
    Array& array = *find_array_in_kernel(address);
    const std::size_t offset = address - array.begin;
    if ((offset & 3) != 0 || (written.size() & 3) != 0) split(array);
    for_cells(array, offset, written.size(), [&](Cell& cell, std::size_t begin, bool) {
        if (!written[std::max(begin, offset) - offset]) cell.set_initialised(false);
        return true;
    });
}

void mark_written(std::uintptr_t address, std::size_t size) {
    if (size == 0) return;
    Array* array = state.block ? find_array_in_kernel(address) : find_array(address);
    if (!array || !array->live || !array->holds(address, size)) return;
    const std::size_t offset = address - array->begin;
    if ((offset & 3) != 0 || ((size & 3) != 0 && offset + size != array->size)) split(*array);
    for_cells(*array, offset, size, [](Cell& cell, std::size_t, bool) {
        cell.set_initialised(true);
        return true;
    });
}

void mark_copied(std::uintptr_t to, std::uintptr_t from, std::size_t size) {
    Array *target = find_array(to), *source = find_array(from);
    if (size == 0) return;
    if (!target || !source || !source->tracks_values || !target->holds(to, size) ||
        !source->holds(from, size)) {
        mark_written(to, size);
        return;
    }
    if (((to | from | size) & 3) != 0) split(*target), split(*source);
    if (target->shift != source->shift) split(*target), split(*source);
    make_cells(*source, from - source->begin, size);
    make_cells(*target, to - target->begin, size);
    const Cell* cell = source->cells + ((from - source->begin) >> source->shift);
    Cell* other = target->cells + ((to - target->begin) >> target->shift);
    for (std::size_t n = size >> target->shift; n-- > 0; ++cell, ++other)
        other->set_initialised(cell->is_initialised());
}

std::uint16_t code_of(const void* pc) {
    CodeTable& table = code_table();
    auto [found, fresh] = table.codes.try_emplace(pc, unknown_code);
    if (fresh && table.addresses.size() < Cell::code_limit) {
        found->second = static_cast<std::uint16_t>(table.addresses.size());
        table.addresses.push_back(pc);
    }
    return found->second;
}

const void* code_address(std::uint16_t code) { return code_table().addresses[code]; }

}  // namespace simt::check
