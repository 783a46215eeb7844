/// @file
/// Faults of lanes: signals that device code raises.
#pragma once

#include <signal.h>

namespace simt {

/// Makes sure that this process and this thread catch the signals of a crashing lane. Faults outside lanes go
/// to whoever handled them before. Called before every launch, because test frameworks install handlers too.
void install_fault_handlers();

/// What the watchdog sends to threads whose launch takes too long.
constexpr int overtime_signal = SIGVTALRM;
/// How often it asks, 20 ms apart, before it interrupts the C library, too.
constexpr unsigned patience = 200;
/// Gives this thread a stack on which a handler can run when a lane's stack has overflowed.
void install_signal_stack();

}  // namespace simt
