"""Does a mechanism keep its promise? Exact audits, statistical ones, and reports."""
