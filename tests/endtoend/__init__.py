"""A real provider, a real browser, a real cluster, and the portal as it is shipped between them."""
