"""The experiments of Xu et al. 2021."""
