// Chapter 7's exam: operators, preconditioners and solves.

#include "rungs/exam.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "exam/cases.hpp"
#include "exam/operator.hpp"
#include "exam/parts.hpp"
#include "exam/preconditioner.hpp"
#include "exam/solve.hpp"
#include "pcg.cuh"

namespace {

using pcg::Field;
using pcg::Method;
using pcg::Setting;

class PcgExam : public rungs::Exam {
  public:
    rungs::Task make(const rungs::Case& which) const override {
        const Setting setting = pcg::setting_of(which);
        return setting.problem.single ? make_of<float>(which, setting) : make_of<double>(which, setting);
    }

    rungs::Check check(const rungs::Case& which, const rungs::Task& task,
                       std::span<const rungs::Array> outputs) const override {
        const Setting setting = pcg::setting_of(which);
        const bool applies = setting.problem.method == Method::apply;
        const bool part = pcg::is_part(setting.problem.method);
        const bool solves = !applies && !part && setting.problem.method != Method::precondition;
        if (outputs.size() != (solves ? 3 : 1))
            throw std::invalid_argument("a solve leaves x, a history and two ints; all else leaves y");
        const Field in = rungs::in_double(task.inputs[0]), out = rungs::in_double(outputs[0]);
        if (part) {
            const Field x = task.inputs.size() > 1 ? rungs::in_double(task.inputs[1]) : Field{};
            return pcg::check_part(setting, in, x, out);
        }
        if (out.size() != in.size())
            throw std::length_error("the output does not have the size of the input");
        if (applies) return pcg::check_apply(setting, in, out);
        if (!solves) return pcg::check_precondition(setting, in, out);
        return pcg::check_solve(setting, in, rungs::solve_of(outputs));
    }

    std::vector<std::string> size_names(const rungs::Case& /*which*/) const override {
        return {"d", "side", "limit"};
    }

    std::vector<std::size_t> extents(const rungs::Case& /*which*/) const override { return {1}; }

    rungs::Work work(const rungs::Case& which) const override {
        const Setting setting = pcg::setting_of(which);
        const auto n = static_cast<double>(setting.grid.points());
        const double bytes = setting.problem.single ? 4 : 8, terms = 2 * setting.grid.d + 1;
        if (setting.problem.method == Method::apply) return {2 * bytes * n, terms * n};
        if (pcg::is_part(setting.problem.method)) return {3 * bytes * n, terms * n};
        // An iteration has to read r and p and to write them, and to add to x; see the lesson.
        if (setting.problem.method == Method::precondition)
            return {20 * n * pcg::probes, 40 * n * pcg::probes};
        double iterations = std::min<double>(setting.limit, std::max(0, setting.limit - 30) / 2 + 1);
        if (setting.problem.method != Method::cg) iterations = std::min(setting.limit, 20);
        if (setting.is("limit") || setting.is("unattainable") || which.sizes.size() == 3)
            iterations = setting.limit;
        return {5 * bytes * n * iterations, (2 * terms + 10) * n * iterations, 2 * bytes * n};
    }

  private:
    /// A part of a V-cycle. `field` is r of a sweep, v of a restriction, x of an interpolation.
    template <class T>
    static rungs::Task part_of(const rungs::Case& which, const Setting& setting, const std::vector<T>& field,
                               std::size_t off) {
        const rungs::Number d(static_cast<long long>(setting.grid.d)),
            side(static_cast<long long>(setting.grid.L));
        const std::size_t coarse = pcg::coarser(setting.grid).points();
        if (setting.problem.method == Method::restrict_) {
            return {{rungs::Array::of("v", field, off)},
                    {rungs::Array::unset<T>("coarse", coarse, off)},
                    {d, side}};
        }
        if (setting.problem.method == Method::prolong) {
            const std::vector<T> below =
                rungs::random_field<T>(coarse, which.seed_of(2), rungs::signed_uniform);
            return {{rungs::Array::of("coarse", below, off), rungs::Array::of("x", field, off)},
                    {rungs::Array::unset<T>("y", field.size(), off)},
                    {d, side}};
        }
        const std::vector<T> x =
            rungs::random_field<T>(field.size(), which.seed_of(2), rungs::signed_uniform);
        const bool black = std::string_view(setting.problem.name) == "smooth_black";
        return {{rungs::Array::of("r", field, off), rungs::Array::of("x", x, off)},
                {rungs::Array::unset<T>("y", field.size(), off)},
                {d, side, rungs::Number(static_cast<long long>(black))}};
    }

    template <class T>
    static rungs::Task make_of(const rungs::Case& which, const Setting& setting) {
        const std::vector<T> field = pcg::make_field<T>(which, setting);
        const std::size_t off = setting.is("unaligned") ? 1 + which.seed % 3 : 0;
        const rungs::Number d(static_cast<long long>(setting.grid.d)),
            side(static_cast<long long>(setting.grid.L));
        if (setting.problem.method == Method::apply) {
            return {{rungs::Array::of("u", field, off)},
                    {rungs::Array::unset<T>("y", field.size(), off)},
                    {d, side}};
        }
        if (pcg::is_part(setting.problem.method)) return part_of(which, setting, field, off);
        if (setting.problem.method == Method::precondition) {
            return {{rungs::Array::of("u", field, off)},
                    {rungs::Array::unset<T>("y", field.size(), off)},
                    {d, side, rungs::Number(static_cast<long long>(pcg::probes))}};
        }
        return {{rungs::Array::of("b", field, off)},
                {rungs::Array::unset<T>("x", field.size(), off),
                 rungs::Array::unset<double>("history", static_cast<std::size_t>(setting.limit) + 1),
                 rungs::Array::unset<int>("outcome", 2)},
                {d, side, rungs::Number(static_cast<long long>(setting.limit)),
                 rungs::Number(setting.tolerance)}};
    }
};

}  // namespace

RUNGS_EXAM(PcgExam)
