#pragma once
// A chapter's contract as text: the function types in it, and where a rung is declared.

#include <stdexcept>
#include <string>
#include <vector>

#include "rungs/manifest.hpp"

namespace rungs {

/// What is asked for cannot be written: what() says why in a sentence. Exit status 2.
class NewError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A function type of a contract.
struct Signature {
    std::string type;        ///< "Sum"
    std::string parameters;  ///< "const float* v, float* sum, std::size_t n, cudaStream_t stream"

    std::string stream() const;  ///< the name of the last parameter
};

/// The function type `type`; of an alias of a template, what it stands for. @throws NewError if there is none
Signature signature_of(const std::string& contract, const std::string& type);

/// The contract with the declarations of a rung behind those of the rung below it, and a row in its table
/// that is like the row of the rung `like`. @throws NewError where these cannot be found
std::string with_rung(const std::string& contract, const Manifest& manifest, const std::string& rung,
                      const std::vector<Signature>& signatures, const RungEntry& like);

}  // namespace rungs
