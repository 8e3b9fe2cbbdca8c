/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of each engine. What an option of ours means there:
 *
 *                     mpirun (Open MPI 4)       prterun                   srun                     mpiexec (MPICH)
 *   --hosts a:2,b     --host a:2,b:1            --host a:2,b:1            -m arbitrary -w a,a,b    -hosts a:2,b:1
 *   -n N              -n N                      -n N                      -n N                     -n N
 *   --oversubscribe   --map-by slot:OVERSUB...  --map-by slot:OVERSUB...  --overcommit             (always)
 *   --bind core       --bind-to core            --bind-to core            --cpu-bind=cores         -bind-to core
 *   --bind numa       --bind-to numa            --bind-to numa            --cpu-bind=ldoms         -bind-to numa
 *   --tag-output      --tag-output              --output tag              --label                  -prepend-rank
 *   --rsh-agent P     --mca plm_rsh_agent P     --prtemca plm_ssh_agent P (no use)                 -launcher-exec P
 *   variables         -x NAME                   -x NAME                   --export=ALL             -genvall
 *
 * PEs fill the hosts in the order given, slot by slot. Variables go by name, with their value in the engine's own environment: so no
 * engine's idea of quoting touches them, and they are not in the list of processes.
 */
#include "runtime/tools/oshrun_engine.h"

#include "runtime/base/log.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- words --------------------------------------------------------------------------------------------------------------- */

void oshrun_engine_command_add(struct oshrun_words *words, const char *format, ...)
{
    va_list args;
    char   *word = NULL;
    va_start(args, format);
    int    used  = vasprintf(&word, format, args);
    char **grown = realloc(words->words, (words->count + 2) * sizeof grown[0]);
    va_end(args);
    if (used < 0 || grown == NULL) exit(OSHRUN_EXIT_FAILED);
    words->words                 = grown;
    words->words[words->count++] = word;
    words->words[words->count]   = NULL;
}

static void add_all(struct oshrun_words *words, char *const *more)
{
    for (; *more != NULL; more++) oshrun_engine_command_add(words, "%s", *more);
}

/* Split --engine-args as a shell would, without variables and patterns. 0, or the exit status after an error message. */
static int add_engine_args(struct oshrun_words *words, const char *text)
{
    if (text == NULL) return 0;
    char *word = malloc(strlen(text) + 1);
    if (word == NULL) exit(OSHRUN_EXIT_FAILED);
    size_t used   = 0;
    bool   inside = false; /* a word, also an empty one in quotes */
    char   quote  = '\0';
    for (; *text != '\0'; text++) {
        if (quote == '\0' && (*text == ' ' || *text == '\t' || *text == '\n')) {
            word[used] = '\0';
            if (inside) oshrun_engine_command_add(words, "%s", word);
            used   = 0;
            inside = false;
            continue;
        }
        inside = true;
        if (*text == quote) {
            quote = '\0';
        } else if (quote == '\0' && (*text == '\'' || *text == '"')) {
            quote = *text;
        } else {
            if (*text == '\\' && quote != '\'' && text[1] != '\0') text++;
            word[used++] = *text;
        }
    }
    word[used] = '\0';
    if (inside) oshrun_engine_command_add(words, "%s", word);
    free(word);
    if (quote == '\0') return 0;
    shmemi_error("--engine-args: a quote is not closed" FIX "write the other one");
    return OSHRUN_EXIT_USAGE;
}

/* ---- environment --------------------------------------------------------------------------------------------------------- */

/* Marks of an oshrun around this one: its PEs are not ours. */
static const char *const marks[] = {LAUNCH_VARIABLE,      "POSTERN_PE",         "POSTERN_NPES",
                                    "POSTERN_LOCAL_RANK", "POSTERN_LOCAL_SIZE", "POSTERN_BINDING"};

static bool is_mark(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (strlen(marks[i]) == length && strncmp(marks[i], name, length) == 0) return true;
    }
    return false;
}

/* What a PE on another machine needs: our variables, the standard's, libfabric's, and where libraries are found. */
static bool is_passed(const char *entry)
{
    static const char *const prefixes[] = {"POSTERN_", "SHMEM_", "SMA_", "FI_", "LD_LIBRARY_PATH="};
    static const char        letters[]  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t                   length     = strspn(entry, letters);
    if (entry[length] != '=' || is_mark(entry, length)) return false;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0) return true;
    }
    return false;
}

static bool is_set_by_option(const struct oshrun_options *options, const char *entry)
{
    size_t length = strcspn(entry, "=") + 1;
    for (size_t i = 0; i < options->env_count; i++) {
        if (strncmp(options->env[i], entry, length) == 0) return true;
    }
    return false;
}

