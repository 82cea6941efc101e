// The part of the AscendC kernel API that vector kernels use, on the memory model of model.h. A call that is not here does not
// compile. See model.h for what this is.
#pragma once
#include <algorithm>

#include "model.h"
#include "numbers.h"

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define GM_ADDR uint8_t *
#define REGISTER_TILING_DEFAULT(type) using AscmodelTilingDefault = type
#define GET_TILING_DATA(name, pointer) \
    AscmodelTilingDefault name;        \
    ascmodel::read_tiling(&name, sizeof(name), ascmodel::Where::here())
#define GET_TILING_DATA_WITH_STRUCT(type, name, pointer) \
    type name;                                           \
    ascmodel::read_tiling(&name, sizeof(name), ascmodel::Where::here())
#define KERNEL_TASK_TYPE_DEFAULT(type)
#define KERNEL_TASK_TYPE(key, type)

namespace AscendC {

using ascmodel::Where;

constexpr uint32_t ONE_BLK_SIZE = 32;
using TEventID = int32_t;
enum class TPosition { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, LCM, SPM };
using QuePosition = TPosition;
enum class RoundMode { CAST_NONE, CAST_RINT, CAST_FLOOR, CAST_CEIL, CAST_ROUND, CAST_TRUNC, CAST_ODD };
enum class HardEvent { MTE2_V, V_MTE2, MTE3_V, V_MTE3, MTE2_MTE3, MTE3_MTE2, S_V, V_S, S_MTE2, MTE2_S, S_MTE3, MTE3_S, V_V, MAX };

template <class A, class B>
struct IsSameType {
    static constexpr bool value = std::is_same_v<A, B>;
};
template <class T>
T Ceil(T value, T unit) {
    return (value + unit - 1) / unit;
}

struct DataCopyParams {
    uint16_t blockCount = 1, blockLen = 0, srcStride = 0, dstStride = 0;
    DataCopyParams() = default;
    DataCopyParams(uint16_t count, uint16_t length, uint16_t from, uint16_t to) : blockCount(count), blockLen(length), srcStride(from), dstStride(to) {}
};
struct DataCopyExtParams {
    uint16_t blockCount = 1;
    uint32_t blockLen = 0, srcStride = 0, dstStride = 0, rsv = 0;
    DataCopyExtParams() = default;
    DataCopyExtParams(uint16_t count, uint32_t length, uint32_t from, uint32_t to, uint32_t reserved) : blockCount(count), blockLen(length), srcStride(from), dstStride(to), rsv(reserved) {}
};
template <class T>
struct DataCopyPadExtParams {
    bool isPad = false;
    uint8_t leftPadding = 0, rightPadding = 0;
    T paddingValue = T(0);
    DataCopyPadExtParams() = default;
    DataCopyPadExtParams(bool pad, uint8_t left, uint8_t right, T value) : isPad(pad), leftPadding(left), rightPadding(right), paddingValue(value) {}
};

inline int64_t GetBlockIdx() { return ascmodel::launch.core->index; }
inline int64_t GetBlockNum() { return ascmodel::launch.blocks; }
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) { return workspace; }

// Order: flags between pipes, barriers of a pipe, and the meeting of all cores.

struct EventPipes {
    pipe_t from, to;
};
constexpr EventPipes pipes_of(HardEvent event) {
    constexpr EventPipes table[] = {
        {PIPE_MTE2, PIPE_V}, {PIPE_V, PIPE_MTE2}, {PIPE_MTE3, PIPE_V}, {PIPE_V, PIPE_MTE3}, {PIPE_MTE2, PIPE_MTE3}, {PIPE_MTE3, PIPE_MTE2}, {PIPE_S, PIPE_V}, {PIPE_V, PIPE_S}, {PIPE_S, PIPE_MTE2}, {PIPE_MTE2, PIPE_S}, {PIPE_S, PIPE_MTE3}, {PIPE_MTE3, PIPE_S}, {PIPE_V, PIPE_V},
    };
    return table[int(event)];
}
constexpr int FLAGS = 64, EVENT_IDS = 8;

