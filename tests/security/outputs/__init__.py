"""Files from strangers in what the product shows: terminal, pages, web UI, hub, import."""