static void build_environment(const struct oshrun_options *options, struct oshrun_command *command)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (getenv(marks[i]) != NULL) oshrun_engine_command_add(&command->unset, "%s", marks[i]);
    }
    for (size_t i = 0; i < options->env_count; i++) {
        bool is_last = true; /* the same name given twice: the last one counts */
        for (size_t k = i + 1; k < options->env_count; k++) {
            size_t length = strcspn(options->env[i], "=") + 1;
            if (strncmp(options->env[i], options->env[k], length) == 0) is_last = false;
        }
        if (is_last) oshrun_engine_command_add(&command->set, "%s", options->env[i]);
    }
}

/* Each variable to be passed, by name, behind an option: mpirun's and prterun's -x. */
static void add_names(const struct oshrun_options *options, struct oshrun_command *command, const char *option)
{
    for (char *const *entry = environ; *entry != NULL; entry++) {
        if (!is_passed(*entry) || is_set_by_option(options, *entry)) continue;
        oshrun_engine_command_add(&command->argv, "%s", option);
        oshrun_engine_command_add(&command->argv, "%.*s", (int)strcspn(*entry, "="), *entry);
    }
    for (size_t i = 0; i < command->set.count; i++) {
        const char *entry = command->set.words[i];
        oshrun_engine_command_add(&command->argv, "%s", option);
        oshrun_engine_command_add(&command->argv, "%.*s", (int)strcspn(entry, "="), entry);
    }
}

/* ---- hosts --------------------------------------------------------------------------------------------------------------- */

static char *join_hosts(const struct oshrun_hosts *hosts)
{
    char  *text = NULL;
    size_t bytes;
    FILE  *out = open_memstream(&text, &bytes);
    if (out == NULL) exit(OSHRUN_EXIT_FAILED);
    for (size_t i = 0; i < hosts->count; i++) {
        fprintf(out, "%s%s:%d", i > 0 ? "," : "", hosts->hosts[i].name, hosts->hosts[i].slots);
    }
    if (fclose(out) != 0) exit(OSHRUN_EXIT_FAILED);
    return text;
}

/* A name for each PE, as srun's arbitrary distribution takes them: hosts filled in order, then over again. */
static char *join_places(const struct oshrun_hosts *hosts, int npes)
{
    char  *text = NULL;
    size_t bytes;
    FILE  *out = open_memstream(&text, &bytes);
    if (out == NULL) exit(OSHRUN_EXIT_FAILED);
    for (int pe = 0; pe < npes;) {
        for (size_t i = 0; i < hosts->count; i++) {
            for (int slot = 0; slot < hosts->hosts[i].slots && pe < npes; slot++, pe++) {
                fprintf(out, "%s%s", pe > 0 ? "," : "", hosts->hosts[i].name);
            }
        }
    }
    if (fclose(out) != 0) exit(OSHRUN_EXIT_FAILED);
    return text;
}

static bool have_ipv6(const struct oshrun_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        if (hosts->hosts[i].is_ipv6) return true;
    }
    return false;
}

static bool have_domain(const struct oshrun_hosts *hosts)
{
    struct in_addr address;
    for (size_t i = 0; i < hosts->count; i++) {
        const char *name = hosts->hosts[i].name;
        if (!hosts->hosts[i].is_ipv6 && strchr(name, '.') != NULL && inet_pton(AF_INET, name, &address) != 1) return true;
    }
    return false;
}

/* Open MPI 4 packs the list of hosts by a pattern of letters, digits and dots, and its daemons crash over other names. */
static bool have_odd_name(const struct oshrun_hosts *hosts)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    for (size_t i = 0; i < hosts->count; i++) {
        const char *name = hosts->hosts[i].name;
        if (name[strspn(name, letters)] != '\0') return true;
    }
    return false;
}

/* mpirun and prterun take IPv6 addresses from a file only: in --host they cut them at a colon. */
static void add_hosts(const struct oshrun_hosts *hosts, struct oshrun_command *command)
{
    if (hosts->count == 0) return;
    if (!have_ipv6(hosts)) {
        char *text = join_hosts(hosts);
        oshrun_engine_command_add(&command->argv, "--host");
        oshrun_engine_command_add(&command->argv, "%s", text);
        free(text);
        return;
    }
    for (size_t i = 0; i < hosts->count; i++) {
        oshrun_engine_command_add(&command->host_lines, "%s slots=%d", hosts->hosts[i].name, hosts->hosts[i].slots);
    }
    oshrun_engine_command_add(&command->argv, "--hostfile");
    command->host_file_at = command->argv.count;
    oshrun_engine_command_add(&command->argv, "-");
}

/* ---- each engine --------------------------------------------------------------------------------------------------------- */