template <HardEvent event>
void SetFlag(TEventID id, Where at = Where::here()) {
    constexpr EventPipes pipes = pipes_of(event);
    ascmodel::tick(pipes.from);
    auto &waiting = ascmodel::launch.core->flags[int(event) * FLAGS + id];
    if (!waiting.empty()) ascmodel::note(ascmodel::EVENT, at, "SetFlag", "flag %d from pipe %d to pipe %d is set twice without a wait", id, int(pipes.from), int(pipes.to));
    waiting.push_back(ascmodel::launch.core->clocks[pipes.from]);
}
template <HardEvent event>
void WaitFlag(TEventID id, Where at = Where::here()) {
    constexpr EventPipes pipes = pipes_of(event);
    auto &waiting = ascmodel::launch.core->flags[int(event) * FLAGS + id];
    if (waiting.empty()) {
        ascmodel::note(ascmodel::EVENT, at, "WaitFlag", "flag %d from pipe %d to pipe %d was not set: it hangs", id, int(pipes.from), int(pipes.to));
        throw ascmodel::Stop{};
    }
    ascmodel::launch.core->clocks[pipes.to].merge(waiting.front());
    waiting.pop_front();
}
template <pipe_t pipe>
void PipeBarrier() {
    ascmodel::Core &core = *ascmodel::launch.core;
    ascmodel::tick(pipe == PIPE_ALL ? PIPE_S : pipe);
    if (pipe == PIPE_ALL) {
        ascmodel::Clocks all;
        for (const auto &clocks : core.clocks) all.merge(clocks);
        for (auto &clocks : core.clocks) clocks = all;
    }
    if (pipe == PIPE_V || pipe == PIPE_ALL) core.vector_barrier = core.clocks[PIPE_V].of[PIPE_V];
}
template <bool vector_only = true>
void SyncAll() {
    PipeBarrier<PIPE_ALL>();
    ascmodel::launch.synchronise();
}
// A core that ends with a flag set, or an event not given back, has lost count.
inline void check_left_behind(Where at = Where::here()) {
    for (const auto &[key, waiting] : ascmodel::launch.core->flags)
        for (size_t i = 0; i < waiting.size(); ++i) ascmodel::note(ascmodel::EVENT, at, "end", "flag %d of event %d is still set", key % FLAGS, key / FLAGS);
    for (const auto &[event, taken] : ascmodel::launch.core->events)
        if (taken) ascmodel::note(ascmodel::EVENT, at, "end", "ids of event %d are not released", event);
}

// Tensors.

template <class T>
class LocalTensor {
public:
    int64_t offset = -1, bytes = 0;
    LocalTensor operator[](int64_t index) const {
        LocalTensor tail = *this;
        tail.offset += index * int64_t(sizeof(T));
        tail.bytes -= index * int64_t(sizeof(T));
        return tail;
    }
    template <class U>
    LocalTensor<U> ReinterpretCast() const {
        LocalTensor<U> other;
        other.offset = offset;
        other.bytes = bytes;
        return other;
    }
    uint32_t GetSize() const { return bytes / sizeof(T); }
    T GetValue(int64_t index, Where at = Where::here()) const {
        ascmodel::tick(PIPE_S);
        const int64_t place = offset + index * int64_t(sizeof(T));
        ascmodel::use_local(place, sizeof(T), PIPE_S, false, at, "GetValue", false);
        if (!state(index)) ascmodel::note(ascmodel::UNWRITTEN, at, "GetValue", "local element %lld was never written", (long long)index);
        return load(index);
    }
    void SetValue(int64_t index, T value, Where at = Where::here()) const {
        ascmodel::tick(PIPE_S);
        ascmodel::use_local(offset + index * int64_t(sizeof(T)), sizeof(T), PIPE_S, true, at, "SetValue", false);
        store(index, value, 1);
    }
    // For the model.
    T load(int64_t index) const {
        T value;
        std::memcpy(&value, ascmodel::launch.core->local.data() + offset + index * sizeof(T), sizeof(T));
        return value;
    }
    bool state(int64_t index) const { return ascmodel::launch.core->state[offset + index * sizeof(T)]; }
    void store(int64_t index, T value, uint8_t written) const {
        std::memcpy(ascmodel::launch.core->local.data() + offset + index * sizeof(T), &value, sizeof(T));
        std::memset(ascmodel::launch.core->state.data() + offset + index * sizeof(T), written, sizeof(T));
    }
};

