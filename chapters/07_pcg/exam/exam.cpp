// Chapter 7's exam: operators, preconditioners and solves.

#include "rungs/exam.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "exam/cases.hpp"
#include "exam/operator.hpp"
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
        const bool solves = !applies && setting.problem.method != Method::precondition;
        if (outputs.size() != (solves ? 3 : 1))
            throw std::invalid_argument("a solve leaves x, a history and two ints; all else leaves y");
        const Field in = rungs::in_double(task.inputs[0]), out = rungs::in_double(outputs[0]);
        if (out.size() != in.size()) throw std::length_error("the output has not the size of the input");
        if (applies) return pcg::check_apply(setting, in, out);
        if (!solves) return pcg::check_precondition(setting, in, out);
        return pcg::check_solve(setting, in, rungs::solve_of(outputs));
    }

    std::vector<std::string> size_names(const rungs::Case& /*which*/) const override {
        return {"d", "side", "limit"};
    }

    rungs::Work work(const rungs::Case& which) const override {
        const Setting setting = pcg::setting_of(which);
        const auto n = static_cast<double>(setting.grid.cells());
        const double bytes = setting.problem.single ? 4 : 8, terms = 2 * setting.grid.d + 1;
        if (setting.problem.method == Method::apply) return {2 * bytes * n, terms * n};
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