static const char *bind_word(enum oshrun_bind bind, bool is_slurm)
{
    switch (bind) {
    case OSHRUN_BIND_CORE: return is_slurm ? "cores" : "core";
    case OSHRUN_BIND_NUMA: return is_slurm ? "ldoms" : "numa";
    case OSHRUN_BIND_NONE: return "none";
    case OSHRUN_BIND_AUTO: break;
    }
    return NULL;
}

static void add_npes(struct oshrun_words *argv, int npes)
{
    if (npes == 0) return;
    oshrun_engine_command_add(argv, "-n");
    oshrun_engine_command_add(argv, "%d", npes);
}

/* Open MPI's mpirun and prterun differ in few words. */
static void build_open_mpi(const struct oshrun_options *options, bool is_prrte, const struct oshrun_hosts *hosts, int npes,
                           struct oshrun_command *command)
{
    struct oshrun_words *argv = &command->argv;
    const char          *bind = bind_word(options->bind, false);
    if (geteuid() == 0) oshrun_engine_command_add(argv, "--allow-run-as-root"); /* who is root here has decided that already */
    oshrun_engine_command_add(argv, "--map-by");
    oshrun_engine_command_add(argv, "%s", options->oversubscribe ? "slot:OVERSUBSCRIBE" : "slot");
    if (bind != NULL) {
        oshrun_engine_command_add(argv, "--bind-to");
        oshrun_engine_command_add(argv, "%s", bind);
    }
    if (options->tag_output) {
        oshrun_engine_command_add(argv, "%s", is_prrte ? "--output" : "--tag-output");
        if (is_prrte) oshrun_engine_command_add(argv, "tag");
    }
    if (options->rsh_agent != NULL) {
        oshrun_engine_command_add(argv, "%s", is_prrte ? "--prtemca" : "--mca");
        oshrun_engine_command_add(argv, "%s", is_prrte ? "plm_ssh_agent" : "plm_rsh_agent");
        oshrun_engine_command_add(argv, "%s", options->rsh_agent);
    }
    if (!is_prrte && have_domain(hosts)) { /* else it cuts node1.example.org down to node1, which ssh may not find */
        oshrun_engine_command_add(argv, "--mca");
        oshrun_engine_command_add(argv, "orte_keep_fqdn_hostnames");
        oshrun_engine_command_add(argv, "1");
    }
    if (!is_prrte && have_odd_name(hosts)) { /* an address with colons: then the list is sent as it is */
        oshrun_engine_command_add(argv, "--mca");
        oshrun_engine_command_add(argv, "regx");
        oshrun_engine_command_add(argv, "naive");
    }
    add_hosts(hosts, command);
    add_names(options, command, "-x");
    add_npes(argv, npes);
}

static int build_slurm(const struct oshrun_options *options, const struct oshrun_engine *engine, const struct oshrun_hosts *hosts,
                       int npes, struct oshrun_command *command)
{
    struct oshrun_words *argv = &command->argv;
    const char          *bind = bind_word(options->bind, true);
    if (options->rsh_agent != NULL) {
        shmemi_error("--rsh-agent cannot be used with srun" WHY "Slurm starts programs by its own daemons" FIX
                     "leave it out, or choose another --engine");
        return OSHRUN_EXIT_USAGE;
    }
    if (have_ipv6(hosts)) {
        shmemi_error("--hosts: srun takes names of nodes, no addresses" FIX "sinfo lists the nodes");
        return OSHRUN_EXIT_USAGE;
    }
    oshrun_engine_command_add(argv, "--mpi=%s", engine->pmix);
    oshrun_engine_command_add(argv, "--export=ALL");         /* also where sbatch was told to export nothing    */
    oshrun_engine_command_add(argv, "--kill-on-bad-exit=1"); /* one failing PE ends the job, as with oshrun     */
    oshrun_engine_command_add(argv, "--input=0");            /* as with oshrun; by default every task would get it */
    if (getenv("SLURM_STEP_ID") != NULL)
        oshrun_engine_command_add(argv, "--overlap"); /* else it would wait for the step around it */
    if (options->oversubscribe) oshrun_engine_command_add(argv, "--overcommit");
    if (bind != NULL) oshrun_engine_command_add(argv, "--cpu-bind=%s", bind);
    if (options->tag_output) oshrun_engine_command_add(argv, "--label");
    if (hosts->count > 0) {
        char *places = join_places(hosts, npes);
        oshrun_engine_command_add(argv, "--distribution=arbitrary");
        oshrun_engine_command_add(argv, "--nodelist=%s", places);
        free(places);
    }
    add_npes(argv, npes);
    return 0;
}