template <class T>
class GlobalTensor {
public:
    int region = -1;
    int64_t offset = 0;
    void SetGlobalBuffer(T *pointer, uint64_t = 0) {
        region = ascmodel::find_region(pointer);
        offset = region < 0 ? 0 : reinterpret_cast<uint8_t *>(pointer) - ascmodel::launch.regions[region].base;
    }
    GlobalTensor operator[](int64_t index) const {
        GlobalTensor tail = *this;
        tail.offset += index * int64_t(sizeof(T));
        return tail;
    }
    T GetValue(int64_t index, Where at = Where::here()) const {
        const int64_t place = offset + index * int64_t(sizeof(T));
        ascmodel::bound(region, place, sizeof(T), false, at, "GetValue");
        const ascmodel::Region &whole = ascmodel::launch.regions[region];
        if (!(whole.state[place] & 1)) ascmodel::place(ascmodel::note(ascmodel::UNWRITTEN, at, "GetValue", "element that nobody wrote"), whole, place, sizeof(T));
        T value;
        std::memcpy(&value, whole.base + place, sizeof(T));
        return value;
    }
    void SetValue(int64_t index, T value, Where at = Where::here()) const {
        const int64_t place = offset + index * int64_t(sizeof(T));
        ascmodel::bound(region, place, sizeof(T), true, at, "SetValue");
        const ascmodel::Region &whole = ascmodel::launch.regions[region];
        ascmodel::use_global(whole, place, sizeof(T), PIPE_S, true, at, "SetValue");
        std::memcpy(whole.base + place, &value, sizeof(T));
        for (size_t i = 0; i < sizeof(T); ++i) whole.state[place + i] |= 1;
    }
};

// Local memory, which is handed out once.

template <TPosition position>
class TBuf {
public:
    int64_t offset = -1, bytes = 0;
    template <class T>
    LocalTensor<T> Get() const {
        LocalTensor<T> whole;
        whole.offset = offset;
        whole.bytes = bytes;
        return whole;
    }
    template <class T>
    LocalTensor<T> Get(uint32_t) const {
        return Get<T>();
    }
};

class TPipe {
public:
    template <TPosition position>
    bool InitBuffer(TBuf<position> &buffer, uint32_t bytes, Where at = Where::here()) {
        ascmodel::Core &core = *ascmodel::launch.core;
        buffer.offset = core.top;
        buffer.bytes = Ceil<int64_t>(bytes, ascmodel::LINE) * ascmodel::LINE;
        core.top += buffer.bytes;
        if (core.top > ascmodel::launch.chip.local_memory) {
            ascmodel::note(ascmodel::LOCAL_MEMORY, at, "InitBuffer", "%lld bytes are asked for, the chip has %lld", (long long)core.top, (long long)ascmodel::launch.chip.local_memory);
            throw ascmodel::Stop{};
        }
        return true;
    }
    template <HardEvent event>
    TEventID AllocEventID(Where at = Where::here()) {
        uint32_t &taken = ascmodel::launch.core->events[int(event)];
        for (int id = 0; id < EVENT_IDS; ++id)
            if (!(taken >> id & 1)) {
                taken |= 1u << id;
                return id;
            }
        ascmodel::note(ascmodel::EVENT, at, "AllocEventID", "more than %d ids of event %d", EVENT_IDS, int(event));
        throw ascmodel::Stop{};
    }
    template <HardEvent event>
    TEventID FetchEventID() {
        const uint32_t taken = ascmodel::launch.core->events[int(event)];
        for (int id = 0; id < EVENT_IDS; ++id)
            if (!(taken >> id & 1)) return id;
        return EVENT_IDS - 1;
    }
    template <HardEvent event>
    void ReleaseEventID(TEventID id, Where at = Where::here()) {
        uint32_t &taken = ascmodel::launch.core->events[int(event)];
        if (!(taken >> id & 1)) ascmodel::note(ascmodel::EVENT, at, "ReleaseEventID", "id %d of event %d is released twice", id, int(event));
        taken &= ~(1u << id);
    }
};
inline TPipe *GetTPipePtr() {
    static TPipe pipe;
    return &pipe;
}

