"""The experiments of Silva Carvalho et al. 2021."""
