/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the tables of docs/metrics.md: hac-metrics-reference metrics|log */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "metrics_table.h"

static void print_metrics(void)
{
    puts("| metric | type | labels | meaning | what to make of it |\n|---|---|---|---|---|");
    for (unsigned i = 0; i < HAC_N_METRICS; i++) {
        const hac_metric_description *d = &hac_metric_descriptions[i];
        printf("| `%s` | %s | %s | %s | %s |\n", d->name, d->type, d->labels[0] != '\0' ? d->labels : "–",
               d->help, d->use);
    }
}

static void print_log(void)
{
#define HAC_LOG_ROW(constant, name, id, what) {name, id, what},
    static const char *const rows[][3] = {HAC_LOG_EVENTS(HAC_LOG_ROW)};
    puts("| kind | MESSAGE_ID | what has happened |\n|---|---|---|");
    for (unsigned i = 0; i < HAC_LOG_N_EVENTS; i++)
        printf("| `%s` | `%s` | %s |\n", rows[i][0], rows[i][1], rows[i][2]);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "metrics") == 0)
        print_metrics();
    else if (argc == 2 && strcmp(argv[1], "log") == 0)
        print_log();
    else
        return 2;
    return 0;
}
