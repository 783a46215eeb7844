#pragma once
// What builds read beside submissions, watched while a class is graded: a compiler, a header or a library
// that goes or is replaced in the middle would be taken for a fault of whoever is judged then.

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "judge/build/build.hpp"

namespace rungs::judge {

class ToolFiles {
  public:
    /// Files as they are now.
    void watch(const ToolPlaces& places);

    /// A watched file by itself that is gone or another one, with what has become of it: "/usr/bin/c++ is
    /// missing"; empty: all are as they were.
    std::string changed() const;

    /// The same of all files in watched folders besides: some ten thousand.
    std::string any_changed() const;

  private:
    /// Size, time and mode; empty: there is no such file.
    using Stamps = std::map<std::string, std::string>;

    static std::string first_changed(const Stamps& stamps);

    Stamps files_, in_folders_;
    std::set<std::filesystem::path> folders_;
};

}  // namespace rungs::judge
