"""A Slurm of one node that runs in a folder: its own munge, MariaDB, slurmdbd, slurmctld and slurmd."""

import os
import pathlib
import shutil
import socket
import subprocess
import time

PROGRAMS = ("munged", "mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd", "sbatch", "sacct")
GIVEN_UP = 180  # seconds; later than this, nothing will come
COLUMNS = (
    "JobID,JobIDRaw,JobName,Cluster,State,ExitCode,Submit,Start,End,Timelimit,NodeList,AllocNodes,AllocCPUS,NTasks"
)
COLUMNS += ",ReqMem,MaxRSS,TRESUsageInTot%60,TotalCPU"


def missing() -> str:
    """Why no Slurm can be started here; empty if it can."""
    if os.geteuid() != 0:
        return "slurmd needs root"
    absent = [program for program in PROGRAMS if find(program) is None]
    return f"{', '.join(absent)} not installed: tools/setup slurm" if absent else ""


def find(program: str):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def wait_for(what, found):
    deadline = time.monotonic() + GIVEN_UP
    while not (result := found()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come")
        time.sleep(0.2)
    return result


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Slurm:
    """Starts all parts; `close` ends those that were started."""

    def __init__(self, folder: pathlib.Path, cores: int = 2):
        self.folder, self.cores, self.processes = folder, cores, []
        self.host = socket.gethostname().split(".")[0]
        for name in ("state", "spool", "run"):
            (folder / name).mkdir()
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "SLURM_TIME_FORMAT": "%s"}
        try:
            self.start_munge()
            self.start_database()
            self.start_slurm()
        except BaseException:
            self.close()
            raise

    def start(self, name, *command, **options):
        with open(self.folder / f"{name}.out", "wb") as out:
            process = subprocess.Popen(
                [find(command[0]), *map(str, command[1:])], stdout=out, stderr=out, env=self.environment, **options
            )
        self.processes.append(process)
        return process

    def start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.folder.chmod(0o755)
        self.munge = self.folder / "munge.socket"
        places = [
            f"--{kind}={self.folder / name}"
            for kind, name in (("log-file", "munged.log"), ("pid-file", "munged.pid"), ("seed-file", "munge.seed"))
        ]
        self.start(
            "munged", "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.munge}", *places
        )
        wait_for("munge", self.munge.exists)

    def start_database(self):
        data, sock, self.database_port = self.folder / "data", self.folder / "db.socket", free_port()
        install = [
            find("mariadb-install-db"),
            "--no-defaults",
            "--user=root",
            f"--datadir={data}",
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
        ]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (self.folder / "init.sql").write_text(
            "CREATE DATABASE slurm_acct_db;\nCREATE USER 'slurm'@'127.0.0.1' IDENTIFIED BY 'slurm';\n"
            "GRANT ALL ON slurm_acct_db.* TO 'slurm'@'127.0.0.1';\n"
        )
        self.start(
            "mariadbd",
            "mariadbd",
            "--no-defaults",
            "--user=root",
            f"--datadir={data}",
            f"--socket={sock}",
            f"--port={self.database_port}",
            "--bind-address=127.0.0.1",
            "--skip-name-resolve",
            f"--pid-file={self.folder / 'db.pid'}",
            f"--init-file={self.folder / 'init.sql'}",
        )
        wait_for("MariaDB", sock.exists)

    def start_slurm(self):
        here, auth = self.folder, f"AuthType=auth/munge\nAuthInfo=socket={self.munge}\n"
        ports = [free_port() for _ in range(3)]
        (here / "slurmdbd.conf").write_text(
            f"{auth}DbdHost=localhost\nDbdPort={ports[0]}\nSlurmUser=root\nPidFile={here}/run/slurmdbd.pid\n"
            f"LogFile={here}/slurmdbd.log\nStorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\n"
            f"StoragePort={self.database_port}\nStorageUser=slurm\nStoragePass=slurm\nStorageLoc=slurm_acct_db\n"
        )
        (here / "slurmdbd.conf").chmod(0o600)
        (here / "slurm.conf").write_text(
            f"{auth}ClusterName=crema\nSlurmctldHost={self.host}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n"
            f"SlurmctldPort={ports[1]}\nSlurmdPort={ports[2]}\nStateSaveLocation={here}/state\n"
            f"SlurmdSpoolDir={here}/spool\nSlurmctldPidFile={here}/run/slurmctld.pid\n"
            f"SlurmdPidFile={here}/run/slurmd.pid\nSlurmctldLogFile={here}/slurmctld.log\n"
            f"SlurmdLogFile={here}/slurmd.log\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
            "MpiDefault=none\nReturnToService=2\nKillWait=2\nSchedulerParameters=sched_interval=1\n"
            "JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=task=1\n"
            "JobAcctGatherParams=OverMemoryKill\nSlurmdParameters=config_overrides\n"
            f"AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=localhost\n"
            f"AccountingStoragePort={ports[0]}\nAccountingStoragePass={self.munge}\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
            f"NodeName={self.host} NodeAddr=127.0.0.1 CPUs={self.cores} RealMemory=4000 State=UNKNOWN\n"
            f"PartitionName=all Nodes={self.host} Default=YES MaxTime=INFINITE State=UP\n"
        )
        (here / "cgroup.conf").write_text("CgroupAutomount=no\n")
        self.start("slurmdbd", "slurmdbd", "-D")
        wait_for("slurmdbd", lambda: self.run("sacctmgr", "-n", "list", "cluster", check=False).returncode == 0)
        self.run("sacctmgr", "-i", "add", "cluster", "crema", check=False)
        self.start("slurmctld", "slurmctld", "-D")
        self.start("slurmd", "slurmd", "-D", "-N", self.host)
        wait_for("the node", lambda: "idle" in self.run("sinfo", "-h", "-o", "%T", check=False).stdout)

    def run(self, program, *arguments, check=True):
        command = [find(program), *map(str, arguments)]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=check)

    def submit(self, script: str, *options) -> str:
        """Returns the id of the job."""
        path = self.folder / "job.sh"
        path.write_text(script)
        return self.run("sbatch", "--parsable", f"--output={self.folder}/%x-%A_%a.txt", *options, path).stdout.strip()

    def wait_until_over(self, jobs):
        wait_for(
            "the jobs' end", lambda: not self.run("squeue", "-h", "-j", ",".join(jobs), check=False).stdout.strip()
        )

    def report(self, jobs, columns: str = COLUMNS) -> str:
        """The output of sacct, after slurmdbd has heard of the jobs' end."""
        command = ["sacct", "--parsable2", "--duplicates", "-j", ",".join(jobs), "--format", columns]

        def settled():
            text = self.run(*command).stdout
            return text if "RUNNING" not in text and "PENDING" not in text else ""

        return wait_for("sacct's figures", settled)

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
