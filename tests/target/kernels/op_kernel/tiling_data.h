#pragma once
#include <cstdint>

struct SelfTestTiling {
    int64_t scene, count, rows;
};
