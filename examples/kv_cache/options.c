/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the command line. See options.h.
 */
#include "options.h"

#include "problem.h"
#include "trace.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char options_help[] =
    "Usage: oshrun -n N kv_cache [options]\n"
    "\n"
    "Moves the KV cache of inference requests from prefill PEs to decode PEs, and checks every byte.\n"
    "PE i of the first half sends to PE i + N/2. With one PE, it is both.\n"
    "\n"
    "What is moved\n"
    "  --model NAME        a published shape (default qwen2.5-7b); --list-models names them\n"
    "  --config FILE       a shape from a Hugging Face config.json instead\n"
    "  --dtype NAME        bf16 fp16 fp8 fp32 int8 (default: the model's own)\n"
    "  --layers N          only the first N layers\n"
    "  --page-tokens N     tokens in a page: a divisor of 512 (default 16)\n"
    "  --layout split|joined   K and V of a token in two pages, or in one (default joined)\n"
    "  --tp T              T pairs share a request, each with 1/T of the KV heads (default 1)\n"
    "\n"
    "Requests\n"
    "  --requests N        number of requests (default 16); with --trace only its first N\n"
    "  --tokens N          tokens of each request (default 4096)\n"
    "  --trace FILE        replay requests from a JSONL trace: lengths, arrivals, shared blocks\n"
    "  --speed X           arrivals X times as fast as in the trace; 0: do not wait for them (default)\n"
    "\n"
    "The pool of each decode PE\n"
    "  --pool-bytes SIZE   its size, such as 512M or 2G (default 256M)\n"
    "  --pool-pages N      its size in pages instead\n"
    "  --pool-on host|gpu  in which memory it is (default host)\n"
    "\n"
    "Results\n"
    "  --json FILE         write the results to FILE too\n"
    "  --no-verify         do not look at the bytes that arrive\n"
    "  --seed N            another content and another order of slots (default 1)\n"
    "  --progress          show a progress bar, also where the output is no terminal\n"
    "  --no-progress       show none\n"
    "  --list-models       print the shapes: name, layers, KV heads, head width, latent, bytes per token and layer\n"
    "  --help              print this\n"
    "\n"
    "SHMEM_SYMMETRIC_SIZE is set to what the pool needs, unless you have set it.\n"
    "Exit status: 0 every byte is right, 1 a wrong byte, 2 bad option, config or trace.\n";

enum {
    TOKENS_MAX   = REQUEST_TOKENS_MAX,
    REQUESTS_MAX = 10000000,
    PES_MAX      = 1 << 20,
    LAYERS_MAX   = 1 << 20,
};

static bool read_count(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *count_out)
{
    char *end                = NULL;
    errno                    = 0;
    unsigned long long count = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || count < min || count > max) {
        return problem("cannot use --%s %s" WHY "it is not a whole number from %llu to %llu" FIX "give such a number", option, text,
                       (unsigned long long)min, (unsigned long long)max);
    }
    *count_out = count;
    return true;
}

static bool read_int(const char *option, const char *text, int max, int *number_out)
{
    uint64_t count = 0;
    bool     good  = read_count(option, text, 1, (uint64_t)max, &count);
    *number_out    = (int)count;
    return good;
}

/* Powers of 1024, as in SHMEM_SYMMETRIC_SIZE. */
static bool read_size(const char *option, const char *text, uint64_t *bytes_out)
{
    static const char units[] = "kmgt";
    char             *end     = NULL;
    double            number  = strtod(text, &end);
    bool              good    = text[0] >= '0' && text[0] <= '9' && end > text;
    const char       *unit    = good && *end != '\0' ? strchr(units, *end | 0x20) : NULL;
    if (unit != NULL) {
        number = ldexp(number, 10 * (int)(unit - units + 1));
        end++;
    }
    if (!good || *end != '\0' || !(number >= 1) || number > 0x1p60) {
        return problem("cannot use --%s %s" WHY "it is not a size" FIX "write bytes, or a number with k, m, g or t: 512M, 2G",
                       option, text);
    }
    *bytes_out = (uint64_t)number;
    return true;
}

