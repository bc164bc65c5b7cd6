/* The reference of P1: a bare libmicrohttpd server, one thread, that answers every POST with a constant body.
   Usage: mhd-reference PORT. SPDX-License-Identifier: Apache-2.0 */
#include "common.h"
#include <microhttpd.h>

static const char body[] =
    "{\"decision\":\"session\",\"origin\":\"loopback\",\"cable\":false,\"device\":{\"id\":\"0123456789ABCDEF\",\"name\":"
    "\"Bench\"},\"route\":\"on this host\",\"away\":false}";
static struct MHD_Response *answer;

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *size, void **state) {
    static int seen;
    (void)cls; (void)url; (void)method; (void)version; (void)upload;
    if (!*state) { *state = &seen; return MHD_YES; }
    if (*size) { *size = 0; return MHD_YES; }
    return MHD_queue_response(connection, MHD_HTTP_OK, answer);
}

int main(int argc, char **argv) {
    if (argc != 2) { fprintf(stderr, "usage: mhd-reference PORT\n"); return 64; }
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    answer = MHD_create_response_from_buffer(sizeof body - 1, (void *)body, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(answer, "Content-Type", "application/json");
    struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, &handle, NULL,
                                                 MHD_OPTION_SOCK_ADDR, &a, MHD_OPTION_END);
    if (!daemon) die("mhd-reference");
    pause();
    return 0;
}
