"""A page in the browser, on the user's own computer: it edits a job file, calls the commands and shows what they say.

The process that serves the page never reads data. Files are looked at in a process of their own (`worker`), and jobs
run as the command line would run them (`commands`).
"""
