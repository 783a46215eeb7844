#pragma once
// A class as an array of jobs of Slurm. Slurm gets the work done and says nothing about what came of it: that
// the records tell. Its numbers of jobs come again once it has lost its state, so a run has a name of its
// own.
//   OUT/slurm/run.json             the run that is not over, and its work
//   OUT/slurm/NAME/job.sh          what each task does
//   OUT/slurm/NAME/task-N.log      what task N has said; report.log the report
//   OUT/slurm/NAME/task-N.lock     who works as task N

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "class/lease.hpp"
#include "class/ledger.hpp"

namespace rungs::classroom {

/// One run of a class on a cluster.
struct ArrayRun {
    std::string name;       ///< of its jobs: "rungs-0123456789ab"
    std::string submitted;  ///< UTC
    int tasks = 0;
    std::map<std::string, std::string> workshop;  ///< what verdicts follow from where it was submitted
    std::vector<std::string> work;                ///< keys, in the order in which they are judged

    std::filesystem::path folder(const std::filesystem::path& out) const { return out / "slurm" / name; }
    std::filesystem::path lock_of(const std::filesystem::path& out, int task) const;
    /// Which task, from 1 on, is to judge it; 0: none of them.
    int task_of(const std::string& key) const;
    /// How many tasks have left a sign that they were started.
    int started(const std::filesystem::path& out) const;
};

/// The run that OUT has not seen the end of. @throws ClassError, FileError
std::optional<ArrayRun> read_run(const std::filesystem::path& out);
/// Makes it the run that OUT has, with a folder of its own. @throws FileError
void write_run(const std::filesystem::path& out, const ArrayRun& run);
/// OUT has no run any more; what its jobs have said stays.
void end_run(const std::filesystem::path& out);

/// A name that no other run has.
std::string new_run_name();

/// What the records of a machine follow from, apart from the hand-ins: two machines with the same give
/// records with the same keys.
std::map<std::string, std::string> parts_of(const Workshop& workshop);

/// The first part in which they differ, in words: "the sandbox is S2 here and S4 there"; empty: in none.
std::string difference(const std::map<std::string, std::string>& here,
                       const std::map<std::string, std::string>& there);

/// A task of any run that works in OUT now, "task-3 of rungs-...: process 17 on node3 ..."; empty: none.
std::string working_task(const std::filesystem::path& out, const Meanwhile& meanwhile, const Pace& pace = {});

/// The commands of Slurm, as they are found on PATH.
class Slurm {
  public:
    /// @throws ClassError where sbatch or squeue is missing
    Slurm();

    /// @returns the number of the job. @throws ClassError with what sbatch said
    std::string submit(const std::vector<std::string>& arguments) const;

    /// What the cluster still has of the jobs of that name: "2 PENDING (Resources), 1 RUNNING"; empty:
    /// nothing.
    /// @throws ClassError where it does not answer
    std::string queued(const std::string& name) const;

  private:
    std::string sbatch_, squeue_;
};

/// Options for sbatch that a run sets itself. @throws ClassError where one of them is there
void refuse_own_options(const std::vector<std::string>& options);

/// What sbatch is called with for the tasks of a run.
std::vector<std::string> array_arguments(const ArrayRun& run, const std::filesystem::path& out,
                                         const std::vector<std::string>& options);
/// And for its report, which begins when all of them have ended, whatever became of them.
std::vector<std::string> report_arguments(const ArrayRun& run, const std::filesystem::path& out,
                                          const std::vector<std::string>& options,
                                          const std::string& array_job);

/// The script of all jobs of a run: `command` with --task NAME/N behind it, and with variables set.
std::string job_script(const ArrayRun& run, const std::vector<std::string>& command,
                       const std::map<std::string, std::string>& variables);

}  // namespace rungs::classroom
