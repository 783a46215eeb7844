// Who asks for a sector again, and how much else has passed since.

#include <algorithm>
#include <array>
#include <unordered_map>

#include "check/state.h"
#include "simt/inspect/profile.h"

namespace simt::model {

using check::Access;
using check::Event;
using check::Space;

namespace {

constexpr unsigned sector_shift = 5;

/// A set of sectors that is emptied often: entries of an older age are as good as none.
class SectorSet {
  public:
    /// Adds one. @return whether it was not there
    bool add(std::uint64_t sector) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        for (std::size_t i = hash(sector);; i = (i + 1) & (slots_.size() - 1)) {
            Slot& slot = slots_[i];
            if (slot.age != age_) {
                slot = {sector, age_};
                ++used_;
                return true;
            }
            if (slot.sector == sector) return false;
        }
    }
    void clear() {
        used_ = 0;
        ++age_;
    }

  private:
    struct Slot {
        std::uint64_t sector = 0, age = 0;
    };
    std::size_t hash(std::uint64_t sector) const {
        return (sector * 0x9e3779b97f4a7c15ull >> 20) & (slots_.size() - 1);
    }
    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.age != age_) continue;
            std::size_t i = hash(slot.sector);
            while (slots_[i].age == age_) i = (i + 1) & (slots_.size() - 1);
            slots_[i] = slot;
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(1024);
    std::size_t used_ = 0;
    std::uint64_t age_ = 1;
};

/// When each sector was last in use; time is the number of different sectors that launches have used.
struct Page {
    static constexpr unsigned sectors = 128;
    struct Last {
        std::uint64_t used = 0;  ///< 0: never
        bool dirty = false;
    };
    std::array<Last, sectors> last = {};
};

/// Rounds of loads from shared memory that a compiler brings together: it unrolls a loop by four. Loads from
/// global memory stay where they are, if there is a store or a test of bounds between them.
constexpr std::uint64_t shared_at_once = 4;

/// Loads of a lane that may be on their way together: those of different places in the code. One place again
/// is a new round.
class Rounds {
  public:
    void add(const void* pc) {
        for (unsigned i = 0; i < count_; ++i) {
            if (places_[i] != pc) continue;
            ++rounds_;
            count_ = 0;
            break;
        }
        if (count_ == most) {
            ++rounds_;
            count_ = 0;
        }
        places_[count_++] = pc;
    }
    /// The number of the round that goes on.
    std::uint64_t current() const { return rounds_; }
    /// How many there were; starts again.
    std::uint64_t finish() {
        const std::uint64_t rounds = rounds_ + (count_ > 0);
        rounds_ = count_ = 0;
        return rounds;
    }

  private:
    static constexpr unsigned most = 16;  ///< more do not fit into a thread's registers
    std::array<const void*, most> places_;
    unsigned count_ = 0;
    std::uint64_t rounds_ = 0;
};

}  // namespace

struct Traffic::State : check::Observer {
    std::uint64_t l2_sectors = 0;
    std::vector<Launch> launches;

    // Memory.
    std::unordered_map<std::uint64_t, Page> pages;
    std::uint64_t page_number = ~std::uint64_t{0};
    Page* page = nullptr;
    std::uint64_t now = 1, launch_began = 1;

    // The running block.
    std::uint64_t block = ~std::uint64_t{0};
    SectorSet loaded;
    struct Lane {
        Rounds loads, shared;
    };
    std::vector<Lane> lanes;
    std::array<std::uint64_t, 32> syncs = {};  ///< of each warp, in this segment
    /// How far the loads of each round since the last barrier go: 0 to L1, 1 to L2, 2 to memory. The warps of
    /// a block go through a loop together: when one asks for a sector that is new to the block, all wait.
    std::vector<unsigned char> reach;
    std::uint64_t load_rounds = 0, shared_rounds = 0, sync_rounds = 0;  ///< of the launch
    std::uint64_t l2_rounds = 0, dram_rounds = 0;                       ///< of load_rounds
    std::uint64_t blocks = 0;

    // Atomics.
    std::unordered_map<std::uintptr_t, std::uint64_t> words;
    std::uintptr_t word = 0;
    std::uint64_t* word_count = nullptr;

    void launch_begins(const char*, dim3 grid, dim3 threads) override {
        launches.emplace_back();
        launch_began = now;
        block = ~std::uint64_t{0};
        lanes.assign(std::size_t{threads.x} * threads.y * threads.z, {});
        load_rounds = shared_rounds = sync_rounds = l2_rounds = dram_rounds = 0;
        reach.clear();
        blocks = std::uint64_t{grid.x} * grid.y * grid.z;
        words.clear();
        word_count = nullptr;
    }

