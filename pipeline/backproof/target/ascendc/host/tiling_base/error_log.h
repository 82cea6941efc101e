#pragma once
#include "../tiling_context.h"
