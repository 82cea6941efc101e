// Kernels of our own: scene 0 keeps every rule, each of the others breaks one.
#include "kernel_operator.h"
#include "tiling_data.h"

using namespace AscendC;

namespace {

struct Scene {
    GlobalTensor<float> x, y;
    TBuf<TPosition::VECCALC> first, second;
    LocalTensor<float> a, b;
    int64_t count;

    Scene(GM_ADDR in, GM_ADDR out, int64_t size) : count(size)
    {
        x.SetGlobalBuffer(reinterpret_cast<float *>(in));
        y.SetGlobalBuffer(reinterpret_cast<float *>(out));
        GetTPipePtr()->InitBuffer(first, count * sizeof(float));
        GetTPipePtr()->InitBuffer(second, count * sizeof(float));
        a = first.Get<float>();
        b = second.Get<float>();
    }
    void Load(bool wait = true)
    {
        DataCopy(a, x, count);
        if (wait) {
            SetFlag<HardEvent::MTE2_V>(0);
            WaitFlag<HardEvent::MTE2_V>(0);
        }
    }
    void Store(bool wait = true)
    {
        if (wait) {
            SetFlag<HardEvent::V_MTE3>(0);
            WaitFlag<HardEvent::V_MTE3>(0);
        }
        DataCopy(y, b, count);
    }
};

void Run(int64_t scene, Scene &s)
{
    switch (scene) {
        case 0: s.Load(); Muls(s.b, s.a, 2.0f, s.count); s.Store(); break;
        case 1: DataCopy(s.a, s.x[s.count], 8); break;                                  // a row past the end, beyond what is allocated
        case 2: DataCopy(s.a, s.x[-8], 8); break;                                       // before the first row
        case 3: DataCopy(s.x, s.a, 8); break;                                           // an input is written
        case 4: Muls(s.b, s.a, 2.0f, s.count); s.Store(); break;                        // computes from what nobody loaded
        case 5: s.Load(); Muls(s.b, s.a, 2.0f, s.count / 2); s.Store(); break;          // half of what goes out was never made
        case 6: { TBuf<TPosition::VECCALC> whole; GetTPipePtr()->InitBuffer(whole, 1 << 20); break; }
        case 7: Muls(s.b, s.a[2 * s.count], 2.0f, s.count); break;                      // past what is allocated of local memory
        case 8: Muls(s.b, s.a[1], 2.0f, 8); break;                                      // an odd local address
        case 9: DataCopy(s.a, s.x, 9); break;                                           // 36 bytes are no whole line
        case 10: WaitFlag<HardEvent::MTE2_V>(0); break;                                 // nobody sets it
        case 11: SetFlag<HardEvent::MTE2_V>(0); SetFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0); WaitFlag<HardEvent::MTE2_V>(0); break;
        case 12: SetFlag<HardEvent::MTE2_V>(0); break;                                  // left set
        case 13: s.Load(false); Muls(s.b, s.a, 2.0f, s.count); s.Store(); break;        // the vector unit does not wait for the transfer
        case 14: s.Load(); Muls(s.b, s.a, 2.0f, s.count); s.Store(false); break;        // the transfer does not wait for the vector unit
        case 15: s.Load(); Muls(s.b, s.a, 2.0f, s.count); s.Store(); break;             // two cores: both write all of y
        case 16: if (GetBlockIdx() == 0) SyncAll(); break;                              // the other core leaves
        case 17: GetTPipePtr()->AllocEventID<HardEvent::MTE2_V>(); break;               // kept
        case 18: GetTPipePtr()->ReleaseEventID<HardEvent::MTE2_V>(3); break;            // never taken
        case 19: for (int i = 0; i < 9; ++i) GetTPipePtr()->AllocEventID<HardEvent::MTE2_V>(); break;
        case 20: s.Load(); Muls(s.b, s.a, 2.0f, s.count); Muls(s.b, s.b, 2.0f, s.count); s.Store(); break;  // advice: no barrier between
        case 21: s.Load(); Muls(s.b, s.a, 2.0f, s.count); PipeBarrier<PIPE_V>(); Muls(s.b, s.b, 2.0f, s.count); s.Store(); break;
        case 22: for (;;) {}
        case 23: *reinterpret_cast<volatile int *>(8) = 1; break;
        case 24: s.a.GetValue(0); break;                                                // a scalar that nobody wrote
        case 25: { GlobalTensor<float> none; none.SetGlobalBuffer(nullptr); DataCopy(s.a, none, 8); break; }
        case 26: if (GetBlockIdx() == 1) s.y.SetValue(0, 1.0f); SyncAll(); if (GetBlockIdx() == 0) s.y.SetValue(0, 2.0f); break;  // ordered
        case 27: s.y.SetValue(GetBlockIdx(), 1.0f); break;                              // neighbours in one line: no race
        case 28: DataCopy(s.a, s.x[s.count - 4], 8); break;                             // rounded up within the unit of allocation: no fault
    }
}

}  // namespace

template <uint32_t unused>
__global__ __aicore__ void rules(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    REGISTER_TILING_DEFAULT(SelfTestTiling);
    GET_TILING_DATA(data, tiling);
    Scene scene(x, y, data.count);
    Run(data.scene, scene);
}
