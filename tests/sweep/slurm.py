"""A sweep as a job array of a real Slurm: one slurmctld and two slurmd of this machine, as processes of the test. A task and a node are
killed in the middle; what is requeued goes on, and the database is that of a local run."""
import os
import random
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo")
CONFIGURATION = """ClusterName=t
SlurmctldHost=%(host)s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=%(port0)d
StateSaveLocation=%(folder)s/state
SlurmdSpoolDir=%(folder)s/spool-%%n
SlurmctldPidFile=%(folder)s/ctld.pid
SlurmdPidFile=%(folder)s/d-%%n.pid
SlurmctldLogFile=%(folder)s/ctld.log
SlurmdLogFile=%(folder)s/%%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdTimeout=10
MpiDefault=none
JobRequeue=1
MaxArraySize=10001
NodeName=n1 NodeHostname=%(host)s NodeAddr=127.0.0.1 Port=%(port1)d CPUs=1 RealMemory=1000
NodeName=n2 NodeHostname=%(host)s NodeAddr=127.0.0.1 Port=%(port2)d CPUs=1 RealMemory=1000
PartitionName=p Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def tool(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=60).stdout


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.5)
    return False


class Cluster:
    def __init__(self, folder):
        host = socket.gethostname().split(".")[0]
        ports = free_ports(3)
        os.makedirs(os.path.join(folder, "state"))
        path = os.path.join(folder, "slurm.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write(CONFIGURATION % {"host": host, "folder": folder, "port0": ports[0], "port1": ports[1], "port2": ports[2]})
        os.environ["SLURM_CONF"] = path
        self.processes = {}
        self.start("ctld", "slurmctld", "-D", "-c")
        for node in ("n1", "n2"):
            self.start(node, "slurmd", "-D", "-N", node)

    def start(self, name, *words):
        program = shutil.which(words[0]) or os.path.join("/usr/sbin", words[0])
        self.processes[name] = subprocess.Popen([program, *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                                stderr=subprocess.DEVNULL, start_new_session=True)

    def kill(self, name):
        process = self.processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self):
        for name in list(self.processes):
            self.kill(name)
        os.environ.pop("SLURM_CONF", None)


def queued():
    return tool("squeue", "-h", "-r", "-o", "%i %T").split("\n")[:-1]


def run(case, heddle, folder, sweep, wanted):
    missing = [p for p in PROGRAMS if not shutil.which(p) and not os.path.exists("/usr/sbin/" + p)]
    if missing or os.geteuid() != 0:
        print("skip slurm: %s" % ("%s not found (slurm-wlm)" % ", ".join(missing) if missing else "its daemons need root here"))
        return
    cluster = Cluster(os.path.join(folder, "cluster"))
    try:
        if not case("slurm starts", None if wait_for(lambda: tool("sinfo", "-h", "-t", "idle", "-o", "%D").strip() == "2", 60) else tool("sinfo")):
            return
        results = os.path.join(folder, "cluster's #1 \"results\" 100%a")
        done = subprocess.run([heddle, "sweep", "--submit=slurm", "-o", results, sweep], capture_output=True, text=True, cwd=folder, timeout=60)
        if not case("slurm submits", None if done.returncode == 0 and "tasks for" in done.stdout else done.stderr):
            return
        job = done.stdout.split()[1].rstrip(":")
        wait_for(lambda: any("RUNNING" in line for line in queued()), 30)
        running = [line.split()[0] for line in queued() if "RUNNING" in line]
        requeued = running and tool("scontrol", "requeue", running[0]) == ""
        time.sleep(random.uniform(0, 3)) # whatever the node does then
        cluster.kill("n2")
        time.sleep(2)
        cluster.start("n2", "slurmd", "-D", "-N", "n2")
        ended = wait_for(lambda: not queued(), 240)
        case("slurm runs all tasks", None if ended else "\n".join(queued()))
        logs = [name for name in os.listdir(results) if name.endswith(".log")]
        case("slurm writes its logs there", None if "merge.log" in logs and "slurm-0.log" in logs else (logs, os.listdir(folder)))
        # what a killed node took along is run by one more call
        again = subprocess.run([heddle, "sweep", "-o", results, sweep], capture_output=True, text=True, cwd=folder, timeout=600)
        with open(os.path.join(results, "results.sqlite"), "rb") as file:
            same = file.read() == wanted
        case("slurm has the results of a local run", None if again.returncode == 0 and same else again.stderr or "job %s: other bytes" % job)
        case("a task is requeued", None if requeued else "none was running")
    finally:
        cluster.stop()
