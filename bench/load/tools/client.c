// Closed-loop load generator of the bench: one thread, one epoll loop, one JSON line at the end.
//
//   client MODE [options] PORT          the target is 127.0.0.1:PORT
//   MODE  http  GET requests, answers read by Content-Length
//         raw   sends -q bytes, expects -x bytes
//   -c N  connections             -d S  seconds                  -w S  warm-up that is not counted
//   -k N  transactions for each connection (0: no limit)         -N FILE  host names, one a line, taken in turn
//   -p P  path                    -q N  bytes of a request (raw) -x N  bytes of an answer (raw)
//   -r N  at most N transactions a second; latency then counts from the moment one was due
//   -H    hold: after one transaction a connection print "ready" and wait for the end of stdin
//
// Failures are told apart: connect (refused, reset or timed out while connecting), stale (a reused connection closed
// before any byte of the answer), lost (no or part of an answer on any other), status (not 200), timeout (5 s).
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull

enum mode { HTTP, RAW };
enum state { CLOSED, CONNECTING, WAITING, PACED, HELD };

struct connection {
    int fd, served;
    enum state state;
    uint32_t turn;    // next request to send
    long left, got;   // of the answer; left < 0: the head is not complete
    uint64_t started; // nanoseconds
};

struct request {
    char *bytes;
    int length;
};

static enum mode mode;
static struct connection *all;
static struct request *requests;
static uint32_t request_count;
static int connections = 1, per_connection, hold, held, poller;
static long request_bytes = 64, answer_bytes = 64;
static double seconds = 3, warm_up, rate;
static const char *path = "/";
static struct sockaddr_in target;
static uint64_t now_ns, count_from, end_at, next_due;
static struct { uint64_t done, bytes, opened, connect, stale, lost, status, timeout, idle_close; } seen;

// Latencies: 64 steps for each power of two, so the error stays under 1.6 %.
static uint64_t histogram[64 * 64], longest;

static uint64_t read_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return now_ns = t.tv_sec * SECOND + t.tv_nsec;
}

static void record(uint64_t ns) {
    int shift = 63 - __builtin_clzll(ns | 64) - 6;
    histogram[(shift << 6) + ((ns >> shift) & 63)]++;
    if (ns > longest) longest = ns;
}

static double percentile_us(double q) {
    uint64_t total = 0, below = 0;
    for (int i = 0; i < 4096; i++) total += histogram[i];
    for (int i = 0; i < 4096; i++) {
        below += histogram[i];
        if (below && below >= q * total) return (double)((64ull + (i & 63)) << (i >> 6)) / 1e3;
    }
    return 0;
}

static int over(void) { return now_ns >= end_at; }
static int counting(void) { return now_ns >= count_from && !over(); }

static void open_connection(struct connection *c);

static void shut(struct connection *c) {
    if (c->fd >= 0) close(c->fd);
    c->fd = -1;
    c->state = CLOSED;
}

static void fail(struct connection *c, uint64_t *counter) {
    if (counting()) (*counter)++;
    shut(c);
    if (!hold) open_connection(c);
}

// The peer closed, or an error.
static void broken(struct connection *c) {
    if (c->state == CONNECTING) fail(c, &seen.connect);
    else if (c->state == WAITING) fail(c, c->served && !c->got ? &seen.stale : &seen.lost);
    else fail(c, &seen.idle_close);
}

static void begin(struct connection *c) {
    if (rate > 0) {
        if (next_due > now_ns) {
            c->state = PACED;
            return;
        }
        c->started = next_due;
        next_due += SECOND / rate;
    } else {
        c->started = now_ns;
    }
    c->state = WAITING;
    c->got = 0;
    c->left = mode == HTTP ? -1 : answer_bytes;
    struct request *r = &requests[c->turn++ % request_count];
    if (send(c->fd, r->bytes, r->length, MSG_NOSIGNAL) != r->length) broken(c);
}

// One transaction is complete.
static void finish(struct connection *c) {
    read_clock();
    if (counting()) {
        seen.done++;
        record(now_ns - c->started);
    }
    c->served++;
    if (hold) {
        c->state = HELD;
        held++;
    } else if (over()) {
        shut(c);
    } else if (per_connection && c->served >= per_connection) {
        shut(c);
        open_connection(c);
    } else {
        begin(c);
    }
}

static void open_connection(struct connection *c) {
    if (over()) return;
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (per_connection || hold) { // spread over source addresses, so that no port runs out
        static uint32_t turn;
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002 + turn++ % 60)};
        setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
        bind(c->fd, (void *)&a, sizeof a);
    }
    c->served = 0;
    c->state = CONNECTING;
    c->started = now_ns;
    if (counting()) seen.opened++;
    if (connect(c->fd, (void *)&target, sizeof target) < 0 && errno != EINPROGRESS) {
        if (counting()) seen.connect++;
        shut(c); // the sweep opens it again
        return;
    }
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &e);
}

static void connected(struct connection *c) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) broken(c);
    else begin(c);
}

// Body bytes behind a complete head; -1 when the head is not complete.
static long read_head(struct connection *c, char *bytes, long n) {
    char *end = memmem(bytes, n, "\r\n\r\n", 4);
    if (!end) return -1;
    if (counting() && memcmp(bytes + 9, "200", 3)) seen.status++;
    char *length = strcasestr(bytes, "\r\ncontent-length:");
    c->left = length && length < end ? atol(length + 17) : 0;
    return n - (end + 4 - bytes);
}

