/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * A unique id as text is one word of letters that a command line and a file carry; read again, white space around it or not, it is the same id.
 * A text that lost or changed one letter is refused, and so is too little room.
 * Spec: none; shmemx_uniqueid_to_text is an extension
 */
#include "own.h"

#include <ctype.h>

static void changed_letters(const char *text)
{
    char              other[SHMEMX_UNIQUEID_TEXT_BYTES];
    shmemx_uniqueid_t id;
    for (size_t i = 0; text[i]; i++) {
        strcpy(other, text);
        other[i] = text[i] == '7' ? '8' : '7';
        if (!CHECK_EQUAL(shmemx_uniqueid_from_text(other, &id), -EINVAL)) fprintf(stderr, "letter %zu\n", i);
        other[i] = '\0';
        if (!CHECK_EQUAL(shmemx_uniqueid_from_text(other, &id), -EINVAL)) fprintf(stderr, "cut at %zu\n", i);
    }
}

int main(void)
{
    char              text[SHMEMX_UNIQUEID_TEXT_BYTES], spaced[SHMEMX_UNIQUEID_TEXT_BYTES + 16], tight[SHMEMX_UNIQUEID_TEXT_BYTES];
    shmemx_uniqueid_t id, other, back = {.bytes = {1}};
    CHECK_EQUAL(sizeof id, 128);
    CHECK_EQUAL(shmemx_get_uniqueid(&id), 0);
    CHECK_EQUAL(shmemx_get_uniqueid(&other), 0);
    CHECK(memcmp(&id, &other, sizeof id) != 0);
    CHECK_EQUAL(shmemx_uniqueid_to_text(&id, text, sizeof text), 0);
    for (size_t i = 0; text[i]; i++) CHECK(isalnum((unsigned char)text[i]) || text[i] == '-' || text[i] == ':');
    CHECK_EQUAL(shmemx_uniqueid_from_text(text, &back), 0);
    CHECK(memcmp(&id, &back, sizeof id) == 0);
    snprintf(spaced, sizeof spaced, " \n\t%s\r\n", text);
    memset(&back, 1, sizeof back);
    CHECK_EQUAL(shmemx_uniqueid_from_text(spaced, &back), 0);
    CHECK(memcmp(&id, &back, sizeof id) == 0);

    CHECK_EQUAL(shmemx_uniqueid_to_text(&id, tight, strlen(text)), -ENOSPC);
    CHECK_EQUAL(shmemx_uniqueid_to_text(&id, tight, strlen(text) + 1), 0);
    snprintf(spaced, sizeof spaced, "%s x", text);
    CHECK_EQUAL(shmemx_uniqueid_from_text(spaced, &back), -EINVAL);
    CHECK_EQUAL(shmemx_uniqueid_from_text("", &back), -EINVAL);
    CHECK_EQUAL(shmemx_uniqueid_from_text(NULL, &back), -EINVAL);
    memset(&back, 0, sizeof back);
    CHECK_EQUAL(shmemx_uniqueid_to_text(&back, text, sizeof text), -EINVAL);
    CHECK_EQUAL(shmemx_uniqueid_to_text(NULL, text, sizeof text), -EINVAL);
    shmemx_uniqueid_to_text(&id, text, sizeof text);
    changed_letters(text);
    return api_result();
}
