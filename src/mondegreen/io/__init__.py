"""Reading records and writing releases: streams of Arrow record batches."""
