"""What one run of the bench may be told by its environment; read once."""
import os
import pwd

CPU_PROXY = os.environ.get("BENCH_PROXY_CPU", "0")
CPU_LOAD = os.environ.get("BENCH_LOAD_CPU", "1")
NICE = os.environ.get("BENCH_NICE", "-20")
SECONDS = float(os.environ.get("BENCH_SECS", "3"))
FIRST_PORT = int(os.environ.get("BENCH_PORT", "21000"))
SCRATCH = os.environ.get("BENCH_TMP", "/dev/shm")
PIPE_BYTES = 262144  # of every peer that can be told; the default of fs.pipe-max-size allows it to anyone
ROOT = os.geteuid() == 0


def proxy_user():
    """The account the proxies run as: an ordinary one, since root is exempt from the limits on pipes. None: as we are."""
    return pwd.getpwnam(os.environ.get("BENCH_USER", "nobody")) if ROOT else None
