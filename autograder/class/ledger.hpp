#pragma once
// The folder in which a class is graded: its secret seed, and the records that are put into it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "class/record.hpp"
#include "judge/build/toolchain.hpp"
#include "report/report.hpp"

namespace rungs::classroom {

/// The assignment's secret: 256 bits that the system drew, in OUT/seed, which its owner alone may read, and,
/// in a shared folder, the folder's group.
class Secret {
  public:
    /// Reads it, or draws it where there is none and `may_draw`. @throws ClassError, FileError
    Secret(const std::filesystem::path& out, bool may_draw);
    std::uint64_t seed() const;  ///< of all inputs
    std::string name() const;    ///< tells two secrets apart and says nothing about either

  private:
    std::string hex_;
};

/// What a verdict follows from besides the bytes of a rung.
struct Workshop {
    std::string commit;  ///< of the workbook; empty: it is in no git repository
    bool dirty = false;  ///< it has changes that are not committed
    std::string judge;   ///< hash of the program, and of what is linked to every rung
    std::map<std::string, std::map<std::string, std::string>> chapters;  ///< hashes of each chapter's parts
    std::string toolchain;
    std::string backend;
    std::string sandbox;  ///< level and description
    Machine machine;
    std::string version;
};

Workshop describe_workshop(const judge::Toolchain& toolchain, const std::vector<const Manifest*>& chapters,
                           Backend backend, const Machine& machine, const std::string& version);

/// Names a verdict by all that it follows from. `bytes`: SHA-256 of the rung's file; empty: there is none.
std::string record_key(const Workshop& workshop, const Secret& secret, const AskedRung& rung,
                       const std::string& bytes);

/// One judging of one rung of an attempt.
struct Slot {
    std::string student;
    int attempt = 0;
    AskedRung rung;
    std::string bytes;  ///< SHA-256 of its file; empty: there is none

    std::filesystem::path folder(const std::filesystem::path& top) const;  ///< of its files below `top`
};

/// How it was found out whose fault a verdict is that may be the machine's.
struct Canary {
    int tries = 1;        ///< how often the rung was judged
    std::string verdict;  ///< of the reference in the same place; empty: it was not asked
};

/// The record of `slot` (docs/record.schema.json). `spent`: seconds, all tries and the reference's included.
nlohmann::ordered_json make_record(const Slot& slot, const Workshop& workshop, const Secret& secret,
                                   const RungReport& report, const Canary& canary, const std::string& started,
                                   double spent);

/// Puts a record into OUT/records, as the next judging of its slot; never in place of another, whoever writes
/// beside it. `same_as`: whose equal bytes were judged; empty: its own. @throws FileError
void put_record(const std::filesystem::path& out, const Slot& slot, nlohmann::ordered_json record,
                const std::string& same_as);

/// Puts a decision into OUT/decisions, as the next one of its slot; never in place of another, whoever
/// decides beside it. @throws FileError
void put_decision(const std::filesystem::path& out, const Slot& slot, const Decision& decision);

/// Puts what a human has decided about a whole hand-in there, in the same way. @throws FileError
void put_withdrawal(const std::filesystem::path& out, const std::string& student, int attempt,
                    const Withdrawal& withdrawal);

/// Puts into OUT/takes which file was taken for a rung, in the same way. @throws FileError
void put_take(const std::filesystem::path& out, const Slot& slot, const Take& take);

}  // namespace rungs::classroom
