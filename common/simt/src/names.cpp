#include "simt/names.h"

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

}  // namespace simt
