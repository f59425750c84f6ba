# SPDX-FileCopyrightText: The RingCheck authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts under torchrun, for the tests: one agent a host, all of them here."""

import os
import pathlib
import socket
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def torchrun(script, *words, hosts=1, ranks=2, seconds=400):
    """Of each host what it ended as: returncode, stdout and stderr. The words are the script's."""
    port = str(_free_port())
    agents = [subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", "--nnodes", str(hosts), "--nproc-per-node", str(ranks // hosts),
         "--node-rank", str(host), "--master-addr", "127.0.0.1", "--master-port", port, str(script), *map(str, words)],
        cwd=HERE, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for host in range(hosts)]
    try:
        said = [agent.communicate(timeout=seconds) for agent in agents]
    finally:
        for agent in agents:
            agent.kill()
    return [subprocess.CompletedProcess(agent.args, agent.returncode, *texts) for agent, texts in zip(agents, said)]
