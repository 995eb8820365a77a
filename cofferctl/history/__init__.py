"""Everything that speaks git objects, refs and the git index: the only room that imports dulwich."""
