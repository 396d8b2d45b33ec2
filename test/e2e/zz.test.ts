import { test } from 'vitest';
import { Rig } from './rig.js';

test('x', async () => {
  const rig = await Rig.start({ places: 1 });
  const place = rig.place();
  const client = await rig.connect();
  for (const e of ['end', 'error', 'close', 'data']) client.socket.on(e, (x: unknown) => console.log(e, String(x)));
  await client.write('GET / HTTP/1.1\r\nHost: p0.corp.test\r\n\r\n');
  const server = await place.endpoint.accept();
  await server.request();
  await server.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello');
  server.finish();
  const { text, end } = await client.rest();
  console.log(text, end);
  console.log(
    (await rig.instance.metrics())
      .split('\n')
      .filter((l) => /connections_closed.* [1-9]/.test(l))
      .join('\n'),
  );
});
