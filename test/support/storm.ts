/** New connections as fast as Node can open them, some 20,000 a second on a quiet machine. */
import { connect } from 'node:net';

/** Connections that are open at a time. */
const AT_A_TIME = 64;

/**
 * Opens `count` connections and resets each at once, so that no port waits in TIME_WAIT. They come from 65,536 addresses
 * in turn: one has 28,000 ports, of which the same ones would come again, each to the same member of a group.
 * Rejects at the first one that is refused or reset by the other side.
 */
export function openAndReset(port: number, count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = count;
    let open = 0;
    const next = (): void => {
      if (left === 0) {
        if (open === 0) resolve();
        return;
      }
      left -= 1;
      open += 1;
      const localAddress = `127.1.${(left >> 8) & 255}.${left & 255}`;
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.once('connect', () => socket.resetAndDestroy());
      socket.once('error', reject);
      socket.once('close', () => {
        open -= 1;
        next();
      });
    };
    for (let i = 0; i < AT_A_TIME; i += 1) next();
  });
}
