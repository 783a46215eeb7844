#pragma once
// What of the judge's own work may not run beside a GPU's clock, and the clock, take turns.

#include <stop_token>

namespace rungs::judge {

/// While there is one, nobody in this process works for an exam: the judge times something. Its constructor
/// waits until whoever does has come to the end of a piece, or until another one is gone.
class Quiet {
  public:
    Quiet();
    ~Quiet();
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
};

/// A rung is about to be timed, or is, or its processes have not ended yet. Pieces that can wait do not begin
/// meanwhile: whoever asks for quiet would wait for them.
class Turn {
  public:
    Turn();
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
};

/// A piece of work for an exam, some milliseconds up to a second or two. Its constructor waits until it is
/// not quiet, and where it `can_wait` until it is nobody's turn and there is a core for it: of what reads
/// large arrays, more at once take longer than one after the other.
class Piece {
  public:
    explicit Piece(const std::stop_token& stop, bool can_wait = false);
    ~Piece();
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;

    /// Whether the work may be done; not where it was stopped while it waited.
    explicit operator bool() const { return begun_; }

  private:
    bool begun_;
};

}  // namespace rungs::judge