// Transfers.

template <class T>
void copy_in(const LocalTensor<T> &to, const GlobalTensor<T> &from, int64_t bytes, Where at, const char *call) {
    ascmodel::tick(PIPE_MTE2);
    const int64_t inside = ascmodel::bound(from.region, from.offset, bytes, false, at, call);
    const ascmodel::Region &whole = ascmodel::launch.regions[from.region];
    ascmodel::use_local(to.offset, bytes, PIPE_MTE2, true, at, call);
    ascmodel::use_global(whole, from.offset, inside, PIPE_MTE2, false, at, call);
    ascmodel::Core &core = *ascmodel::launch.core;
    std::memset(core.local.data() + to.offset, 0xff, bytes);
    std::memset(core.state.data() + to.offset, 0, bytes);
    std::memcpy(core.local.data() + to.offset, whole.base + from.offset, inside);
    for (int64_t i = 0; i < inside; ++i) core.state[to.offset + i] = whole.state[from.offset + i] & 1;
    ascmodel::launch.report->bytes_in += bytes;
}
template <class T>
void copy_out(const GlobalTensor<T> &to, const LocalTensor<T> &from, int64_t bytes, Where at, const char *call) {
    ascmodel::tick(PIPE_MTE3);
    ascmodel::bound(to.region, to.offset, bytes, true, at, call);
    const ascmodel::Region &whole = ascmodel::launch.regions[to.region];
    ascmodel::use_local(from.offset, bytes, PIPE_MTE3, false, at, call);
    ascmodel::use_global(whole, to.offset, bytes, PIPE_MTE3, true, at, call);
    const ascmodel::Core &core = *ascmodel::launch.core;
    const uint8_t *state = core.state.data() + from.offset;
    if (std::find(state, state + bytes, 0) != state + bytes) ascmodel::place(ascmodel::note(ascmodel::UNWRITTEN, at, call, "local bytes that nobody wrote go out"), whole, to.offset, bytes);
    std::memcpy(whole.base + to.offset, core.local.data() + from.offset, bytes);
    for (int64_t i = 0; i < bytes; ++i) whole.state[to.offset + i] = uint8_t((whole.state[to.offset + i] & ~1) | state[i]);
    ascmodel::launch.report->bytes_out += bytes;
}
// A plain transfer moves whole lines: the rest is not moved.
inline int64_t whole_lines(int64_t bytes, Where at) {
    if (bytes % ascmodel::LINE) ascmodel::note(ascmodel::ALIGNMENT, at, "DataCopy", "%lld bytes are no multiple of %lld: the rest is not moved", (long long)bytes, (long long)ascmodel::LINE);
    return bytes / ascmodel::LINE * ascmodel::LINE;
}
template <class T>
void DataCopy(const LocalTensor<T> &to, const GlobalTensor<T> &from, uint32_t count, Where at = Where::here()) {
    copy_in(to, from, whole_lines(int64_t(count) * sizeof(T), at), at, "DataCopy");
}
template <class T>
void DataCopy(const GlobalTensor<T> &to, const LocalTensor<T> &from, uint32_t count, Where at = Where::here()) {
    copy_out(to, from, whole_lines(int64_t(count) * sizeof(T), at), at, "DataCopy");
}
template <class T>
void DataCopy(const LocalTensor<T> &to, const GlobalTensor<T> &from, const DataCopyParams &shape, Where at = Where::here()) {
    const int64_t length = shape.blockLen * ascmodel::LINE, unit = sizeof(T);
    for (int64_t i = 0; i < shape.blockCount; ++i)
        copy_in(to[i * (length + shape.dstStride * ascmodel::LINE) / unit], from[i * (length + shape.srcStride * ascmodel::LINE) / unit], length, at, "DataCopy");
}
template <class T>
void DataCopy(const GlobalTensor<T> &to, const LocalTensor<T> &from, const DataCopyParams &shape, Where at = Where::here()) {
    const int64_t length = shape.blockLen * ascmodel::LINE, unit = sizeof(T);
    for (int64_t i = 0; i < shape.blockCount; ++i)
        copy_out(to[i * (length + shape.dstStride * ascmodel::LINE) / unit], from[i * (length + shape.srcStride * ascmodel::LINE) / unit], length, at, "DataCopy");
}
template <class T>
void DataCopyPad(const LocalTensor<T> &to, const GlobalTensor<T> &from, const DataCopyExtParams &shape, const DataCopyPadExtParams<T> &padding, Where at = Where::here()) {
    const int64_t unit = sizeof(T), row = Ceil<int64_t>(shape.blockLen, ascmodel::LINE) * ascmodel::LINE;
    for (int64_t i = 0; i < shape.blockCount; ++i) {
        const LocalTensor<T> target = to[i * (row + int64_t(shape.dstStride) * ascmodel::LINE) / unit];
        copy_in(target, from[i * (int64_t(shape.blockLen) + shape.srcStride) / unit], shape.blockLen, at, "DataCopyPad");
        const T filler = padding.isPad ? padding.paddingValue : T(0);
        for (int64_t k = shape.blockLen / unit; k < row / unit; ++k) target.store(k, filler, padding.isPad && k < shape.blockLen / unit + padding.rightPadding);
    }
}
template <class T>
void DataCopyPad(const GlobalTensor<T> &to, const LocalTensor<T> &from, const DataCopyExtParams &shape, Where at = Where::here()) {
    const int64_t unit = sizeof(T), row = Ceil<int64_t>(shape.blockLen, ascmodel::LINE) * ascmodel::LINE;
    for (int64_t i = 0; i < shape.blockCount; ++i)
        copy_out(to[i * (int64_t(shape.blockLen) + shape.dstStride) / unit], from[i * (row + int64_t(shape.srcStride) * ascmodel::LINE) / unit], shape.blockLen, at, "DataCopyPad");
}