static int build_hydra(const struct oshrun_options *options, const struct oshrun_hosts *hosts, int npes,
                       struct oshrun_command *command)
{
    struct oshrun_words *argv = &command->argv;
    const char          *bind = bind_word(options->bind, false);
    if (have_ipv6(hosts)) {
        shmemi_error("--hosts: MPICH's mpiexec takes no IPv6 addresses" FIX
                     "give them names in /etc/hosts, or choose another --engine");
        return OSHRUN_EXIT_USAGE;
    }
    oshrun_engine_command_add(argv, "-genvall");
    if (bind != NULL) {
        oshrun_engine_command_add(argv, "-bind-to");
        oshrun_engine_command_add(argv, "%s", bind);
    }
    if (options->tag_output) oshrun_engine_command_add(argv, "-prepend-rank");
    if (options->rsh_agent != NULL) {
        oshrun_engine_command_add(argv, "-launcher-exec");
        oshrun_engine_command_add(argv, "%s", options->rsh_agent);
    }
    if (hosts->count > 0) {
        char *text = join_hosts(hosts);
        oshrun_engine_command_add(argv, "-hosts");
        oshrun_engine_command_add(argv, "%s", text);
        free(text);
    }
    add_npes(argv, npes);
    return 0;
}

int oshrun_engine_command_build(const struct oshrun_options *options, const struct oshrun_engine *engine,
                                const struct oshrun_hosts *hosts, int npes, struct oshrun_command *command_out)
{
    int result = 0;
    build_environment(options, command_out);
    oshrun_engine_command_add(&command_out->argv, "%s", engine->program);
    switch (engine->kind) {
    case OSHRUN_ENGINE_ORTE: build_open_mpi(options, false, hosts, npes, command_out); break;
    case OSHRUN_ENGINE_PRRTE: build_open_mpi(options, true, hosts, npes, command_out); break;
    case OSHRUN_ENGINE_SLURM: result = build_slurm(options, engine, hosts, npes, command_out); break;
    case OSHRUN_ENGINE_HYDRA: result = build_hydra(options, hosts, npes, command_out); break;
    }
    if (result == 0) result = add_engine_args(&command_out->argv, options->engine_args);
    if (result == 0) add_all(&command_out->argv, options->program);
    return result;
}

void oshrun_engine_command_local(const struct oshrun_options *options, struct oshrun_command *command_out)
{
    struct oshrun_words *argv = &command_out->argv;
    const char          *bind = bind_word(options->bind, false);
    oshrun_engine_command_add(argv, "oshrun");
    oshrun_engine_command_add(argv, "--engine");
    oshrun_engine_command_add(argv, "local");
    add_npes(argv, options->npes);
    if (options->tag_output) oshrun_engine_command_add(argv, "--tag-output");
    if (options->timeout_text != NULL) {
        oshrun_engine_command_add(argv, "--timeout");
        oshrun_engine_command_add(argv, "%s", options->timeout_text);
    }
    if (bind != NULL) {
        oshrun_engine_command_add(argv, "--bind");
        oshrun_engine_command_add(argv, "%s", bind);
    }
    for (size_t i = 0; i < options->env_count; i++) {
        oshrun_engine_command_add(argv, "--env");
        oshrun_engine_command_add(argv, "%s", options->env[i]);
    }
    add_all(argv, options->program);
}

/* ---- as text ------------------------------------------------------------------------------------------------------------- */

static void print_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
    if (*word != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word != '\0'; word++) {
        if (*word == '\'') fputs("'\\''", stdout);
        else putchar(*word);
    }
    putchar('\'');
}

void oshrun_engine_command_print(const struct oshrun_options *options, const struct oshrun_command *command)
{
    bool has_limit = options->timeout_text != NULL && strcmp(command->argv.words[0], "oshrun") != 0;
    if (command->set.count + command->unset.count > 0) fputs("env ", stdout);
    for (size_t i = 0; i < command->unset.count; i++) printf("-u %s ", command->unset.words[i]);
    for (size_t i = 0; i < command->set.count; i++) {
        print_word(command->set.words[i]);
        putchar(' ');
    }
    /* What oshrun itself does for an engine; in the engine's process group, so that ^C and the terminal reach it. */
    if (has_limit) printf("timeout --foreground --kill-after=10 %s ", options->timeout_text);
    for (size_t i = 0; i < command->argv.count; i++) {
        if (i > 0) putchar(' ');
        if (i == command->host_file_at && i > 0) { /* bash reads it as a file */
            fputs("<(printf '%s\\n'", stdout);
            for (size_t k = 0; k < command->host_lines.count; k++) {
                putchar(' ');
                print_word(command->host_lines.words[k]);
            }
            putchar(')');
        } else {
            print_word(command->argv.words[i]);
        }
    }
    putchar('\n');
}
