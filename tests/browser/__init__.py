"""A real browser on the running demo: what people do, with a mouse, with keys alone, on a small screen, in the dark."""
