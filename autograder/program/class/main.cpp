// The verbs for a class: grade, review, replay, export.
#include "program/verbs.hpp"

int main(int argc, char** argv) {
    const rungs::ClassVerbs verbs = {rungs::grade_class, rungs::review, rungs::replay, rungs::export_class};
    return rungs::run_program(argc, argv, &verbs);
}
