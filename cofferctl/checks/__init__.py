"""What doctor looks for: a module a subject, each with its checks and what mends its findings."""
