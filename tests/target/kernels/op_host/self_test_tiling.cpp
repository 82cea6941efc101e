#include "log/log.h"
#include "tiling_base/tiling_util.h"

#include "../op_kernel/tiling_data.h"

static ge::graphStatus TileSelfTest(gert::TilingContext *context)
{
    const auto *shape = context->GetInputShape(0);
    OP_CHECK_NULL_WITH_CONTEXT(context, shape);
    const auto *scene = context->GetAttrs()->GetAttrPointer<int64_t>(0);
    const auto *cores = context->GetAttrs()->GetAttrPointer<int64_t>(1);
    OP_CHECK_IF(*scene < 0, OP_LOGE(context, "scene %ld is negative", static_cast<long>(*scene)), return ge::GRAPH_FAILED);
    auto *tiling = context->GetTilingData<SelfTestTiling>();
    tiling->scene = *scene;
    tiling->rows = shape->GetStorageShape().GetDim(0);
    tiling->count = shape->GetStorageShape().GetShapeSize();
    platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    context->SetBlockDim(std::min<uint32_t>(*cores, platform.GetCoreNumAiv()));
    context->GetWorkspaceSizes(1)[0] = 64;
    return context->SetTilingKey(1);
}

IMPL_OP_OPTILING(SelfTest).Tiling(TileSelfTest);
