/* SPDX-License-Identifier: Apache-2.0
 *
 * Gathering and printing results. See report.h.
 */
#include "report.h"

#include <inttypes.h>
#include <jansson.h>
#include <shmem.h>

/* ---- gathering ---- */

static void add_counts(struct counts *sum, const struct counts *more)
{
    uint64_t       *to   = (uint64_t *)(void *)sum; /* all members are uint64_t */
    const uint64_t *from = (const uint64_t *)(const void *)more;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) {
        to[i] += from[i];
    }
}

void report_gather(const struct link *link, uint64_t elapsed_ns, struct report *report_out)
{
    const struct job *job    = link->job;
    struct report     report = {.seconds = (double)elapsed_ns * 1e-9, .usable_known = true};
    for (int pair = 0; pair < job->pairs; pair++) {
        struct counts counts;
        shmem_getmem(&counts, link->counts, sizeof counts, pair);
        if (pair % job->options.tp != 0) {
            counts.blocks = counts.blocks_reused = 0; /* the pairs of a group share their blocks */
        }
        add_counts(&report.prefill, &counts);
        shmem_getmem(&counts, link->counts, sizeof counts, job_decode_pe(job, pair));
        add_counts(&report.decode, &counts);
        report.usable_known = report.usable_known && shmem_ptr(link->tables, job_decode_pe(job, pair)) != NULL;
    }
    report.usable_p50_us = histogram_percentile(report.decode.usable, 0.50) * 1e-3;
    report.usable_p99_us = histogram_percentile(report.decode.usable, 0.99) * 1e-3;
    *report_out          = report;
}

/* ---- derived figures ---- */

