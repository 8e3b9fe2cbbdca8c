/* SPDX-License-Identifier: Apache-2.0
 *
 * Published shapes, and config.json files. See model.h.
 *
 * The numbers of the table are those of each model's config.json: num_hidden_layers, num_key_value_heads, head_dim.
 */
#include "model.h"

#include "problem.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>

/* clang-format off */
static const struct dtype dtypes[] = {
    {"bf16", 2}, {"fp16", 2}, {"fp8", 1}, {"fp32", 4}, {"int8", 1},
    {"bfloat16", 2}, {"float16", 2}, {"float32", 4}, /* as config.json writes them */
};
#define BF16 (&dtypes[0])

static const struct model models[] = {
    /* name               layers kv_heads head_dim latent dtype */
    {"llama3-8b",         32,    8,       128,     0,     BF16},
    {"llama3-70b",        80,    8,       128,     0,     BF16},
    {"llama3-405b",       126,   8,       128,     0,     BF16},
    {"llama3.2-1b",       16,    8,       64,      0,     BF16},
    {"llama3.2-3b",       28,    8,       128,     0,     BF16},
    {"mistral-7b",        32,    8,       128,     0,     BF16},
    {"qwen2.5-7b",        28,    4,       128,     0,     BF16},
    {"qwen2.5-32b",       64,    8,       128,     0,     BF16},
    {"qwen2.5-72b",       80,    8,       128,     0,     BF16},
    {"qwen3-8b",          36,    8,       128,     0,     BF16},
    {"qwen3-30b-a3b",     48,    4,       128,     0,     BF16},
    {"qwen3-235b-a22b",   94,    4,       128,     0,     BF16},
    {"gpt-oss-20b",       24,    8,       64,      0,     BF16},
    {"gpt-oss-120b",      36,    8,       64,      0,     BF16},
    {"deepseek-v3",       61,    0,       0,       576,   BF16},
    {"kimi-k2",           61,    0,       0,       576,   BF16},
};
/* clang-format on */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Whether two names are the same but for capitals and punctuation: "Llama-3-8B" is "llama3-8b". */
static bool same_name(const char *a, const char *b)
{
    for (;;) {
        while (*a != '\0' && !isalnum((unsigned char)*a)) {
            a++;
        }
        while (*b != '\0' && !isalnum((unsigned char)*b)) {
            b++;
        }
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) {
            return false;
        }
        if (*a == '\0') {
            return true;
        }
        a++;
        b++;
    }
}

bool model_find(const char *name, struct model *model_out)
{
    char known[1024] = "";
    for (size_t i = 0; i < COUNT(models); i++) {
        if (same_name(name, models[i].name)) {
            *model_out = models[i];
            return true;
        }
        strncat(known, i == 0 ? "" : " ", sizeof known - strlen(known) - 1);
        strncat(known, models[i].name, sizeof known - strlen(known) - 1);
    }
    return problem("there is no model \"%s\"" WHY "the models known here are: %s" FIX
                   "name one of these, or give the model's config.json with --config FILE",
                   name, known);
}

const struct dtype *model_dtype(const char *name)
{
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            return &dtypes[i];
        }
    }
    problem("there is no number format \"%s\"" WHY "--dtype knows bf16 fp16 fp8 fp32 int8" FIX "name one of these", name);
    return NULL;
}

size_t model_token_bytes(const struct model *model, const struct dtype *dtype)
{
    if (model->latent > 0) {
        return (size_t)model->latent * dtype->bytes;
    }
    return 2 * (size_t)model->kv_heads * (size_t)model->head_dim * dtype->bytes;
}

void model_list(FILE *stream)
{
    for (size_t i = 0; i < COUNT(models); i++) {
        const struct model *m = &models[i];
        fprintf(stream, "%s\t%d\t%d\t%d\t%d\t%zu\n", m->name, m->layers, m->kv_heads, m->head_dim, m->latent,
                model_token_bytes(m, m->dtype));
    }
}

/* ---- config.json ---- */

enum {
    NUMBER_MAX = 1 << 20, /* no layer count, head count or width of a model is near this */
};

/*
 * Read a positive whole number.
 *
 * Absent or null: 0, where the caller has another source for it (required false). False after problem().
 */
