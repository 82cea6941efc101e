// The number types of the device that C++ does not have.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

using half = _Float16;

struct bfloat16_t {
    uint16_t bits = 0;
    bfloat16_t() = default;
    bfloat16_t(float value) {  // to nearest, ties to even; a NaN stays one
        uint32_t whole;
        std::memcpy(&whole, &value, sizeof whole);
        const bool nan = (whole & 0x7fffffffu) > 0x7f800000u;
        bits = nan ? uint16_t(whole >> 16 | 0x40) : uint16_t((whole + 0x7fffu + (whole >> 16 & 1)) >> 16);
    }
    bfloat16_t(int value) : bfloat16_t(float(value)) {}
    operator float() const {
        const uint32_t whole = uint32_t(bits) << 16;
        float value;
        std::memcpy(&value, &whole, sizeof value);
        return value;
    }
};
