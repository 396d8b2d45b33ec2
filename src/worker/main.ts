/**
 * Entry of a worker process: starts the native event loop, then sleeps for ever. No JavaScript runs here afterwards, so
 * nothing of V8 can stall traffic. Imports neither the log nor the control plane: every module here costs memory per worker.
 */
import cluster from 'node:cluster';
import { setPriority } from 'node:os';
import { startWorker } from '../native/addon.js';

/** The channel to the primary; `primary/worker-processes.ts` hands it over as the fifth stdio entry. */
const CHANNEL_FD = 4;
/** Only this thread's nice value: the loop, started before, keeps its own (on Linux it is per thread). */
const LOWEST_PRIORITY = 19;

// Should the primary die while this thread is still awake, Node must not end the process: the loop drains it first.
if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;

// Ctrl-C and a hang-up reach the whole process group, but it is the primary that decides; it ends its workers by pid.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {});

startWorker(CHANNEL_FD);
setPriority(0, LOWEST_PRIORITY);

// A futex nobody wakes. The process ends when the loop ends it, or by SIGKILL.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
