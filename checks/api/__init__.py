"""The JSON API: GET only, thin over the queries. It decides nothing and sees nothing that its viewer may not see."""
