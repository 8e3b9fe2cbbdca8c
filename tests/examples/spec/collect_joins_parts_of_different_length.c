/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE has a word of a sentence, each of another length; all get the whole sentence, in order. The same with equal lengths by
 * fcollect.
 * Spec: OpenSHMEM 1.6 §9.10.8 shmem_collect, shmem_fcollect
 * Does what the specification's shmem_collect_example does.
 * PES: 2 3 5
 */
#include "../../api/api.h"

static const char *const words[] = {"stone ", "upon ", "", "stone, ", "and a door."};
static char              part[16], sentence[80], initials[8];

int main(void)
{
    shmem_init();
    int    me = shmem_my_pe(), n = shmem_n_pes();
    char   whole[80] = "";
    size_t length    = strlen(words[me]);
    for (int pe = 0; pe < n; pe++) strcat(whole, words[pe]);
    memcpy(part, words[me], length);
    memset(sentence, '#', sizeof sentence);
    shmem_sync_all();
    CHECK_EQUAL(shmem_collect(SHMEM_TEAM_WORLD, sentence, part, length), 0);
    CHECK(memcmp(sentence, whole, strlen(whole)) == 0);
    CHECK_EQUAL(sentence[strlen(whole)], '#'); /* and no more */

    part[0] = (char)('a' + me);
    CHECK_EQUAL(shmem_fcollect(SHMEM_TEAM_WORLD, initials, part, 1), 0);
    for (int pe = 0; pe < n; pe++) CHECK_EQUAL(initials[pe], 'a' + pe);
    shmem_finalize();
    return api_result();
}
