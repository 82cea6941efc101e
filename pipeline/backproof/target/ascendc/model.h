// The memory model under the kernel API: who may touch which bytes, which of them were written, and what orders two accesses.
//
// Independent code, written from the public description of the AscendC programming model, to test software for Ascend
// processors on a machine without one. It holds no line of an operator or of CANN.
#pragma once
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

enum pipe_t { PIPE_S = 0, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };

namespace ascmodel {

constexpr int PIPES = PIPE_ALL;
constexpr int64_t LINE = 32;  // bytes: the unit of a transfer, and of the table of accesses
constexpr int MOST_FINDINGS = 64;

// The words of a finding; backproof_target/ascendc.py has the same list.
enum Kind : int32_t { OUT_OF_RANGE, UNWRITTEN, LOCAL_MEMORY, ALIGNMENT, EVENT, RACE, HANG, TILING, ADVICE, KINDS };

// One operand. `state` has a byte for each byte of the operand: 1 written, 2 part of the view that was handed over.
struct Region {
    const char *name;
    uint8_t *base;
    int64_t bytes, row_bytes, rows;
    uint8_t *state;
    int32_t writable, reserved;
};

struct Finding {
    int32_t kind, core, line, element_bytes;
    int64_t row, offset, bytes, extent;
    uint64_t address;
    char file[64], call[24], tensor[32], text[192];
};

struct Report {
    int32_t counts[KINDS];
    int32_t findings, reserved;
    int64_t bytes_in, bytes_out, calls;
    Finding found[MOST_FINDINGS];
};

// What differs from chip to chip.
struct Chip {
    int64_t local_memory, allocation_unit;
    int32_t cores, reserved;
};

// Where in the kernel's source a call stands.
struct Where {
    int line;
    const char *file;
    static constexpr Where here(int line = __builtin_LINE(), const char *file = __builtin_FILE()) { return {line, file}; }
};

struct Stop {};  // ends the core that made a fault

using Clock = uint64_t;
struct Clocks {
    Clock of[PIPES] = {};
    void merge(const Clocks &other) {
        for (int pipe = 0; pipe < PIPES; ++pipe) of[pipe] = other.of[pipe] > of[pipe] ? other.of[pipe] : of[pipe];
    }
};

struct Access {
    int32_t core;
    pipe_t pipe;
    bool write;
    uint32_t mask;
    Clock clock;
};

struct Accesses {
    Clock epoch = 0;
    std::vector<Access> since;
};

struct Core {
    int32_t index = 0;
    Clocks clocks[PIPES];
    Clock vector_barrier = 0;
    int64_t top = 0;
    std::vector<uint8_t> local, state;
    std::vector<Accesses> lines;
    std::map<int, std::deque<Clocks>> flags;
    std::map<int, uint32_t> events;
    explicit Core(int64_t memory) : local(memory, 0xff), state(memory, 0), lines((memory + LINE - 1) / LINE) {}
};

struct Launch {
    std::vector<Region> regions;
    Report *report = nullptr;
    Chip chip{};
    Core *core = nullptr;
    Clock epoch = 0;
    int32_t blocks = 1;
    const uint8_t *tiling = nullptr;
    int64_t tiling_bytes = 0;
    void (*synchronise)() = nullptr;
    std::unordered_map<uint64_t, Accesses> lines;  // of global memory, by address
};

inline Launch launch;

inline Finding *note(Kind kind, Where at, const char *call, const char *form, ...) {
    Report &report = *launch.report;
    report.counts[kind]++;
    if (report.findings >= MOST_FINDINGS) return nullptr;
    Finding &finding = report.found[report.findings++];
    std::memset(&finding, 0, sizeof finding);
    finding.kind = kind;
    finding.core = launch.core ? launch.core->index : -1;
    finding.line = at.line;
    finding.row = -1;
    const char *slash = std::strrchr(at.file, '/');
    std::snprintf(finding.file, sizeof finding.file, "%s", slash ? slash + 1 : at.file);
    std::snprintf(finding.call, sizeof finding.call, "%s", call);
    va_list rest;
    va_start(rest, form);
    std::vsnprintf(finding.text, sizeof finding.text, form, rest);
    va_end(rest);
    return &finding;
}

inline void place(Finding *finding, const Region &region, int64_t offset, int64_t bytes) {
    if (!finding) return;
    std::snprintf(finding->tensor, sizeof finding->tensor, "%s", region.name);
    finding->row = region.row_bytes ? (offset >= 0 ? offset / region.row_bytes : -((region.row_bytes - 1 - offset) / region.row_bytes)) : 0;
    finding->offset = offset;
    finding->bytes = bytes;
    finding->extent = region.bytes;
    finding->address = uint64_t(reinterpret_cast<uintptr_t>(region.base)) + uint64_t(offset);
}

inline void tick(pipe_t pipe) {
    launch.core->clocks[pipe].of[pipe]++;
    launch.report->calls++;
}

// Two accesses are ordered by the pipe that both are on, or by a flag or barrier between their pipes. Nothing but
// SyncAll, where the epoch ends, orders two cores. Byte by byte: neighbours in one line are no race.
inline void order(Accesses &line, pipe_t pipe, bool write, uint32_t mask, const char *what, int64_t at_byte, Where at, const char *call) {
    Core &core = *launch.core;
    if (line.epoch != launch.epoch) {
        line.since.clear();
        line.epoch = launch.epoch;
    }
    const Clocks &known = core.clocks[pipe];
    size_t kept = 0;
    for (size_t i = 0; i < line.since.size(); ++i) {
        const Access &before = line.since[i];
        const bool meets = (before.mask & mask) && (before.write || write);
        if (meets && before.core != core.index)
            note(RACE, at, call, "%s of %s byte %lld: core %d %s it and nothing orders the two", write ? "write" : "read", what, (long long)at_byte, before.core, before.write ? "writes" : "reads");
        else if (meets && before.pipe != pipe && before.clock > known.of[before.pipe])
            note(RACE, at, call, "%s of %s byte %lld on pipe %d does not wait for the %s on pipe %d", write ? "write" : "read", what, (long long)at_byte, int(pipe), before.write ? "write" : "read", int(before.pipe));
        else if (meets && before.pipe == PIPE_V && pipe == PIPE_V && before.write && !write && before.clock > core.vector_barrier)
            launch.report->counts[ADVICE]++;
        const bool replaced = before.core == core.index && (before.mask & ~mask) == 0 && (write || (!before.write && before.pipe == pipe));
        if (!replaced) line.since[kept++] = before;
    }
    line.since.resize(kept);
    line.since.push_back({core.index, pipe, write, mask, core.clocks[pipe].of[pipe]});
}

inline uint32_t mask_of(int64_t from, int64_t to) {  // bytes [from, to) of one line
    const uint32_t high = to >= LINE ? 0xffffffffu : (1u << to) - 1;
    return high & ~((1u << from) - 1);
}

template <class Find>
inline void order_all(int64_t first, int64_t bytes, pipe_t pipe, bool write, const char *what, int64_t base, Where at, const char *call, Find find) {
    for (int64_t line = first / LINE; line * LINE < first + bytes; ++line) {
        const int64_t from = line * LINE < first ? first - line * LINE : 0;
        const int64_t to = (line + 1) * LINE > first + bytes ? first + bytes - line * LINE : LINE;
        order(find(line), pipe, write, mask_of(from, to), what, line * LINE + from - base, at, call);
    }
}

inline void use_local(int64_t offset, int64_t bytes, pipe_t pipe, bool write, Where at, const char *call, bool aligned = true) {
    Core &core = *launch.core;
    if (offset < 0 || offset + bytes > core.top) {
        note(LOCAL_MEMORY, at, call, "bytes [%lld, %lld) of local memory, of which %lld are allocated", (long long)offset, (long long)(offset + bytes), (long long)core.top);
        throw Stop{};
    }
    if (aligned && offset % LINE) note(ALIGNMENT, at, call, "local address %lld is no multiple of %lld", (long long)offset, (long long)LINE);
    order_all(offset, bytes, pipe, write, "local memory", 0, at, call, [&core](int64_t line) -> Accesses & { return core.lines[line]; });
}

inline int find_region(const void *pointer) {
    const uint8_t *byte = static_cast<const uint8_t *>(pointer);
    for (size_t i = 0; i < launch.regions.size(); ++i) {
        const Region &region = launch.regions[i];
        if (byte >= region.base && byte < region.base + (region.bytes ? region.bytes : 1)) return int(i);
    }
    return -1;
}

// How many of the bytes lie inside the operand. A read that is rounded up may run past its end, within the unit that memory is
// allocated in: what is there is nobody's.
inline int64_t bound(int index, int64_t offset, int64_t bytes, bool write, Where at, const char *call) {
    if (index < 0) {
        note(OUT_OF_RANGE, at, call, "%s through a pointer that was not handed over", write ? "write" : "read");
        throw Stop{};
    }
    const Region &region = launch.regions[index];
    const int64_t unit = launch.chip.allocation_unit, end = offset + bytes;
    const bool rounded = !write && offset >= 0 && offset < region.bytes && end <= (region.bytes + unit - 1) / unit * unit;
    if (offset < 0 || (end > region.bytes && !rounded)) {
        place(note(OUT_OF_RANGE, at, call, "%s of bytes [%lld, %lld) of %lld", write ? "write" : "read", (long long)offset, (long long)end, (long long)region.bytes), region, offset, bytes);
        throw Stop{};
    }
    if (write && !region.writable) {
        place(note(OUT_OF_RANGE, at, call, "write to an input"), region, offset, bytes);
        throw Stop{};
    }
    const int64_t inside = end > region.bytes ? region.bytes - offset : bytes;
    for (int64_t i = offset; i < offset + inside; ++i)
        if (!(region.state[i] & 2)) {
            place(note(OUT_OF_RANGE, at, call, "%s between the rows of the view that was handed over", write ? "write" : "read"), region, i, 1);
            throw Stop{};
        }
    return inside;
}

inline void use_global(const Region &region, int64_t offset, int64_t bytes, pipe_t pipe, bool write, Where at, const char *call) {
    const int64_t base = int64_t(reinterpret_cast<uintptr_t>(region.base));
    order_all(base + offset, bytes, pipe, write, region.name, base, at, call, [](int64_t line) -> Accesses & { return launch.lines[uint64_t(line)]; });
}

inline void read_tiling(void *into, int64_t bytes, Where at) {
    if (bytes != launch.tiling_bytes) {
        note(TILING, at, "GET_TILING_DATA", "the host made %lld bytes of tiling data, the kernel reads %lld", (long long)launch.tiling_bytes, (long long)bytes);
        throw Stop{};
    }
    std::memcpy(into, launch.tiling, bytes);
}

}  // namespace ascmodel
