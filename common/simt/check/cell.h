/// @file
/// What check mode remembers of a word of memory.
#pragma once

#include <cstdint>

namespace simt::check {

/// One 4-byte word of memory (one byte, in an array that something accesses by smaller pieces): the last
/// write and up to two reads or atomics that nothing has ordered since. Two are enough: any later access by
/// another lane is unordered with at least one of two that come from different warps or blocks (with tiles of
/// more than a warp: from the two that are furthest apart). Most words are one lane's at a time: CellRest has
/// what only others need.
///
/// Accesses are known by segment, lane and the number of their place in the code (see code_address()). All
/// zero: nothing has accessed the word.
class Cell {
  public:
    /// Numbers of places in the code are below it.
    static constexpr unsigned code_limit = 0x8000;

    bool operator==(const Cell&) const = default;

    /// Something has given the word a value.
    bool is_initialised() const { return has(initialised); }
    void set_initialised(bool value) { set(initialised, value); }

    // ---- The write ----

    std::uint32_t write() const { return write_; }            ///< its segment; 0: never
    unsigned writer() const { return flags_ & writer_lane; }  ///< its lane
    std::uint16_t write_code() const { return code_in(write_code_); }
    /// It is a read that an atomic has displaced, for later atomics of others to meet.
    bool write_is_read() const { return (write_code_ & marked_code) != 0; }
    /// It is an atomic that a read has displaced.
    bool write_is_atomic() const { return has(atomic_write); }
    bool is_written_by(std::uint32_t segment, unsigned lane) const {
        return write_ == segment && writer() == lane;
    }
    bool has_same_write(const Cell& other) const {
        return write_ == other.write_ && write_code_ == other.write_code_;
    }
    /// A plain write, after which nothing before it counts.
    void set_write(std::uint32_t segment, unsigned lane, std::uint16_t code) {
        write_ = segment;
        first_ = 0;
        write_code_ = code;
        second_code_ = 0;
        flags_ = static_cast<std::uint16_t>(initialised | lane);
    }
    /// The first access, of lane `lane`, is kept in place of the write: the other sort displaces it.
    void move_first_to_write(unsigned lane) {
        write_ = first_;
        write_code_ = with_mark(first_code(), !first_is_atomic());
        set(atomic_write, first_is_atomic());
        flags_ = static_cast<std::uint16_t>((flags_ & ~writer_lane) | lane);
    }

    // ---- The first read or atomic ----

    std::uint32_t first() const { return first_; }                      ///< its segment; 0: there is none
    unsigned first_lane() const { return flags_ >> first_lane_shift; }  ///< unless there are several
    bool first_has_several_lanes() const { return has(several); }       ///< CellRest::lanes
    std::uint16_t first_code() const { return code_in(first_code_); }
    bool first_is_atomic() const { return has(first_atomic); }
    /// An atomic's read, with which only plain writes conflict.
    bool first_is_load() const { return !first_is_atomic() && (first_code_ & marked_code) != 0; }
    /// An atomic whose lane has fenced before, so that an atomic that sees it comes after it.
    bool first_has_fenced() const { return first_is_atomic() && (first_code_ & marked_code) != 0; }
    bool is_first_of(std::uint32_t segment, unsigned lane) const {
        return first_ == segment && !first_has_several_lanes() && first_lane() == lane;
    }
    /// The first access is this lane's alone. `marked`: it is a load, or an atomic whose lane has fenced.
    void set_first(std::uint32_t segment, unsigned lane, std::uint16_t code, bool atomic = false,
                   bool marked = false) {
        first_ = segment;
        set_first_code(code, marked);
        const unsigned kept = flags_ & (writer_lane | initialised | second_atomic | atomic_write);
        flags_ = static_cast<std::uint16_t>(kept | (atomic ? first_atomic : 0) | lane << first_lane_shift);
    }
    void set_first_code(std::uint16_t code, bool marked = false) { first_code_ = with_mark(code, marked); }
    void set_first_atomic() { set(first_atomic, true); }
    void set_several_lanes() { set(several, true); }
    void drop_first() { first_ = 0; }

    // ---- The second, whose segment is in CellRest ----

    bool has_second() const { return second_code_ != 0; }
    std::uint16_t second_code() const { return code_in(second_code_); }
    bool second_is_atomic() const { return has(second_atomic); }
    bool second_is_load() const { return !second_is_atomic() && (second_code_ & marked_code) != 0; }
    bool second_has_fenced() const { return second_is_atomic() && (second_code_ & marked_code) != 0; }
    /// The two come from different blocks, or in shared memory from different warps. As long as nothing
    /// orders them, no third reader adds to what they tell.
    bool is_apart() const { return has(two_apart); }
    void set_second(std::uint16_t code, bool atomic, bool marked, bool apart) {
        second_code_ = with_mark(code, marked);
        set(second_atomic, atomic);
        set(two_apart, apart);
    }
    void drop_second() { set_second(0, false, false, false); }

    bool has_atomics() const { return has(first_atomic | second_atomic); }
    /// Initialised, and without atomics.
    bool is_plain() const { return (flags_ & (initialised | first_atomic | second_atomic)) == initialised; }
    /// Whatever has accessed the word comes before all that is to come.
    void forget_accesses() {
        write_ = first_ = 0;
        second_code_ = 0;
    }

  private:
    // Masks of `flags_`: with bit fields a compiler reads it once for each of them.
    static constexpr unsigned writer_lane = 31;
    static constexpr unsigned initialised = 32;
    static constexpr unsigned first_atomic = 64;
    static constexpr unsigned second_atomic = 128;
    static constexpr unsigned atomic_write = 256;
    static constexpr unsigned two_apart = 512;
    static constexpr unsigned several = 1024;
    static constexpr unsigned first_lane_shift = 11;
    /// In a code: the write is a read; or `marked` of set_first() and set_second().
    static constexpr unsigned marked_code = code_limit;

    bool has(unsigned mask) const { return (flags_ & mask) != 0; }
    void set(unsigned mask, bool value) {
        flags_ = static_cast<std::uint16_t>(value ? flags_ | mask : flags_ & ~mask);
    }
    static std::uint16_t code_in(std::uint16_t code) { return code & (marked_code - 1); }
    static std::uint16_t with_mark(std::uint16_t code, bool marked) {
        return static_cast<std::uint16_t>(marked ? code | marked_code : code);
    }

    std::uint32_t write_ = 0;
    std::uint32_t first_ = 0;
    std::uint16_t write_code_ = 0, first_code_ = 0, second_code_ = 0;
    std::uint16_t flags_ = 0;
};

/// What most cells never need: in memory of its own, which stays untouched until one does.
struct CellRest {
    std::uint32_t second;  ///< segment of the second read or atomic, from another warp or block
    std::uint32_t lanes;   ///< of the first, if there are several
};
static_assert(sizeof(Cell) == 16 && sizeof(CellRest) == 8, "four times the data, six at most");

}  // namespace simt::check
