#include "judge/clock/quiet.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace rungs::judge {
namespace {

/// Of this process: it has one GPU, and one clock.
struct House {
    std::mutex mutex;
    std::condition_variable_any changed;
    bool quiet = false;
    std::size_t turns = 0;
    std::size_t at_work = 0;  ///< pieces
};

House& house() {
    static House house;
    return house;
}

}  // namespace

Quiet::Quiet() {
    std::unique_lock lock(house().mutex);
    house().changed.wait(lock, [] { return !house().quiet; });
    house().quiet = true;
    house().changed.wait(lock, [] { return house().at_work == 0; });
}

Quiet::~Quiet() {
    {
        const std::lock_guard lock(house().mutex);
        house().quiet = false;
    }
    house().changed.notify_all();
}

Turn::Turn() {
    const std::lock_guard lock(house().mutex);
    ++house().turns;
}

Turn::~Turn() {
    {
        const std::lock_guard lock(house().mutex);
        --house().turns;
    }
    house().changed.notify_all();
}

Piece::Piece(const std::stop_token& stop, bool can_wait) {
    std::unique_lock lock(house().mutex);
    static const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const auto free = [=] {
        return !house().quiet && !(can_wait && (house().turns > 0 || house().at_work >= cores));
    };
    begun_ = house().changed.wait(lock, stop, free) && !stop.stop_requested();
    if (begun_) ++house().at_work;
}

Piece::~Piece() {
    if (!begun_) return;
    {
        const std::lock_guard lock(house().mutex);
        --house().at_work;
    }
    house().changed.notify_all();
}

}  // namespace rungs::judge
