/* SPDX-License-Identifier: Apache-2.0 */
/* hacctl kernels build: device binaries ahead of time. */
#include "base/memfd.h"
#include "cmd.h"
#include "run/job_output.h"
#include "text/json_fields.h"
#include "text/number_print.h"

/* Copies the image to OUT. hacd's builder writes it to memory of this process, so that OUT may be any file
 * and appears when it is complete. */
static hac_status write_image(int fd, uint64_t bytes, hac_output_file *output, hac_error *err)
{
    void *data = NULL;
    if (bytes == 0)
        return hac_fail(err, HAC_INTERNAL, "the daemon wrote an image of no bytes");
    hac_status status = hac_memfd_check(fd, bytes, err);
    if (status == HAC_OK)
        status = hac_memfd_map(fd, bytes, false, &data, err);
    if (status != HAC_OK)
        return status;
    status = hac_output_reserve(output, bytes, err);
    if (status == HAC_OK)
        status = hac_output_write(output, data, bytes, err);
    if (status == HAC_OK)
        status = hac_output_commit(output, err);
    hac_memfd_unmap(data, bytes);
    return status;
}

static hac_status build(hac_cli *cli, const char *device, hac_output_file *output, hac_error *err)
{
    hac_autofree char *answer = NULL;
    hac_autojson cJSON *json = NULL;
    hac_autoclose int fd = -1;
    hac_status status = hac_memfd_create("hac-image", 1, true, &fd, err);
    if (status == HAC_OK)
        status = hac_cli_connect(cli, err);
    if (status == HAC_OK) {
        hac_cli_note(cli, "building the kernels of %s; this may take minutes", device);
        status = hac_build_kernels(cli->client, device, fd, &answer, err);
    }
    if (status == HAC_OK)
        status = hac_json_parse_object(answer, "the image", &json, err);
    if (status == HAC_OK)
        status = write_image(fd, (uint64_t)hac_json_get_number(json, "bytes"), output, err);
    if (status != HAC_OK)
        return status;
    const char *left_out = hac_json_get_string(json, "left_out");
    if (left_out != NULL)
        hac_cli_say(cli, "not all programs are in the image: %s", left_out);
    hac_cli_note(cli, "%.0f programs in %s", hac_json_get_number(json, "programs"), hac_output_name(output));
    return HAC_OK;
}

hac_status hac_cmd_kernels_build(hac_cli *cli, const hac_args *args, hac_error *err)
{
    const char *device = args->values[HAC_OPT_DEVICE], *path = args->values[HAC_OPT_OUTPUT];
    hac_cleanup(hac_output_free_cleanup) hac_output_file *output = NULL;
    if (device == NULL)
        return hac_fail(err, HAC_INVALID,
                        "kernels build: --device is missing; `hacctl devices` lists the devices");
    if (path == NULL)
        return hac_fail(err, HAC_INVALID, "kernels build: -o FILE is missing");
    hac_status status = hac_output_open(path, &output, err);
    return status == HAC_OK ? build(cli, device, output, err) : status;
}
