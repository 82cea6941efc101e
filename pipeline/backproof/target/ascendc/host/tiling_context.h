// The host's side of an operator: what a tiling function asks of its context, answered from the tensors of one call.
// Independent code; see model.h for what this is.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace ascmodel_host {
inline std::string said;  // what the tiling function says when it refuses
template <class... Rest>
void say(const char *form, Rest... rest) {
    char line[512];
    std::snprintf(line, sizeof line, form, rest...);
    said += std::string(line) + "\n";
}
inline void say(const char *text) { said += std::string(text) + "\n"; }
}  // namespace ascmodel_host

#define OP_LOGD(context, ...) ((void)(context))
#define OP_LOGI(context, ...) ((void)(context))
#define OP_LOGW(context, ...) ((void)(context))
#define OP_LOGE(context, ...) ((void)(context), ascmodel_host::say(__VA_ARGS__))
#define OP_CHECK_IF(condition, log, leave) \
    do {                                   \
        if (condition) {                   \
            log;                           \
            leave;                         \
        }                                  \
    } while (0)
#define OP_CHECK_NULL_WITH_CONTEXT(context, pointer)          \
    do {                                                      \
        if ((pointer) == nullptr) {                           \
            ascmodel_host::say("%s is not there", #pointer);  \
            return ge::GRAPH_FAILED;                          \
        }                                                     \
    } while (0)

using errno_t = int;
constexpr errno_t EOK = 0;
inline errno_t memset_s(void *to, size_t room, int value, size_t count) { return count > room ? 1 : (std::memset(to, value, count), EOK); }

namespace ge {
using graphStatus = uint32_t;
constexpr graphStatus GRAPH_SUCCESS = 0, GRAPH_FAILED = 0xffffffff;
enum DataType { DT_FLOAT = 0, DT_FLOAT16 = 1, DT_INT8 = 2, DT_INT32 = 3, DT_UINT8 = 4, DT_INT64 = 9, DT_BOOL = 12, DT_BF16 = 27 };
}  // namespace ge

namespace fe {
struct PlatFormInfos {
    uint32_t cores = 0;
    uint64_t local_memory = 0;
};
}  // namespace fe

namespace platform_ascendc {
enum class CoreMemType { L0_A, L0_B, L0_C, L1, L2, UB, HBM };
enum class SocVersion { ASCEND910B, ASCEND910_93, ASCEND910_95, ASCEND310P };
class PlatformAscendC {
public:
    explicit PlatformAscendC(fe::PlatFormInfos *infos) : infos_(infos) {}
    uint32_t GetCoreNum() const { return infos_->cores; }
    uint32_t GetCoreNumAiv() const { return infos_->cores; }
    void GetCoreMemSize(CoreMemType, uint64_t &bytes) const { bytes = infos_->local_memory; }
    uint32_t GetLibApiWorkSpaceSize() const { return 0; }
    SocVersion GetSocVersion() const { return SocVersion::ASCEND910_93; }

private:
    fe::PlatFormInfos *infos_;
};
}  // namespace platform_ascendc

namespace gert {
struct Shape {
    std::vector<int64_t> sizes;
    size_t GetDimNum() const { return sizes.size(); }
    int64_t GetDim(size_t index) const { return sizes.at(index); }
    int64_t GetShapeSize() const {
        int64_t product = 1;
        for (int64_t size : sizes) product *= size;
        return product;
    }
};
struct StorageShape {
    Shape shape;
    const Shape &GetStorageShape() const { return shape; }
    const Shape &GetOriginShape() const { return shape; }
};
struct Stride {
    std::vector<int64_t> steps;
    size_t GetDimNum() const { return steps.size(); }
    int64_t GetStride(size_t index) const { return steps.at(index); }
    int64_t operator[](size_t index) const { return steps.at(index); }
};
struct CompileTimeTensorDesc {
    ge::DataType type = ge::DT_FLOAT;
    ge::DataType GetDataType() const { return type; }
};
struct RuntimeAttrs {
    std::vector<int64_t> values;
    template <class T>
    const T *GetAttrPointer(size_t index) const {
        return index < values.size() ? reinterpret_cast<const T *>(&values[index]) : nullptr;
    }
    const int64_t *GetInt(size_t index) const { return GetAttrPointer<int64_t>(index); }
    const bool *GetBool(size_t index) const { return GetAttrPointer<bool>(index); }
    size_t GetAttrNum() const { return values.size(); }
};
struct Tensor {
    const void *data = nullptr;
    Shape shape;
    template <class T>
    const T *GetData() const {
        return static_cast<const T *>(data);
    }
    int64_t GetShapeSize() const { return shape.GetShapeSize(); }
};
struct Operand {
    bool given = false, strided = false;
    StorageShape shape;
    Stride stride;
    CompileTimeTensorDesc description;
    Tensor host;  // where the caller has the values on the host, too
};
class TilingContext {
public:
    std::vector<Operand> operands;
    RuntimeAttrs attributes;
    fe::PlatFormInfos platform;
    std::vector<uint8_t> tiling;
    size_t workspace = 0;
    uint32_t blocks = 0;
    uint64_t key = 0;

    const StorageShape *GetInputShape(size_t index) const { return const_cast<TilingContext *>(this)->find(index) ? &operands[index].shape : nullptr; }
    const StorageShape *GetOptionalInputShape(size_t index) const { return GetInputShape(index); }
    const CompileTimeTensorDesc *GetInputDesc(size_t index) const { return const_cast<TilingContext *>(this)->find(index) ? &operands[index].description : nullptr; }
    const CompileTimeTensorDesc *GetOptionalInputDesc(size_t index) const { return GetInputDesc(index); }
    bool InputIsView(size_t index) const { return index < operands.size() && operands[index].strided; }
    const Stride *GetInputStride(size_t index) const { return const_cast<TilingContext *>(this)->find(index) ? &operands[index].stride : nullptr; }
    const Tensor *GetInputTensor(size_t index) const { return const_cast<TilingContext *>(this)->find(index) && operands[index].host.data ? &operands[index].host : nullptr; }
    const Tensor *GetOptionalInputTensor(size_t index) const { return GetInputTensor(index); }
    const RuntimeAttrs *GetAttrs() const { return &attributes; }
    fe::PlatFormInfos *GetPlatformInfo() { return &platform; }
    template <class T>
    T *GetTilingData() {
        tiling.assign(sizeof(T), 0);
        return reinterpret_cast<T *>(tiling.data());
    }
    size_t *GetWorkspaceSizes(size_t) { return &workspace; }
    ge::graphStatus SetBlockDim(uint32_t count) { return blocks = count, ge::GRAPH_SUCCESS; }
    ge::graphStatus SetTilingKey(uint64_t value) { return key = value, ge::GRAPH_SUCCESS; }
    ge::graphStatus SetScheduleMode(uint32_t) { return ge::GRAPH_SUCCESS; }
    const char *GetNodeName() const { return "operator"; }

private:
    Operand *find(size_t index) { return index < operands.size() && operands[index].given ? &operands[index] : nullptr; }
};
struct TilingParseContext {};
}  // namespace gert

namespace Ops::Transformer::OpTiling {
inline const gert::Shape &EnsureNotScalar(const gert::Shape &shape) {
    static const gert::Shape one{{1}};
    return shape.sizes.empty() ? one : shape;
}
}  // namespace Ops::Transformer::OpTiling

namespace ascmodel_host {
using Tiling = ge::graphStatus (*)(gert::TilingContext *);
inline Tiling tiling_function = nullptr;
struct Registration {
    Registration &Tiling(ascmodel_host::Tiling function) { return tiling_function = function, *this; }
    template <class T, class Function>
    Registration &TilingParse(Function) {
        return *this;
    }
};
}  // namespace ascmodel_host
#define IMPL_OP_OPTILING(name) static ascmodel_host::Registration ascmodel_registration_##name = ascmodel_host::Registration()
