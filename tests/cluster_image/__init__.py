"""The image of deploy/Dockerfile, built here, and the pods of deploy/chart that run it on the test bed."""
