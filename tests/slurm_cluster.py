"""A SLURM of one node on this machine's loopback, for the length of a test module: its daemons are
children of the tests.
"""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

DAEMONS = ("munged", "slurmctld", "slurmd")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
# More processors than the machine may have, no cgroups, no accounting; a step over its memory is
# killed within a second or two.
CONFIGURATION = """\
ClusterName=tests
SlurmctldHost=localhost
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
ReturnToService=2
SlurmctldTimeout=10
MessageTimeout=5
KillWait=2
MinJobAge=3600
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
NodeName=localhost NodeHostname=localhost NodeAddr=127.0.0.1 CPUs=4 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=60 DefMemPerCPU=500 State=UP
"""
FORMAT = "JobID:12,State:20,MinMemory:12,STDOUT:400"


def lacking():
    """Why there can be no cluster here; None if there can."""
    missing = [daemon for daemon in DAEMONS if shutil.which(daemon, path=PATH) is None]
    if missing:
        return f"needs SLURM: {', '.join(missing)} not found (Debian packages slurm-wlm and munge)"
    if os.geteuid() != 0:
        return "needs SLURM started by root"
    return None


def free_ports(number):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@dataclass
class Job:
    state: str
    memory: str
    output: str

    @property
    def name(self):
        """The group of the job, or its rule, by the folder that the executor writes to."""
        return re.match(r".*/(?:group|rule)_((?:tables|figures)_[^_/]+|[^/]+)", self.output)[1]


@dataclass
class Cluster:
    folder: Path

    @property
    def environment(self):
        """What a command needs to find this cluster."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": f"{self.folder}/bin:{PATH}"}

    def call(self, *command):
        """The standard output of a command of SLURM, without the space around it."""
        result = subprocess.run(
            command,
            env=os.environ | self.environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        return result.stdout.strip()

    def jobs(self):
        """Number -> job, of all jobs so far, in the order of their submission."""
        lines = self.call(
            "squeue", "--noheader", "--states=all", "--sort=i", f"--Format={FORMAT}"
        ).splitlines()
        return {number: Job(*entries) for number, *entries in (line.split() for line in lines)}

    def configure(self):
        for name in ("state", "spool", "bin"):
            (self.folder / name).mkdir(mode=0o700)
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=self.folder, ports=free_ports(2)), "utf-8"
        )
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        # The executor hides SLURM_CONF from the srun of a job, which would look in /etc/slurm.
        srun = self.folder / "bin" / "srun"
        program = shutil.which("srun", path=PATH)
        srun.write_text(
            f'#!/bin/sh\nSLURM_CONF={self.folder}/slurm.conf exec {program} "$@"\n', "utf-8"
        )
        srun.chmod(0o755)

    def start(self):
        """Start the daemons in turn, each when the one before answers; yield each."""
        places = {
            "key-file": "munge.key",
            "socket": "munge.socket",
            "pid-file": "munge.pid",
            "log-file": "munge.log",
        }
        places = [
            f"--{option}={self.folder}/{name}"
            for option, name in (places | {"seed-file": "munge.seed"}).items()
        ]
        yield self.daemon("munged", "--foreground", "--force", *places)
        self.wait_until(lambda: (self.folder / "munge.socket").exists(), "munged")
        yield self.daemon("slurmctld", "-D")
        self.wait_until(lambda: "UP" in self.call("scontrol", "ping"), "slurmctld")
        yield self.daemon("slurmd", "-D", "-N", "localhost")
        self.wait_until(lambda: self.call("sinfo", "--noheader", "--format=%T") == "idle", "slurmd")

    def daemon(self, *command):
        with (self.folder / f"{command[0]}.out").open("wb") as output:
            return subprocess.Popen(
                command, env=os.environ | self.environment, stdout=output, stderr=output
            )

    def wait_until(self, done, what, seconds=30):
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                text = "".join(
                    path.read_text("utf-8", "replace")[-2000:] for path in self.folder.glob("*.out")
                )
                raise TimeoutError(f"{what}: not within {seconds} s\n{text}")
            time.sleep(0.1)


@contextmanager
def started_cluster():
    """Start a SLURM, whose jobs and daemons end with it."""
    daemons = []
    # A socket's path is short, those of pytest's folders are not
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    try:
        started = Cluster(folder)
        started.configure()
        daemons.extend(started.start())
        yield started
        started.call("scancel", "--full", "--signal=KILL", "--user=root")
        started.wait_until(lambda: not started.call("squeue", "--noheader"), "the end of all jobs")
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster():
    reason = lacking()
    if reason:
        pytest.skip(reason)
    with started_cluster() as started:
        yield started
