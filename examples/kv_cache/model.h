/* SPDX-License-Identifier: Apache-2.0
 *
 * The shape of a model's KV cache: how many numbers a token leaves behind in each layer.
 *
 * Grouped-query attention (GQA) keeps a key and a value vector for each KV head: 2 x kv_heads x head_dim numbers. Multi-head
 * latent attention (MLA) keeps one latent vector: kv_lora_rank + qk_rope_head_dim numbers (DeepSeek-V3: 512 + 64 = 576).
 */
#ifndef KV_MODEL_H
#define KV_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct dtype {
    const char *name;
    size_t      bytes;
};

struct model {
    char                name[128];
    int                 layers;
    int                 kv_heads; /* GQA; 0 for MLA          */
    int                 head_dim; /* GQA; 0 for MLA          */
    int                 latent;   /* MLA; 0 for GQA          */
    const struct dtype *dtype;    /* as the model is published */
};

/* A published model by its name ("qwen2.5-7b"); capitals, '-', '_' and '.' do not matter. False after problem(). */
bool model_find(const char *name, struct model *model_out);

/* A model from a Hugging Face config.json. False after problem(). */
bool model_read(const char *path, struct model *model_out);

/* A number format by its name ("bf16"). NULL after problem(). */
const struct dtype *model_dtype(const char *name);

/* Bytes that a token leaves behind in one layer, in all heads. */
size_t model_token_bytes(const struct model *model, const struct dtype *dtype);

/* One line per published model, tab-separated: name, layers, kv_heads, head_dim, latent, bytes per token and layer. */
void model_list(FILE *stream);

#endif
