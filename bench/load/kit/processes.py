"""Processes of the bench: started pinned, measured as trees, ended by pid."""
import glob
import json
import os
import signal
import subprocess

from . import settings

TICK = os.sysconf("SC_CLK_TCK")
children = []


def start(command, cpu, unprivileged=False, **options):
    prefix = ["nice", "-n", settings.NICE] if settings.ROOT else []
    prefix += ["taskset", "-c", cpu]
    user = settings.proxy_user()
    if unprivileged and user:
        prefix += ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    process = subprocess.Popen(prefix + command, **options)
    children.append(process)
    return process


def tree(pid):
    """The pid and all its live descendants."""
    kids = {}
    for name in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(name) as f:
                text = f.read()
        except OSError:
            continue
        kids.setdefault(int(text[text.rindex(")") + 2:].split()[1]), []).append(int(name.split("/")[2]))
    todo, found = [pid], []
    while todo:
        found.append(todo.pop())
        todo += kids.get(found[-1], [])
    return found


def cpu(pid):
    """CPU seconds (user, system) of the tree: live processes and ended ones that their parent has waited for.
    The sum is the scheduler's run time; only its split into user and system goes by ticks."""
    user = system = 0
    for p in tree(pid):
        try:
            with open(f"/proc/{p}/stat") as f:
                text = f.read()
        except OSError:
            continue
        fields = text[text.rindex(")") + 2:].split()
        user += int(fields[11]) + int(fields[13])
        system += int(fields[12]) + int(fields[14])
    return user / TICK, system / TICK


def memory_each(pid):
    """(PSS, RSS) in bytes of each process of the tree, in the order of their pids: the first process first.
    PSS divides shared pages among their users, RSS counts them whole."""
    sizes = []
    for p in sorted(tree(pid)):
        try:
            with open(f"/proc/{p}/smaps_rollup") as f:
                lines = {line.split(":")[0]: line.split()[1] for line in f if line.startswith(("Pss:", "Rss:"))}
        except OSError:
            continue
        if lines:
            sizes.append((int(lines["Pss"]) * 1024, int(lines["Rss"]) * 1024))
    return sizes


def pss(pid):
    return sum(size for size, _ in memory_each(pid))


def stop(process, grace=5):
    if process.poll() is None:
        pids = tree(process.pid)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            pass
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        process.wait()
    if process in children:
        children.remove(process)


def stop_all():
    for process in list(children):
        stop(process, 2)


def finish(process, timeout=120):
    """Its output, once it has ended."""
    output, _ = process.communicate(timeout=timeout)
    children.remove(process)
    return output


def client(tools, *arguments):
    """Runs the load generator to its end; what it saw."""
    command = [f"{tools}/client", *map(str, arguments)]
    return json.loads(finish(start(command, settings.CPU_LOAD, stdout=subprocess.PIPE, text=True)))
