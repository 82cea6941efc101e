"""Kernels that move rows, right and wrong."""

from acme.lang import tl, triton


@triton.jit
def copy_rows(source, target, indices, DIM: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    index = tl.load(indices + row).to(tl.int64)
    for tile in range(tl.program_id(1), tl.cdiv(DIM, BLOCK), tl.num_programs(1)):
        lanes = tile * BLOCK + tl.arange(0, BLOCK)
        values = tl.load(source + index * DIM + lanes, mask=lanes < DIM, other=0)
        tl.store(target + row * DIM + lanes, values, mask=lanes < DIM)


@triton.jit
def copy_unmasked(source, target, DIM: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(target + lanes, tl.load(source + lanes, mask=lanes < DIM, other=0))


@triton.jit
def fill_strided(target, STRIDE: tl.constexpr, WIDTH: tl.constexpr):
    tl.store(target + tl.program_id(0) * STRIDE + tl.arange(0, WIDTH), 5.0)


@triton.jit
def scalar_mask(source, target, limit, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    wanted = (limit > 0) & (lanes < limit)
    tl.store(target + lanes, tl.load(source + lanes, mask=wanted, other=0), mask=wanted)


@triton.jit
def block_copy(source, target, rows, DIM: tl.constexpr, BLOCK: tl.constexpr, CHECKED: tl.constexpr):
    taken = tl.make_block_ptr(source, (rows, DIM), (DIM, 1), (0, 0), (BLOCK, DIM), (1, 0))
    given = tl.make_block_ptr(target, (rows, DIM), (DIM, 1), (0, 0), (BLOCK, DIM), (1, 0))
    if CHECKED:
        tl.store(given, tl.load(taken, boundary_check=(0,)), boundary_check=(0,))
    else:
        tl.store(given, tl.load(taken))


@triton.jit
def count_up(counters, indices):
    tl.atomic_add(counters + tl.load(indices + tl.program_id(0)), 1)


@triton.jit
def through_integer(source, target, offset):
    address = source.to(tl.int64) + offset
    tl.store(target, tl.load(address.to(tl.pointer_type(tl.float32))))
