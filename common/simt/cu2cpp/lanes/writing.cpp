// The text of loops over lanes: see simt/lanes.h.
#include <algorithm>

#include "cu2cpp/lanes/kernel.h"
#include "cu2cpp/lanes/words.h"

namespace cu2cpp::lanes {

void Kernel::write() {
    const bool exits = root_.returns;
    std::string start = " SIMT_LANES";
    if (exits) start += " SIMT_LANES_MAY_LEAVE";
    // Parameters that a lane changes.
    std::string first;
    for (Variable& v : variables_) {
        if (!v.parameter || v.uniform) continue;
        start += " SIMT_LANE_VARIABLE(" + v.name + ", " + v.type + ")";
        first += " simt_own_" + v.name + ".copy(simt_lane, " + v.name + ");";
        v.kept = true;
    }
    if (!first.empty()) start += " SIMT_EACH_LANE_ALONE" + first + " }";
    unit_.insert(seq_[body_.begin].end, start);
    for (Variable& v : variables_)
        if (!v.parameter) v.kept = false;
    visit(root_, true);
    // Behind what the regions' beginnings have put in the same places.
    for (auto& [offset, text] : late_) unit_.insert(offset, text);
}

void Kernel::visit(const Statement& node, bool writes) {
    Region region;
    const auto flush = [&] {
        if (region.open != npos) finish(region, writes);
        region = {};
    };
    for (const Statement& child : node.children) {
        if (!flaw_.empty()) return;
        if (!is_between(child)) {
            if (region.open == npos) {
                region.open = seq_[child.whole.begin].begin;
            }
            region.nodes.push_back(&child);
            region.text.push_back(child.whole);
            region.close = seq_[child.whole.end - 1].end;
            region.end = child.whole.end;
            continue;
        }
        flush();
        if (child.kind == StatementKind::declaration || child.kind == StatementKind::simple) {
            if (is_barrier_statement(child) && writes) {
                const std::size_t i = child.whole.begin;
                if (is_group_barrier(child.whole)) {
                    unit_.blank(seq_, {i, child.whole.end - 1});
                    unit_.insert(seq_[i].begin, "simt_lanes.synchronise()");
                    continue;
                }
                unit_.replace(seq_[i], seq_.is(i, "__syncwarp") ? "simt_lanes.synchronise_warp"
                                                                : "simt_lanes.synchronise");
            } else if (child.waits && !is_barrier_statement(child)) {
                shuffle(child, region, writes);
            }
            continue;
        }
        if (child.kind == StatementKind::compound) {
            visit(child, writes);
        } else if (child.kind != StatementKind::fixed && child.kind != StatementKind::leave &&
                   child.kind != StatementKind::exit) {
            for (const Statement& part : child.children) {
                if (part.kind == StatementKind::compound && part.splits()) {
                    visit(part, writes);
                    continue;
                }
                Statement braces;
                braces.kind = StatementKind::compound;
                braces.whole = part.whole;
                braces.children.push_back(part);
                if (writes) unit_.insert(seq_[part.whole.begin].begin, "{ ");
                visit(braces, writes);
                if (writes) unit_.insert(seq_[part.whole.end - 1].end, " }");
            }
        }
    }
    flush();
}

std::string Kernel::renewal(const Variable& v) {
    if (is_derived(v)) return " " + v.type + v.name + " = " + spelling(seq_, v.initialiser) + ";";
    const std::string own = "simt_own_" + v.name + "[simt_lane]";
    return std::string(v.parameter ? " SIMT_LANE_PARAMETER(" : " SIMT_LANE_NAME(") + v.name + ", " +
           (v.reference ? "*" : "") + own + ")";
}

void Kernel::finish(const Region& region, bool writes) {
    std::string before, after;
    std::vector<Variable*> named = named_in(region.text);
    std::vector<Variable*> own;
    for (const Range range : region.text)
        for (Variable& v : variables_) {
            if (v.parameter || !v.between || v.fixed || v.declared_at != range.begin) continue;
            const bool derived = is_derived(v);
            if (!derived && address_escapes(v)) {
                give_up("the address of `" + v.name + "`, which may outlive a barrier");
                return;
            }
            if (!derived && !named_later(v, region.end)) continue;
            const auto hidden = [&](const Variable* other) { return other->name == v.name; };
            if (std::any_of(named.begin(), named.end(), hidden)) {
                give_up("two variables of one name, `" + v.name + "`, between two barriers");
                return;
            }
            own.push_back(&v);
            v.kept = true;
            if (derived) {  // maybe for later ones alone
                after += " static_cast<void>(" + v.name + ");";
                continue;
            }
            if (!v.known_type) {
                give_up("a type that is not written out, of `" + v.name + "`, which outlives a barrier");
                return;
            }
            before += "SIMT_LANE_VARIABLE(" + v.name + ", " + v.type + (v.reference ? "*" : "") + ") ";
            after += v.reference ? " { auto* simt_place = &" + v.name + "; simt_own_" + v.name +
                                       ".keep(simt_lane, simt_place); }"
                                 : " simt_own_" + v.name + ".keep(simt_lane, " + v.name + ");";
        }
    if (!writes) return;
    bool returns = false;
    for (const Statement* node : region.nodes) returns |= node->returns;
    before += loop_of(region);
    if (root_.returns) before += " if (simt_lanes.is_gone(simt_lane)) continue;";
    for (const Variable* v : named)
        if (std::find(own.begin(), own.end(), v) == own.end()) before += renewal(*v);
    before += " { " + region.lead;
    after += " }";
    if (returns) {
        const std::string label = "simt_next_" + std::to_string(++labels_);
        for (const Range range : region.text)
            for (std::size_t k = range.begin; k < range.end; ++k)
                if (seq_.is(k, "return")) {
                    unit_.replace(seq_[k], "{ simt_lanes.leave(simt_lane); goto " + label + "; }");
                    unit_.blank(seq_[k + 1]);
                }
        after += " " + label + ":;";
    }
    after += " }";
    if (returns) after += " if (simt_lanes.all_gone()) return;";
    unit_.insert(region.open, before);
    unit_.insert(region.close, after);
}

std::string Kernel::loop_of(const Region& region) {
    if (std::all_of(region.text.begin(), region.text.end(), [&](Range text) { return is_alone(text); }))
        return "SIMT_EACH_LANE_ALONE";
    const auto may_fail_late = [&](const Statement* node) {
        return is_alone(node->whole) ||
               (node->kind == StatementKind::conditional && node->children.size() == 1 &&
                seq_.is(node->whole.begin + 1, "(") && is_alone(node->head));
    };
    if (!region.lead.empty() || !std::all_of(region.nodes.begin(), region.nodes.end(), may_fail_late))
        return "SIMT_EACH_LANE";
    for (const Statement* node : region.nodes) {
        if (is_alone(node->whole)) continue;
        late_.push_back({seq_[node->head.begin].begin, "("});
        late_.push_back({seq_[node->head.end - 1].end, ") && SIMT_THIS_LANE"});
    }
    return "SIMT_EACH_LANE_QUIET";
}

void Kernel::shuffle(const Statement& node, Region& region, bool writes) {
    const Shuffle s = shuffle_of(node);
    const auto arguments = split(seq_, {s.open + 1, s.close});
    const Range front{node.whole.begin, s.name}, back{s.close + 1, node.whole.end - 1};
    const std::size_t value = arguments[1].begin;
    const Variable* v = resolve(value);
    const std::string own = "simt_shuffle_" + std::to_string(s.name);
    region.open = region.close = seq_[node.whole.end - 1].end;
    region.end = node.whole.end;
    region.nodes.push_back(&node);
    region.text = {front, back};
    region.lead = spelling(seq_, front) + " " + own + "[simt_lane]" + spelling(seq_, back) + ";";
    if (!writes) return;
    const auto member = std::find(shuffles.begin(), shuffles.end(), seq_[s.name].text) - shuffles.begin();
    unit_.insert(seq_[node.whole.begin].begin,
                 "SIMT_LANE_SHUFFLE(" + own + ", " + v->name + ", " + v->type + ") " + own + "." +
                     std::string(shuffle_members[static_cast<std::size_t>(member)]));
    unit_.blank(seq_, front);
    unit_.blank(seq_[s.name]);
    unit_.blank(seq_, {value, value + 2});  // and its comma
    unit_.blank(seq_, back);
}

}  // namespace cu2cpp::lanes
