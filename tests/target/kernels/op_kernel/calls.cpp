// A kernel of our own for each call that computes: y = call(x, z).
#include "kernel_operator.h"
#include "tiling_data.h"

using namespace AscendC;

template <uint32_t unused>
__global__ __aicore__ void calls(GM_ADDR x, GM_ADDR z, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(SelfTestTiling, data, tiling);
    GlobalTensor<DTYPE_X> in, other, out;
    in.SetGlobalBuffer(reinterpret_cast<DTYPE_X *>(x));
    other.SetGlobalBuffer(reinterpret_cast<DTYPE_X *>(z));
    out.SetGlobalBuffer(reinterpret_cast<DTYPE_X *>(y));
    TBuf<TPosition::VECCALC> buffers[4];
    for (auto &buffer : buffers) GetTPipePtr()->InitBuffer(buffer, data.count * sizeof(float));
    auto a = buffers[0].Get<DTYPE_X>(), b = buffers[1].Get<DTYPE_X>(), c = buffers[2].Get<DTYPE_X>();
    auto wide = buffers[3].Get<float>();
    auto whole = buffers[3].Get<int32_t>();
    const int32_t n = data.count;
    const DTYPE_X two = DTYPE_X(2);
    DataCopy(a, in, n);
    DataCopy(b, other, n);
    PipeBarrier<PIPE_ALL>();
    switch (data.scene) {
        case 0: Add(c, a, b, n); break;
        case 1: Sub(c, a, b, n); break;
        case 2: Mul(c, a, b, n); break;
        case 3: Div(c, a, b, n); break;
        case 4: Max(c, a, b, n); break;
        case 5: Min(c, a, b, n); break;
        case 6: Adds(c, a, two, n); break;
        case 7: Muls(c, a, two, n); break;
        case 8: Maxs(c, a, two, n); break;
        case 9: Mins(c, a, two, n); break;
        case 10: Abs(c, a, n); break;
        case 11: Exp(c, a, n); break;
        case 12: Ln(c, a, n); break;
        case 13: Sqrt(c, a, n); break;
        case 14: Rsqrt(c, a, n); break;
        case 15: Reciprocal(c, a, n); break;
        case 16: Relu(c, a, n); break;
        case 17: Silu(c, a, n); break;
        case 18: Duplicate(c, two, n); break;
        case 19: DataCopy(c, b, n); break;
        case 20: Duplicate(c, two, n); PipeBarrier<PIPE_V>(); MulAddDst(c, a, b, n); break;
        case 21: Cast(wide, a, RoundMode::CAST_NONE, n); PipeBarrier<PIPE_V>(); Cast(c, wide, RoundMode::CAST_RINT, n); break;
        case 22: Cast(whole, a, RoundMode::CAST_FLOOR, n); PipeBarrier<PIPE_V>(); Cast(c, whole, RoundMode::CAST_NONE, n); break;
        case 23: Cast(whole, a, RoundMode::CAST_RINT, n); PipeBarrier<PIPE_V>(); Cast(c, whole, RoundMode::CAST_NONE, n); break;
        case 24: Cast(whole, a, RoundMode::CAST_CEIL, n); PipeBarrier<PIPE_V>(); Cast(c, whole, RoundMode::CAST_NONE, n); break;
        case 25: Cast(whole, a, RoundMode::CAST_TRUNC, n); PipeBarrier<PIPE_V>(); Cast(c, whole, RoundMode::CAST_NONE, n); break;
        case 26: DataCopy(c, in, DataCopyParams(2, 1, 1, 0)); PipeBarrier<PIPE_ALL>(); break;
        case 27: {
            DataCopyPad(c, in, DataCopyExtParams(1, 4 * sizeof(DTYPE_X), 0, 0, 0), DataCopyPadExtParams<DTYPE_X>(true, 0, 4, two));
            break;
        }
        case 28: for (int i = 0; i < n; ++i) c.SetValue(i, a.GetValue(n - 1 - i)); break;
    }
    PipeBarrier<PIPE_ALL>();
    const bool part = data.scene == 26 || data.scene == 27;
    if (part) DataCopyPad(out, c, DataCopyExtParams(1, data.scene == 26 ? 64 : 8 * sizeof(DTYPE_X), 0, 0, 0));
    else DataCopy(out, c, n);
}
