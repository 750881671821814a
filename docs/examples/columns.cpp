/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts numbers, queries a file, and queries the result again without writing it, in C++17.
 *
 *     c++ -std=c++17 columns.cpp $(pkg-config --cflags --libs hac) -o columns && ./columns data/sales.csv
 */
#include <hac/hac.hpp>

#include <cstdio>
#include <exception>

int main(int argc, char **argv)
{
    try {
        hac::client client;
        const std::vector<double> keys = {2.5, -1, 8, 0.5};
        hac::job sorted = client.sort(keys);
        const double *values = sorted.wait().data<double>();
        std::printf("sorted: %g %g %g %g\n", values[0], values[1], values[2], values[3]);
        if (argc < 2) {
            return 0;
        }
        hac::query cities;
        cities.group_by("city").select("sum(quantity) as n");
        hac::job grouped = client.query_files({argv[1]}, cities);
        ArrowArrayStream rows = grouped.wait().stream(); // what any library of Arrow makes
        hac::query total;
        total.select("count() as cities, sum(n) as n");
        hac::columns result = client.query_stream(rows, total).wait().columns();
        std::printf("%s: %lld, %s: %lld\n", result.name(0).c_str(),
                    static_cast<long long>(*result.values<std::int64_t>(0)), result.name(1).c_str(),
                    static_cast<long long>(*result.values<std::int64_t>(1)));
        cities.where("no such column");
        client.query_files({argv[1]}, cities);
    } catch (const hac::error &why) {
        std::printf("refused with code %d: %s\n", why.code(), why.what());
    } catch (const std::exception &why) {
        std::fprintf(stderr, "columns: %s\n", why.what());
        return 1;
    }
    return 0;
}
