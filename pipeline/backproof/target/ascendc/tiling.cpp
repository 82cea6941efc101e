// Runs the tiling function of an operator for one call.
#include "host/tiling_context.h"
#include ASCMODEL_TILING

struct GivenOperand {
    int64_t given, dimensions, type;
    int64_t sizes[8], steps[8];
    int64_t strided;
    const void *host;
};

struct MadeTiling {
    int64_t bytes, blocks, key, workspace;
    uint8_t data[16384];
    char text[4096];
};

extern "C" __attribute__((visibility("default"))) int ascmodel_tile(
    const GivenOperand *operands, int count, const int64_t *attributes, int attribute_count, int cores, int64_t local_memory, MadeTiling *made) {
    gert::TilingContext context;
    for (int i = 0; i < count; ++i) {
        const GivenOperand &from = operands[i];
        gert::Operand to;
        to.given = from.given;
        to.strided = from.strided;
        to.shape.shape.sizes.assign(from.sizes, from.sizes + from.dimensions);
        to.stride.steps.assign(from.steps, from.steps + from.dimensions);
        to.description.type = ge::DataType(from.type);
        to.host.data = from.host;
        to.host.shape = to.shape.shape;
        context.operands.push_back(to);
    }
    context.attributes.values.assign(attributes, attributes + attribute_count);
    context.platform = {uint32_t(cores), uint64_t(local_memory)};
    ascmodel_host::said.clear();
    const bool good = ascmodel_host::tiling_function && ascmodel_host::tiling_function(&context) == ge::GRAPH_SUCCESS;
    std::snprintf(made->text, sizeof made->text, "%s", ascmodel_host::said.c_str());
    if (context.tiling.size() > sizeof made->data) return 2;
    std::memcpy(made->data, context.tiling.data(), context.tiling.size());
    made->bytes = int64_t(context.tiling.size());
    made->blocks = context.blocks;
    made->key = int64_t(context.key);
    made->workspace = int64_t(context.workspace);
    return good ? 0 : 1;
}
