/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Word count by the standard library: peer_words FILE OUT [THREADS]. The file is mapped; each thread counts an equal
 * part of it in an unordered_map<string_view>; the maps are added up and written as csv.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unordered_map>
#include <vector>

using counts = std::unordered_map<std::string_view, uint64_t>;

static bool blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void count(const char *at, const char *end, counts *out)
{
    out->reserve(1 << 19);
    while (at < end) {
        while (at < end && blank(*at))
            at++;
        const char *word = at;
        while (at < end && !blank(*at))
            at++;
        if (at > word)
            ++(*out)[std::string_view(word, static_cast<size_t>(at - word))];
    }
}

int main(int argc, char **argv)
{
    int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0)
        return 1;
    size_t bytes = static_cast<size_t>(about.st_size), threads = argc > 3 ? strtoul(argv[3], nullptr, 10) : 2;
    const char *data = static_cast<const char *>(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0));
    if (data == MAP_FAILED)
        return 1;
    std::vector<counts> maps(threads);
    std::vector<std::thread> workers;
    const char *at = data;
    for (size_t i = 0; i < threads; i++) {
        const char *end = data + bytes * (i + 1) / threads;
        while (end > at && end < data + bytes && !blank(*end))
            end++;
        workers.emplace_back(count, at, end, &maps[i]);
        at = end;
    }
    for (std::thread &worker : workers)
        worker.join();
    for (size_t i = 1; i < threads; i++)
        for (const auto &[word, n] : maps[i])
            maps[0][word] += n;
    FILE *out = fopen(argv[2], "wb");
    if (out == nullptr)
        return 1;
    fputs("word,count\n", out);
    for (const auto &[word, n] : maps[0])
        fprintf(out, "%.*s,%llu\n", static_cast<int>(word.size()), word.data(), static_cast<unsigned long long>(n));
    if (fclose(out) != 0)
        return 1;
    _Exit(0); /* as quick as it gets: the maps are not taken down */
}
