# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a GPU is slower than it could be, as cp/device/cuda/held_back.cpp asks for ringcheck_scaling."""
import ctypes
import functools

# Of NVML's reasons for lower clocks (nvml.h, nvmlClocksEventReason*): slowdown by hardware, by software as it is hot, by
# hardware as it is hot, and the brake of the power supply.
HEAT_OR_SUPPLY = 0x8 | 0x20 | 0x40 | 0x80


@functools.cache
def nvml():
    """NVIDIA's management library, which comes with the driver; None where it is not there."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        return library if library.nvmlInit_v2() == 0 else None
    except (OSError, AttributeError):
        return None


def held_back(uuid):
    """Because of heat or its supply of power, and not of the limit of power that a full load meets; None where NVML does not say."""
    device, reasons = ctypes.c_void_p(), ctypes.c_ulonglong()
    if nvml() is None or nvml().nvmlDeviceGetHandleByUUID(f"GPU-{uuid}".encode(), ctypes.byref(device)) != 0:
        return None
    if nvml().nvmlDeviceGetCurrentClocksThrottleReasons(device, ctypes.byref(reasons)) != 0:
        return None
    return reasons.value & HEAT_OR_SUPPLY != 0
