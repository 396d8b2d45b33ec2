/**
 * One instance for many tests: every test takes a place of its own, that is a host name with a Backend of one endpoint
 * that the test plays itself, byte by byte. Tests in one place cannot meet in a pool of idle connections.
 */
import { createServer, type Server } from 'node:net';
import { atEnd } from './at-end.js';
import { freePort, Instance } from './instance.js';
import {
  backend,
  backendRef,
  config,
  type Doc,
  gateway,
  gatewayClass,
  httpListener,
  httpRoute,
  tcpListener,
  tcpRoute,
  yaml,
} from './manifests.js';
import { type Answer, type Request, Wire } from './wire.js';

/** A listening socket whose connections are taken one by one. */
export class Endpoint {
  readonly port: number;
  /** All connections so far, taken or not. */
  readonly wires: Wire[] = [];
  /** New connections are not read until the test calls `resume`. */
  holds = false;
  readonly #server: Server;
  #taken = 0;
  #onConnection: (wire: Wire) => void = () => {};

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async listen(port = 0): Promise<Endpoint> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', 1024, resolve);
    });
    const address = server.address();
    const endpoint = new Endpoint(server, typeof address === 'object' && address !== null ? address.port : 0);
    server.on('connection', (socket) => {
      const wire = new Wire(socket);
      if (endpoint.holds) wire.pause();
      endpoint.wires.push(wire);
      endpoint.#onConnection(wire);
    });
    atEnd(() => endpoint.close());
    return endpoint;
  }

  /** The next connection that nobody has taken. */
  async accept(limitMs = 5_000): Promise<Wire> {
    const next = this.#taken++;
    const there = this.wires[next];
    if (there !== undefined) return there;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no connection within ${limitMs} ms`)), limitMs);
      const before = this.#onConnection;
      this.#onConnection = (wire) => {
        before(wire);
        if (this.wires.length !== next + 1) return;
        clearTimeout(timer);
        resolve(wire);
      };
    });
  }

  /** Serves every request of every connection that nobody has taken, one after the other. */
  serve(answer: (request: Request, wire: Wire) => string | Promise<string>): void {
    const loop = async (wire: Wire): Promise<void> => {
      while (!(await wire.isOver(Number.POSITIVE_INFINITY))) await wire.write(await answer(await wire.request(), wire));
      wire.finish();
    };
    // A connection that breaks off shows at the client, which is where the test looks.
    const start = (wire: Wire): void => void loop(wire).catch(() => wire.socket.destroy());
    for (const wire of this.wires.slice(this.#taken)) start(wire);
    this.#onConnection = start;
  }

  /** Accepts nothing more and cuts what is open. */
  async close(): Promise<void> {
    for (const { socket } of this.wires) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

export interface Place {
  /** Host name (HTTP). */
  readonly host: string;
  /** Where clients connect. */
  readonly port: number;
  /** Value of the metric label `route`. */
  readonly route: string;
  readonly endpoint: Endpoint;
}

export interface RigOptions {
  readonly places: number;
  readonly protocol?: 'HTTP' | 'TCP';
  readonly workers?: number;
  /** WeirgateConfig of the class. */
  readonly settings?: Doc;
  /** Fields of the rule of each place, for instance timeouts. */
  readonly rule?: (place: number) => Doc;
}

export class Rig {
  readonly instance: Instance;
  /** Port of the HTTP listener. */
  readonly port: number;
  readonly #places: Place[];

  private constructor(instance: Instance, port: number, places: Place[]) {
    this.instance = instance;
    this.port = port;
    this.#places = places;
  }

  static async start(options: RigOptions): Promise<Rig> {
    const tcp = options.protocol === 'TCP';
    const port = await freePort();
    const places: Place[] = [];
    const listeners: Doc[] = tcp ? [] : [httpListener(port)];
    const docs: Doc[] = [gatewayClass(options.settings === undefined ? undefined : 'settings')];
    if (options.settings !== undefined) docs.push(config('settings', options.settings));
    for (let number = 0; number < options.places; number += 1) {
      const endpoint = await Endpoint.listen();
      const [name, host] = [`p${number}`, `p${number}.corp.test`];
      const at = tcp ? await freePort() : port;
      places.push({ host, port: at, route: `${tcp ? 'TCP' : 'HTTP'}Route/default/${name}`, endpoint });
      docs.push(backend(name, endpoint.port));
      if (tcp) {
        listeners.push(tcpListener(at, name));
        docs.push(tcpRoute(name, [backendRef(name)], name));
      } else {
        docs.push(
          httpRoute(name, {
            hostnames: [host],
            rules: [{ ...options.rule?.(number), backendRefs: [backendRef(name)] }],
          }),
        );
      }
    }
    docs.push(gateway('edge', listeners));
    const instance = await Instance.start({
      files: { 'edge.yaml': yaml(...docs) },
      ...(options.workers === undefined ? {} : { workers: options.workers }),
    });
    return new Rig(instance, port, places);
  }

  /** A place that no other test has. */
  place(): Place {
    const place = this.#places.shift();
    if (place === undefined) throw new Error('the rig has no place left: start it with more');
    return place;
  }

  connect(): Promise<Wire> {
    return Wire.connect(this.port);
  }

  /** Closed connections by this reason. */
  closed(reason: string): Promise<number> {
    return this.instance.metric('weirgate_connections_closed_total', { reason });
  }

  /** Connections and requests that are counted as under way, on listeners, rules and endpoints. */
  async underWay(): Promise<number> {
    let sum = 0;
    for (const line of (await this.instance.metrics()).split('\n')) {
      if (/^weirgate_(listener_connections|route_requests|endpoint_requests)_active\{/.test(line)) {
        sum += Number(line.slice(line.lastIndexOf(' ') + 1));
      }
    }
    return sum;
  }
}

/** One whole exchange in a place, played on both sides. */
export async function exchange(
  place: Place,
  request: string,
  answer: string,
  method = 'GET',
): Promise<{ client: Wire; server: Wire; request: Request; answer: Answer }> {
  const client = await Wire.connect(place.port);
  await client.write(request);
  const server = await place.endpoint.accept();
  const seen = await server.request();
  await server.write(answer);
  return { client, server, request: seen, answer: await client.answer(method) };
}
