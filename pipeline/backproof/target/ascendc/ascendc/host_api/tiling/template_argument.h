// Which template arguments a kernel can have: the key that the host makes of them has eight bits for each, the first lowest.
#pragma once
#include <cstdint>
#include <initializer_list>

#define ASCENDC_TPL_ARGS_DECL(...)
#define ASCENDC_TPL_SEL(...)
#define GET_TPL_TILING_KEY(...) ascmodel_template_key({__VA_ARGS__})
inline uint64_t ascmodel_template_key(std::initializer_list<uint64_t> values) {
    uint64_t key = 0, shift = 0;
    for (uint64_t value : values) key |= value << shift, shift += 8;
    return key;
}
