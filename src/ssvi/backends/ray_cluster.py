"""Getting a connection to Ray: a local one that is started, or a cluster that is joined, or one clear sentence."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import Any

from ssvi.errors import BackendError

_PATIENCE = 25  # seconds until an answer: Ray itself would wait for minutes
_NOT_INSTALLED = "backend 'ray' needs Ray, which is not installed: pip install 'ssvi[ray]'."


def import_ray() -> Any:
    """Return Ray, imported; it reports nothing of its use to anybody."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray would warn that a later version of it leaves the visible accelerators of a task without any as they are.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise ValueError(_NOT_INSTALLED) from None
    return ray


def connect(address: str | None, processors: int, memory: int | None) -> Any:
    """Return Ray, connected.

    Whoever has called `ray.init` in this process has chosen already. Else the cluster at `address` is joined, or that
    of the environment variable RAY_ADDRESS; if there is neither, a local Ray with so many processors is started
    (`memory` is the size of its object store in bytes). It stays until this process ends, for what comes next.
    """
    ray = import_ray()
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    if ray.is_initialized():
        _check_same_cluster(ray, address)
        return ray
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == "local":
        own = {"num_cpus": processors, "include_dashboard": False, "object_store_memory": memory}
        return _initialised(ray, address="local", **own, **quiet)
    _check_reachable(address)
    return _initialised(ray, address=address, **quiet)


def _initialised(ray: Any, **options: Any) -> Any:
    """Call `ray.init`, with its errors in one sentence."""
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, OSError, TimeoutError) as error:
        where = options["address"]
        if "ersion mismatch" in str(error):
            said = " ".join(str(error).split())
            raise BackendError(
                f"the Ray cluster at {where} has other versions of Ray or Python than this process, and both must have "
                f"the same: {said}"
            ) from None
        what = "Ray cannot be started here" if where == "local" else f"the Ray cluster at {where} cannot be joined"
        raise BackendError(f"{what}: {_first_sentence(error)}") from None
    return ray


def _check_reachable(address: str) -> None:
    """Raise unless a cluster answers: Ray would wait for minutes, and not let itself be interrupted."""
    host, separator, port = address.removeprefix("ray://").rpartition(":")
    hint = "is it running, and is this its address? (On its head node `ray status` tells.)"
    if address != "auto":
        if not separator or not port.isdecimal():
            raise BackendError(
                f"the address of a Ray cluster is auto or host:port, such as 10.0.0.1:6379, not {address!r}."
            )
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except (OSError, OverflowError) as error:
            raise BackendError(f"the Ray cluster at {address} cannot be reached ({error}): {hint}") from None
    if address.startswith("ray://"):
        return  # another protocol, with a time limit of its own
    command = [sys.executable, "-m", "ray.scripts.scripts", "health-check", "--skip-version-check"]
    if address != "auto":
        command += ["--address", address]
    try:
        answer = subprocess.run(command, capture_output=True, timeout=_PATIENCE, check=False).returncode
    except subprocess.TimeoutExpired:
        answer = None
    if answer != 0:
        where = (
            "no Ray cluster on this machine answers" if address == "auto" else f"what is at {address} is no Ray cluster"
        )
        raise BackendError(f"{where}: {hint}")


def _check_same_cluster(ray: Any, address: str) -> None:
    """Raise if this process is connected to another cluster than the one that is asked for."""
    present = ray.get_runtime_context().gcs_address
    host, _, port = address.rpartition(":")
    try:
        wanted = f"{socket.gethostbyname(host)}:{port}"
    except OSError:
        wanted = address
    local = present.rpartition(":")[2] == port and host in ("127.0.0.1", "localhost")
    if port.isdecimal() and not address.startswith("ray://") and wanted != present and not local:
        raise BackendError(
            f"this process is connected to the Ray cluster at {present} and cannot join {address} too: call "
            "ray.shutdown() first."
        )


def _first_sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text.partition(". ")[0].rstrip(".") + "."
