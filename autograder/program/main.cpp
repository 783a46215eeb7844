#include "program/verbs.hpp"

int main(int argc, char** argv) { return rungs::run_program(argc, argv); }