static bool read_speed(const char *text, double *speed_out)
{
    char  *end   = NULL;
    double speed = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || !(speed >= 0) || speed > 1e9) {
        return problem("cannot use --speed %s" WHY "it is not a number from 0 to 1e9" FIX
                       "write 1 for the trace's own times, 10 for ten times as fast, 0 for no waiting",
                       text);
    }
    *speed_out = speed;
    return true;
}

static bool read_pool_on(const char *text, bool *gpu_out)
{
    *gpu_out = strcmp(text, "gpu") == 0;
    return *gpu_out || strcmp(text, "host") == 0 ||
           problem("cannot use --pool-on %s" WHY "the pool is in memory of the host or of the GPU" FIX "write host or gpu", text);
}

static bool read_layout(const char *text, bool *split_out)
{
    *split_out = strcmp(text, "split") == 0;
    return *split_out || strcmp(text, "joined") == 0 ||
           problem("cannot use --layout %s" WHY "K and V lie either apart or together" FIX "write split or joined", text);
}

static bool read_fault(const char *text, struct fault *fault)
{
    unsigned long long request, layer, page, offset;
    char               more;
    if (sscanf(text, "%llu,%llu,%llu,%llu%c", &request, &layer, &page, &offset, &more) != 4) {
        return problem("cannot use --corrupt %s" WHY "it is not REQUEST,LAYER,PAGE,OFFSET" FIX "write four numbers from 0", text);
    }
    *fault = (struct fault){.on = true, .request = request, .layer = layer, .page = page, .offset = offset};
    return true;
}

enum option_code {
    OPT_MODEL = 256, /* above every character */
    OPT_CONFIG,
    OPT_DTYPE,
    OPT_LAYERS,
    OPT_PAGE_TOKENS,
    OPT_LAYOUT,
    OPT_TP,
    OPT_REQUESTS,
    OPT_TOKENS,
    OPT_TRACE,
    OPT_SPEED,
    OPT_POOL_BYTES,
    OPT_POOL_PAGES,
    OPT_POOL_ON,
    OPT_JSON,
    OPT_NO_VERIFY,
    OPT_SEED,
    OPT_PROGRESS,
    OPT_NO_PROGRESS,
    OPT_LIST_MODELS,
    OPT_CORRUPT,
    OPT_HELP,
};