// The vector unit: element by element, with what was never written carried along.

template <class D, class Function, class... S>
void each_element(const char *call, Where at, const LocalTensor<D> &to, int64_t count, Function function, const LocalTensor<S> &...from) {
    ascmodel::tick(PIPE_V);
    (ascmodel::use_local(from.offset, count * int64_t(sizeof(S)), PIPE_V, false, at, call), ...);
    ascmodel::use_local(to.offset, count * int64_t(sizeof(D)), PIPE_V, true, at, call);
    for (int64_t i = 0; i < count; ++i) {
        const bool written = (from.state(i) && ... && true);
        to.store(i, function(from.load(i)...), written);
    }
}
template <class T>
void DataCopy(const LocalTensor<T> &to, const LocalTensor<T> &from, uint32_t count, Where at = Where::here()) {
    each_element("DataCopy", at, to, whole_lines(int64_t(count) * sizeof(T), at) / int64_t(sizeof(T)), [](T value) { return value; }, from);
}
template <class T>
void Duplicate(const LocalTensor<T> &to, const T value, int32_t count, Where at = Where::here()) {
    each_element("Duplicate", at, to, count, [value] { return value; });
}
template <class D>
D round_to(float value, RoundMode mode) {
    switch (mode) {
        case RoundMode::CAST_FLOOR: return D(std::floor(value));
        case RoundMode::CAST_CEIL: return D(std::ceil(value));
        case RoundMode::CAST_TRUNC: return D(std::trunc(value));
        case RoundMode::CAST_ROUND: return D(std::round(value));
        default: return D(std::nearbyint(value));
    }
}
template <class D, class S>
void Cast(const LocalTensor<D> &to, const LocalTensor<S> &from, RoundMode mode, uint32_t count, Where at = Where::here()) {
    each_element(
        "Cast", at, to, count,
        [mode](S value) -> D {
            if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) return D(value);
            else if constexpr (std::is_integral_v<D>) return round_to<D>(float(value), mode);
            else return D(float(value));
        },
        from);
}

