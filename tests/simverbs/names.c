/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of libibverbs that are tables: texts of states and events, and rates.
 */
#include "sim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEXT(table, index) ((size_t)(index) < sizeof(table) / sizeof((table)[0]) ? (table)[index] : "unknown")

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    static const char *const texts[] = {
        "success",
        "local length error",
        "local QP operation error",
        "local EE context operation error",
        "local protection error",
        "Work Request Flushed Error",
        "memory management operation error",
        "bad response error",
        "local access error",
        "remote invalid request error",
        "remote access error",
        "remote operation error",
        "transport retry counter exceeded",
        "RNR retry counter exceeded",
        "local RDD violation error",
        "remote invalid RD request",
        "aborted error",
        "invalid EE context number",
        "invalid EE context state",
        "fatal error",
        "response timeout error",
        "general error",
        "TM error",
        "TM software rendezvous",
    };

    return TEXT(texts, status);
}

const char *ibv_node_type_str(enum ibv_node_type type)
{
    static const char *const texts[] = {"unknown", "InfiniBand channel adapter", "InfiniBand switch", "InfiniBand router",
                                        "iWARP NIC"};

    return TEXT(texts, type);
}

const char *ibv_port_state_str(enum ibv_port_state state)
{
    static const char *const texts[] = {"no state change (NOP)", "down", "init", "armed", "active", "active defer"};

    return TEXT(texts, state);
}

const char *ibv_event_type_str(enum ibv_event_type type)
{
    static const char *const texts[] = {
        "CQ error",
        "local work queue catastrophic error",
        "invalid request local work queue error",
        "local access violation work queue error",
        "communication established",
        "send queue drained",
        "path migrated",
        "path migration request error",
        "local catastrophic error",
        "port active",
        "port error",
        "LID change",
        "P_Key change",
        "SM change",
        "SRQ catastrophic error",
        "SRQ limit reached",
        "last WQE reached",
        "client reregistration",
        "GID table change",
        "WQ fatal",
    };

    return TEXT(texts, type);
}

/* Rates, by multiples of 2.5 Gbit/s and in Mbit/s. */
static const struct {
    enum ibv_rate rate;
    int           mult;
    int           mbps;
} rates[] = {
    {IBV_RATE_2_5_GBPS, 1, 2500},     {IBV_RATE_5_GBPS, 2, 5000},         {IBV_RATE_10_GBPS, 4, 10000},
    {IBV_RATE_20_GBPS, 8, 20000},     {IBV_RATE_30_GBPS, 12, 30000},      {IBV_RATE_40_GBPS, 16, 40000},
    {IBV_RATE_60_GBPS, 24, 60000},    {IBV_RATE_80_GBPS, 32, 80000},      {IBV_RATE_120_GBPS, 48, 120000},
    {IBV_RATE_14_GBPS, 6, 14062},     {IBV_RATE_56_GBPS, 22, 56250},      {IBV_RATE_112_GBPS, 45, 112500},
    {IBV_RATE_168_GBPS, 67, 168750},  {IBV_RATE_25_GBPS, 10, 25781},      {IBV_RATE_100_GBPS, 41, 103125},
    {IBV_RATE_200_GBPS, 82, 206250},  {IBV_RATE_300_GBPS, 123, 309375},   {IBV_RATE_28_GBPS, 11, 28125},
    {IBV_RATE_50_GBPS, 20, 53125},    {IBV_RATE_400_GBPS, 170, 425000},   {IBV_RATE_600_GBPS, 255, 637500},
    {IBV_RATE_800_GBPS, 340, 850000}, {IBV_RATE_1200_GBPS, 510, 1275000},
};

#define FIND(field, value, result, otherwise)                     \
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) \
        if (rates[i].field == (value)) return rates[i].result;    \
    return otherwise

int ibv_rate_to_mult(enum ibv_rate rate)
{
    FIND(rate, rate, mult, -1);
}

enum ibv_rate mult_to_ibv_rate(int mult)
{
    FIND(mult, mult, rate, IBV_RATE_MAX);
}

int ibv_rate_to_mbps(enum ibv_rate rate)
{
    FIND(rate, rate, mbps, -1);
}

enum ibv_rate mbps_to_ibv_rate(int mbps)
{
    FIND(mbps, mbps, rate, IBV_RATE_MAX);
}