/* clang-format off */
static const struct option table[] = {
    {"model",       required_argument, NULL, OPT_MODEL},
    {"config",      required_argument, NULL, OPT_CONFIG},
    {"dtype",       required_argument, NULL, OPT_DTYPE},
    {"layers",      required_argument, NULL, OPT_LAYERS},
    {"page-tokens", required_argument, NULL, OPT_PAGE_TOKENS},
    {"layout",      required_argument, NULL, OPT_LAYOUT},
    {"tp",          required_argument, NULL, OPT_TP},
    {"requests",    required_argument, NULL, OPT_REQUESTS},
    {"tokens",      required_argument, NULL, OPT_TOKENS},
    {"trace",       required_argument, NULL, OPT_TRACE},
    {"speed",       required_argument, NULL, OPT_SPEED},
    {"pool-bytes",  required_argument, NULL, OPT_POOL_BYTES},
    {"pool-pages",  required_argument, NULL, OPT_POOL_PAGES},
    {"pool-on",     required_argument, NULL, OPT_POOL_ON},
    {"json",        required_argument, NULL, OPT_JSON},
    {"no-verify",   no_argument,       NULL, OPT_NO_VERIFY},
    {"seed",        required_argument, NULL, OPT_SEED},
    {"progress",    no_argument,       NULL, OPT_PROGRESS},
    {"no-progress", no_argument,       NULL, OPT_NO_PROGRESS},
    {"list-models", no_argument,       NULL, OPT_LIST_MODELS},
    {"corrupt",     required_argument, NULL, OPT_CORRUPT},
    {"help",        no_argument,       NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};
/* clang-format on */

/* Which options were written: some exclude each other. */
struct seen {
    bool model, tokens, speed, pool_bytes;
};

static bool read_option(int code, const char *name, const char *text, struct options *o, struct seen *seen)
{
    uint64_t count = 0;
    bool     good  = true;
    switch (code) {
    case OPT_MODEL:
        o->model    = text;
        seen->model = true;
        return true;
    case OPT_CONFIG: o->config = text; return true;
    case OPT_DTYPE: o->dtype = text; return true;
    case OPT_TRACE: o->trace = text; return true;
    case OPT_JSON: o->json = text; return true;
    case OPT_NO_VERIFY: o->verify = false; return true;
    case OPT_PROGRESS: o->progress = true; return true;
    case OPT_NO_PROGRESS: o->progress = false; return true;
    case OPT_LIST_MODELS: o->list_models = true; return true;
    case OPT_HELP: o->help = true; return true;
    case OPT_LAYERS: return read_int(name, text, LAYERS_MAX, &o->layers);
    case OPT_PAGE_TOKENS: return read_int(name, text, BLOCK_TOKENS, &o->page_tokens);
    case OPT_TP: return read_int(name, text, PES_MAX, &o->tp);
    case OPT_LAYOUT: return read_layout(text, &o->split);
    case OPT_SPEED: seen->speed = true; return read_speed(text, &o->speed);
    case OPT_POOL_BYTES: seen->pool_bytes = true; return read_size(name, text, &o->pool_bytes);
    case OPT_POOL_PAGES: return read_count(name, text, 1, UINT32_MAX, &o->pool_pages);
    case OPT_POOL_ON: return read_pool_on(text, &o->pool_on_gpu);
    case OPT_SEED: return read_count(name, text, 0, UINT64_MAX, &o->seed);
    case OPT_CORRUPT: return read_fault(text, &o->fault);
    case OPT_TOKENS:
        seen->tokens = true;
        good         = read_count(name, text, 1, TOKENS_MAX, &count);
        o->tokens    = (uint32_t)count;
        return good;
    case OPT_REQUESTS:
        good        = read_count(name, text, 1, REQUESTS_MAX, &count);
        o->requests = (size_t)count;
        return good;
    default: return false;
    }
}

/* What each option cannot know of the others. */
static bool check_together(const struct options *o, const struct seen *seen)
{
    if (seen->model && o->config != NULL) {
        return problem("cannot use --model with --config" WHY "both say which model it is" FIX "leave one out");
    }
    if (seen->pool_bytes && o->pool_pages > 0) {
        return problem("cannot use --pool-bytes with --pool-pages" WHY "both say how large the pool is" FIX "leave one out");
    }
    if (seen->tokens && o->trace != NULL) {
        return problem("cannot use --tokens with --trace" WHY "the trace says how long each request is" FIX "leave one out");
    }
    if (seen->speed && o->trace == NULL) {
        return problem("cannot use --speed without --trace" WHY "made-up requests are all there at the start" FIX
                       "leave --speed out, or give a trace");
    }
    if (BLOCK_TOKENS % o->page_tokens != 0) {
        return problem("cannot use --page-tokens %d" WHY "a block has %d tokens, and pages must fill it" FIX
                       "use 1, 2, 4, 8, 16, 32, 64, 128, 256 or 512",
                       o->page_tokens, BLOCK_TOKENS);
    }
    if (o->fault.on && !o->verify) {
        return problem("cannot use --corrupt with --no-verify" WHY "nobody would notice the wrong byte" FIX "leave one out");
    }
    return true;
}

static const struct options defaults = {
    .model       = "qwen2.5-7b",
    .tokens      = 4096,
    .page_tokens = 16,
    .tp          = 1,
    .pool_bytes  = 256u << 20,
    .seed        = 1,
    .verify      = true,
};

bool options_read(int argc, char **argv, struct options *options_out)
{
    struct options *o = options_out;
    *o                = defaults;
    o->progress       = isatty(STDERR_FILENO) == 1;
    struct seen seen  = {.model = false};
    opterr            = 0;
    for (;;) {
        int index = -1;
        int code  = getopt_long(argc, argv, "", table, &index);
        if (code == -1) {
            break;
        }
        if (code == '?') {
            return problem("cannot use %s" WHY "there is no such option, or its value is missing, or it takes none" FIX
                           "kv_cache --help lists the options",
                           argv[optind - 1]);
        }
        if (!read_option(code, table[index].name, optarg, o, &seen)) {
            return false;
        }
    }
    if (optind < argc) {
        return problem("cannot use \"%s\"" WHY "it is not an option" FIX "kv_cache --help lists the options", argv[optind]);
    }
    if (o->requests == 0 && o->trace == NULL) {
        o->requests = 16;
    }
    return check_together(o, &seen);
}
