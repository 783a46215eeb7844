#include "cu2cpp/unit.h"

#include <utility>

namespace cu2cpp {
namespace {

/// After so many refusals nobody reads on.
constexpr std::size_t max_diagnostics = 100;

}  // namespace

void Unit::refuse(const Token& where, std::string message) {
    if (!where.conditional) refuse_at(where.begin, std::move(message));
}

void Unit::refuse_at(std::size_t offset, std::string message) {
    if (given_up) return;
    out.diagnostics.push_back({path, lines.line(offset), lines.column(offset), std::move(message)});
    if (out.diagnostics.size() < max_diagnostics) return;
    out.diagnostics.back().message +=
        " (more than " + std::to_string(max_diagnostics) + " errors: stopped here)";
    given_up = true;
}

void Unit::complain(const Context& context, const Token& where, std::string what,
                    const std::string& why_and_remedy) {
    if (!context.macro) return refuse(where, std::move(what) + "; " + why_and_remedy);
    const std::string line = std::to_string(lines.line(where.begin));
    macro_flaw = "its definition at " + path + ":" + line + " hides " + what + "; " + why_and_remedy;
}

void Unit::give_up(std::size_t offset, const std::string& what) {
    if (given_up) return;
    refuse_at(offset, what + "; no compiler reads that; is this really source code?");
    given_up = true;
}

void Unit::insert(std::size_t offset, std::string text) {
    out.edits.push_back({offset, offset, std::move(text)});
}

void Unit::replace(const Token& token, std::string text) {
    const std::size_t width = token.end - token.begin;
    if (text.size() < width) text.append(width - text.size(), ' ');
    out.edits.push_back({token.begin, token.end, std::move(text)});
}

void Unit::blank(const Sequence& seq, Range range) {
    for (std::size_t i = range.begin; i < range.end; ++i) blank(seq[i]);
}

std::string spelling(const Sequence& seq, Range range) {
    std::string text;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        const bool words =
            !text.empty() && seq[i].kind != TokenKind::punctuator && seq[i - 1].kind != TokenKind::punctuator;
        if (words) text += ' ';
        text += seq[i].text;
    }
    return text;
}

std::string quoted(const Context& context, Range range) {
    const Sequence& seq = *context.seq;
    std::string out;
    std::string piece;
    const auto flush = [&] {
        if (piece.empty()) return;
        std::string literal = "\"";
        for (const char c : piece) {
            if (c == '"' || c == '\\') literal += '\\';
            literal += c == '\n' ? ' ' : c;
        }
        if (!out.empty()) out += ' ';
        out += literal + "\"";
        piece.clear();
    };
    for (std::size_t i = range.begin; i < range.end; ++i) {
        if (seq[i].is("##")) continue;
        if (context.macro && seq[i].is_identifier() && context.parameters.count(seq[i].text) != 0) {
            flush();
            out += (out.empty() ? "#" : " #") + std::string(seq[i].text);
            continue;
        }
        if (i > range.begin && seq[i].kind != TokenKind::punctuator &&
            seq[i - 1].kind != TokenKind::punctuator) {
            piece += ' ';
        }
        piece += seq[i].text;
    }
    flush();
    return out.empty() ? "\"\"" : out;
}

std::string prefixed(std::string_view prefix, const Context& context, Range name) {
    const Sequence& seq = *context.seq;
    std::string out(prefix);
    const bool paste = context.macro && context.parameters.count(seq[name.begin].text) != 0;
    if (paste) out += "##";
    for (std::size_t i = name.begin; i < name.end; ++i) out += seq[i].is("::") ? "_" : seq[i].text;
    return out;
}

std::string runtime(const Context& context, std::string_view function) {
    const bool clash = context.parameters.count("simt") != 0 || context.parameters.count(function) != 0;
    return (clash ? "SIMT_" : "::simt::") + std::string(function);
}

}  // namespace cu2cpp