static void readable(struct connection *c) {
    static char bytes[262144 + 1];
    while (c->state == WAITING) {
        int skip = c->left > 4096; // large bodies are thrown away in the kernel
        ssize_t n = recv(c->fd, bytes, skip ? 1 << 30 : sizeof bytes - 1, skip ? MSG_TRUNC : 0);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            broken(c);
            return;
        }
        c->got += n;
        if (counting()) seen.bytes += n;
        if (c->left < 0) {
            bytes[n] = 0;
            long body = read_head(c, bytes, n);
            if (body < 0) {
                if (c->got > 16384) broken(c);
                continue;
            }
            n = body;
        }
        c->left -= n;
        if (c->left <= 0) finish(c);
        else if (c->got > 4 << 20) read_clock(); // a long answer must not outrun the end of the run
    }
    if (c->state == PACED || c->state == HELD) {
        ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN)) broken(c);
    }
}

// Opens again what could not connect and gives up on what takes longer than 5 s; large answers may take longer.
static void sweep(int opened) {
    for (int i = 0; i < opened; i++) {
        struct connection *c = &all[i];
        if (c->state == CLOSED) open_connection(c);
        else if (now_ns - c->started > 5 * SECOND && (c->state == CONNECTING || (c->state == WAITING && answer_bytes < 1 << 22)))
            fail(c, &seen.timeout);
    }
}

static void run(void) {
    struct epoll_event events[256];
    uint64_t swept = now_ns;
    int opened = 0, holding = hold;
    for (;;) {
        for (int i = 0; i < 64 && opened < connections && (!hold || opened - held < 128); i++) {
            all[opened].turn = rand();
            open_connection(&all[opened++]);
        }
        int n = epoll_wait(poller, events, 256, rate > 0 ? 1 : 100);
        read_clock();
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            if (c->fd < 0) continue;
            if (c->state == CONNECTING) connected(c);
            else readable(c);
        }
        if (rate > 0)
            for (int i = 0; i < opened && next_due <= now_ns; i++)
                if (all[i].state == PACED) begin(&all[i]);
        if (holding && held >= connections) {
            char end;
            printf("ready\n");
            fflush(stdout);
            while (read(0, &end, 1) > 0) continue;
            holding = 0;
            end_at = read_clock();
        }
        if (over()) return;
        if (now_ns - swept > SECOND / 5) {
            swept = now_ns;
            sweep(opened);
        }
    }
}

static char *read_file(const char *name) {
    FILE *f = fopen(name, "rb");
    if (!f) {
        perror(name);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *text = malloc(n + 1);
    if (fread(text, 1, n, f) != (size_t)n) exit(1);
    text[n] = 0;
    fclose(f);
    return text;
}

static void prepare_requests(char *names) {
    size_t room = 1;
    for (char *p = names; p && *p; p++) room += *p == '\n';
    requests = malloc(sizeof *requests * room);
    char *host = names ? strtok(names, "\n") : 0;
    do {
        struct request *r = &requests[request_count++];
        if (mode == HTTP) {
            r->length = asprintf(&r->bytes, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", path, host ? host : "127.0.0.1",
                                 per_connection == 1 ? "Connection: close\r\n" : "");
        } else {
            r->length = request_bytes;
            r->bytes = malloc(request_bytes);
            memset(r->bytes, 'q', request_bytes);
        }
    } while (host && (host = strtok(0, "\n")));
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (argc < 3) return 2;
    mode = strcmp(argv[1], "http") ? RAW : HTTP;
    char *names = 0;
    optind = 2;
    for (int o; (o = getopt(argc, argv, "c:d:w:k:N:p:q:x:r:H")) > 0;) {
        switch (o) {
        case 'c': connections = atoi(optarg); break;
        case 'd': seconds = atof(optarg); break;
        case 'w': warm_up = atof(optarg); break;
        case 'k': per_connection = atoi(optarg); break;
        case 'N': names = read_file(optarg); break;
        case 'p': path = optarg; break;
        case 'q': request_bytes = atol(optarg); break;
        case 'x': answer_bytes = atol(optarg); break;
        case 'r': rate = atof(optarg); break;
        case 'H': hold = 1; break;
        default: return 2;
        }
    }
    if (optind >= argc) return 2;
    target = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(argv[optind])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    srand(1); // the same order of host names in every run
    prepare_requests(names);
    all = calloc(connections, sizeof *all);
    for (int i = 0; i < connections; i++) all[i].fd = -1;
    poller = epoll_create1(0);
    uint64_t begun = read_clock();
    count_from = begun + warm_up * SECOND;
    end_at = count_from + seconds * SECOND;
    next_due = begun;
    run();
    read_clock();
    printf("{\"secs\":%.3f,\"done\":%lu,\"bytes\":%lu,\"opened\":%lu,\"connect\":%lu,\"stale\":%lu,\"lost\":%lu,\"status\":%lu,"
           "\"timeout\":%lu,\"idle_close\":%lu,\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f}\n",
           (double)(now_ns - count_from) / SECOND, seen.done, seen.bytes, seen.opened, seen.connect, seen.stale, seen.lost, seen.status,
           seen.timeout, seen.idle_close, percentile_us(.5), percentile_us(.99), percentile_us(.999), longest / 1e3);
    return 0;
}
