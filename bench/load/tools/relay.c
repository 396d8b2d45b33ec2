// The floor of the load bench: an epoll relay that parses nothing. What it costs, the kernel costs.
//
//   relay MODE LISTEN-PORT ORIGIN-PORT [PIPE-BYTES]
//   copy         each client connection has an origin connection of its own; read and write through one buffer
//   pool         like copy, but an origin connection outlives its client and serves the next one
//                (the least that HTTP connection reuse can cost, for clients that take whole answers)
//   splice       like copy, but bytes move through a pipe and never enter user space
//   pool-splice  both
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 16384, MOST = 200000 };

struct end {
    int open, peer, client;
    int pipe[2];
    long in_pipe;
    char *rest; // what the peer did not take
    int offset, length;
};

static int pools, splices;
static struct end *ends; // by descriptor
static int poller, spare[65536], spares;
static long pipe_bytes = 262144;
static struct sockaddr_in origin;

static void close_end(int fd) {
    struct end *e = &ends[fd];
    if (e->pipe[1]) {
        close(e->pipe[0]);
        close(e->pipe[1]);
    }
    free(e->rest);
    memset(e, 0, sizeof *e);
    close(fd);
}

static void drop(int fd) {
    int peer = ends[fd].peer;
    if (pools && ends[fd].client && peer && !ends[peer].in_pipe && !ends[peer].length) {
        ends[peer].peer = 0;
        spare[spares++] = peer;
        close_end(fd);
        return;
    }
    if (pools && !peer) {
        for (int i = 0; i < spares; i++) {
            if (spare[i] != fd) continue;
            spare[i] = spare[--spares];
            break;
        }
    }
    close_end(fd);
    if (peer) close_end(peer);
}

// Moves bytes from fd to its peer until fd is dry or the peer full; 0 when the pair is gone.
static int move_copy(int fd) {
    static char bytes[PIECE];
    struct end *e = &ends[fd];
    for (;;) {
        if (e->length) {
            ssize_t w = send(e->peer, e->rest + e->offset, e->length, MSG_NOSIGNAL);
            if (w < 0 && errno == EAGAIN) return 1;
            if (w < 0) break;
            e->offset += w;
            e->length -= w;
            if (e->length) return 1;
        }
        ssize_t n = recv(fd, bytes, PIECE, 0);
        if (n < 0 && errno == EAGAIN) return 1;
        if (n <= 0 || !e->peer) break;
        ssize_t w = send(e->peer, bytes, n, MSG_NOSIGNAL);
        if (w < 0 && errno != EAGAIN) break;
        if (w < n) {
            if (w < 0) w = 0;
            if (!e->rest) e->rest = malloc(PIECE);
            memcpy(e->rest, bytes + w, n - w);
            e->offset = 0;
            e->length = n - w;
            return 1;
        }
        if (n < PIECE) return 1;
    }
    drop(fd);
    return 0;
}

static int move_splice(int fd) {
    struct end *e = &ends[fd];
    if (!e->pipe[1]) {
        if (pipe2(e->pipe, O_NONBLOCK)) exit(1);
        fcntl(e->pipe[0], F_SETPIPE_SZ, pipe_bytes);
    }
    for (;;) {
        ssize_t n = splice(fd, 0, e->pipe[1], 0, pipe_bytes, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
        if (n == 0 || (n < 0 && errno != EAGAIN)) break;
        if (n > 0) e->in_pipe += n;
        if (!e->in_pipe) return 1;
        ssize_t w = splice(e->pipe[0], 0, e->peer, 0, e->in_pipe, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
        if (w < 0 && errno != EAGAIN) break;
        if (w <= 0) return 1; // the peer is full: its EPOLLOUT comes back here
        e->in_pipe -= w;
    }
    drop(fd);
    return 0;
}

static int move(int fd) { return splices ? move_splice(fd) : move_copy(fd); }

static void watch(int fd, int events) {
    struct epoll_event e = {.events = events, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e);
}

static int connect_origin(void) {
    if (spares) return spare[--spares];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (void *)&origin, sizeof origin) && errno != EINPROGRESS) {
        close(fd);
        return -1;
    }
    watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    return fd;
}

static void accept_some(int listener) {
    for (int i = 0; i < 16; i++) {
        int client = accept4(listener, 0, 0, SOCK_NONBLOCK), one = 1;
        if (client < 0) return;
        int server = client < MOST ? connect_origin() : -1;
        if (server < 0) {
            close(client);
            continue;
        }
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        ends[client].open = ends[server].open = ends[client].client = 1;
        ends[client].peer = server;
        ends[server].peer = client;
        watch(client, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    }
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    ends = calloc(MOST, sizeof *ends);
    poller = epoll_create1(0);
    pools = !strncmp(argv[1], "pool", 4);
    splices = strstr(argv[1], "splice") != 0;
    origin = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(argv[3])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (argc > 4) pipe_bytes = atol(argv[4]);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(listener, (void *)&a, sizeof a) || listen(listener, 4096)) {
        perror("listen");
        return 1;
    }
    watch(listener, EPOLLIN);
    struct epoll_event events[256];
    for (;;) {
        int n = epoll_wait(poller, events, 256, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd, e = events[i].events;
            if (fd == listener) {
                accept_some(fd);
                continue;
            }
            if (!ends[fd].open) continue; // closed by an earlier event of this batch
            int peer = ends[fd].peer;
            if (!peer) {
                if (e & (EPOLLIN | EPOLLHUP | EPOLLERR)) drop(fd);
                continue;
            }
            if ((e & EPOLLOUT) && (ends[peer].length || ends[peer].in_pipe) && !move(peer)) continue;
            if (ends[fd].peer && (e & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP))) move(fd);
        }
    }
}