static bool read_number(const char *path, const json_t *config, const char *key, bool required, int *number_out)
{
    const json_t *value = json_object_get(config, key);
    if (value == NULL || json_is_null(value)) {
        *number_out = 0;
        return !required || problem("cannot use %s" WHY "it has no \"%s\"" FIX
                                    "give the config.json of a decoder model as published on Hugging Face",
                                    path, key);
    }
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 1 || number > NUMBER_MAX) {
        return problem("cannot use %s" WHY "\"%s\" is not a whole number from 1 to %d" FIX "correct the value", path, key,
                       NUMBER_MAX);
    }
    *number_out = (int)number;
    return true;
}

/* Heads and their width. Models older than GQA name no KV heads: each head has its own. */
static bool read_heads(const char *path, const json_t *config, struct model *model)
{
    int heads = 0;
    int width = 0;
    if (!read_number(path, config, "num_key_value_heads", false, &model->kv_heads) ||
        !read_number(path, config, "head_dim", false, &model->head_dim)) {
        return false;
    }
    if (model->kv_heads > 0 && model->head_dim > 0) {
        return true;
    }
    if (!read_number(path, config, "num_attention_heads", true, &heads)) {
        return false;
    }
    if (model->kv_heads == 0) {
        model->kv_heads = heads;
    }
    if (model->head_dim > 0) {
        return true;
    }
    if (!read_number(path, config, "hidden_size", true, &width)) {
        return false;
    }
    if (width % heads != 0) {
        return problem("cannot use %s" WHY "it has no \"head_dim\", and hidden_size %d is not a multiple of "
                       "num_attention_heads %d" FIX "correct the values, or add \"head_dim\"",
                       path, width, heads);
    }
    model->head_dim = width / heads;
    return true;
}

/* A model with a latent: kv_lora_rank is present. */
static bool read_latent(const char *path, const json_t *config, struct model *model)
{
    int rank = 0;
    int rope = 0;
    if (!read_number(path, config, "kv_lora_rank", false, &rank) ||
        (rank > 0 && !read_number(path, config, "qk_rope_head_dim", true, &rope))) {
        return false;
    }
    model->latent = rank + rope;
    return true;
}

static bool read_dtype(const char *path, const json_t *config, struct model *model)
{
    const json_t *value = json_object_get(config, "torch_dtype");
    if (value == NULL) {
        value = json_object_get(config, "dtype"); /* its name since 2025 */
    }
    model->dtype = BF16;
    if (value == NULL || json_is_null(value)) {
        return true;
    }
    for (size_t i = 0; json_is_string(value) && i < COUNT(dtypes); i++) {
        if (strcmp(json_string_value(value), dtypes[i].name) == 0) {
            model->dtype = &dtypes[i];
            return true;
        }
    }
    return problem("cannot use %s" WHY "its \"torch_dtype\" is none of bfloat16 float16 float32" FIX
                   "correct the value, or remove it and give --dtype",
                   path);
}

static bool read_config(const char *path, const json_t *config, struct model *model)
{
    const json_t *text = json_object_get(config, "text_config"); /* models that also see images keep the decoder here */
    if (json_is_object(text) && json_object_get(config, "num_hidden_layers") == NULL) {
        config = text;
    }
    if (!read_number(path, config, "num_hidden_layers", true, &model->layers) || !read_latent(path, config, model) ||
        !read_dtype(path, config, model)) {
        return false;
    }
    return model->latent > 0 || read_heads(path, config, model);
}

bool model_read(const char *path, struct model *model_out)
{
    json_error_t error;
    FILE        *file = fopen(path, "re");
    if (file == NULL) {
        return problem("could not open %s: %s" WHY "--config reads the config.json of a model" FIX
                       "check the name and the permissions",
                       path, strerror(errno));
    }
    json_t *config = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (config == NULL) {
        return problem("cannot read %s, line %d: %s" WHY "it is not a JSON file" FIX
                       "give the config.json of a model as published on Hugging Face",
                       path, error.line, error.text);
    }
    bool         good  = json_is_object(config) || problem("cannot use %s" WHY "it is JSON, but not an object" FIX
                                                           "give the config.json of a model as published on Hugging Face",
                                                           path);
    struct model model = {.name = ""};
    const char  *base  = strrchr(path, '/');
    snprintf(model.name, sizeof model.name, "%s", base == NULL ? path : base + 1);
    good = good && read_config(path, config, &model);
    json_decref(config);
    if (good) {
        *model_out = model;
    }
    return good;
}