    void launch_ends() override {
        finish_segment();
        Launch& launch = launches.back();
        const double n = static_cast<double>(std::max<std::uint64_t>(blocks, 1));
        launch.load_rounds = static_cast<double>(load_rounds) / n;
        launch.l2_rounds = static_cast<double>(l2_rounds) / n;
        launch.dram_rounds = static_cast<double>(dram_rounds) / n;
        launch.shared_rounds = static_cast<double>(shared_rounds) / n;
        launch.sync_rounds = static_cast<double>(sync_rounds) / n;
        for (const auto& [address, count] : words) launch.atomics_same = std::max(launch.atomics_same, count);
    }

    /// Between two barriers a block takes as long as its slowest lane.
    void finish_segment() {
        std::uint64_t loads = 0, shared = 0, sync = 0;
        for (Lane& lane : lanes) {
            loads = std::max(loads, lane.loads.finish());
            shared = std::max(shared, lane.shared.finish());
        }
        for (std::uint64_t& count : syncs) {
            sync = std::max(sync, count);
            count = 0;
        }
        load_rounds += loads;
        for (const unsigned char level : reach) {
            l2_rounds += level == 1;
            dram_rounds += level == 2;
        }
        reach.clear();
        shared_rounds += (shared + shared_at_once - 1) / shared_at_once;
        sync_rounds += sync;
    }

    /// Blocks run one after the other; those of a cooperative launch return, and then find an empty L1.
    void enter(std::uint64_t number) {
        if (number == block) return;
        finish_segment();
        block = number;
        loaded.clear();
    }

    void block_begins(std::uint64_t number) override { enter(number); }
    void block_synchronised(std::uint64_t) override { finish_segment(); }
    void warp_synchronised(std::uint64_t number, unsigned warp, unsigned) override {
        enter(number);
        ++syncs[warp % syncs.size()];
    }

    Page::Last& last_use(std::uint64_t sector) {
        const std::uint64_t number = sector / Page::sectors;
        if (number != page_number) {
            page = &pages[number];
            page_number = number;
        }
        return page->last[sector % Page::sectors];
    }

    /// @return whether the sector comes from memory, and not from L2
    bool use(Page::Last& last) {
        if (last.used >= launch_began) return false;
        const bool miss = last.used == 0 || now - last.used > l2_sectors;
        if (miss) last.dirty = false;
        last.used = now++;
        return miss;
    }

    void access(const Event& e) override {
        const check::OwnWork own;
        enter(e.block);
        const std::size_t flat = std::size_t{e.warp} * 32 + e.lane;
        if (e.space == Space::shared) {
            if (e.access != Access::write && flat < lanes.size()) lanes[flat].shared.add(e.pc);
            return;
        }
        if (e.space == Space::constant) return;
        Launch& launch = launches.back();
        const bool write = e.access == Access::write;
        std::uint64_t round = 0;
        if (!write && flat < lanes.size()) {
            lanes[flat].loads.add(e.pc);
            round = lanes[flat].loads.current();
        }
        if (e.access == Access::atomic) count_atomic(e.address);
        const std::uint64_t first = e.address >> sector_shift, end = (e.address + e.size - 1) >> sector_shift;
        for (std::uint64_t sector = first; sector <= end; ++sector) {
            if (!write && !loaded.add(sector)) continue;
            if (!write) ++launch.block_sectors;
            Page::Last& last = last_use(sector);
            const bool miss = use(last);
            if (!write && miss) ++launch.dram_read_sectors;
            if (!write) {
                if (round >= reach.size()) reach.resize(round + 64);
                reach[round] = std::max(reach[round], static_cast<unsigned char>(miss ? 2 : 1));
            }
            if (e.access != Access::read && !last.dirty) {
                ++launch.dram_write_sectors;
                last.dirty = true;
            }
        }
    }

    void count_atomic(std::uintptr_t address) {
        ++launches.back().atomics;
        if (!word_count || address != word) {
            word = address;
            word_count = &words[address];
        }
        ++*word_count;
    }
};

Traffic::Traffic(double l2_bytes) : state_(std::make_unique<State>()) {
    state_->l2_sectors = static_cast<std::uint64_t>(l2_bytes) >> sector_shift;
    check::add_observer(*state_);
}
Traffic::~Traffic() { check::remove_observer(*state_); }

const std::vector<Traffic::Launch>& Traffic::launches() const { return state_->launches; }

void Traffic::clear() {
    state_->launches.clear();
    state_->pages.clear();
    state_->page = nullptr;
    state_->page_number = ~std::uint64_t{0};
    state_->now = 1;
}

}  // namespace simt::model
