// Runs one kernel: a coroutine for each core, switched where all cores meet. Compiled once for each kernel, type and template key.
#include <ucontext.h>

#include <memory>

#include "kernel_operator.h"
#include ASCMODEL_KERNEL

namespace {

using namespace ascmodel;

constexpr size_t STACK = 512 * 1024;
std::vector<std::unique_ptr<Core>> cores;
std::vector<ucontext_t> contexts;
std::vector<std::vector<char>> stacks;
std::vector<char> ended;
bool stopped;  // a core that made a fault meets nobody any more
ucontext_t scheduler;
uint8_t **arguments;
int running;

void meet() { swapcontext(&contexts[running], &scheduler); }

void run_core(int index) {
    try {
        ASCMODEL_ENTRY(arguments);
        AscendC::check_left_behind();
    } catch (Stop &) {
        stopped = true;
    }
    ended[index] = 1;
}

void start_cores(int blocks) {
    cores.clear();
    contexts.assign(blocks, {});
    stacks.assign(blocks, {});
    ended.assign(blocks, 0);
    for (int i = 0; i < blocks; ++i) {
        cores.emplace_back(new Core(launch.chip.local_memory));
        cores[i]->index = i;
        stacks[i].resize(STACK);
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stacks[i].data();
        contexts[i].uc_stack.ss_size = stacks[i].size();
        contexts[i].uc_link = &scheduler;
        makecontext(&contexts[i], reinterpret_cast<void (*)()>(run_core), 1, i);
    }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void ascmodel_run(
    const Region *regions, int count, uint8_t **given, const uint8_t *tiling, int64_t tiling_bytes, int blocks, const Chip *chip, Report *report) {
    std::memset(report, 0, sizeof *report);
    launch = Launch{};
    launch.regions.assign(regions, regions + count);
    launch.report = report;
    launch.chip = *chip;
    launch.blocks = blocks;
    launch.tiling = tiling;
    launch.tiling_bytes = tiling_bytes;
    launch.synchronise = meet;
    arguments = given;
    stopped = false;
    start_cores(blocks);
    for (;;) {
        ++launch.epoch;
        int waiting = 0, left = 0;
        for (running = 0; running < blocks; ++running) {
            if (!ended[running]) {
                launch.core = cores[running].get();
                swapcontext(&scheduler, &contexts[running]);
            }
            ended[running] ? ++left : ++waiting;
        }
        if (!waiting) break;
        if (left) {
            launch.core = nullptr;
            if (!stopped) note(HANG, Where::here(), "SyncAll", "%d cores wait for %d that have left", waiting, left);
            break;
        }
    }
}
