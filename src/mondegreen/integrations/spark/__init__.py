"""Apache Spark: data frames are released where their partitions are."""
