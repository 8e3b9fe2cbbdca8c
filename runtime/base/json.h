/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing JSON to a stream: the commas, the indent and the escapes. Values nest by begin and end.
 *
 *     struct shmemi_json json = {.out = file};
 *     shmemi_json_begin(&json, NULL, '{');
 *     shmemi_json_text(&json, "name", "shm");
 *     shmemi_json_end(&json, '}');
 *
 * key is NULL inside an array and for the outermost value.
 */
#ifndef SHMEMI_JSON_H
#define SHMEMI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct shmemi_json {
    FILE *out;
    int   depth;
    bool  follows; /* something stands before the next value at this depth */
};

/* open is '{' or '[', close the one that fits. */
void shmemi_json_begin(struct shmemi_json *json, const char *key, char open);
void shmemi_json_end(struct shmemi_json *json, char close);

/* NULL becomes null. Bytes that are not UTF-8 become U+FFFD, since JSON has no way to carry them. */
void shmemi_json_text(struct shmemi_json *json, const char *key, const char *text);
void shmemi_json_int(struct shmemi_json *json, const char *key, int64_t value);
void shmemi_json_bool(struct shmemi_json *json, const char *key, bool value);

#endif
