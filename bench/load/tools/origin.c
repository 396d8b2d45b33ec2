// Light origin servers for the load bench: one thread, one epoll loop, everything answered from memory.
//
//   origin KIND:PORT[:BYTES] ...
//   http    HTTP/1.1 keep-alive, 1 kB body and a field X-Port; GET /b/N is answered with N bytes
//   httpka  like http, but "Connection: close" is ignored (for the relay that reuses connections without parsing)
//   echo    TCP echo
//   source  TCP: sends BYTES bytes after the first bytes of a connection, and again after later ones
//
// Large bodies leave by sendfile from a memfd, so that they cost no copy here.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

enum kind { HTTP, ECHO, SOURCE };

struct listener {
    enum kind kind;
    int ignores_close, small_len;
    long bytes;
    char small[2048];
};

struct connection {
    struct listener *of;
    long left;                   // bytes of the answer that are still to be sent
    int listens, matched, close; // matched: how much of CR LF CR LF was seen
};

enum { BLOB = 1 << 20, MOST = 200000 };

static struct connection *table; // by descriptor
static int poller, blob;

static void watch(int fd, int events) {
    struct epoll_event e = {.events = events, .data.fd = fd};
    epoll_ctl(poller, EPOLL_CTL_ADD, fd, &e);
}

static void drop(int fd) {
    table[fd].of = 0;
    close(fd);
}

// Sends what is left; 0 when the connection is gone.
static int push(int fd) {
    struct connection *c = &table[fd];
    while (c->left > 0) {
        off_t from = 0;
        ssize_t n = sendfile(fd, blob, &from, c->left < BLOB ? c->left : BLOB);
        if (n <= 0) {
            if (n < 0 && errno == EAGAIN) return 1;
            drop(fd);
            return 0;
        }
        c->left -= n;
    }
    if (c->close) {
        drop(fd);
        return 0;
    }
    return 1;
}

// Answers one request: the small page, or so many bytes. 0 when the connection is gone.
static int answer(int fd, long bytes) {
    struct listener *l = table[fd].of;
    if (bytes < 0) {
        if (send(fd, l->small, l->small_len, MSG_NOSIGNAL) != l->small_len) {
            drop(fd);
            return 0;
        }
    } else {
        char head[128];
        int n = sprintf(head, "HTTP/1.1 200 OK\r\nContent-Length: %ld\r\n\r\n", bytes);
        if (send(fd, head, n, MSG_NOSIGNAL | (bytes ? MSG_MORE : 0)) != n) {
            drop(fd);
            return 0;
        }
        table[fd].left = bytes;
    }
    return push(fd);
}

// Finds the end of each head in what was read and answers it; 0 when the connection is gone.
static int serve_http(int fd, char *bytes, ssize_t n) {
    struct connection *c = &table[fd];
    long want = -1;
    if (c->matched == 0 && n > 8 && !memcmp(bytes, "GET /b/", 7)) want = atol(bytes + 7);
    if (!c->of->ignores_close && memmem(bytes, n, "onnection: close", 16)) c->close = 1;
    for (ssize_t i = 0; i < n; i++) {
        if (c->matched == 0) {
            char *cr = memchr(bytes + i, '\r', n - i);
            if (!cr) break;
            i = cr - bytes;
        }
        c->matched = bytes[i] == "\r\n\r\n"[c->matched] ? c->matched + 1 : bytes[i] == '\r';
        if (c->matched == 4) {
            c->matched = 0;
            if (!answer(fd, want)) return 0;
            want = -1;
        }
    }
    return 1;
}

static void readable(int fd) {
    static char bytes[65536];
    struct connection *c = &table[fd];
    for (;;) {
        ssize_t n = recv(fd, bytes, sizeof bytes - 1, 0);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            drop(fd);
            return;
        }
        bytes[n] = 0;
        if (c->of->kind == ECHO) {
            if (send(fd, bytes, n, MSG_NOSIGNAL) != n) {
                drop(fd);
                return;
            }
        } else if (c->of->kind == SOURCE) {
            if (!c->left) {
                c->left = c->of->bytes;
                if (!push(fd)) return;
            }
        } else if (!serve_http(fd, bytes, n)) {
            return;
        }
        if (n < (ssize_t)sizeof bytes - 1) return;
    }
}

static void accept_some(int fd) {
    for (int i = 0; i < 64; i++) {
        int s = accept4(fd, 0, 0, SOCK_NONBLOCK), one = 1;
        if (s < 0) return;
        if (s >= MOST) {
            close(s);
            continue;
        }
        setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        table[s] = (struct connection){.of = table[fd].of};
        watch(s, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    }
}

static int open_listener(const char *what) {
    char word[16];
    int port, one = 1;
    struct listener *l = calloc(1, sizeof *l);
    if (sscanf(what, "%15[a-z]:%d:%ld", word, &port, &l->bytes) < 2) return -1;
    if (!strcmp(word, "echo")) l->kind = ECHO;
    else if (!strcmp(word, "source")) l->kind = SOURCE;
    else if (!strncmp(word, "http", 4)) l->kind = HTTP;
    else return -1;
    l->ignores_close = !strcmp(word, "httpka");
    l->small_len = sprintf(l->small, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Port: %d\r\nContent-Length: 1024\r\n\r\n", port);
    memset(l->small + l->small_len, 'x', 1024);
    l->small_len += 1024;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(fd, (void *)&a, sizeof a) || listen(fd, 4096)) return -1;
    table[fd] = (struct connection){.of = l, .listens = 1};
    watch(fd, EPOLLIN);
    return fd;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    table = calloc(MOST, sizeof *table);
    poller = epoll_create1(0);
    blob = memfd_create("blob", 0);
    char *fill = malloc(BLOB);
    memset(fill, 'x', BLOB);
    if (write(blob, fill, BLOB) != BLOB) return 1;
    for (int i = 1; i < argc; i++) {
        if (open_listener(argv[i]) < 0) {
            perror(argv[i]);
            return 1;
        }
    }
    struct epoll_event events[256];
    for (;;) {
        int n = epoll_wait(poller, events, 256, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd, e = events[i].events;
            struct connection *c = &table[fd];
            if (!c->of) continue;
            if (c->listens) {
                accept_some(fd);
                continue;
            }
            if ((e & EPOLLOUT) && c->left && !push(fd)) continue;
            if (e & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) readable(fd);
        }
    }
}