static double bytes_of(const struct link *link, uint64_t pages)
{
    return (double)pages * (double)link->job->page_bytes;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static const char *verdict_word(const struct link *link, const struct report *r)
{
    return !link->job->options.verify ? "off" : r->decode.pages_wrong > 0 ? "failed" : "passed";
}

/* ---- the table ---- */

/* 1234567 as "1,234,567", in one of a few buffers that are used in turn. */
static const char *grouped(uint64_t number)
{
    static char     buffers[4][32];
    static unsigned turn;
    char           *out = buffers[turn++ % 4] + 31;
    *out                = '\0';
    for (int digits = 0; digits == 0 || number > 0; digits++, number /= 10) {
        if (digits > 0 && digits % 3 == 0) {
            *--out = ',';
        }
        *--out = (char)('0' + number % 10);
    }
    return out;
}

static void print_job(const struct link *link, FILE *f)
{
    const struct job *job = link->job;
    fprintf(f, "kv_cache: %s, %" PRIu32 " of %d layers, %s, pages of %d tokens (%s bytes, %s)\n", job->model.name, job->layers,
            job->model.layers, job->dtype->name, job->options.page_tokens, grouped(job->page_bytes),
            job->model.latent > 0 ? "latent"
            : job->parts == 2     ? "K and V apart"
                                  : "K and V together");
    if (job->pes == 1) {
        fprintf(f, "  pairs               1 (this PE is both ends)\n");
    } else {
        fprintf(f, "  pairs               %d (prefill PE 0-%d, decode PE %d-%d), %d to a request\n", job->pairs, job->pairs - 1,
                job->pairs, job->pes - 1, job->options.tp);
    }
    fprintf(f, "  pool                %s slots, %.1f MiB %son each decode PE\n", grouped(job->slots),
            (double)job->slots * (double)job->page_stride * job->layers * job->parts / 0x1p20,
            job->options.pool_on_gpu ? "of GPU memory " : "");
}

static void print_times(const struct report *r, FILE *f)
{
    const struct counts *p       = &r->prefill;
    const struct counts *d       = &r->decode;
    double               prefill = (double)(p->fill_ns + p->put_ns + p->credit_ns + p->arrival_ns);
    double               decode  = (double)(d->signal_ns + d->check_ns);
    fprintf(f, "  prefill time        %.0f %% contents, %.0f %% puts, %.0f %% waiting for credit, %.0f %% for requests\n",
            100 * ratio((double)p->fill_ns, prefill), 100 * ratio((double)p->put_ns, prefill),
            100 * ratio((double)p->credit_ns, prefill), 100 * ratio((double)p->arrival_ns, prefill));
    fprintf(f, "  decode time         %.0f %% checking, %.0f %% waiting for pages\n", 100 * ratio((double)d->check_ns, decode),
            100 * ratio((double)d->signal_ns, decode));
}

static void print_usable(const struct report *r, FILE *f)
{
    if (r->usable_known) {
        fprintf(f, "  last put to usable  p50 %.1f us, p99 %.1f us\n", r->usable_p50_us, r->usable_p99_us);
    } else {
        fprintf(f, "  last put to usable  not known: the clocks of different machines cannot be compared\n");
    }
}

static void print_verification(const struct link *link, const struct report *r, FILE *f)
{
    if (!link->job->options.verify) {
        fprintf(f, "  verification        off\n");
    } else if (r->decode.pages_wrong > 0) {
        fprintf(f, "  verification        FAILED: %s of %s pages have a wrong byte\n", grouped(r->decode.pages_wrong),
                grouped(r->decode.pages_checked));
    } else {
        fprintf(f, "  verification        passed: all bytes of %s pages (%.2f GB) are right\n", grouped(r->decode.pages_checked),
                bytes_of(link, r->decode.pages_checked) * 1e-9);
    }
}

void report_print(const struct link *link, const struct report *r, FILE *f)
{
    const struct job    *job  = link->job;
    const struct counts *p    = &r->prefill;
    double               sent = bytes_of(link, p->pages_sent);
    print_job(link, f);
    fprintf(f, "  requests            %s (%s tokens)\n", grouped(job->trace.count), grouped(job->trace.tokens));
    fprintf(f, "  pages sent          %s (%.2f GB)\n", grouped(p->pages_sent), sent * 1e-9);
    fprintf(f, "  pages reused        %s (%.2f GB); %s of %s blocks were resident\n", grouped(p->pages_reused),
            bytes_of(link, p->pages_reused) * 1e-9, grouped(p->blocks_reused), grouped(p->blocks));
    fprintf(f, "  time                %.3f s\n", r->seconds);
    fprintf(f, "  rate                %.2f GB/s, %.0f ns per page\n", ratio(sent, r->seconds) * 1e-9,
            ratio(r->seconds * 1e9, (double)p->pages_sent));
    fprintf(f, "  in puts alone       %.2f GB/s, %.0f ns per page (for each pair)\n", ratio(sent, (double)p->put_ns),
            ratio((double)p->put_ns, (double)p->pages_sent));
    print_usable(r, f);
    print_times(r, f);
    print_verification(link, r, f);
    fflush(f);
}

/* ---- JSON ---- */

/* In these, out of memory leaves a row out; jansson takes NULL for that. */
static void add_count(json_t *to, const char *key, uint64_t number)
{
    json_object_set_new(to, key, json_integer((json_int_t)number));
}

static void add_real(json_t *to, const char *key, double number)
{
    json_object_set_new(to, key, json_real(number));
}

static void add_text(json_t *to, const char *key, const char *text)
{
    json_object_set_new(to, key, json_string(text));
}

static void add_job(json_t *to, const struct job *job)
{
    add_text(to, "model", job->model.name);
    add_count(to, "model_layers", (uint64_t)job->model.layers);
    add_count(to, "layers", job->layers);
    add_text(to, "dtype", job->dtype->name);
    add_count(to, "bytes_per_token_and_layer", model_token_bytes(&job->model, job->dtype));
    add_text(to, "layout", job->parts == 2 ? "split" : "joined");
    add_count(to, "page_tokens", (uint64_t)job->options.page_tokens);
    add_count(to, "page_bytes", job->page_bytes);
    add_count(to, "slots", job->slots);
    add_count(to, "pool_pages", (uint64_t)job->slots * job->layers * job->parts);
    add_count(to, "pes", (uint64_t)job->pes);
    add_count(to, "pairs", (uint64_t)job->pairs);
    add_count(to, "tp", (uint64_t)job->options.tp);
    add_count(to, "requests", job->trace.count);
    add_count(to, "tokens", job->trace.tokens);
}

static void add_transfer(json_t *to, const struct link *link, const struct report *r)
{
    const struct counts *p    = &r->prefill;
    double               sent = bytes_of(link, p->pages_sent);
    add_count(to, "windows", p->windows);
    add_count(to, "pages_sent", p->pages_sent);
    add_count(to, "pages_reused", p->pages_reused);
    add_count(to, "bytes_sent", p->pages_sent * link->job->page_bytes);
    add_count(to, "bytes_reused", p->pages_reused * link->job->page_bytes);
    add_count(to, "blocks", p->blocks);
    add_count(to, "blocks_reused", p->blocks_reused);
    add_real(to, "seconds", r->seconds);
    add_real(to, "gb_per_s", ratio(sent, r->seconds) * 1e-9);
    add_real(to, "ns_per_page", ratio(r->seconds * 1e9, (double)p->pages_sent));
    add_real(to, "put_gb_per_s", ratio(sent, (double)p->put_ns));
    add_real(to, "put_ns_per_page", ratio((double)p->put_ns, (double)p->pages_sent));
}

/* Null where not known. */
static void add_usable(json_t *to, const struct report *r)
{
    json_object_set_new(to, "usable_p50_us", r->usable_known ? json_real(r->usable_p50_us) : json_null());
    json_object_set_new(to, "usable_p99_us", r->usable_known ? json_real(r->usable_p99_us) : json_null());
}

static void add_times(json_t *to, const struct report *r)
{
    add_real(to, "prefill_contents_s", (double)r->prefill.fill_ns * 1e-9);
    add_real(to, "prefill_puts_s", (double)r->prefill.put_ns * 1e-9);
    add_real(to, "prefill_credit_wait_s", (double)r->prefill.credit_ns * 1e-9);
    add_real(to, "prefill_request_wait_s", (double)r->prefill.arrival_ns * 1e-9);
    add_real(to, "decode_check_s", (double)r->decode.check_ns * 1e-9);
    add_real(to, "decode_page_wait_s", (double)r->decode.signal_ns * 1e-9);
}

static void add_verification(json_t *to, const struct link *link, const struct report *r)
{
    add_text(to, "verification", verdict_word(link, r));
    add_count(to, "pages_checked", r->decode.pages_checked);
    add_count(to, "pages_wrong", r->decode.pages_wrong);
}

bool report_write_json(const struct link *link, const struct report *report, FILE *file)
{
    json_t *all = json_object();
    add_job(all, link->job);
    add_transfer(all, link, report);
    add_usable(all, report);
    add_times(all, report);
    add_verification(all, link, report);
    bool good = all != NULL && json_dumpf(all, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', file) != EOF;
    json_decref(all);
    return fflush(file) == 0 && good;
}
