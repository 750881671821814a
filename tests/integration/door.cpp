/* SPDX-License-Identifier: Apache-2.0 */
/* A query as a C++ program asks it, for doors_test.py: door FILE SCHEMA WHERE GROUP SELECT ORDER prints the
 * columns, three of i64 and others of f64, row by row, floats with all their bits. */
#include <hac/hac.hpp>

#include <cstdio>
#include <exception>

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    try {
        hac::client client;
        hac::query query;
        query.schema(argv[2]).where(argv[3]).group_by(argv[4]).select(argv[5]).order_by(argv[6]);
        hac::job job = client.query_files({argv[1]}, query);
        hac::columns columns = job.wait().columns();
        for (std::int64_t row = 0; row < columns.rows(); row++)
            for (std::size_t i = 0; i < columns.size(); i++) {
                if (i >= 3)
                    std::printf("%a", columns.values<double>(i)[row]);
                else
                    std::printf("%lld", static_cast<long long>(columns.values<std::int64_t>(i)[row]));
                std::printf(i + 1 == columns.size() ? "\n" : ",");
            }
    } catch (const std::exception &why) {
        std::fprintf(stderr, "door: %s\n", why.what());
        return 1;
    }
    return 0;
}
