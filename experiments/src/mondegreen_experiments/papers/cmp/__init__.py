"""The experiments of Feyisetan et al. 2020."""
