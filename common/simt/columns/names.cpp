#include "simt/inspect/names.h"

namespace simt {

std::string short_name(std::string name) {
    // The parameter list: the last parenthesis at no depth of angle brackets.
    int depth = 0;
    for (std::size_t i = name.size(); i-- > 0;) {
        if (name[i] == ')' || name[i] == '>') ++depth;
        if (name[i] == '(' || name[i] == '<') --depth;
        if (depth == 0 && name[i] == '(') {
            const bool is_namespace = name.compare(i, 21, "(anonymous namespace)") == 0;
            if (!is_namespace) name.resize(i);
            break;
        }
    }
    depth = 0;
    for (std::size_t i = name.size(); i-- > 0;) {
        if (name[i] == ')' || name[i] == '>') ++depth;
        if (name[i] == '(' || name[i] == '<') --depth;
        if (depth == 0 && name[i] == ' ') return name.substr(i + 1);
    }
    return name;
}

bool is_own_source(const std::string& path) {
    for (const std::string folder : {"/simt/runtime/", "/simt/check/", "/simt/counters/"}) {
        const std::size_t at = path.find(folder);
        if (at != std::string::npos && path.find('/', at + folder.size()) == std::string::npos) return true;
    }
    return path.find("/simt/include/") != std::string::npos ||
           path.find("/include/c++/") != std::string::npos;
}

}  // namespace simt
