"""Pages, and the programs that write some of them."""
