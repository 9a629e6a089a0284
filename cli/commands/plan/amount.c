/* SPDX-License-Identifier: MIT
 *
 * amount.c - numbers of a plan, which may be not known or beyond 64 bits
 */
#include <stdio.h>
#include <string.h>

#include "cli/commands/plan/plan.h"

bool amount_known(uint64_t amount)
{
    return amount < MF_PLAN_HUGE;
}

/* huge: what replaces a number beyond 64 bits. */
static struct amount_text special(uint64_t amount, const char *huge)
{
    struct amount_text text;

    snprintf(text.at, sizeof(text.at), "%s",
             amount == MF_PLAN_HUGE ? huge : "not known");
    return text;
}

struct amount_text amount_mib(uint64_t bytes)
{
    struct amount_text text;

    if (!amount_known(bytes))
        return special(bytes, "> 16 EiB");
    snprintf(text.at, sizeof(text.at), "%.2f", (double)bytes / 1048576);
    return text;
}

static struct amount_text whole(uint64_t amount, const char *huge)
{
    struct amount_text text;

    if (!amount_known(amount))
        return special(amount, huge);
    snprintf(text.at, sizeof(text.at), "%s", number_text(amount).at);
    return text;
}

struct amount_text amount_bytes(uint64_t bytes)
{
    return whole(bytes, "more than 16 EiB");
}

struct amount_text amount_count(uint64_t count)
{
    return whole(count, "2^64 or more");
}

void amount_json(struct run *run, const char *key, uint64_t amount)
{
    static const char huge[] = "more than 16 EiB";

    mf_json_key(&run->json, key);
    if (amount == MF_PLAN_UNKNOWN)
        mf_json_null(&run->json);
    else if (amount == MF_PLAN_HUGE)
        mf_json_string(&run->json, huge, strlen(huge));
    else
        mf_json_u64(&run->json, amount);
}
