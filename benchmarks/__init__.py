"""Speed, as ratios against a peer in the same run. `make bench` runs all of them."""
