"""Small standard models of torch: what the papers train on releases."""
