/** The workers of a running instance as tests of their deaths need them. */
import { type Instance, until } from './instance.js';
import { clientPorts, isStopped } from './processes.js';

export interface Serving {
  readonly id: number;
  readonly pid: number;
}

/** The workers that serve, in the order of their start. */
export const serving = async (instance: Instance): Promise<Serving[]> =>
  (await instance.overview()).workers.list.filter(({ phase }) => phase === 'serving');

/** Waits until so many workers serve, a spare is warm, and none of them is one of these. */
export const untilWhole = (instance: Instance, workers: number, without: readonly number[] = []): Promise<void> =>
  until('all places are taken and a spare is warm', async () => {
    const { list } = (await instance.overview()).workers;
    const whole = list.filter(({ phase, generation }) => phase === 'serving' && generation > 0).length === workers;
    return whole && list.some(({ phase }) => phase === 'spare') && !list.some(({ pid }) => without.includes(pid));
  });

/** Stops a process and returns once it stands still. */
export async function standStill(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await until('the process stands still', () => isStopped(pid));
}

/**
 * Ends a worker by SIGKILL and returns the client ports of the connections that were inside. It is stopped first, for
 * a look at its sockets that stays true.
 */
export async function killWorker(pid: number, port: number): Promise<Set<number>> {
  await standStill(pid);
  const inside = clientPorts(pid, port);
  process.kill(pid, 'SIGKILL');
  return inside;
}
