"""A job that uses CUDA by the driver's library alone. Copied beside jobs, which run it.

  cuda_job.py look               prints the devices that CUDA finds, as JSON
  cuda_job.py add                adds two vectors on the first device and prints their sum's sum
  cuda_job.py hold MIB SECONDS   takes so much memory of the first device, prints "holding", and keeps it
  cuda_job.py fault              writes to an address that does not exist, on the device
"""

import ctypes
import json
import sys
import time
import uuid

PTX = b"""
.version 7.0
.target sm_50
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 b) {
  .reg .b32 %r<4>; .reg .b64 %d<6>;
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d0, %r0, 4;
  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b];
  add.u64 %d3, %d1, %d0; add.u64 %d4, %d2, %d0;
  ld.global.u32 %r1, [%d3]; ld.global.u32 %r2, [%d4];
  add.u32 %r3, %r1, %r2;
  st.global.u32 [%d3], %r3;
  ret;
}
.visible .entry fault() {
  .reg .b32 %r0; .reg .b64 %d0;
  mov.u64 %d0, 0x7f0000000010;
  mov.u32 %r0, 1;
  st.global.u32 [%d0], %r0;
  ret;
}
"""

driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(driver, name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        driver.cuGetErrorName(code, ctypes.byref(text))
        raise RuntimeError(f"{name}: {(text.value or b'?').decode()} ({code})")


def devices():
    found = []
    count = ctypes.c_int()
    if driver.cuInit(0):
        return found  # CUDA_ERROR_NO_DEVICE
    call("cuDeviceGetCount", ctypes.byref(count))
    for index in range(count.value):
        name, identity = ctypes.create_string_buffer(100), (ctypes.c_ubyte * 16)()
        call("cuDeviceGetName", name, 100, index)
        call("cuDeviceGetUuid", ctypes.byref(identity), index)
        found.append({"name": name.value.decode(), "uuid": f"GPU-{uuid.UUID(bytes=bytes(identity))}"})
    return found


def use():
    call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)


def allocate(size):
    pointer = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
    return pointer


def launch(name, threads, *pointers):
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(function), module, name)
    arguments = (ctypes.c_void_p * max(len(pointers), 1))(*[ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in pointers])
    call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, arguments, None)
    call("cuCtxSynchronize")


def add(size=256):
    use()
    numbers = (ctypes.c_uint32 * size)(*range(size))
    a, b = allocate(4 * size), allocate(4 * size)
    for pointer in (a, b):
        call("cuMemcpyHtoD_v2", pointer, numbers, ctypes.c_size_t(4 * size))
    launch(b"add", size, a, b)
    call("cuMemcpyDtoH_v2", numbers, a, ctypes.c_size_t(4 * size))
    return sum(numbers)


def main(what, *words):
    if what == "look":
        print(json.dumps(devices()))
    elif what == "add":
        print(add())
    elif what == "hold":
        use()
        allocate(int(words[0]) << 20)
        print("holding", flush=True)
        time.sleep(float(words[1]))
    elif what == "fault":
        use()
        launch(b"fault", 1)


main(*sys.argv[1:])