#define ASCMODEL_BINARY(name, expression)                                                                                                            \
    template <class T>                                                                                                                               \
    void name(const LocalTensor<T> &to, const LocalTensor<T> &first, const LocalTensor<T> &second, int32_t count, Where at = Where::here()) { \
        each_element(#name, at, to, count, [](T a, T b) { return T(expression); }, first, second);                                                   \
    }
ASCMODEL_BINARY(Add, a + b)
ASCMODEL_BINARY(Sub, a - b)
ASCMODEL_BINARY(Mul, a *b)
ASCMODEL_BINARY(Div, a / b)
ASCMODEL_BINARY(Max, a < b ? b : a)
ASCMODEL_BINARY(Min, b < a ? b : a)
#undef ASCMODEL_BINARY

#define ASCMODEL_SCALAR(name, expression)                                                                                            \
    template <class T>                                                                                                               \
    void name(const LocalTensor<T> &to, const LocalTensor<T> &from, const T b, int32_t count, Where at = Where::here()) { \
        each_element(#name, at, to, count, [b](T a) { return T(expression); }, from);                                                \
    }
ASCMODEL_SCALAR(Adds, a + b)
ASCMODEL_SCALAR(Muls, a *b)
ASCMODEL_SCALAR(Maxs, a < b ? b : a)
ASCMODEL_SCALAR(Mins, b < a ? b : a)
#undef ASCMODEL_SCALAR

#define ASCMODEL_UNARY(name, expression)                                                                                  \
    template <class T>                                                                                                    \
    void name(const LocalTensor<T> &to, const LocalTensor<T> &from, int32_t count, Where at = Where::here()) { \
        each_element(#name, at, to, count, [](T a) { return T(expression); }, from);                                      \
    }
ASCMODEL_UNARY(Abs, std::fabs(float(a)))
ASCMODEL_UNARY(Exp, std::exp(float(a)))
ASCMODEL_UNARY(Ln, std::log(float(a)))
ASCMODEL_UNARY(Sqrt, std::sqrt(float(a)))
ASCMODEL_UNARY(Rsqrt, 1.0f / std::sqrt(float(a)))
ASCMODEL_UNARY(Reciprocal, 1.0f / float(a))
ASCMODEL_UNARY(Relu, a < T(0) ? T(0) : a)
#undef ASCMODEL_UNARY

// The product is rounded before it is added (the compiler is told not to contract the two).
template <class D, class S>
void MulAddDst(const LocalTensor<D> &to, const LocalTensor<S> &first, const LocalTensor<S> &second, int32_t count, Where at = Where::here()) {
    each_element(
        "MulAddDst", at, to, count,
        [](S a, S b, D sum) { return D(sum + S(a * b)); },
        first, second, to);
}
// A call of the library: it orders its own steps, and ends with a barrier.
template <class T, bool reuse = false>
void Silu(const LocalTensor<T> &to, const LocalTensor<T> &from, uint32_t count, Where at = Where::here()) {
    each_element("Silu", at, to, count, [](T a) { return T(float(a) / (1.0f + std::exp(-float(a)))); }, from);
    ascmodel::launch.core->vector_barrier = ascmodel::launch.core->clocks[PIPE_V].of[PIPE_V];
}

}  // namespace AscendC
