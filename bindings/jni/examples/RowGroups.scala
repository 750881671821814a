/* SPDX-License-Identifier: Apache-2.0 */
// A Parquet file's row groups, a task each: every task filters and aggregates its group on its node's devices, Spark
// adds up what they give. TPC-H's lineitem: revenue and lines by flag.
import java.nio.file.Path

import org.apache.spark.sql.SparkSession
import org.hac.{HacClient, HacQuery}

object RowGroups {
  def main(args: Array[String]): Unit = {
    val file = args(0)
    val query = new HacQuery()
      .where("l_quantity < 24")
      .groupBy("l_returnflag")
      .select("sum(l_extendedprice * l_discount) as revenue, count() as lines")
    val spark = SparkSession.builder().appName("row groups").getOrCreate()
    val client = HacClient.connect()
    val groups =
      try client.rowGroups(Path.of(file))
      finally client.close()
    val totals = spark.sparkContext
      .range(0L, groups, 1L, math.max(1, groups.toInt)) // a file may have none
      .mapPartitions { mine =>
        val client = HacClient.connect() // a connection a task
        try
          mine.flatMap { group =>
            val result = client.query(query.copy().rowGroups(group, 1), Path.of(file))
            try {
              val flag = result.column("l_returnflag")
              val revenue = result.column("revenue")
              val lines = result.column("lines")
              (0L until result.rows).map { row =>
                (flag.getString(row), (BigDecimal(revenue.get(row).toString), lines.getLong(row)))
              }.toList
            } finally result.close()
          }.toList.iterator
        finally client.close()
      }
      .reduceByKey((a, b) => (a._1 + b._1, a._2 + b._2))
      .collect()
      .sortBy(_._1)
    for ((flag, (revenue, lines)) <- totals)
      println(s"$flag\t$revenue\t$lines")
    spark.stop()
  }
}
