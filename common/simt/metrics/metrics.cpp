#include "simt/inspect/metrics.h"

namespace golden {

static const std::string global_requests = "l1tex__t_requests_pipe_lsu_mem_global_op_";
static const std::string global_sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_";
static const std::string shared_wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_";
static const std::string shared_conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";
static const std::string texture_requests = "l1tex__t_requests_pipe_tex_mem_texture.sum";
static const std::string texture_sectors = "l1tex__t_sectors_pipe_tex_mem_texture.sum";

const std::vector<std::string>& compared_metrics() {
    static const std::vector<std::string> metrics = [] {
        std::vector<std::string> all;
        for (const std::string& metric :
             {global_requests, global_sectors, shared_wavefronts, shared_conflicts}) {
            for (const char* op : {"ld.sum", "st.sum", "atom.sum"}) all.push_back(metric + op);
        }
        all.push_back(texture_requests);
        all.push_back(texture_sectors);
        return all;
    }();
    return metrics;
}

Counts counts_of(const simt::check::LaunchCounters& launch) {
    using simt::check::Access;
    using simt::check::Space;
    Counts counts;
    for (const std::string& metric : compared_metrics()) counts[metric] = 0;
    // grid.sync() is code of the toolkit's: one lane of each block counts the block in, and
    // takes a wavefront.
    const auto arrivals = static_cast<double>(launch.grid_barriers * launch.blocks);
    for (const std::string& metric : {global_requests, global_sectors, shared_wavefronts})
        counts[metric + "atom.sum"] = arrivals;
    for (const simt::check::SiteCounters& site : launch.sites) {
        const std::string op = site.access == Access::read    ? "ld.sum"
                               : site.access == Access::write ? "st.sum"
                                                              : "atom.sum";
        if (site.space == Space::global) {
            counts[global_requests + op] += static_cast<double>(site.requests);
            counts[global_sectors + op] += static_cast<double>(site.sectors);
        } else if (site.space == Space::shared) {
            counts[shared_wavefronts + op] += static_cast<double>(site.wavefronts);
            counts[shared_conflicts + op] += static_cast<double>(site.bank_conflicts());
        } else if (site.space == Space::texture) {
            counts[texture_requests] += static_cast<double>(site.requests);
            counts[texture_sectors] += static_cast<double>(site.sectors);
        }
    }
    return counts;
}

Counts counts_of(const Row& row) {
    Counts counts;
    for (const std::string& metric : compared_metrics()) counts[metric] = row.value.at(metric);
    for (const std::string& metric : {global_requests, global_sectors}) {
        const auto reductions = row.value.find(metric + "red.sum");  // check mode's tables have none
        if (reductions != row.value.end()) counts[metric + "atom.sum"] += reductions->second;
    }
    return counts;
}

double allowed(const std::string& metric, const Counts& truth) {
    if (metric.rfind(shared_wavefronts, 0) == 0) return 0.02 * truth.at(metric);
    if (metric.rfind(shared_conflicts, 0) == 0)
        return 0.02 * truth.at(shared_wavefronts + metric.substr(shared_conflicts.size()));
    return 0;
}

}  // namespace golden
