// Calls that the model does not have: it must say which.
#include "kernel_operator.h"
#include "tiling_data.h"

template <uint32_t unused>
__global__ __aicore__ void unknown(GM_ADDR x, GM_ADDR y, GM_ADDR workspace, GM_ADDR tiling)
{
    AscendC::LocalTensor<float> a;
    AscendC::WholeReduceMagic(a, a, 1);
    AscendC::Mmad(a, a, a);
}
